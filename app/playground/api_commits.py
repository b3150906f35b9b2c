"""REST: the commits of a repository, one by one and compared."""

from __future__ import annotations

from starlette.responses import Response
from starlette.routing import Route

from app.playground.api_git import ROOT, repo_of, resolve
from app.playground.box import in_thread
from app.playground.calls import Call, api
from app.playground.errors import not_found
from app.playground.git import CommitInfo, Git
from app.playground.git_diff import ahead_behind, changed_files, commits_between, merge_base
from app.playground.responses_git import GitResponses
from app.playground.state import Json

FILES, MOST_FILES = 300, 3_000
"""Files of a commit that GitHub gives unasked, and on all pages together."""


async def list_commits(call: Call) -> Response:
    repo, git, show = repo_of(call)
    start = await resolve(repo, git, call.query("sha") or repo.default_branch)
    found = await in_thread(git.log, start, call.query("path"))
    return call.listed(found, show.commit)


async def get_commit(call: Call) -> Response:
    repo, git, show = repo_of(call)
    info = await in_thread(git.commit, await resolve(repo, git, call.part("ref")))
    data = await in_thread(_with_files, git, show, info)
    if not call.query("per_page"):
        return call.reply({**data, "files": data["files"][:FILES]})
    files, headers = call.page_of(data["files"][:MOST_FILES])
    return call.reply({**data, "files": files}, headers=headers)


def _with_files(git: Git, show: GitResponses, info: CommitInfo) -> Json:
    files = changed_files(git, info.parents[0], info.sha) if info.parents else []
    added, deleted = sum(f.additions for f in files), sum(f.deletions for f in files)
    stats = {"additions": added, "deletions": deleted, "total": added + deleted}
    shown = [show.changed(file, info.sha) for file in files]
    return {**show.commit(info), "stats": stats, "files": shown}


async def compare(call: Call) -> Response:
    repo, git, show = repo_of(call)
    base_name, dots, head_name = call.part("spec").partition("...")
    if not dots:
        raise not_found()
    base, head = await resolve(repo, git, base_name), await resolve(repo, git, head_name)
    data = await in_thread(_comparison, git, show, base, head)
    page = f"{show.web}/compare/{base_name}...{head_name}"
    data |= {"html_url": page, "permalink_url": page, "diff_url": page + ".diff"}
    return call.reply({**data, "patch_url": page + ".patch"})


def _comparison(git: Git, show: GitResponses, base: str, head: str) -> Json:
    common = merge_base(git, base, head)
    if common is None:
        raise not_found()
    ahead, behind = ahead_behind(git, base, head)
    status = {(True, True): "diverged", (True, False): "ahead", (False, True): "behind"}
    commits = [git.commit(sha) for sha in commits_between(git, base, head)]
    return {
        "url": f"{show.api}/compare/{base}...{head}",
        "base_commit": show.commit(git.commit(base)),
        "merge_base_commit": show.commit(git.commit(common)),
        "status": status.get((ahead > 0, behind > 0), "identical"),
        "ahead_by": ahead,
        "behind_by": behind,
        "total_commits": ahead,
        "commits": [show.commit(info) for info in commits],
        "files": [show.changed(file, head) for file in changed_files(git, common, head)],
    }


ROUTES = [
    Route(ROOT + "/commits", api(list_commits)),
    Route(ROOT + "/commits/{ref:path}", api(get_commit)),
    Route(ROOT + "/compare/{spec:path}", api(compare)),
]
