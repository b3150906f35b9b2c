"""Pages: pull requests with their commits, checks and files."""

from __future__ import annotations

from starlette.responses import Response
from starlette.routing import Route

from app.playground.box import Box, in_thread
from app.playground.deeds import Deeds
from app.playground.deeds_pulls import merge
from app.playground.errors import not_found
from app.playground.git_diff import changed_files, commits_between, merge_base
from app.playground.pages import thread
from app.playground.protection import obstacle, required
from app.playground.responses_pulls import pull_of
from app.playground.state import Issue, Json, Repo, visible
from app.playground.views import Visit, back, page

ROOT = "/{owner}/{repo}"
ONE = ROOT + "/pull/{number:int}"
TABS = ("", "commits", "checks", "files")


async def pulls(visit: Visit) -> Response:
    """The list, the newest first."""
    repo = visit.repo()
    found = [issue for issue in reversed(visible(repo.issues.values())) if issue.pull]
    return visit.page("pulls.html", repo=repo, pulls=found)


def _changes(box: Box, repo: Repo, issue: Issue) -> Json:
    pull, git = pull_of(issue), box.git(repo)
    common = merge_base(git, pull.base_sha, pull.head_sha) or pull.base_sha
    return {
        "commits": [git.commit(sha) for sha in commits_between(git, common, pull.head_sha)],
        "files": changed_files(git, common, pull.head_sha),
        "checks": [check for check in visible(repo.checks) if check.head_sha == pull.head_sha],
        "required": required(repo, pull.base),
        "obstacle": obstacle(repo, pull),
    }


async def show_pull(visit: Visit) -> Response:
    """The conversation, or the tab of the address."""
    repo, tab = visit.repo(), visit.request.path_params.get("tab", "")
    issue = visit.issue(repo)
    if issue.pull is None or tab not in TABS:
        raise not_found()
    changes = await in_thread(_changes, visit.box, repo, issue)
    return visit.page("pull.html", tab=tab, **thread(visit, repo, issue), **changes)


async def merge_pull(visit: Visit) -> Response:
    repo = visit.repo()
    issue = visit.issue(repo)
    if issue.pull is None:
        raise not_found()
    await merge(Deeds(visit.box, visit.actor, repo), issue, {})
    return back(f"/{repo.full_name}/pull/{issue.number}")


ROUTES = [
    Route(ROOT + "/pulls", page(pulls)),
    Route(ONE, page(show_pull)),
    Route(ONE + "/merge", page(merge_pull), methods=["POST"]),
    Route(ONE + "/{tab}", page(show_pull)),
]
