"""Moving branches, and what follows from it: webhooks, and pull requests that have new commits."""

from __future__ import annotations

import time

from app.playground.box import Actor, Box, in_thread
from app.playground.deeds import Deeds
from app.playground.git import ZERO, Git
from app.playground.git_diff import commits_between
from app.playground.responses_git import GitResponses
from app.playground.state import Issue, Json, Repo, hide_seconds, now


async def moved(box: Box, actor: Actor, repo: Repo, name: str, old: str, new: str) -> None:
    """A reference has moved from `old` to `new` (`ZERO`: it was not there, or is gone)."""
    if old == new:
        return
    repo.pushed = now()
    if hide_seconds.get() and old == ZERO:
        repo.hidden_refs[name] = time.monotonic() + hide_seconds.get()
    git = box.git(repo)
    payload = await in_thread(_push_payload, box, repo, git, (name, old, new))
    doer = Deeds(box, actor, repo)
    payload["pusher"] = {"name": doer.who.login, "email": f"{doer.who.login}@example.invalid"}
    doer.tell("push", None, **payload)
    for issue in list(repo.issues.values()):
        if issue.pull and issue.state == "open" and name == f"refs/heads/{issue.pull.head}":
            _follow(doer, issue, old, new)


def _follow(doer: Deeds, issue: Issue, old: str, new: str) -> None:
    """An open pull request's head has moved."""
    if issue.pull is None:
        return
    if new == ZERO:
        doer.set_state(issue, "closed")
        return
    issue.pull.head_sha = new
    doer.note(issue, "pushed", new[:7])
    doer.tell_issue(issue, "synchronize", before=old, after=new)


def _push_payload(box: Box, repo: Repo, git: Git, move: tuple[str, str, str]) -> Json:
    name, old, new = move
    show = GitResponses(box, repo)
    shas: list[str] = []
    if new != ZERO and git.kind(new) == "commit":
        base = old if old != ZERO else git.ref(f"refs/heads/{repo.default_branch}")
        shas = commits_between(git, base, new)[-20:] if base else [new]
    commits = [show.hook_commit(git, git.commit(sha)) for sha in shas]
    return {
        "ref": name,
        "before": old,
        "after": new,
        "created": old == ZERO,
        "deleted": new == ZERO,
        "forced": ZERO not in (old, new) and not git.is_ancestor(old, new),
        "base_ref": None,
        "compare": f"{show.web}/compare/{old[:12]}...{new[:12]}",
        "commits": commits,
        "head_commit": commits[-1] if commits else None,
    }
