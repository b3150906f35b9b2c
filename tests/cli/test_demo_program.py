"""The demo's scripted program: for every task of our own lists it writes what works."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from importlib import resources
from pathlib import Path

import pytest
import yaml

from app.agents.briefing import Brief, brief
from app.cli_commands.demo_crew import command
from app.features.model import Feature, Place, Question
from app.features.tasklist import tasklist
from app.features.tasks import Task, parse_tasks
from app.features.types import FeatureType
from app.playground.sample import _files
from app.playground.scripted import MARK
from app.questions.model import QuestionState

EXPORT = "Let customers export their order history"
STOCK = "Tell customers when an item is back in stock"
OTHER = 'Show "new" \\ """ $title on {products} \u200b<!-- x -->'
CATEGORIES = "scope data integrations quality edge-cases".split()
CODE = (FeatureType.FULL_STACK, FeatureType.BACKEND)
NASTY = 'Say """ or \'\'\' or \\ or # or ${x}: yes → "quoted" ' + "and so on " * 60


def feature(kind: FeatureType, title: str) -> Feature:
    place = Place(7, 70, "acme/storefront", 1)
    return Feature(1, place, type=kind, title=title, branch="001-it", started_on="2026-01-05")


def questions(answer: str = "As the plan says.") -> list[Question]:
    return [
        Question(
            number,
            f"q-{number}",
            "product.scope",
            text=f"What about {category}?",
            category=category,
            state=QuestionState.CORRECTED,
            answer=answer,
            source="@mara",
            settled_by="mara",
        )
        for number, category in enumerate(CATEGORIES, 1)
    ]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A checkout of the sample repository."""
    for name, data in _files(resources.files("app.playground") / "sample" / "project").items():
        path = tmp_path / "project" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return tmp_path / "project"


def prompt(title: str, text: str, details: str = "") -> str:
    told = Brief("@dede", "the developer", title, "T001", text, (), "specs/001-it", details)
    return brief(told).user


def work(project: Path, given: str) -> str:
    done = subprocess.run(
        command(), input=given, cwd=project, capture_output=True, text=True, timeout=30, check=True
    )
    assert done.stderr == ""
    return done.stdout


def run_pytest(project: Path, *paths: str) -> subprocess.CompletedProcess[str]:
    argv = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *paths]
    return subprocess.run(
        argv, cwd=project, capture_output=True, text=True, timeout=60, check=False
    )


def listed(kind: FeatureType, title: str, asked: Sequence[Question]) -> tuple[Task, ...]:
    tasks = parse_tasks(tasklist(feature(kind, title), asked)).tasks
    assert tasks
    return tuple(task for task in tasks if not task.description.startswith("Review"))


@pytest.mark.parametrize("title", [EXPORT, STOCK, OTHER])
@pytest.mark.parametrize("kind", CODE)
def test_the_tests_fail_first_and_pass_in_the_end(
    project: Path, kind: FeatureType, title: str
) -> None:
    tasks = listed(kind, title, questions(NASTY))
    for task in tasks:
        if task.description.startswith("Implement the data"):
            assert run_pytest(project).returncode != 0
        said = work(project, prompt(title, task.description, task.details))
        assert MARK in said
        assert "BLOCKED" not in said
    done = run_pytest(project)
    assert done.returncode == 0, done.stdout
    parts = {path.parent.name for path in (project / "tests").glob("*/*/test_*.py")}
    assert parts == {"behaviour", "data", "integrations", "quality", "limits", "whole"}
    for path in ours(project):
        assert MARK in path.read_text()


def ours(project: Path) -> list[Path]:
    found = [path for path in project.glob("src/*/**/*.py") if path.parts[-2] != "storefront"]
    return [*found, *project.glob("tests/*/**/*.py"), *project.glob("**/*.y*ml")]


def test_two_features_stand_side_by_side(project: Path) -> None:
    for title in (EXPORT, STOCK):
        for task in listed(FeatureType.FULL_STACK, title, questions()):
            work(project, prompt(title, task.description, task.details))
    done = run_pytest(project)
    assert done.returncode == 0, done.stdout


def test_an_answer_is_in_the_code_as_it_was_given(project: Path) -> None:
    task = next(
        task
        for task in listed(FeatureType.BACKEND, EXPORT, questions("It's 5 % off, at most."))
        if task.description.startswith("Implement the data")
    )
    work(project, prompt(EXPORT, task.description, task.details))
    text = (project / "src/let-customers-export-their/data/__init__.py").read_text()
    scope: dict[str, dict[str, str]] = {}
    exec(text.partition("\n\n@dataclass")[0], scope)  # the test's own file
    assert scope["DECISIONS"] == {"Q2": "It's 5 % off, at most."}


@pytest.mark.parametrize("kind", [one for one in FeatureType if one not in CODE])
def test_manifests_can_be_read_and_say_who_wrote_them(project: Path, kind: FeatureType) -> None:
    for task in listed(kind, OTHER, questions(NASTY)):
        said = work(project, prompt(OTHER, task.description, task.details))
        assert "BLOCKED" not in said
        assert MARK in said
    found = [*project.glob("k8s/**/*.yaml"), *project.glob(".github/workflows/*.yml")]
    assert len(found) == {"infra": 8, "capacity": 2, "config": 2}[kind.value]
    for path in found:
        assert isinstance(yaml.safe_load(path.read_text()), dict)
        assert MARK in path.read_text()
    assert list(project.glob("k8s/**/README.md"))


def test_replicas_of_manifests_that_are_there_grow_by_one(project: Path) -> None:
    (project / "k8s").mkdir()
    (project / "k8s/shop.yaml").write_text("spec:\n  replicas: 2\n")
    assert "k8s/shop.yaml" in work(
        project, prompt(OTHER, "Find the manifests in `k8s/` that hold the replicas and resources")
    )
    work(project, prompt(OTHER, "Change the replicas and resources in `k8s/`"))
    assert (project / "k8s/shop.yaml").read_text() == "spec:\n  replicas: 3\n"


def test_a_list_that_a_person_wrote(project: Path) -> None:
    work(project, prompt(EXPORT, "Write failing tests in `tests/test_export.py`"))
    assert run_pytest(project, "tests/test_export.py").returncode == 1
    work(project, prompt(EXPORT, "Implement the export in `src/storefront/export.py`"))
    assert run_pytest(project, "tests/test_export.py").returncode == 0


def test_what_somebody_else_wrote_stays(project: Path) -> None:
    before = (project / "src/storefront/orders.py").read_bytes()
    said = work(project, prompt(EXPORT, "Change `src/storefront/orders.py`"))
    assert "somebody's own" in said
    assert (project / "src/storefront/orders.py").read_bytes() == before


@pytest.mark.parametrize(
    "text", ["Think about it", "Write `docs/guide.md`", "Write `src/../../evil.py`", "`/etc/x.py`"]
)
def test_what_it_cannot_do_it_says(project: Path, text: str) -> None:
    before = sorted(project.parent.rglob("*"))
    assert work(project, prompt(EXPORT, text)).startswith("BLOCKED: ")
    assert sorted(project.parent.rglob("*")) == before


def test_links_lead_nowhere_else(project: Path, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (project / "src/linked").symlink_to(tmp_path / "outside")
    assert work(project, prompt(EXPORT, "Write `src/linked/new.py`")).startswith("BLOCKED: ")
    assert list((tmp_path / "outside").iterdir()) == []


def test_the_same_task_twice_gives_the_same(project: Path) -> None:
    for task in listed(FeatureType.FULL_STACK, EXPORT, questions()):
        for _ in range(2):
            work(project, prompt(EXPORT, task.description, task.details))
    first = {path: path.read_bytes() for path in project.rglob("*") if path.is_file()}
    for task in listed(FeatureType.FULL_STACK, EXPORT, questions()):
        given = prompt(EXPORT, task.description, task.details)
        work(project, given.replace("A task for you.", "A task for you, once more."))
    assert {path: path.read_bytes() for path in project.rglob("*") if path.is_file()} == first


def test_a_title_of_signs_only_still_works(project: Path) -> None:
    kind = FeatureType.BACKEND
    odd = feature(kind, "???")
    for task in parse_tasks(tasklist(odd, [])).tasks[:-1]:
        assert "BLOCKED" not in work(project, prompt("???", task.description))
    assert run_pytest(project).returncode == 0
