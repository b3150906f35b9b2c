"""Records as GitHub's JSON: users, organisations, teams, roles."""

from __future__ import annotations

import base64
from datetime import datetime

from app.playground.config import PlaygroundConfig
from app.playground.state import ROLES, Json, Org, Repo, Role, Team, User, World

_USER_LINKS = (
    *("followers", "following", "gists", "starred", "subscriptions", "orgs", "repos", "events"),
    "received_events",
)


def stamp(moment: datetime | None) -> str | None:
    """A time as GitHub writes it."""
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ") if moment else None


def node(kind: str, number: int | str) -> str:
    """A GraphQL id."""
    return f"{kind}_" + base64.urlsafe_b64encode(f"{kind}:{number}".encode()).decode().rstrip("=")


class People:
    """Makes JSON; knows the addresses and who belongs where."""

    def __init__(self, config: PlaygroundConfig, world: World) -> None:
        self.api, self.web = config.api_url, config.web_url
        self._config = config
        self._world = world

    def user(self, user: User) -> Json:
        """A user in short."""
        api, web = f"{self.api}/users/{user.login}", f"{self.web}/{user.login}"
        if user.kind == "Bot":
            web = f"{self.web}/apps/{user.login.removesuffix('[bot]')}"
        names = {"subscriptions": "subscriptions", "orgs": "organizations"}
        return {
            "login": user.login,
            "id": user.id,
            "node_id": node("U", user.id),
            "avatar_url": f"{self.web}/avatars/{user.login}",
            "gravatar_id": "",
            "url": api,
            "html_url": web,
            **{f"{names.get(name, name)}_url": f"{api}/{name}" for name in _USER_LINKS},
            "type": user.kind,
            "user_view_type": "public",
            "site_admin": False,
        }

    def full_user(self, user: User) -> Json:
        """A user's profile."""
        unknown = ("company", "location", "email", "hireable", "bio", "twitter_username")
        counts = ("public_repos", "public_gists", "followers", "following")
        return {
            **self.user(user),
            "name": user.name,
            "blog": "",
            **dict.fromkeys(unknown),
            **dict.fromkeys(counts, 0),
            "created_at": stamp(user.created),
            "updated_at": stamp(user.created),
        }

    def own_user(self, user: User) -> Json:
        """What a user sees of the own profile."""
        names = "private_gists total_private_repos owned_private_repos disk_usage collaborators"
        private = dict.fromkeys(names.split(), 0)
        return {**self.full_user(user), **private, "two_factor_authentication": True}

    def owner(self, login: str) -> Json:
        """A repository's owner in short: an organisation or a user."""
        org = self._world.orgs.get(login)
        if org is None:
            return self.user(self._world.users[login.lower()])
        return self.user(User(org.id, org.login, org.name, "Organization"))

    def org(self, org: Org) -> Json:
        """An organisation's profile."""
        api = f"{self.api}/orgs/{org.login}"
        links = ("repos", "events", "hooks", "issues")
        counts = ("public_repos", "public_gists", "followers", "following")
        return {
            **self.short_org(org),
            **{f"{name}_url": f"{api}/{name}" for name in links},
            "name": org.name,
            "has_organization_projects": True,
            "has_repository_projects": True,
            **dict.fromkeys(counts, 0),
            "html_url": f"{self.web}/{org.login}",
            "type": "Organization",
            "created_at": stamp(org.created),
            "updated_at": stamp(org.created),
            "archived_at": None,
        }

    def short_org(self, org: Org) -> Json:
        """An organisation as webhooks carry it."""
        api = f"{self.api}/orgs/{org.login}"
        return {
            "login": org.login,
            "id": org.id,
            "node_id": node("O", org.id),
            "url": api,
            **{f"{n}_url": f"{api}/{n}" for n in ("repos", "events", "hooks", "issues")},
            "members_url": f"{api}/members{{/member}}",
            "public_members_url": f"{api}/public_members{{/member}}",
            "avatar_url": f"{self.web}/avatars/{org.login}",
            "description": f"{org.name}, invented for the playground",
        }

    def team(self, org: Org, team: Team) -> Json:
        """A team with its organisation."""
        api = f"{self.api}/orgs/{org.login}/teams/{team.slug}"
        return {
            "id": team.id,
            "node_id": node("T", team.id),
            "name": team.name,
            "slug": team.slug,
            "description": team.description,
            "privacy": "closed",
            "notification_setting": "notifications_enabled",
            "permission": "pull",
            "url": api,
            "html_url": f"{self.web}/orgs/{org.login}/teams/{team.slug}",
            "members_url": f"{api}/members{{/member}}",
            "repositories_url": f"{api}/repos",
            "type": "organization",
            "parent": None,
            "members_count": len(team.members),
            "repos_count": 0,
            "created_at": stamp(org.created),
            "updated_at": stamp(org.created),
            "organization": self.org(org),
        }

    def collaborator(self, user: User, role: Role) -> Json:
        """A user with what the role allows."""
        rank = ROLES.index(role.base)
        names = {"pull": 1, "triage": 2, "push": 3, "maintain": 4, "admin": 5}
        granted = {name: rank >= needed for name, needed in names.items()}
        return {**self.user(user), "permissions": granted, "role_name": role.name or role.base}

    def association(self, repo: Repo, user: User) -> str:
        """`author_association`."""
        org = self._world.orgs.get(repo.owner)
        if user.login == repo.owner:
            return "OWNER"
        if org and user.login in org.members:
            return "MEMBER"
        return "COLLABORATOR" if user.login in repo.collaborators else "NONE"
