"""Pages: the webhook's deliveries, with a button to send one again."""

from __future__ import annotations

import json

from starlette.responses import Response
from starlette.routing import Route

from app.playground.errors import not_found
from app.playground.views import Visit, back, page


async def deliveries(visit: Visit) -> Response:
    """The newest first; one opened by `?id=`."""
    log, chosen = visit.box.hooks.log, visit.query("id")
    opened = next((d for d in log if str(d.id) == chosen), None)
    payload = json.dumps(json.loads(opened.body), indent=2, ensure_ascii=False) if opened else ""
    return visit.page(
        "deliveries.html",
        log=log[::-1][:200],
        opened=opened,
        payload=payload,
        url=visit.box.hooks.url,
    )


async def redeliver(visit: Visit) -> Response:
    form = await visit.form()
    found = visit.box.hooks.find(int(form["id"])) if form.get("id", "").isdigit() else None
    if found is None:
        raise not_found()
    visit.box.hooks.again(found)
    return back("/settings/deliveries")


ROUTES = [
    Route("/settings/deliveries", page(deliveries), methods=["GET"]),
    Route("/settings/deliveries", page(redeliver), methods=["POST"]),
]
