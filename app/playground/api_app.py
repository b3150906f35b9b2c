"""REST: the App, its installations, and its webhook's deliveries."""

from __future__ import annotations

from datetime import UTC, datetime

from starlette.responses import Response
from starlette.routing import Route

from app.playground.auth import new_token
from app.playground.calls import Call, api
from app.playground.errors import ApiError, not_found
from app.playground.responses import PERMISSIONS
from app.playground.responses_people import stamp
from app.playground.state import ROLES, Installation, Json
from app.playground.webhooks import Delivery


def _only_app(call: Call) -> None:
    if call.actor.kind != "app":
        raise ApiError(401, "A JSON web token could not be decoded")


async def get_app(call: Call) -> Response:
    _only_app(call)
    return call.reply(call.show.app(call.box.config.app(call.actor.app)))


async def list_installations(call: Call) -> Response:
    _only_app(call)
    every = call.box.world.installations.values()
    return call.listed([i for i in every if i.app == call.actor.app], call.show.installation)


def _own(call: Call) -> Installation:
    """The installation of the path; another App's is hidden."""
    found = call.box.world.installations.get(call.number("id"))
    if found is None or found.app != call.actor.app:
        raise not_found()
    return found


async def get_installation(call: Call) -> Response:
    _only_app(call)
    return call.reply(call.show.installation(_own(call)))


async def repo_installation(call: Call) -> Response:
    _only_app(call)
    repo = call.box.world.repo(call.part("owner"), call.part("repo"))
    found = call.box.world.installation_of(repo.owner, call.actor.app) if repo else None
    if found is None:
        raise not_found()
    return call.reply(call.show.installation(found))


async def create_token(call: Call) -> Response:
    _only_app(call)
    secret, token = new_token(call.box, _own(call).id)
    data = {
        "token": secret,
        "expires_at": stamp(datetime.fromtimestamp(token.expires, UTC)),
        "permissions": PERMISSIONS,
        "repository_selection": "all",
    }
    return call.reply(data, 201)


async def installation_repositories(call: Call) -> Response:
    if call.actor.kind != "installation":
        raise ApiError(
            403,
            "You must authenticate with an installation access token in order to "
            "list repositories for an installation.",
        )
    box = call.box
    repos = [r for r in box.world.repos.values() if box.role(call.actor, r) in ROLES[3:]]
    page, headers = call.page_of(repos)
    data = {
        "total_count": len(repos),
        "repository_selection": "all",
        "repositories": [call.show.repo(repo) for repo in page],
    }
    return call.reply(data, headers=headers)


# webhook deliveries


def _log(call: Call) -> list[Delivery]:
    """What was delivered to the App that asks: webhooks go to the first alone."""
    _only_app(call)
    return call.box.hooks.log if call.actor.app == call.box.config.app_id else []


def _item(delivery: Delivery) -> Json:
    return {
        "id": delivery.id,
        "guid": delivery.guid,
        "delivered_at": stamp(delivery.delivered),
        "redelivery": delivery.redelivery,
        "duration": delivery.duration,
        "status": delivery.status,
        "status_code": delivery.status_code,
        "event": delivery.event,
        "action": delivery.action,
        "installation_id": delivery.installation,
        "repository_id": delivery.repository,
        "throttled_at": None,
    }


async def hook_config(call: Call) -> Response:
    _only_app(call)
    data = {"content_type": "json", "insecure_ssl": "0", "secret": "********"}
    return call.reply({**data, "url": call.box.hooks.url or ""})


async def list_deliveries(call: Call) -> Response:
    """The newest first, those that have ended; `cursor` is the id to go on below."""
    log = _log(call)
    cursor = call.query("cursor").removeprefix("v1_")
    size = call.query("per_page")
    count = min(int(size), 100) if size.isdigit() and int(size) else 30
    ended = [d for d in reversed(log) if d.status != "pending"]
    if cursor.isdigit():
        ended = [d for d in ended if d.id < int(cursor)]
    more = len(ended) > count
    page = ended[:count]
    headers = call.link_next(cursor=f"v1_{page[-1].id}") if more else {}
    return call.reply([_item(d) for d in page], headers=headers)


def _delivery(call: Call) -> Delivery:
    wanted = call.number("id")
    found = next((delivery for delivery in _log(call) if delivery.id == wanted), None)
    if found is None:
        raise not_found()
    return found


async def get_delivery(call: Call) -> Response:
    import json

    found = _delivery(call)
    data = {
        **_item(found),
        "url": found.url,
        "request": {"headers": found.request_headers, "payload": json.loads(found.body)},
        "response": {"headers": found.response_headers, "payload": found.response},
    }
    return call.reply(data)


async def redeliver(call: Call) -> Response:
    call.box.hooks.again(_delivery(call))
    return call.reply({}, 202)


ROUTES = [
    Route("/app", api(get_app)),
    Route("/app/installations", api(list_installations)),
    Route("/app/installations/{id}", api(get_installation)),
    Route("/app/installations/{id}/access_tokens", api(create_token), methods=["POST"]),
    Route("/app/hook/config", api(hook_config)),
    Route("/app/hook/deliveries", api(list_deliveries)),
    Route("/app/hook/deliveries/{id}", api(get_delivery)),
    Route("/app/hook/deliveries/{id}/attempts", api(redeliver), methods=["POST"]),
    Route("/installation/repositories", api(installation_repositories)),
    Route("/repos/{owner}/{repo}/installation", api(repo_installation)),
]
