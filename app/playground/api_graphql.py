"""GraphQL: drafts, review threads, and nothing else."""

from __future__ import annotations

from starlette.responses import Response
from starlette.routing import Route

from app.playground.box import Box, in_thread
from app.playground.calls import Call, api
from app.playground.deeds import Deeds
from app.playground.deeds_pulls import set_draft, set_resolved
from app.playground.errors import ApiError
from app.playground.faults import GRAPHQL
from app.playground.git_diff import same_file
from app.playground.graphql import Asked, GraphError, connection
from app.playground.responses_people import node
from app.playground.responses_pulls import pull_of, thread_node
from app.playground.state import Issue, Json, Repo, User, visible
from app.playground.state_pulls import ReviewComment

_KINDS = {401: "UNAUTHENTICATED", 403: "FORBIDDEN", 404: "NOT_FOUND"}


async def graphql(call: Call) -> Response:
    """One operation; refusals come with status 200, as on GitHub."""
    data = await call.json()
    if call.actor.user is None:
        raise ApiError(401, "This endpoint requires you to be authenticated.")
    variables = data.get("variables") or {}
    asked = Asked(str(data.get("query") or ""), variables if isinstance(variables, dict) else {})
    try:
        return call.reply({"data": asked.only(await _perform(call, asked))})
    except GraphError as error:
        return call.reply(error.body)


async def _perform(call: Call, asked: Asked) -> Json:
    mutation = asked.mutation()
    if mutation is not None:
        return _mutate(call, *mutation)
    if asked.arguments("repository") is None:
        text = "The playground knows a few operations only (app/playground/graphql.py): not this."
        raise GraphError("", text)
    return await _query(call, asked)


def _mutate(call: Call, name: str, target: str) -> Json:
    try:
        if name.endswith("ReviewThread"):
            return {name: {"thread": _resolve(call, target, name == "resolveReviewThread")}}
        repo, issue = _pull(call, target)
        set_draft(Deeds(call.box, call.actor, repo), issue, name == "convertPullRequestToDraft")
        return {name: {"pullRequest": _pull_json(issue)}}
    except ApiError as error:
        kind = _KINDS.get(error.status, "UNPROCESSABLE")
        raise GraphError(kind, error.message, [name], {name: None}) from error


def _unknown(target: str) -> ApiError:
    return ApiError(404, f"Could not resolve to a node with the global id of '{target}'.")


def _pull(call: Call, target: str) -> tuple[Repo, Issue]:
    """The pull request with this id, if the actor may see it."""
    for repo in _readable(call):
        for issue in visible(repo.issues.values()):
            if issue.pull and node("PR", issue.pull.id) == target:
                return repo, issue
    raise _unknown(target)


def _resolve(call: Call, target: str, resolved: bool) -> Json:
    for repo in _readable(call):
        for issue in visible(repo.issues.values()):
            for first in issue.pull.threads() if issue.pull else ():
                if thread_node(first) == target:
                    set_resolved(Deeds(call.box, call.actor, repo), issue, first, resolved)
                    return {"id": target, "isResolved": first.resolved}
    raise _unknown(target)


def _readable(call: Call) -> list[Repo]:
    return [r for r in call.box.world.repos.values() if call.box.may(call.actor, r, "read")]


async def _query(call: Call, asked: Asked) -> Json:
    """`repository { pullRequest { reviewThreads } }`."""
    where = asked.arguments("repository") or {}
    owner, name = str(where.get("owner")), str(where.get("name"))
    repo = call.box.world.repo(owner, name)
    if repo is None or not call.box.may(call.actor, repo, "read"):
        text = f"Could not resolve to a Repository with the name '{owner}/{name}'."
        raise GraphError("NOT_FOUND", text, ["repository"], {"repository": None})
    number = (asked.arguments("pullRequest") or {}).get("number")
    found = [i for i in visible(repo.issues.values()) if i.pull and i.number == number]
    if not found:
        text = f"Could not resolve to a PullRequest with the number of {number}."
        data = {"repository": {"pullRequest": None}}
        raise GraphError("NOT_FOUND", text, ["repository", "pullRequest"], data)
    issue = found[0]
    shown = _pull_json(issue)
    paging = asked.arguments("reviewThreads")
    if paging is not None:
        inner = asked.arguments("comments") or {}
        threads = await in_thread(_threads, call.box, repo, issue, inner)
        shown["reviewThreads"] = connection(threads, paging, "PullRequest", "reviewThreads")
    return {"repository": {"pullRequest": shown}}


def _pull_json(issue: Issue) -> Json:
    pull = pull_of(issue)
    return {
        "id": node("PR", pull.id),
        "number": issue.number,
        "title": issue.title,
        "body": issue.body,
        "state": "MERGED" if pull.merged else issue.state.upper(),
        "isDraft": pull.draft,
        "merged": pull.merged is not None,
        "headRefOid": pull.head_sha,
    }


def _threads(box: Box, repo: Repo, issue: Issue, comments: Json) -> list[Json]:
    """The threads, the oldest first. Blocking: asks git whether the lines still stand."""
    pull, git, found = pull_of(issue), box.git(repo), []
    for first, replies in pull.threads().items():
        fresh = same_file(git, first.commit, pull.head_sha, first.path)
        said = [_comment(box, repo, issue, one) for one in (first, *replies)]
        thread = {
            "id": thread_node(first),
            "isResolved": first.resolved,
            "isOutdated": not fresh,
            "path": first.path,
            "line": first.line if fresh else None,
            "originalLine": first.line,
        }
        if comments:
            thread["comments"] = connection(said, comments, "PullRequestReviewThread", "comments")
        found.append(thread)
    return found


def _comment(box: Box, repo: Repo, issue: Issue, comment: ReviewComment) -> Json:
    return {
        "id": node("PRRC", comment.id),
        "databaseId": comment.id,
        "body": comment.body,
        "url": f"{box.show.issue_page(repo, issue)}#discussion_r{comment.id}",
        "author": _author(comment.user),
    }


def _author(user: User) -> Json:
    """GraphQL knows an App's user by its slug alone."""
    return {"login": user.login.removesuffix("[bot]"), "__typename": user.kind}


ROUTES = [Route("/graphql", api(graphql), methods=["POST"])]
OUTSIDE = [Route(path, api(graphql), methods=["POST"]) for path in GRAPHQL]
