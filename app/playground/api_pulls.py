"""REST: pull requests."""

from __future__ import annotations

from starlette.responses import Response
from starlette.routing import Route

from app.playground.api_git import ROOT
from app.playground.box import in_thread
from app.playground.calls import Call, api
from app.playground.deeds import Deeds
from app.playground.deeds_pulls import merge, open_pull
from app.playground.errors import not_found
from app.playground.git_diff import changed_files, commits_between, merge_base
from app.playground.responses_git import GitResponses
from app.playground.responses_pulls import pull_json, pull_of, simple_pull
from app.playground.state import Issue, Repo, visible

PULLS = ROOT + "/pulls"
ONE = PULLS + "/{number:int}"
MOST_FILES = 3000


def pull_issue(call: Call, repo: Repo) -> Issue:
    """The pull request of the path, or 404."""
    issue = call.issue(repo)
    if issue.pull is None:
        raise not_found()
    return issue


async def shown(call: Call, repo: Repo, issue: Issue, status: int = 200) -> Response:
    """The pull request as an answer."""
    return call.reply(await in_thread(pull_json, call.box, repo, issue), status)


async def list_pulls(call: Call) -> Response:
    repo = call.repo()
    state, head, base = call.query("state", "open"), call.query("head"), call.query("base")
    found = []
    for issue in visible(repo.issues.values()):
        pull = issue.pull
        if pull is None or state not in (issue.state, "all"):
            continue
        if head in ("", f"{repo.owner}:{pull.head}") and base in ("", pull.base):
            found.append(issue)
    ascending = call.query("direction") == "asc"
    found.sort(key=lambda issue: issue.number, reverse=not ascending)
    return call.listed(found, lambda issue: simple_pull(call.box, repo, issue))


async def create_pull(call: Call) -> Response:
    repo, data = call.repo(), await call.json()
    issue = await open_pull(Deeds(call.box, call.actor, repo), data)
    return await shown(call, repo, issue, 201)


async def get_pull(call: Call) -> Response:
    repo = call.repo()
    return await shown(call, repo, pull_issue(call, repo))


async def update_pull(call: Call) -> Response:
    repo, data = call.repo(), await call.json()
    issue, doer = pull_issue(call, repo), Deeds(call.box, call.actor, repo)
    texts = {name: data[name] or "" for name in ("title", "body") if name in data}
    doer.edit_issue(issue, texts.get("title"), texts.get("body"))
    if data.get("base"):
        pull_of(issue).base = str(data["base"])
    if data.get("state"):
        doer.set_state(issue, str(data["state"]))
    return await shown(call, repo, issue)


async def pull_files(call: Call) -> Response:
    repo = call.repo()
    pull, git = pull_of(pull_issue(call, repo)), call.box.git(repo)
    common = await in_thread(merge_base, git, pull.base_sha, pull.head_sha)
    files = await in_thread(changed_files, git, common or pull.base_sha, pull.head_sha)
    show = GitResponses(call.box, repo)
    return call.listed(files[:MOST_FILES], lambda file: show.changed(file, pull.head_sha))


async def pull_commits(call: Call) -> Response:
    repo = call.repo()
    pull, git = pull_of(pull_issue(call, repo)), call.box.git(repo)
    shas = await in_thread(commits_between, git, pull.base_sha, pull.head_sha)
    show = GitResponses(call.box, repo)
    infos = [await in_thread(git.commit, sha) for sha in shas]
    return call.listed(infos, show.commit)


async def pulls_of_commit(call: Call) -> Response:
    """The pull requests whose head a commit is."""
    repo, sha = call.repo(), call.part("sha")
    found = [
        issue
        for issue in visible(repo.issues.values())
        if issue.pull is not None and issue.pull.head_sha == sha
    ]
    return call.listed(found, lambda issue: simple_pull(call.box, repo, issue))


async def is_merged(call: Call) -> Response:
    repo = call.repo()
    if pull_of(pull_issue(call, repo)).merged is None:
        raise not_found()
    return Response(status_code=204)


async def merge_pull(call: Call) -> Response:
    repo, data = call.repo(), await call.json()
    sha = await merge(Deeds(call.box, call.actor, repo), pull_issue(call, repo), data)
    return call.reply({"sha": sha, "merged": True, "message": "Pull Request successfully merged"})


ROUTES = [
    Route(PULLS, api(list_pulls), methods=["GET"]),
    Route(PULLS, api(create_pull), methods=["POST"]),
    Route(ONE, api(get_pull), methods=["GET"]),
    Route(ONE, api(update_pull), methods=["PATCH"]),
    Route(ROOT + "/commits/{sha}/pulls", api(pulls_of_commit), methods=["GET"]),
    Route(ONE + "/files", api(pull_files)),
    Route(ONE + "/commits", api(pull_commits)),
    Route(ONE + "/merge", api(is_merged), methods=["GET"]),
    Route(ONE + "/merge", api(merge_pull), methods=["PUT"]),
]
