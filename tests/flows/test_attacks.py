"""`baron/scope` alone: what @dede pushes with git, past both other walls, fails by its paths.

The branch comes by real git over HTTP: with links, modes and renames, as no API would write them.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.execution.git_help import git
from tests.flows.building import write
from tests.flows.test_scope_check import check
from tests.recovery.town import REPO, Town, until

pytestmark = [pytest.mark.needs("git")]

SIGNED = "Add the export\n\nAgent: dede\nTask: T001"
CART = "src/storefront/cart.py"
GITLINK = f"mkdir src/lib; git update-index --add --cacheinfo 160000,{'1' * 40},src/lib"
ATTACKS: dict[str, tuple[str, set[str]]] = {
    "new-file": ("echo evil > k8s/evil.yaml", {"k8s/evil.yaml"}),
    "deleted": ("rm k8s/deploy.yaml", {"k8s/deploy.yaml"}),
    "mode": ("chmod +x k8s/deploy.yaml", {"k8s/deploy.yaml"}),
    "moved-in": ("mv k8s/deploy.yaml src/deploy.yaml", {"k8s/deploy.yaml"}),
    "moved-out": (f"mv {CART} k8s/cart.py", {"k8s/cart.py"}),
    "written-through-a-link": (
        "ln -s ../k8s src/way; echo evil >> src/way/deploy.yaml; rm src/way", {"k8s/deploy.yaml"}
    ),
    "hard-link": (
        "ln k8s/deploy.yaml src/x.yaml; echo evil >> src/x.yaml", {"k8s/deploy.yaml"}
    ),
    "scope-file": (
        "mkdir -p .github; echo '* @dede' > .github/AGENT_SCOPES", {".github/AGENT_SCOPES"}
    ),
    "link-to-a-folder": ("ln -s ../k8s src/way", {"src/way"}),
    "link-to-a-file": ("ln -s ../k8s/deploy.yaml src/way", {"src/way"}),
    "link-through-a-link": ("ln -s ../k8s src/way; ln -s way/deploy.yaml src/on",
                            {"src/way", "src/on"}),
    "link-outside": ("ln -s ../../../key.pem src/way", {"src/way"}),
    "link-absolute": ("ln -s /etc/passwd src/way", {"src/way"}),
    "link-in-place-of-a-file": (f"ln -sf ../../k8s/deploy.yaml {CART}", {CART}),
    "submodule": (GITLINK, {"src/lib"}),
}  # fmt: skip
"""Name → what is done, and the paths that the check has to name."""


@pytest.fixture(scope="module")
def town(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Town]:
    with Town(tmp_path_factory.mktemp("attacks"), without=("agents",)) as made:
        write(made, "main", "k8s/deploy.yaml", "replicas: 1\nimage: storefront\n")
        yield made


def proposed(town: Town, folder: Path, name: str, script: str) -> dict[str, Any]:
    """A pull request with one commit that @dede signed."""
    url = f"{town.github.replace('://', '://x:ghp_mara@')}/{REPO}.git"
    git(folder, "clone", "--quiet", url, "clone")
    clone = folder / "clone"
    git(clone, "switch", "--quiet", "--create", name)
    subprocess.run(["sh", "-ec", f"{script}\ngit add --all"], cwd=clone, check=True)
    git(clone, "commit", "--quiet", f"--message={SIGNED}")
    git(clone, "push", "--quiet", "origin", name)
    pull = {"title": f"Take {name}", "head": name, "base": "main"}
    return dict(town.client.as_user("mara").call("POST", f"/repos/{REPO}/pulls", json=pull))


@pytest.mark.parametrize("name", ATTACKS)
def test_the_check_fails_and_names_each_path(town: Town, tmp_path: Path, name: str) -> None:
    script, paths = ATTACKS[name]
    script += "\necho good > src/good.py"
    run = check(town, proposed(town, tmp_path, name, script)["head"]["sha"])
    notes = town.client.call("GET", f"/repos/{REPO}/check-runs/{run['id']}/annotations")
    assert (run["conclusion"], {note["path"] for note in notes}) == ("failure", paths)


def test_what_is_in_scope_passes_links_and_modes_too(town: Town, tmp_path: Path) -> None:
    script = f"ln -s cart.py src/storefront/basket.py; chmod +x {CART}; echo good > src/good.py"
    run = check(town, proposed(town, tmp_path, "in-scope", script)["head"]["sha"])
    assert (run["conclusion"], run["output"]["title"]) == ("success", "3 paths, all in scope")


def test_an_owner_allows_a_link_like_any_other_path(town: Town, tmp_path: Path) -> None:
    pull = proposed(town, tmp_path, "allowed-link", "ln -s ../k8s/deploy.yaml src/way")
    head = pull["head"]["sha"]
    run = check(town, head)
    notes = town.client.call("GET", f"/repos/{REPO}/check-runs/{run['id']}/annotations")
    assert "links to k8s/deploy.yaml, where @dede may not write" in notes[0]["message"]
    assert "@gustave" in notes[0]["message"]
    town.client.as_user("mara").comment(REPO, pull["number"], "/allow src/way It is shared.")
    until(lambda: check(town, head)["conclusion"] == "success", 20, "still failing")
