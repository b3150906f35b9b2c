"""The playground's own switches: faults, the log of writes, people, a new beginning."""

from __future__ import annotations

import hmac
import ipaddress
import json
from collections.abc import Awaitable, Callable
from dataclasses import asdict
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from app.playground.box import Box, in_thread
from app.playground.protection import KINDS, RULES, required
from app.playground.sample import first_commit, install
from app.playground.state import ROLES, Issue, Json, Repo, Role, User
from app.playground.webhooks import Delivery

Switch = Callable[[Box, Json], Awaitable[Any]]


def _allowed(request: Request, box: Box) -> bool:
    """Loopback may; anybody else needs the webhook's secret."""
    given = request.headers.get("x-playground-key", "")
    if hmac.compare_digest(given.encode(), box.config.webhook_secret.encode()):
        return True
    host = request.client.host if request.client else ""
    try:
        return ipaddress.ip_address(host).is_loopback and "origin" not in request.headers
    except ValueError:
        return False


def _switch(turn: Switch, status: int = 200) -> Callable[[Request], Awaitable[Response]]:
    """Make a switch an endpoint. What it is given is the body and the path's parts."""

    async def endpoint(request: Request) -> Response:
        box: Box = request.app.state.box
        await box.start()
        if not _allowed(request, box):
            return JSONResponse({"message": "Give X-Playground-Key."}, 403)
        try:
            data = json.loads(await request.body() or b"{}")
            return JSONResponse(await turn(box, {**data, **request.path_params}), status)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            return JSONResponse({"message": f"not understood: {error}"}, 422)

    return endpoint


async def add_fault(box: Box, data: Json) -> Json:
    box.faults.add(data)
    return {"pending": len(box.faults.pending)}


async def list_faults(box: Box, _: Json) -> list[Json]:
    return [asdict(fault) for fault in box.faults.pending]


async def clear_faults(box: Box, _: Json) -> Json:
    box.faults.clear()
    return {}


async def requests(box: Box, _: Json) -> list[Json]:
    return box.faults.entries()


async def reset(box: Box, _: Json) -> Json:
    await box.reset()
    return {}


# webhooks


async def webhook(box: Box, data: Json) -> Json:
    """Change the webhook's address (null: send nothing) or secret."""
    if "url" in data:
        box.hooks.url = data["url"] or None
    box.hooks.secret = str(data.get("secret") or box.hooks.secret)
    return {"url": box.hooks.url}


async def settle(box: Box, _: Json) -> Json:
    """Wait until no webhook is under way."""
    await box.hooks.settle()
    return {"deliveries": len(box.hooks.log)}


def _delivery(one: Delivery) -> Json:
    return {
        "id": one.id,
        "guid": one.guid,
        "event": one.event,
        "action": one.action,
        "redelivery": one.redelivery,
        "status": one.status,
        "status_code": one.status_code,
        "duration": one.duration,
        "url": one.url,
        "headers": one.request_headers,
        "payload": json.loads(one.body),
        "response": one.response,
    }


async def deliveries(box: Box, _: Json) -> list[Json]:
    """The newest first."""
    return [_delivery(one) for one in reversed(box.hooks.log)]


async def redeliver(box: Box, data: Json) -> Json:
    found = box.hooks.find(int(data["id"]))
    if found is None:
        raise ValueError("there is no such delivery")
    return {"id": box.hooks.again(found).id}


# people and places


async def add_repo(box: Box, data: Json) -> Json:
    """Make a repository with one commit, unless it is there; the first one's people work there."""
    owner, _, name = str(data["full_name"]).partition("/")
    repo = box.world.repo(owner, name)
    if repo is None:
        if owner not in box.world.orgs or not name:
            raise ValueError(f"no organisation {owner}")
        first = next(iter(box.world.repos.values()), None)
        repo = await in_thread(box.new_repo, owner, name, private=bool(data.get("private")))
        repo.collaborators = dict(first.collaborators) if first else {}
        files = data.get("files") or {"README.md": f"# {name}\n"}
        await in_thread(first_commit, box, repo, {k: str(v).encode() for k, v in files.items()})
    return _repo(repo)


async def add_user(box: Box, data: Json) -> Json:
    """Make a user, or take the one there is; give a role in one or all repositories.

    `role` is one of GitHub's; `role_name` names an organisation's own role on top of it.
    """
    login, role = str(data["login"]), data.get("role")
    if role is not None and role not in ROLES:
        raise ValueError(f"role is one of {', '.join(ROLES)}")
    user = box.world.users.get(login.lower())
    if user is None:
        user = User(box.world.new_id(), login, str(data.get("name") or login))
        box.world.users[login.lower()] = user
    for repo in box.world.repos.values():
        if role and data.get("repo") in (None, repo.full_name):
            repo.collaborators[user.login] = Role(role, str(data.get("role_name") or ""))
    return {"login": user.login, "id": user.id, "token": f"ghp_{user.login}"}


async def install_app(box: Box, data: Json) -> Json:
    """Install an App (`app`: its slug), or take it away (`installed`: false)."""
    found = next((app for app in box.config.apps if app.slug == data["app"]), None)
    if found is None:
        raise ValueError(f"no App {data['app']}")
    made = install(box, found.id)
    if not data.get("installed", True):
        del box.world.installations[made.id]
    return {"id": made.id}


async def require_checks(box: Box, data: Json) -> Json:
    """Which checks a branch requires; `kind` says where that is written: `rules` or `classic`."""
    repo = box.world.repo(*str(data["repo"]).split("/", 1))
    kind, branch = str(data.get("kind") or RULES), str(data["branch"])
    if repo is None or kind not in KINDS:
        raise ValueError(f"give a repository that is there, and as kind {' or '.join(KINDS)}")
    repo.required[kind, branch] = [str(name) for name in data["names"]]
    return {"required": required(repo, branch)}


async def state(box: Box, _: Json) -> Json:
    """All of it in short."""
    world = box.world
    return {
        "users": [user.login for user in world.users.values()],
        "installations": [{"id": i.id, "account": i.account} for i in world.installations.values()],
        "repositories": [_repo(repo) for repo in world.repos.values()],
        "webhook": box.hooks.url,
        "deliveries": len(box.hooks.log),
        "writes": len(box.faults.log),
    }


def _repo(repo: Repo) -> Json:
    return {
        "id": repo.id,
        "full_name": repo.full_name,
        "private": repo.private,
        "collaborators": {k: role.name or role.base for k, role in repo.collaborators.items()},
        "labels": [label.name for label in repo.labels.values()],
        "issues": [_issue(issue) for issue in repo.issues.values()],
        "checks": [
            {"name": c.name, "head_sha": c.head_sha, "status": c.status, "conclusion": c.conclusion}
            for c in repo.checks
        ],
    }


def _issue(issue: Issue) -> Json:
    return {
        "number": issue.number,
        "title": issue.title,
        "state": issue.state,
        "user": issue.user.login,
        "labels": list(issue.labels),
        "pull_request": issue.pull is not None,
        "comments": [
            {
                "id": c.id,
                "user": c.user.login,
                "body": c.body,
                "edited": c.edited,
                "reactions": [[r.user.login, r.content] for r in c.reactions],
            }
            for c in issue.comments
        ],
    }


ROUTES = [
    Route("/_playground/faults", _switch(add_fault, 201), methods=["POST"]),
    Route("/_playground/faults", _switch(clear_faults), methods=["DELETE"]),
    Route("/_playground/faults", _switch(list_faults), methods=["GET"]),
    Route("/_playground/requests", _switch(requests)),
    Route("/_playground/reset", _switch(reset), methods=["POST"]),
    Route("/_playground/webhook", _switch(webhook), methods=["POST"]),
    Route("/_playground/settle", _switch(settle), methods=["POST"]),
    Route("/_playground/deliveries", _switch(deliveries)),
    Route("/_playground/deliveries/{id:int}", _switch(redeliver, 202), methods=["POST"]),
    Route("/_playground/repos", _switch(add_repo), methods=["POST"]),
    Route("/_playground/users", _switch(add_user), methods=["POST"]),
    Route("/_playground/apps", _switch(install_app), methods=["PUT"]),
    Route("/_playground/required-checks", _switch(require_checks), methods=["PUT"]),
    Route("/_playground/state", _switch(state)),
]
