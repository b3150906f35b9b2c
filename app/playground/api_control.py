"""The playground's own switches: faults, the log of writes, a new beginning."""

from __future__ import annotations

import hmac
import ipaddress

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from app.playground.box import Box


def _refusal(request: Request) -> Response | None:
    """Loopback may; anybody else needs the webhook's secret."""
    box: Box = request.app.state.box
    given = request.headers.get("x-playground-key", "")
    if hmac.compare_digest(given.encode(), box.config.webhook_secret.encode()):
        return None
    host = request.client.host if request.client else ""
    try:
        if ipaddress.ip_address(host).is_loopback and "origin" not in request.headers:
            return None
    except ValueError:
        pass
    return JSONResponse({"message": "Give X-Playground-Key."}, 403)


async def faults(request: Request) -> Response:
    box: Box = request.app.state.box
    if refusal := _refusal(request):
        return refusal
    if request.method == "DELETE":
        box.faults.clear()
        return Response(status_code=204)
    try:
        box.faults.add(await request.json())
    except (ValueError, TypeError, AttributeError) as error:
        return JSONResponse({"message": str(error)}, 422)
    return JSONResponse({"pending": len(box.faults.pending)}, 201)


async def requests(request: Request) -> Response:
    box: Box = request.app.state.box
    return _refusal(request) or JSONResponse(box.faults.entries())


async def reset(request: Request) -> Response:
    box: Box = request.app.state.box
    if refusal := _refusal(request):
        return refusal
    await box.reset()
    return Response(status_code=204)


async def deliveries(request: Request) -> Response:
    box: Box = request.app.state.box
    if refusal := _refusal(request):
        return refusal
    return JSONResponse(
        [
            {
                "id": one.id,
                "guid": one.guid,
                "event": one.event,
                "action": one.action,
                "status_code": one.status_code,
                "response": one.response,
                "redelivery": one.redelivery,
            }
            for one in reversed(box.hooks.log)
        ]
    )


async def redeliver(request: Request) -> Response:
    box: Box = request.app.state.box
    if refusal := _refusal(request):
        return refusal
    found = box.hooks.find(int(request.path_params["id"]))
    if found is None:
        return JSONResponse({"message": "Not Found"}, 404)
    box.hooks.again(found)
    return Response(status_code=202)


ROUTES = [
    Route("/_playground/faults", faults, methods=["POST", "DELETE"]),
    Route("/_playground/requests", requests),
    Route("/_playground/reset", reset, methods=["POST"]),
    Route("/_playground/deliveries", deliveries),
    Route("/_playground/deliveries/{id:int}", redeliver, methods=["POST"]),
]
