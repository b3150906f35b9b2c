"""What the pages have in common: who looks, how a page is made, how a form is answered."""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable
from datetime import datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote

import jinja2
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from app.playground.box import Actor, Box
from app.playground.errors import ApiError, not_found
from app.playground.markdown import render
from app.playground.responses import EMOJI
from app.playground.responses_people import stamp
from app.playground.state import Issue, Label, Repo, User, visible

COOKIE = "playground_user"
DEFAULT = "mara"
Page = Callable[["Visit"], Awaitable[Response]]


class Visit:
    """A request for a page, by the person of the cookie."""

    def __init__(self, request: Request) -> None:
        self.request = request
        self.box: Box = request.app.state.box
        world = self.box.world
        chosen = world.user(request.cookies.get(COOKIE, DEFAULT))
        person = chosen if chosen and chosen.kind == "User" else world.user(DEFAULT)
        self.actor = Actor("user", person) if person else Actor("anonymous")

    def part(self, name: str) -> str:
        """A part of the path."""
        return str(self.request.path_params[name])

    def query(self, name: str, default: str = "") -> str:
        """A query parameter."""
        return self.request.query_params.get(name, default)

    async def form(self) -> dict[str, str]:
        """The fields of a form, lines ended as elsewhere."""
        data = await self.request.form()
        return {k: v.replace("\r\n", "\n") for k, v in data.items() if isinstance(v, str)}

    def repo(self) -> Repo:
        """The repository of the path, or 404."""
        found = self.box.world.repo(self.part("owner"), self.part("repo"))
        if found is None or not self.box.may(self.actor, found, "read"):
            raise not_found()
        return found

    def issue(self, repo: Repo) -> Issue:
        """The issue of the path, or 404."""
        found = visible(i for i in repo.issues.values() if i.number == int(self.part("number")))
        if not found:
            raise not_found()
        return found[0]

    def may(self, repo: Repo, role: str) -> bool:
        """Whether the person has at least this role."""
        return self.box.may(self.actor, repo, role)

    def page(self, template: str, status: int = 200, **context: Any) -> Response:
        """A page made from a template."""
        return HTMLResponse(self.html(template, **context), status)

    def html(self, template: str, **context: Any) -> str:
        """A template's text."""
        people = [user for user in self.box.world.users.values() if user.kind == "User"]
        env: jinja2.Environment = self.request.app.state.templates
        shared = {
            "visit": self,
            "me": self.actor.user,
            "people": people,
            "bot": self.box.bot,
            "note": self.box.config.note,
        }
        return env.get_template(template).render(**shared, **context)


def templates() -> jinja2.Environment:
    """The templates, with the filters that they use."""
    env = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    env.filters.update(
        markdown=_markdown,
        ago=_time,
        avatar=_avatar,
        ink=_ink,
        rev=lambda text: hashlib.sha256(str(text).encode()).hexdigest()[:12],
        url=lambda text: quote(str(text)),
    )
    env.globals["EMOJI"] = EMOJI
    return env


def _markdown(text: str) -> Markup:
    return Markup(render(text))  # noqa: S704  (cleaned by nh3)


def _time(moment: datetime) -> Markup:
    """A time that the browser turns into "3 minutes ago"."""
    text = stamp(moment) or ""
    shown = moment.strftime("%d %b %Y, %H:%M")
    return Markup('<time datetime="{}">{}</time>').format(text, shown)


def hue(login: str) -> int:
    """A person's colour."""
    return hashlib.sha256(login.encode()).digest()[0] * 360 // 256


def initials(user: User) -> str:
    """One or two letters."""
    return user.login.removesuffix("[bot]")[:2].upper()


def _avatar(user: User, size: int = 40) -> Markup:
    shape = "avatar bot" if user.kind == "Bot" else "avatar"
    html = Markup('<span class="{}" style="--hue:{};--size:{}px" title="{}">{}</span>')
    return html.format(shape, hue(user.login), size, user.login, initials(user))


def _ink(label: Label) -> str:
    """Black or white, whatever can be read on the label's colour."""
    try:
        red, green, blue = (int(label.color[i : i + 2], 16) for i in (0, 2, 4))
    except ValueError:
        return "#1f2328"
    return "#1f2328" if red * 299 + green * 587 + blue * 114 > 140_000 else "#ffffff"


def page(make: Page) -> Callable[[Request], Awaitable[Response]]:
    """Make a page's function an endpoint; a refusal becomes a page, too."""

    async def endpoint(request: Request) -> Response:
        await request.app.state.box.start()
        visit = Visit(request)
        try:
            response = await make(visit)
        except ApiError as error:
            response = visit.page("error.html", error.status, error=error)
        response.headers["Content-Security-Policy"] = (
            "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline';"
            " img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none';"
            " frame-ancestors 'none'"
        )
        response.headers["X-Content-Type-Options"] = "nosniff"
        return response

    return endpoint


def back(target: str) -> Response:
    """After a form: to a page of ours."""
    safe = target if target.startswith("/") and not target.startswith(("//", "/\\")) else "/"
    return RedirectResponse(safe, 303)
