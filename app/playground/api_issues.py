"""REST: issues, their labels, assignees, comments and reactions."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from starlette.responses import Response
from starlette.routing import Route

from app.playground.calls import Call, api
from app.playground.deeds import Deeds
from app.playground.errors import ApiError, invalid, not_found
from app.playground.state import Comment, Issue, Json, Reaction, Repo, User, visible

ISSUES = "/repos/{owner}/{repo}/issues"
ISSUE = ISSUES + "/{number:int}"
COMMENT = ISSUES + "/comments/{comment:int}"


def deeds(call: Call, repo: Repo) -> Deeds:
    """The caller's deeds in a repository."""
    return Deeds(call.box, call.actor, repo)


def _since(call: Call, items: list[Any]) -> list[Any]:
    text = call.query("since")
    if not text:
        return items
    try:
        moment = datetime.fromisoformat(text.replace("Z", "+00:00"))
    except ValueError as error:
        raise invalid("Issue", "since") from error
    return [item for item in items if item.updated >= moment]


def _sorted(call: Call, items: list[Any], descending: bool) -> list[Any]:
    order = {"updated": lambda item: (item.updated, item.id)}
    key = order.get(call.query("sort"), lambda item: item.id)
    return sorted(items, key=key, reverse=descending)


def _text(data: Json, name: str) -> str | None:
    """A field that is text; None if it is not given."""
    if name not in data:
        return None
    return str(data[name] if data[name] is not None else "")


def _names(data: Json) -> list[str]:
    return [str(x["name"] if isinstance(x, dict) else x) for x in data.get("labels") or []]


def _people(call: Call, data: Json) -> list[User]:
    found = [call.box.world.user(str(login)) for login in data.get("assignees") or []]
    return [user for user in found if user]


# issues


async def list_issues(call: Call) -> Response:
    repo = call.repo()
    state, labels = call.query("state", "open"), call.query("labels")
    items = _since(call, visible(repo.issues.values()))
    items = [issue for issue in items if state in (issue.state, "all")]
    for name in filter(None, labels.split(",")):
        items = [issue for issue in items if name.lower() in map(str.lower, issue.labels)]
    if creator := call.query("creator"):
        items = [issue for issue in items if issue.user.login == creator]
    items = _sorted(call, items, call.query("direction", "desc") == "desc")
    return call.listed(items, lambda issue: call.show.issue(repo, issue))


async def create_issue(call: Call) -> Response:
    repo, data = call.repo(), await call.json()
    title = _text(data, "title")
    if title is None:
        raise ApiError(422, 'Invalid request.\n\n"title" wasn\'t supplied.')
    issue = deeds(call, repo).open_issue(
        title, _text(data, "body") or "", _names(data), _people(call, data)
    )
    return call.reply(call.show.issue(repo, issue), 201)


async def get_issue(call: Call) -> Response:
    repo = call.repo()
    return call.reply(call.show.issue(repo, call.issue(repo)))


async def update_issue(call: Call) -> Response:
    repo, data = call.repo(), await call.json()
    issue, doer = call.issue(repo), deeds(call, repo)
    doer.need("triage", issue.user)
    if "title" in data or "body" in data:
        doer.edit_issue(issue, _text(data, "title"), _text(data, "body"))
    if "labels" in data:
        doer.set_labels(issue, _names(data))
    if "assignees" in data:
        people = _people(call, data)
        doer.unassign(issue, [user for user in issue.assignees if user not in people])
        doer.assign(issue, people)
    if "state" in data:
        doer.set_state(issue, str(data["state"]), data.get("state_reason"))
    return call.reply(call.show.issue(repo, issue))


async def delete_issue(call: Call) -> Response:
    """Not in GitHub's REST API: stands in for the GraphQL mutation."""
    repo = call.repo()
    deeds(call, repo).delete_issue(call.issue(repo))
    return Response(status_code=204)


async def transfer_issue(call: Call) -> Response:
    """Not in GitHub's REST API: stands in for the GraphQL mutation."""
    repo, data = call.repo(), await call.json()
    owner, name = str(data.get("new_owner") or repo.owner), str(data.get("new_repo") or "")
    target = call.box.world.repo(owner, name)
    if target is None or target is repo:
        raise invalid("Issue", "new_repo")
    moved = deeds(call, repo).transfer(call.issue(repo), target)
    return call.reply(call.show.issue(target, moved), 201)


# labels and assignees


def _labels(call: Call, repo: Repo, issue: Issue) -> Response:
    found = [label for label in map(repo.label, issue.labels) if label]
    return call.listed(found, lambda label: call.show.label(repo, label))


async def issue_labels(call: Call) -> Response:
    repo = call.repo()
    return _labels(call, repo, call.issue(repo))


async def change_labels(call: Call) -> Response:
    """POST adds, PUT replaces, DELETE takes all or the named one off."""
    repo = call.repo()
    issue, doer, method = call.issue(repo), deeds(call, repo), call.request.method
    if method == "DELETE":
        named = call.request.path_params.get("name")
        for name in [named] if named else list(issue.labels):
            doer.remove_label(issue, name)
        return _labels(call, repo, issue) if named else Response(status_code=204)
    names = _names(await call.json())
    if method == "PUT":
        doer.set_labels(issue, names)
    else:
        doer.add_labels(issue, names)
    return _labels(call, repo, issue)


async def change_assignees(call: Call) -> Response:
    repo, data = call.repo(), await call.json()
    issue, doer, people = call.issue(repo), deeds(call, repo), _people(call, data)
    if call.request.method == "POST":
        doer.assign(issue, people)
        return call.reply(call.show.issue(repo, issue), 201)
    doer.unassign(issue, people)
    return call.reply(call.show.issue(repo, issue))


# comments


async def list_comments(call: Call) -> Response:
    repo = call.repo()
    issue = call.issue(repo)
    items = _since(call, visible(issue.comments))
    return call.listed(items, lambda comment: call.show.comment(repo, issue, comment))


async def repo_comments(call: Call) -> Response:
    repo = call.repo()
    homes = {c.id: i for i in repo.issues.values() for c in i.comments}
    items = _since(call, [c for i in repo.issues.values() for c in visible(i.comments)])
    descending = bool(call.query("sort")) and call.query("direction") == "desc"
    items = _sorted(call, items, descending)
    return call.listed(items, lambda c: call.show.comment(repo, homes[c.id], c))


async def create_comment(call: Call) -> Response:
    repo, data = call.repo(), await call.json()
    issue, body = call.issue(repo), _text(data, "body")
    if body is None:
        raise ApiError(422, 'Invalid request.\n\n"body" wasn\'t supplied.')
    comment = deeds(call, repo).comment(issue, body)
    shown = call.show.comment(repo, issue, comment)
    return call.reply(shown, 201, {"Location": shown["url"]})


async def get_comment(call: Call) -> Response:
    repo = call.repo()
    return call.reply(call.show.comment(repo, *call.comment(repo)))


async def update_comment(call: Call) -> Response:
    repo, data = call.repo(), await call.json()
    issue, comment = call.comment(repo)
    deeds(call, repo).edit_comment(issue, comment, _text(data, "body") or "")
    return call.reply(call.show.comment(repo, issue, comment))


async def delete_comment(call: Call) -> Response:
    repo = call.repo()
    deeds(call, repo).delete_comment(*call.comment(repo))
    return Response(status_code=204)


# reactions


def _reactions(call: Call, repo: Repo) -> list[Reaction]:
    """Those of the comment or the issue of the path."""
    found: Issue | Comment
    found = call.comment(repo)[1] if "comment" in call.request.path_params else call.issue(repo)
    return found.reactions


async def list_reactions(call: Call) -> Response:
    found = _reactions(call, call.repo())
    if content := call.query("content"):
        found = [reaction for reaction in found if reaction.content == content]
    return call.listed(found, call.show.reaction)


async def create_reaction(call: Call) -> Response:
    repo, data = call.repo(), await call.json()
    reactions = _reactions(call, repo)
    reaction, fresh = deeds(call, repo).react(reactions, str(data.get("content")))
    return call.reply(call.show.reaction(reaction), 201 if fresh else 200)


async def delete_reaction(call: Call) -> Response:
    repo = call.repo()
    reactions = _reactions(call, repo)
    if not any(reaction.id == call.number("reaction") for reaction in reactions):
        raise not_found()
    deeds(call, repo).unreact(reactions, call.number("reaction"))
    return Response(status_code=204)


def _reaction_routes(root: str) -> list[Route]:
    one = root + "/reactions/{reaction:int}"
    return [
        Route(root + "/reactions", api(list_reactions), methods=["GET"]),
        Route(root + "/reactions", api(create_reaction), methods=["POST"]),
        Route(one, api(delete_reaction), methods=["DELETE"]),
    ]


ROUTES = [
    Route(ISSUES, api(list_issues), methods=["GET"]),
    Route(ISSUES, api(create_issue), methods=["POST"]),
    Route(ISSUES + "/comments", api(repo_comments)),
    Route(COMMENT, api(get_comment), methods=["GET"]),
    Route(COMMENT, api(update_comment), methods=["PATCH"]),
    Route(COMMENT, api(delete_comment), methods=["DELETE"]),
    *_reaction_routes(COMMENT),
    Route(ISSUE, api(get_issue), methods=["GET"]),
    Route(ISSUE, api(update_issue), methods=["PATCH"]),
    Route(ISSUE, api(delete_issue), methods=["DELETE"]),
    Route(ISSUE + "/transfer", api(transfer_issue), methods=["POST"]),
    Route(ISSUE + "/labels", api(issue_labels), methods=["GET"]),
    Route(ISSUE + "/labels", api(change_labels), methods=["POST", "PUT", "DELETE"]),
    Route(ISSUE + "/labels/{name:path}", api(change_labels), methods=["DELETE"]),
    Route(ISSUE + "/assignees", api(change_assignees), methods=["POST", "DELETE"]),
    Route(ISSUE + "/comments", api(list_comments), methods=["GET"]),
    Route(ISSUE + "/comments", api(create_comment), methods=["POST"]),
    *_reaction_routes(ISSUE),
]
