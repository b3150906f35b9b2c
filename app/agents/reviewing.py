"""A review by a model: what it is shown of a pull request, and what is believed of its findings.

The change is a stranger's text as much as its description is: all of it is fenced. A finding counts
where the line that it names says what it quotes; an invented line never blocks (specs/1, US5.5).
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated

from pydantic import BaseModel, Field

from app.agents.briefing import answered, as_typed, listed
from app.agents.fences import Fence
from app.agents.prompting import Prompts
from app.agents.protocols import NOBODY, Account, Malformed, Model, Request
from app.questions.model import Cost
from app.review.checks import ordered
from app.review.model import Changed, Finding, Severity
from app.review.patches import read_patch
from app.texts.safe import cut, one_line, visible
from app.texts.secrets import without_secrets
from app.texts.suspicious import LONGEST, suspicions

MOST, TOKENS, TRIES = 20, 12_000, 3
"""Findings in one answer, tokens of it, and how often it is asked for."""
CHARACTERS, LINE, LEAST = 60_000, 1_000, 1_500
"""Of all changes together, of one line, of a piece worth reading; below, of the other parts."""
BODY, SPEC, DECISIONS, KNOWN, NAMES = 12_000, 30_000, 20_000, 8_000, 10_000
Text = Annotated[str, Field(max_length=20_000)]


class Said(BaseModel):
    """One finding."""

    path: Text = Field(min_length=1, description="The file, by its name in the list of files")
    line: int | None = Field(default=None, description="Number of the line in the new file")
    severity: Severity
    message: Text = Field(min_length=1, description="What is wrong, one sentence")
    reason: Text = Field(default="", description="What follows from it")
    suggestion: Text | None = Field(default=None, description="What replaces the line, or nothing")
    quote: Text = Field(default="", description="The words of the line, copied exactly")


class Review(BaseModel):
    """All findings; none if the change is good."""

    findings: Annotated[list[Said], Field(max_length=MOST)]


@dataclass(frozen=True, slots=True)
class Reviewed:
    """A pull request, with name, question, answer and source of `decisions`, the rules' `findings`.

    It is shown `characters` of the changes, and asked for at `most` (1 to `MOST`) findings.
    """

    title: str
    body: str = ""
    files: tuple[Changed, ...] = ()
    spec: str = ""
    decisions: tuple[tuple[str, str, str, str], ...] = ()
    findings: tuple[Finding, ...] = ()
    characters: int = CHARACTERS
    most: int = MOST


@dataclass(frozen=True, slots=True)
class ModelReview:
    """What a model found, the heaviest first; `model` is empty if there was nothing to show to one.

    It saw only the beginning of the files `shortened`, and nothing of those `left_out`. `alarm` is
    what of the pull request speaks to a model: the findings may then be too few.
    """

    findings: tuple[Finding, ...] = ()
    model: str = ""
    prompt: str = ""
    cost: Cost = field(default_factory=Cost)
    alarm: str = ""
    shortened: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ModelReviewer:
    """Reviews pull requests with a model; `usual` is its name, `seconds` count for each try."""

    model: Model
    prompts: Prompts
    usual: str | None = None
    seconds: float = 300.0

    async def review(self, subject: Reviewed, account: Account = NOBODY) -> ModelReview:
        """Have it reviewed; a review that names files of its own making is asked for again.

        Raises `AgentUnavailable`, of its kinds `Malformed` where no finding can be believed.
        """
        views, begun = await asyncio.to_thread(_shown, subject)
        if not views:
            return begun
        paths, strangers = [one.path for one in subject.files], list[str]()
        names = {one_line(path, 300): path for path in paths} | {path: path for path in paths}
        for _ in range(TRIES):
            user = _user(subject, views.values(), begun, strangers)
            prompt = self.prompts.render("review", {"most": min(MOST, subject.most)}, user)
            asked = Request(prompt, Review, self.usual, account, self.seconds, TOKENS)
            done = await self.model.complete(asked)
            begun = replace(begun, cost=begun.cost + done.cost, prompt=prompt.version)
            said = [(_path(one.path, names), one) for one in done.value.findings]
            if not (strangers := [one.path for path, one in said if path is None]):
                break
        by = one_line(_clean(done.model), 200)
        found = _distinct(_believed(one, path, views.get(path), by) for path, one in said if path)
        if strangers and not found:
            raise Malformed("the review names only files that the pull request does not have")
        return replace(begun, findings=found[: subject.most], model=by)


def _clean(text: str) -> str:
    return without_secrets(visible(text))[0]


@dataclass(frozen=True, slots=True)
class _Line:
    """A line as it was typed, odd characters and all; one that was removed has no number."""

    sign: str
    number: int | None
    typed: str

    def __str__(self) -> str:
        text = visible(self.typed).replace("\n", " ").rstrip()
        return f"{self.number or '':>6} {self.sign}{text}"


@dataclass(frozen=True, slots=True)
class _View:
    """A file's change as far as it is shown."""

    file: Changed
    lines: tuple[_Line, ...]
    whole: bool

    def __str__(self) -> str:
        end = "" if self.whole else "\n(the rest is not shown)"
        return "\n".join([_named(self.file), *map(str, self.lines)]) + end


_BY_MACHINE = re.compile(
    r"(?:^|/)(?:node_modules|vendor|third_party|dist)/|(?:[.-]lock(?:\.(?:json|ya?ml|hcl))?|go\.sum"
    r"|npm-shrinkwrap\.json|\.min\.\w+|\.map|\.snap|\.svg|_pb2\w*\.pyi?|\.pb\.go|\.generated\.\w+)$"
)


def _shown(subject: Reviewed) -> tuple[Mapping[str, _View], ModelReview]:
    """Fair shares: small changes whole, large ones cut; what machines write comes last."""
    views: dict[str, _View] = {}
    files, left = subject.files, min(LONGEST, subject.characters)
    by_size = sorted((one for one in files if one.patch), key=lambda one: len(one.patch or ""))
    for machine in (False, True):
        some = [one for one in by_size if bool(_BY_MACHINE.search(one.path)) is machine]
        for rank, one in enumerate(some):
            share = min(left, max(LEAST, left // (len(some) - rank)))
            view = _view(one, share)
            if view.lines and (view.whole or share >= LEAST):
                views[one.path] = view
                left -= len(str(view))
    shown = {one.path: views[one.path] for one in files if one.path in views}
    moved = {one.path for one in files if one.status == "renamed" and not one.added + one.deleted}
    return shown, ModelReview(
        alarm=_alarm(subject, shown.values()),
        shortened=tuple(path for path, view in shown.items() if not view.whole),
        left_out=tuple(one.path for one in files if one.path not in views.keys() | moved),
    )


def _view(file: Changed, share: int) -> _View:
    """The lines of a file that fit into so many characters."""
    lines, left = list[_Line](), share - len(_named(file)) - 30
    for line in _lines(file.patch or ""):
        left -= len(str(line)) + 1
        if left < 0:
            return _View(file, tuple(lines), False)
        lines.append(line)
    return _View(file, tuple(lines), True)


def _named(file: Changed) -> str:
    return f"{one_line(file.path, 300)} ({one_line(file.status, 20)})"


def _lines(patch: str) -> Iterator[_Line]:
    """Those of the new file by their numbers, and between them those that are gone."""
    new = iter(read_patch(patch).lines)
    following = next(new, None)
    for raw in patch.split("\n"):
        sign, text = raw[:1] or " ", raw[1:].removesuffix("\r")
        if sign == "-":
            yield _Line(sign, None, text[:LINE])
        elif following and sign in "+ " and text == following.text:
            yield _Line(sign, following.number, text[:LINE])
            following = next(new, None)


def _user(
    subject: Reviewed, views: Iterable[_View], begun: ModelReview, strangers: Sequence[str]
) -> dict[str, object]:
    fence = Fence()
    known = [f"{one.path}:{one.line or ''} {one.message}" for one in subject.findings]
    wrong = [f"There is no file {one_line(path, 150)}" for path in dict.fromkeys(strangers)]
    return {
        "title": fence.data("title", subject.title, 600),
        "description": fence.data("description", subject.body or "(none)", BODY),
        "spec": fence.data("specification", subject.spec, SPEC) if subject.spec.strip() else "",
        "decisions": listed(fence, "decisions", answered(subject.decisions), DECISIONS, "\n\n"),
        "known": listed(fence, "known", known, KNOWN),
        "files": listed(fence, "files", [_named(one) for one in subject.files], NAMES),
        "unseen": listed(fence, "unseen", (*begun.shortened, *begun.left_out), NAMES),
        "changes": [as_typed(fence, "change", str(one), subject.characters) for one in views],
        "problems": listed(fence, "problems", wrong, 2_000),
    }


def _alarm(subject: Reviewed, views: Iterable[_View]) -> str:
    """What of it, or of all of it together, speaks to a model; empty where all is normal."""
    change = "\n".join(line.typed for view in views for line in view.lines)
    typed = {
        "title": subject.title,
        "description": subject.body,
        "change": change,
        "specification": subject.spec[:SPEC],
        "names of files": "\n".join(one.path for one in subject.files),
        "text": "\n".join((subject.title, subject.body[:BODY], change)),
    }
    for where, text in typed.items():
        if found := suspicions(text):
            return f"the {where} of the pull request speaks to a model: {found[0]}"
    return ""


def _path(said: str, names: Mapping[str, str]) -> str | None:
    """The file that is meant, as typed or as shown; models like to add what git writes."""
    tries = (said, said.strip(), re.sub(r"^(?:\./|[ab]/|/)", "", said.strip()))
    return next((names[one] for one in tries if one in names), None)


def _believed(said: Said, path: str, view: _View | None, by: str) -> Finding:
    line = _place(said, view)
    unproven = line is None and said.severity is Severity.BLOCKING
    return Finding(
        rule="model",
        severity=Severity.IMPORTANT if unproven else said.severity,
        message=one_line(_clean(said.message), 400),
        reason=one_line(_clean(said.reason), 800),
        path=path,
        line=line.number if line else None,
        excerpt=cut(_clean(line.typed).strip(), 300) if line else "",
        suggestion=_suggestion(said.suggestion or "", line),
        by=by,
    )


def _distinct(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """A key is for one finding: a second one on the same line goes by its own words."""
    found: dict[str, Finding] = {}
    for one in filter(lambda one: one.message, findings):
        kept = replace(one, excerpt="") if one.key in found else one
        found.setdefault(kept.key, kept)
    return ordered(found.values())


def _place(said: Said, view: _View | None) -> _Line | None:
    """The line that holds the quote: the one that is named, or the only one that was added.

    A bracket stands in many lines: so little counts only where it is the whole line.
    """
    quote = _plain(said.quote.strip().partition("\n")[0]).removeprefix("+").strip()
    lines = [(one, _plain(one.typed)) for one in view.lines if one.number] if view and quote else ()
    new = [one for one, text in lines if text == quote or (len(quote) > 2 and quote in text)]
    added = [line for line in new if line.sign == "+"]
    named = [line for line in new if line.number == said.line]
    return next(iter(named or added), None) if named or len(added) == 1 else None


def _plain(text: str) -> str:
    return " ".join(visible(text).split())


def _suggestion(text: str, line: _Line | None) -> str | None:
    """Only for a line that is known, and whole: what is cut or hidden is no code."""
    fenced = re.fullmatch(r"\s*```[^\n`]*\n(.*)\n```\s*", visible(text), re.DOTALL)
    code = (fenced[1] if fenced else visible(text)).strip("\n")
    if line is None or len(line.typed) >= LINE or len(code) > LINE or _clean(code) != code:
        return None
    return code if code.strip() not in {"", line.typed.strip()} else None
