"""The demo's scripted program: does tasks of the sample repository, by templates.

`python -I -S scripted.py FOLDER` reads a task on standard input (app/agents/prompts/task.user.md),
writes files into the current directory, made of the templates in FOLDER, and says what it did. It
asks no model, runs nothing, and needs nothing but the standard library: it works in a sandbox.
"""

from __future__ import annotations

import html
import json
import re
import sys
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from string import Template

MARK = "Written by the demo's scripted program"
"""Stands in every file of it; a file without it is somebody's own, and is left alone."""
PARTS = ("behaviour", "data", "integrations", "quality", "limits", "interface", "whole")
_ABOUT = {
    "behaviour": "What it does",
    "data": "What is kept",
    "integrations": "What is told to others",
    "quality": "Work in small portions",
    "limits": "How much is taken",
    "interface": "What people see and use",
}
_THEMED = frozenset({"behaviour", "interface", "whole"})
_MANIFESTS = frozenset({"k8s", "argocd", "kustomize", "helm"})
_DATA = re.compile(r"<<data (\w+) ([^>\n]*)>>\n(.*?)\n?<<end \1>>", re.DOTALL)
_PATH = re.compile(r"`([\w.-]+/[\w./-]*)`")
_ANSWER = re.compile(r"^\s*[-*]?\s*(Q\d{1,4}): .*? → (.*)$", re.MULTILINE)
_REPLICAS = re.compile(r"^(\s*replicas:\s*)(\d{1,4})(?=\s*$)", re.MULTILINE)
_NO_LETTERS = re.compile("[^\\w .,:;()'%&/-]+|[\u200b-\u200f]+")


class Blocked(Exception):
    """Why the task cannot be done."""


@dataclass(frozen=True, slots=True)
class Task:
    """What it read."""

    title: str
    """The feature's."""
    text: str
    answers: Mapping[str, str]
    """Question (`Q1`) → answer, of those that the task rests on."""

    @property
    def theme(self) -> str:
        """Which of the sample's features it is: `export`, `stock`, or `plain` for any other."""
        if re.search(r"\b(?:export|download|csv)", self.title, re.IGNORECASE):
            return "export"
        if re.search(r"\b(?:back in stock|restock|sold out)", self.title, re.IGNORECASE):
            return "stock"
        return "plain"

    def paths(self) -> Iterator[str]:
        """Those that it names; what leads out of the repository, or into git's folder, is none."""
        for path in dict.fromkeys(_PATH.findall(self.text)):
            names = PurePosixPath(path).parts
            if not path.startswith("/") and not {"..", ".git"} & set(names):
                yield path


def read(text: str) -> Task:
    """The task in a prompt."""
    found: dict[str, str] = {}
    for _, label, inside in _DATA.findall(text):
        found.setdefault(label, inside)
    answers = {
        name: plain(answer, 600) for name, answer in _ANSWER.findall(found.get("details", ""))
    }
    return Task(plain(found.get("feature", ""), 80), found.get("task", text), answers)


def plain(text: str, most: int) -> str:
    """On one line, without any sign that could end a string, a comment or a line."""
    words = _NO_LETTERS.sub(" ", html.unescape(text)).split()
    return textwrap.shorten(" ".join(words), most, placeholder=" ...").strip() or "a feature"


@dataclass(slots=True)
class Work:
    """Does a task in `here`, and remembers what it wrote."""

    task: Task
    templates: Path
    here: Path
    written: list[str] = field(default_factory=list)
    left: list[str] = field(default_factory=list)
    told: list[str] = field(default_factory=list)

    def do(self) -> str:
        """What was done, in a few sentences. Raises `Blocked`."""
        paths = list(self.task.paths())
        if not paths:
            raise Blocked("the task names no file or folder, and the scripted program cannot guess")
        for path in paths:
            self._one(path)
        return " ".join([*self._said(), f"{MARK}: no model was asked, and nothing was run."])

    def _said(self) -> Iterator[str]:
        if self.written:
            yield f"I wrote {', '.join(self.written)}."
        if self.left:
            yield f"{', '.join(self.left)} is somebody's own, so I left it as it is."
        yield from self.told

    def _one(self, path: str) -> None:
        names = PurePosixPath(path).parts
        if names[0] == "tests":
            self._tests(path, names)
        elif names[0] == "src":
            self._code(path, names)
        elif names[:2] == (".github", "workflows") and len(names) > 2:
            kind = "deploy" if "deploy" in names[-1] else "check"
            slug = re.sub(r"-(?:check|deploy)$", "", PurePosixPath(path).stem)
            self._put(path, f"workflows/{kind}.yml", slug=slug, file=path)
        elif names[0] in _MANIFESTS:
            self._manifests(path, names)
        else:
            raise Blocked(f"the scripted program has nothing for {path}")

    # code and tests

    def _code(self, path: str, names: tuple[str, ...]) -> None:
        if path.endswith(".py"):
            self._put(path, "src/plain.py", about=f"Module {names[-1]}")
            return
        part = names[-1]
        root = f"src/{names[1]}" if len(names) > 1 else "src"
        if len(names) > 1:
            self._put(f"{root}/__init__.py", "src/root.py", again=False)
        if len(names) > 2:
            about = _ABOUT.get(part, f"The {plain(part, 40)}")
            self._put(f"{path.rstrip('/')}/__init__.py", f"src/{self._kind(part)}.py", about=about)
        elif "tidy" in self.task.text:
            self._put(f"{root}/README.md", "src/readme.md", rows=self._rows(root))

    def _kind(self, part: str) -> str:
        if part not in PARTS or part == "whole":
            return "plain"
        return f"{part}-{self.task.theme}" if part in _THEMED else part

    def _rows(self, root: str) -> str:
        there = [part for part in PARTS if (self.here / root / part).is_dir()]
        return "\n".join(f"| `{part}` | {_ABOUT[part]} |" for part in there if part in _ABOUT)

    def _tests(self, path: str, names: tuple[str, ...]) -> None:
        if path.endswith(".py"):
            stem = PurePosixPath(path).stem.removeprefix("test_")
            self._put(path, "tests/file.py", stem=stem, up=len(names) - 1)
            return
        if len(names) < 2:
            raise Blocked("a folder of its own is needed below tests/")
        self._put(f"tests/{names[1]}/conftest.py", "tests/conftest.py", again=False)
        if len(names) > 2:
            part, slug = names[-1], names[1]
            # two modules of tests must not have the same name
            file = f"test_{re.sub(r'[^a-z0-9]+', '_', f'{slug}_{part}'.lower())}.py"
            kind = f"whole-{self.task.theme}" if part == "whole" else self._kind(part)
            self._put(
                f"{path.rstrip('/')}/{file}",
                f"tests/{kind}.py",
                module=".".join(names[1:]),
                slug=slug,
            )

    # manifests

    def _manifests(self, path: str, names: tuple[str, ...]) -> None:
        if names[-1].endswith((".yaml", ".yml")):
            part = PurePosixPath(path).stem
            kind = part if part in PARTS[:5] else "data"
            slug = names[1] if len(names) > 2 else part
            self._put(path, f"k8s/{kind}.yaml", slug=slug)
        elif "way back" in self.task.text:
            self._put(f"{path.rstrip('/')}/README.md", "k8s/readme.md", folder=path)
        elif len(names) > 1:
            self._put(f"{path.rstrip('/')}/namespace.yaml", "k8s/namespace.yaml", slug=names[1])
        elif re.search(r"\bFind\b", self.task.text):
            found = [self._shown(one) for one in self._yamls(names[0])]
            self.told.append(f"Manifests in {path}: {', '.join(found) or 'none yet'}.")
        elif "replicas" in self.task.text:
            self._more(names[0])
        else:
            self._put(f"{names[0]}/storefront-settings.yaml", "k8s/settings.yaml")

    def _more(self, folder: str) -> None:
        """One replica more wherever a number of them is written."""
        changed = False
        for path in self._yamls(folder):
            text = path.read_text("utf-8")
            more = _REPLICAS.sub(lambda found: f"{found[1]}{int(found[2]) + 1}", text)
            if more != text:
                changed = True
                self._write(self._shown(path), more)
        if not changed:
            self._put(f"{folder}/storefront.yaml", "k8s/capacity.yaml")

    def _yamls(self, folder: str) -> list[Path]:
        found = sorted((self.here / folder).rglob("*.y*ml"))
        return [path for path in found if path.is_file() and not path.is_symlink()]

    def _shown(self, path: Path) -> str:
        return path.relative_to(self.here).as_posix()

    # files

    def _put(self, path: str, template: str, again: bool = True, **values: object) -> None:
        """A template with its values; without `again` a file that is there stays."""
        at = self.here / path
        if at.exists():
            if not again:
                return
            if MARK not in at.read_text("utf-8", "replace"):
                self.left.append(path)
                return
        text = (self.templates / f"{template}.txt").read_text("utf-8")
        given = {"title": self.task.title, "mark": MARK, **self._answers(), **values}
        self._write(path, Template(text).substitute(given).rstrip("\n") + "\n")

    def _answers(self) -> dict[str, str]:
        answers = self.task.answers
        return {
            "decisions": _literal(answers),
            "names": json.dumps(sorted(answers)),
            "notes": "\n".join(f"# {name}: {answer}" for name, answer in answers.items())
            or "# No question was about this.",
        }

    def _write(self, path: str, text: str) -> None:
        at = self.here / path
        try:
            if not at.parent.resolve().is_relative_to(self.here.resolve()) or at.is_symlink():
                raise Blocked(f"{path} leads out of the repository")
            at.parent.mkdir(parents=True, exist_ok=True)
            at.write_text(text, "utf-8")
        except OSError as error:
            raise Blocked(f"{path} cannot be written: {error.strerror}") from None
        self.written.append(path)


def _literal(answers: Mapping[str, str]) -> str:
    """A dictionary in Python, in short lines."""
    lines = ["{"]
    for name, answer in answers.items():
        pieces = textwrap.wrap(answer, 80, break_on_hyphens=False) or [""]
        ends = [*([" "] * (len(pieces) - 1)), ""]
        words = [f"        {piece + end!r}" for piece, end in zip(pieces, ends, strict=True)]
        lines += [f'    "{name}": (', *words, "    ),"]
    return "\n".join([*lines, "}"]) if answers else "{}"


def main() -> int:
    """Do the task of standard input in the current directory."""
    task = read(sys.stdin.buffer.read().decode("utf-8", "replace"))
    try:
        print(Work(task, Path(sys.argv[1]), Path.cwd()).do())
    except Blocked as reason:
        print(f"BLOCKED: {reason}.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
