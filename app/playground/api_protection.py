"""REST: the rules of a branch, and its classic protection, as far as they require checks."""

from __future__ import annotations

from starlette.responses import Response
from starlette.routing import Route

from app.playground.api_git import ROOT
from app.playground.box import in_thread
from app.playground.calls import Call, api
from app.playground.errors import ApiError, forbidden
from app.playground.protection import CLASSIC, RULES, required
from app.playground.state import Json, Repo


def protection(repo: Repo, branch: str) -> Json:
    """What whoever reads a branch sees of its protection."""
    names = repo.required.get((CLASSIC, branch), [])
    level = "non_admins" if names else "off"
    checks = [{"context": name, "app_id": None} for name in names]
    shown = {"enforcement_level": level, "contexts": names, "checks": checks}
    return {
        "protected": bool(required(repo, branch)),
        "protection": {"enabled": bool(names), "required_status_checks": shown},
    }


async def rules(call: Call) -> Response:
    """The active rules, also of a branch that does not exist yet: everybody who reads sees them."""
    repo = call.repo()
    names = repo.required.get((RULES, call.part("branch")), [])
    rule = {
        "type": "required_status_checks",
        "ruleset_source_type": "Repository",
        "ruleset_source": repo.full_name,
        "ruleset_id": repo.id,
        "parameters": {
            "strict_required_status_checks_policy": False,
            "do_not_enforce_on_create": False,
            "required_status_checks": [{"context": name} for name in names],
        },
    }
    return call.listed([rule] if names else [], lambda one: one)


async def required_checks(call: Call) -> Response:
    """Classic protection: admins see it, and no App without the permission `administration`."""
    repo, branch = call.repo(), call.part("branch")
    if call.actor.is_app:
        raise forbidden(True)
    call.need(repo, "admin")
    if await in_thread(call.box.git(repo).ref, f"refs/heads/{branch}") is None:
        raise ApiError(404, "Branch not found")
    names = repo.required.get((CLASSIC, branch), [])
    if not names:
        raise ApiError(404, "Branch not protected")
    shown = protection(repo, branch)["protection"]["required_status_checks"]
    url = f"{call.show.api}/repos/{repo.full_name}/branches/{branch}/protection"
    url += "/required_status_checks"
    links = {"url": url, "contexts_url": f"{url}/contexts"}
    data = {"strict": False, "contexts": shown["contexts"], "checks": shown["checks"]}
    return call.reply({**links, **data})


ROUTES = [
    Route(ROOT + "/rules/branches/{branch:path}", api(rules)),
    Route(ROOT + "/branches/{branch:path}/protection/required_status_checks", api(required_checks)),
]
