"""Facts about the project that reviewers would otherwise have to look for."""

from __future__ import annotations

import re
import tomllib

import pytest
from pydantic import AliasChoices

from app.settings import Settings
from tests.project.repository import ROOT, files, ignored_but_tracked, read, texts

LONGEST_MODULE = 300
TOP_LEVEL = {
    "CHANGELOG.md",
    "Dockerfile",
    "LICENSE",
    "Makefile",
    "README.md",
    "action",
    "action.yml",
    "app",
    "bench",
    "configs",
    "deploy",
    "docs",
    "plugins",
    "pyproject.toml",
    "tests",
    "workers",
}
REQUIREMENTS = (".ci/requirements.txt", ".ci/requirements-dev.txt")
# put together here, so that this file does not find itself
KEY_HEADER = re.compile(r"-{5}BEGIN [A-Z ]*" + r"PRIVATE" + r" KEY-{5}\s*[A-Za-z0-9+/]{40}")
MACHINE_PATH = re.compile(r"(?<![\w.~$}*-])/(?:work|root|home|Users)/(?!runner\b)[A-Za-z0-9_.]")


def test_modules_are_short_enough_to_read_at_once() -> None:
    lengths = {
        name: len(read(name).splitlines())
        for name in files()
        if re.match(r"(app|workers|action)/.*\.py$", name)
    }
    assert {name: n for name, n in lengths.items() if n > LONGEST_MODULE} == {}


def test_the_top_level_holds_only_what_belongs_there() -> None:
    found = {name.split("/")[0] for name in files()}
    assert {name for name in found if not name.startswith(".")} - TOP_LEVEL == set()


def test_nothing_that_git_ignores_is_tracked() -> None:
    assert ignored_but_tracked() == []


def test_no_private_key_is_committed() -> None:
    assert [name for name, text in texts() if KEY_HEADER.search(text)] == []


def test_no_file_names_a_folder_of_one_machine() -> None:
    found = {
        name: match.group()
        for name, text in texts()
        if not name.startswith("tests/") and (match := MACHINE_PATH.search(text))
    }
    assert found == {}


def test_the_readme_begins_with_both_commands() -> None:
    readme = read("README.md")
    assert "$ make demo" in readme
    assert "$ make test" in readme


@pytest.mark.parametrize("name", sorted(Settings.model_fields))
def test_every_setting_is_documented(name: str) -> None:
    documents = [read(file) for file in files() if re.match(r"(README|docs/.*)\.md$", file)]
    alias = Settings.model_fields[name].validation_alias
    variable = alias if isinstance(alias, str) else f"KR_{name.upper()}"
    if isinstance(alias, AliasChoices):
        variable = str(alias.choices[0])
    assert any(re.search(rf"`{variable}`", text) for text in documents), variable


@pytest.mark.parametrize("name", REQUIREMENTS)
def test_requirements_are_pinned_hashed_and_name_no_place(name: str) -> None:
    text = read(name)
    assert "://" not in text
    lines = re.sub(r"\s*\\\n\s*", " ", text).splitlines()
    requirements = [line for line in lines if line and not line.lstrip().startswith("#")]
    assert len(requirements) > 50
    shape = re.compile(
        r"[A-Za-z0-9._-]+(\[[a-z, -]+\])?==\S+( ; [^@]+?)?( --hash=sha256:[0-9a-f]{64})+"
    )
    assert [line for line in requirements if not shape.fullmatch(line.rstrip())] == []


@pytest.mark.parametrize("name", REQUIREMENTS)
def test_requirements_hold_what_the_project_asks_for(name: str) -> None:
    project = tomllib.loads(read("pyproject.toml"))
    wanted = list(project["project"]["dependencies"])
    if name == ".ci/requirements-dev.txt":
        wanted += project["project"]["optional-dependencies"]["dev"]
    else:
        wanted += project["build-system"]["requires"]
    pinned = {_normal(line) for line in read(name).splitlines() if re.match(r"[A-Za-z0-9]", line)}
    assert {_normal(one) for one in wanted} - pinned == set(), "run `make pin`"


def _normal(requirement: str) -> str:
    """A distribution's name as package indexes compare it."""
    named = re.match(r"[A-Za-z0-9._-]+", requirement)
    assert named is not None
    return re.sub(r"[-_.]+", "-", named.group()).lower()


def test_the_build_is_pinned_from_the_build_system() -> None:
    project = tomllib.loads(read("pyproject.toml"))
    lines = [line for line in read(".ci/build.in").splitlines() if not line.startswith("#")]
    assert lines == project["build-system"]["requires"]


def test_the_image_is_installed_like_the_working_copy() -> None:
    dockerfile, makefile = read("Dockerfile"), read("Makefile")
    step = ".ci/install .venv .ci/requirements.txt"
    assert step in dockerfile
    assert step in makefile
    assert "USER 10001" in dockerfile
    assert "HEALTHCHECK" in dockerfile
    assert "KR_HOST=0.0.0.0" in dockerfile


def test_scripts_may_be_executed() -> None:
    scripts = [name for name in files() if read(name).startswith("#!")]
    assert {".ci/run", ".ci/install", ".ci/pin", ".ci/coverage"} <= set(scripts)
    assert [name for name in scripts if not (ROOT / name).stat().st_mode & 0o100] == []


def test_actions_in_workflows_are_pinned_by_commit() -> None:
    for name in files():
        if name.startswith(".github/workflows/"):
            for used in re.findall(r"uses:\s*(\S+)", read(name)):
                assert used.startswith("./") or re.search(r"@[0-9a-f]{40}$", used), (name, used)


def test_every_make_target_says_what_it_does() -> None:
    makefile = read("Makefile")
    for target in ("setup", "demo", "test", "check", "fix", "bench", "migrate", "pin"):
        assert re.search(rf"^{target}:.*## \S", makefile, re.M), target
