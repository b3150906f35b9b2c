"""Where tasks are done: a worktree for each, both walls around it, one commit out of it.

The truth is in the database; what lies here can be lost at any moment, and is made anew.
"""

from __future__ import annotations

import asyncio
import re
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from app.actions import LandTask, RunTask
from app.agents.briefing import Brief, blocked, brief
from app.agents.prompting import Prompts
from app.agents.protocols import Account, AgentUnavailable, OverBudget
from app.events import TaskLanded, TaskRan
from app.execution.branches import Author, Conflict, commit
from app.execution.git import GitFailed, GitRefused, names
from app.execution.landing import Landed, Lost, land
from app.execution.mirror import Mirrors
from app.execution.pulls import read_large
from app.execution.repository import Mirror
from app.execution.running import Outcome, Runner, Task
from app.execution.sandbox import SandboxMissing
from app.execution.worktree import Worktree
from app.execution.worktrees import BranchTaken, Worktrees
from app.features.acceptance import acceptance
from app.features.dispatch import Stopped
from app.scopes import Scopes, parse
from app.scopes.links import escaped
from app.scopes.pulls import SCOPE_FILE, Pull
from app.scopes.scopes import DEFAULT
from app.texts.safe import one_line, powerless, visible
from app.texts.secrets import without_secrets

MOST_TESTS = 100
"""Test files that are named to whoever writes the code."""
_SUBJECT = 66
"""Characters of a task's text in the first line of its commit: with its name, as many as fit."""
_PLAIN = re.compile(r"[^\w /.,-]+")


@dataclass(frozen=True, slots=True)
class Worker:
    """Who does the tasks of a role here, and within which limits."""

    runner: Runner
    description: str
    seconds: float
    knowledge: Callable[[str], Sequence[str]] = lambda text: ()
    """Passages of its handbook on a matter."""


class Workshop:
    """Runs tasks and lands what came of them. `author` signs an agent's commits."""

    def __init__(
        self,
        worktrees: Worktrees,
        author: Callable[[str], Author],
        prompts: Prompts | None = None,
        secrets: frozenset[str] = frozenset(),
        forget: Callable[[str], None] = lambda repo: None,
    ) -> None:
        """`forget` is told of a repository whose token was refused: the next one is new."""
        self._worktrees = worktrees
        self._mirrors: Mirrors = worktrees.mirrors
        self._author = author
        self._prompts = prompts or Prompts()
        self._secrets = secrets
        self._forget = forget

    async def recover(self) -> None:
        """At the start: what processes left that were killed."""
        await self._mirrors.recover()
        await self._worktrees.recover()

    async def prune(self) -> None:
        """Keep within the disk caps."""
        await self._worktrees.prune()
        await self._mirrors.shrink()

    async def run(self, wanted: RunTask, worker: Worker | None, account: Account) -> TaskRan:
        """Have it done. Every way of failing is an event that says why.

        Raises `BranchTaken` while another process is at the same run.
        """
        about = TaskRan(wanted.feature_id, wanted.task.name, wanted.task.run)
        if worker is None:
            told = f"nothing here can do the tasks of {wanted.task.agent}"
            return replace(about, error=told, missing=True)
        try:
            return await self._run(about, wanted, worker, account)
        except SandboxMissing as error:
            return replace(about, error=self._said(str(error)), missing=True)
        except AgentUnavailable as error:
            unpaid = isinstance(error, OverBudget)
            return replace(about, error=self._said(str(error)), unpaid=unpaid)
        except BranchTaken:
            raise  # whoever had it before us is still at it, and will be told: try again later
        except (GitFailed, OSError) as error:  # another try would be paid for again
            return replace(about, error=self._said(str(error)))

    async def _run(
        self, about: TaskRan, wanted: RunTask, worker: Worker, account: Account
    ) -> TaskRan:
        repo, task = wanted.place.repo, wanted.task
        mirror = await self._fetched(repo)
        base, start = await mirror.remote(wanted.base), await mirror.remote(wanted.branch)
        if base is None or start is None:
            gone = wanted.branch if start is None else wanted.base
            raise GitFailed(f"the branch {gone} is gone; push it again, then `/retry`")
        given = await _text(mirror, base, SCOPE_FILE)
        scopes = parse(DEFAULT if given is None else given)
        briefing = await self._brief(mirror, wanted, worker, scopes, base, start)
        branch = f"tasks/{wanted.branch}/{task.name}-{task.run}"
        async with self._worktrees.lease(repo, branch, start) as worktree:
            outcome = await worker.runner.run(
                Task(
                    prompt=brief(briefing, self._prompts),
                    agent=task.agent,
                    scopes=scopes,
                    model=wanted.model,
                    account=account,
                    seconds=wanted.seconds or worker.seconds,
                    turns=wanted.turns or 80,
                ),
                worktree,
            )
            made = await self._commit(wanted, worktree, outcome)
        return self._told(about, outcome, made)

    async def _brief(
        self,
        mirror: Mirror,
        wanted: RunTask,
        worker: Worker,
        scopes: Scopes,
        base: str,
        start: str,
    ) -> Brief:
        """Only what the task needs (FR-019)."""
        task = wanted.task
        spec = await _text(mirror, start, f"{wanted.folder}/spec.md")
        tests: Sequence[str] = ()
        if wanted.testers and task.agent.casefold() != wanted.testers.casefold():
            tests = await _tests(mirror, scopes, wanted.testers, base, start)
        about = f"{task.text}\n{task.details}"
        return Brief(
            agent=task.agent,
            role=worker.description,
            title=wanted.title,
            task_id=task.name,
            text=task.text,
            details=task.details,
            acceptance=acceptance(spec or "", task.story, task.decisions),
            test_paths=tuple(tests),
            answers=wanted.answers,
            knowledge=tuple(await asyncio.to_thread(worker.knowledge, about)),
            writable=_patterns(scopes, task.agent),
            folder=wanted.folder,
        )

    async def _commit(self, wanted: RunTask, worktree: Worktree, outcome: Outcome) -> str | None:
        if not outcome.kept:
            return None
        task = wanted.task
        signed = [
            ("Agent", task.agent.lstrip("@")),
            ("Task", task.name),
            *(("Decision", name) for name in task.decisions),
            ("Run", f"{wanted.feature_id}.{task.name}.{task.run}"),
        ]
        author = self._author(task.agent)
        message = subject(task.name, task.text)
        return await commit(self._mirrors, worktree, outcome.kept, message, author, signed)

    def _told(self, about: TaskRan, outcome: Outcome, made: str | None) -> TaskRan:
        said = self._said(outcome.said)
        return replace(
            about,
            commit=made or "",
            files=tuple(dict.fromkeys(one.shown for one in outcome.kept))[:200],
            stopped=tuple(
                Stopped(one.change.shown[:400], self._said(one.reason)[:400])
                for one in outcome.dropped[:100]
            ),
            said=said[-2000:],
            blocked="" if made else self._said(blocked(outcome.said)),
            model=self._said(outcome.model)[:200],
            notes=outcome.notes[:20],
        )

    async def land(self, wanted: LandTask) -> TaskLanded:
        """Bring its commit onto the feature's branch; a refusal for good is told, too."""
        about = TaskLanded(wanted.feature_id, wanted.task, wanted.run)
        repo = wanted.place.repo
        try:
            await self._fetched(repo)
            found = await land(self._mirrors, repo, wanted.commit, wanted.branch)
        except GitFailed as error:
            return replace(about, error=self._said(str(error)))
        match found:
            case Landed(sha):
                return replace(about, head=sha)
            case Conflict(paths):
                return replace(about, conflict=tuple(escaped(path)[:400] for path in paths[:50]))
            case Lost():
                return replace(about, lost=True)

    async def _fetched(self, repo: str) -> Mirror:
        """The mirror as the remote is now; a token may have ended since it was given."""
        try:
            return await self._mirrors.mirror(repo)
        except GitRefused:
            self._forget(repo)
            return await self._mirrors.mirror(repo)

    async def read_large(self, repo: str, base: str, head: str, known: Pull) -> Pull:
        """See `app.execution.pulls.read_large`."""
        await self._fetched(repo)
        return await read_large(self._mirrors, repo, base, head, known)

    def _said(self, text: str) -> str:
        return without_secrets(visible(text), self._secrets)[0]


def subject(name: str, text: str) -> str:
    """The first line of a commit: no sign in it that GitHub, or anybody's tools, act upon."""
    plain = " ".join(_PLAIN.sub(" ", powerless(visible(text))).split())
    whole = textwrap.shorten(plain, _SUBJECT, placeholder=" …", break_on_hyphens=False)
    return f"{name} {one_line(plain, _SUBJECT) if whole == '…' else whole}".strip(" .")


def _patterns(scopes: Scopes, agent: str) -> tuple[str, ...]:
    wanted = agent.casefold()
    rules = () if scopes.flaws else scopes.rules
    return tuple(
        rule.pattern for rule in rules if wanted in {one.casefold() for one in rule.owners}
    )


async def _text(mirror: Mirror, commit_: str, path: str) -> str | None:
    """A file of a commit; None if it is not there."""
    done = await mirror.ask("cat-file", "blob", f"{commit_}:{path}")
    return None if done.code else done.output.decode("utf-8", "replace")


async def _tests(
    mirror: Mirror, scopes: Scopes, testers: str, base: str, start: str
) -> Sequence[str]:
    """The tests that were written for this feature: what of its changes is in their scope."""
    asked = ("diff", "--name-only", "-z", "--no-renames", "--diff-filter=AM", f"{base}...{start}")
    done = await mirror.ask(*asked, "--")
    changed = [] if done.code else names(done.output)
    wanted = testers.casefold()
    found = [
        path for path in changed if wanted in {one.casefold() for one in scopes.owners(path).owners}
    ]
    return found[:MOST_TESTS]


Workers = Mapping[str, Worker]
"""Role → who does its tasks."""
