"""REST: repositories, people, teams, permissions, labels of a repository."""

from __future__ import annotations

from starlette.responses import Response
from starlette.routing import Route

from app.playground.calls import Call, api
from app.playground.errors import ApiError, invalid, not_found
from app.playground.state import ROLES, Json, Label, Org, Repo, Role, Team, User

COLLABORATORS = "/repos/{owner}/{repo}/collaborators"
LABELS = "/repos/{owner}/{repo}/labels"


async def get_repo(call: Call) -> Response:
    return call.reply(call.show.full_repo(call.repo()))


def _user(call: Call, name: str = "user") -> User:
    found = call.box.world.user(call.part(name))
    if found is None:
        raise not_found()
    return found


def _org(call: Call) -> Org:
    found = call.box.world.orgs.get(call.part("org"))
    if found is None:
        raise not_found()
    return found


async def get_user(call: Call) -> Response:
    return call.reply(call.show.full_user(_user(call)))


async def own_user(call: Call) -> Response:
    if call.actor.kind == "installation":
        raise ApiError(403, "Resource not accessible by integration")
    return call.reply(call.show.own_user(call.person()))


async def get_org(call: Call) -> Response:
    return call.reply(call.show.org(_org(call)))


async def org_members(call: Call) -> Response:
    users = [call.box.world.users[login] for login in _org(call).members]
    return call.listed(users, call.show.user)


def _team(call: Call) -> tuple[Org, Team]:
    call.person()
    org = _org(call)
    team = org.teams.get(call.part("slug"))
    if team is None:
        raise not_found()
    return org, team


async def get_team(call: Call) -> Response:
    return call.reply(call.show.team(*_team(call)))


async def list_teams(call: Call) -> Response:
    call.person()
    org = _org(call)
    return call.listed(list(org.teams.values()), lambda team: call.show.team(org, team))


async def team_members(call: Call) -> Response:
    _, team = _team(call)
    return call.listed([call.box.world.users[m] for m in team.members], call.show.user)


async def team_membership(call: Call) -> Response:
    org, team = _team(call)
    user = _user(call)
    if user.login not in team.members:
        raise not_found()
    url = f"{call.show.api}/orgs/{org.login}/teams/{team.slug}/memberships/{user.login}"
    return call.reply({"url": url, "role": "member", "state": "active"})


# permissions


def _legacy(role: Role) -> str:
    """What the older field `permission` says: it knows neither triage nor maintain."""
    return {"triage": "read", "maintain": "write"}.get(role.base, role.base)


async def permission(call: Call) -> Response:
    repo = call.repo()
    call.person()
    user = call.box.world.user(call.part("user"))
    if user is None:
        raise ApiError(404, f"{call.part('user')} is not a user")
    role = repo.role(user.login)
    shown = call.show.collaborator(user, role)
    data = {"permission": _legacy(role), "role_name": shown["role_name"], "user": shown}
    return call.reply(data)


async def collaborators(call: Call) -> Response:
    repo = call.repo("write")
    known = call.box.world.users
    logins = [login for login, role in repo.collaborators.items() if role.base in ROLES[1:]]
    return call.listed(
        logins, lambda login: call.show.collaborator(known[login], repo.collaborators[login])
    )


async def is_collaborator(call: Call) -> Response:
    repo = call.repo()
    call.person()
    if call.part("user") not in repo.collaborators:
        raise not_found()
    return Response(status_code=204)


# labels


async def list_labels(call: Call) -> Response:
    repo = call.repo()
    return call.listed(list(repo.labels.values()), lambda label: call.show.label(repo, label))


async def create_label(call: Call) -> Response:
    repo, data = call.repo("triage"), await call.json()
    name = str(data.get("name") or "").strip()
    if not name:
        raise invalid("Label", "name", "missing_field")
    if repo.label(name):
        raise invalid("Label", "name", "already_exists")
    color = str(data.get("color") or "ededed").lstrip("#")
    label = Label(call.box.world.new_id(), name, color, str(data.get("description") or ""))
    repo.labels[name.lower()] = label
    return call.reply(call.show.label(repo, label), 201)


def _label(call: Call, repo: Repo) -> Label:
    found = repo.label(call.part("name"))
    if found is None:
        raise not_found()
    return found


async def get_label(call: Call) -> Response:
    repo = call.repo()
    return call.reply(call.show.label(repo, _label(call, repo)))


async def update_label(call: Call) -> Response:
    repo, data = call.repo("triage"), await call.json()
    label = _label(call, repo)
    _rename(repo, label, data)
    label.color = str(data.get("color") or label.color).lstrip("#")
    label.description = str(data.get("description", label.description) or "")
    return call.reply(call.show.label(repo, label))


def _rename(repo: Repo, label: Label, data: Json) -> None:
    old, new = label.name, str(data.get("new_name") or label.name)
    other = repo.label(new)
    if other is not None and other is not label:
        raise invalid("Label", "name", "already_exists")
    del repo.labels[old.lower()]
    label.name = new
    repo.labels[new.lower()] = label
    for issue in repo.issues.values():
        issue.labels = [new if name == old else name for name in issue.labels]


async def delete_label(call: Call) -> Response:
    repo = call.repo("triage")
    label = _label(call, repo)
    del repo.labels[label.name.lower()]
    for issue in repo.issues.values():
        issue.labels = [name for name in issue.labels if name != label.name]
    return Response(status_code=204)


ROUTES = [
    Route("/user", api(own_user)),
    Route("/users/{user}", api(get_user)),
    Route("/orgs/{org}", api(get_org)),
    Route("/orgs/{org}/members", api(org_members)),
    Route("/orgs/{org}/teams", api(list_teams)),
    Route("/orgs/{org}/teams/{slug}", api(get_team)),
    Route("/orgs/{org}/teams/{slug}/members", api(team_members)),
    Route("/orgs/{org}/teams/{slug}/memberships/{user}", api(team_membership)),
    Route("/repos/{owner}/{repo}", api(get_repo)),
    Route(COLLABORATORS, api(collaborators)),
    Route(COLLABORATORS + "/{user}", api(is_collaborator)),
    Route(COLLABORATORS + "/{user}/permission", api(permission)),
    Route(LABELS, api(list_labels), methods=["GET"]),
    Route(LABELS, api(create_label), methods=["POST"]),
    Route(LABELS + "/{name:path}", api(get_label), methods=["GET"]),
    Route(LABELS + "/{name:path}", api(update_label), methods=["PATCH"]),
    Route(LABELS + "/{name:path}", api(delete_label), methods=["DELETE"]),
]
