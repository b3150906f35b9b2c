"""REST: check runs."""

from __future__ import annotations

from datetime import datetime

from starlette.responses import Response
from starlette.routing import Route

from app.playground.api_git import ROOT, resolve
from app.playground.box import in_thread
from app.playground.calls import Call, api
from app.playground.deeds import Deeds
from app.playground.errors import ApiError, invalid, not_found
from app.playground.responses_pulls import check_json
from app.playground.state import Json, Repo, now, visible
from app.playground.state_pulls import CheckRun

CHECKS = ROOT + "/check-runs"
ONE = CHECKS + "/{check:int}"
STATUSES = ("queued", "in_progress", "completed", "waiting", "requested", "pending")
CONCLUSIONS = (
    *("action_required", "cancelled", "failure", "neutral", "success", "skipped"),
    *("stale", "timed_out"),
)
MOST_ANNOTATIONS = 50


def _writable(call: Call) -> Repo:
    """Only Apps write check runs."""
    repo = call.repo("write")
    if call.actor.kind != "installation":
        raise ApiError(403, "You must authenticate via a GitHub App.")
    return repo


def _check(call: Call, repo: Repo) -> CheckRun:
    wanted = call.number("check")
    found = next((check for check in visible(repo.checks) if check.id == wanted), None)
    if found is None:
        raise not_found()
    return found


def _moment(data: Json, name: str) -> datetime | None:
    if not data.get(name):
        return None
    try:
        return datetime.fromisoformat(str(data[name]).replace("Z", "+00:00"))
    except ValueError as error:
        raise invalid("CheckRun", name) from error


def _change(check: CheckRun, data: Json) -> None:
    """Take over what is given, as GitHub does: a conclusion completes it."""
    if data.get("status") not in (None, *STATUSES):
        raise invalid("CheckRun", "status")
    if data.get("conclusion") not in (None, *CONCLUSIONS):
        raise invalid("CheckRun", "conclusion")
    if data.get("status") == "completed" and not (data.get("conclusion") or check.conclusion):
        raise invalid("CheckRun", "conclusion", "missing_field")
    output = data.get("output") or {}
    notes = output.get("annotations") or []
    if len(notes) > MOST_ANNOTATIONS:
        raise invalid("CheckRun", "annotations", "custom", "at most 50 annotations a request")
    check.name = str(data.get("name") or check.name)
    check.external_id = str(data.get("external_id") or check.external_id)
    check.details_url = data.get("details_url") or check.details_url
    check.status = str(data.get("status") or check.status)
    check.started = _moment(data, "started_at") or check.started
    check.output = {**check.output, **{k: v for k, v in output.items() if k != "annotations"}}
    check.annotations += notes
    if data.get("conclusion"):
        check.conclusion, check.status = data["conclusion"], "completed"
    elif data.get("status") in STATUSES and data["status"] != "completed":
        check.conclusion, check.completed = None, None
    if check.status == "completed":
        check.completed = _moment(data, "completed_at") or check.completed or now()


def _answer(call: Call, repo: Repo, check: CheckRun, action: str) -> Response:
    shown = check_json(call.box, repo, check)
    Deeds(call.box, call.actor, repo).tell("check_run", action, check_run=shown)
    return call.reply(shown, 201 if action == "created" else 200)


async def create_check(call: Call) -> Response:
    repo, data = _writable(call), await call.json()
    sha, name = str(data.get("head_sha") or ""), str(data.get("name") or "")
    if not name:
        raise ApiError(422, 'Invalid request.\n\n"name" wasn\'t supplied.')
    if await in_thread(call.box.git(repo).kind, sha) != "commit":
        raise ApiError(422, f"No commit found for SHA: {sha}")
    suites = [check.suite for check in repo.checks if check.head_sha == sha]
    suite = suites[0] if suites else call.box.world.new_id()
    check = CheckRun(call.box.world.new_id(), suite, name, sha)
    _change(check, data)
    repo.checks.append(check)
    return _answer(call, repo, check, "created")


async def update_check(call: Call) -> Response:
    repo, data = _writable(call), await call.json()
    check = _check(call, repo)
    before = check.status
    _change(check, data)
    done = check.status == "completed" and before != "completed"
    return _answer(call, repo, check, "completed" if done else "updated")


async def get_check(call: Call) -> Response:
    repo = call.repo()
    return call.reply(check_json(call.box, repo, _check(call, repo)))


async def list_annotations(call: Call) -> Response:
    repo = call.repo()
    page = call.show.api
    empty = dict.fromkeys(("start_column", "end_column", "title", "raw_details"))
    return call.listed(
        _check(call, repo).annotations, lambda note: {**empty, "blob_href": page, **note}
    )


async def checks_of_commit(call: Call) -> Response:
    """The latest run of each name (`filter=all`: every run)."""
    repo = call.repo()
    sha = await resolve(repo, call.box.git(repo), call.part("ref"))
    found = [check for check in reversed(visible(repo.checks)) if check.head_sha == sha]
    if call.query("filter", "latest") != "all":
        found = list({check.name: check for check in reversed(found)}.values())[::-1]
    for field in ("name", "status"):
        query = "check_name" if field == "name" else field
        if wanted := call.query(query):
            found = [check for check in found if getattr(check, field) == wanted]
    page, headers = call.page_of(found)
    runs = [check_json(call.box, repo, check) for check in page]
    return call.reply({"total_count": len(found), "check_runs": runs}, headers=headers)


ROUTES = [
    Route(CHECKS, api(create_check), methods=["POST"]),
    Route(ONE, api(get_check), methods=["GET"]),
    Route(ONE, api(update_check), methods=["PATCH"]),
    Route(ONE + "/annotations", api(list_annotations)),
    Route(ROOT + "/commits/{ref:path}/check-runs", api(checks_of_commit)),
]
