"""Who may do what over HTTP: anybody on this machine reads; all else takes a token."""

from __future__ import annotations

import ipaddress
from urllib.parse import urlsplit

from fastapi import HTTPException, Request
from fastapi.security import HTTPBearer

from app.settings import Settings
from app.web import tokens
from app.web.tokens import BadToken, Identity, Role

BEARER = HTTPBearer(
    auto_error=False, bearerFormat="JWT", description="`kr token create` makes one."
)
"""Tells `/docs` of the token; it refuses nobody."""
_READS = frozenset({"GET", "HEAD", "OPTIONS"})
_OF_PROXIES = ("x-forwarded-for", "x-forwarded-host", "x-real-ip", "forwarded", "via")


class Reader:
    """A dependency that lets a request read, and a write pass only with a token.

    Reading is open where the service is for this machine alone: it listens on loopback, has no
    public address, and the request came straight from here, asking for a loopback name (a page of
    a stranger's, opened in the operator's browser, asks for the stranger's name). HTTP/1.0 is
    what nginx speaks by default to what is behind it, and no browser does.
    """

    def __init__(self, settings: Settings) -> None:
        self._secret = _secret(settings)
        public = settings.public_url is not None and not _loopback(_name(settings.public_url))
        self._for_here = _loopback(settings.host) and not public

    def __call__(self, request: Request) -> None:
        if request.method not in _READS or not (self._for_here and _straight_from_here(request)):
            identify(self._secret, request)


class Writer:
    """A dependency that says who sends a request; they need a token of that role or above."""

    def __init__(self, settings: Settings, role: Role) -> None:
        self._secret = _secret(settings)
        self._role: Role = role

    def __call__(self, request: Request) -> Identity:
        who = identify(self._secret, request)
        if not who.may(self._role):
            raise HTTPException(
                403,
                f"{who.name}'s token has the role {who.role}, and this takes {self._role}:"
                f" `kr token create --role {self._role}` makes one.",
            )
        return who


def identify(secret: str | None, request: Request) -> Identity:
    """Who a request's token names. Raises `HTTPException` (401) with what to do."""
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not token.strip():
        raise _unknown(
            "This takes a token, Authorization: Bearer …; `kr token create` makes one."
            " There is no login in the browser yet."
        )
    if secret is None:
        raise _unknown(
            "The server has no KR_API_SECRET, so it knows no token: set one, and start it again."
        )
    try:
        return tokens.read(secret, token.strip())
    except BadToken as error:
        raise _unknown(str(error)) from None


def _unknown(sentence: str) -> HTTPException:
    return HTTPException(401, sentence, {"WWW-Authenticate": "Bearer"})


def _secret(settings: Settings) -> str | None:
    return (settings.api_secret.get_secret_value() or None) if settings.api_secret else None


def _straight_from_here(request: Request) -> bool:
    """From this machine, asking for it by name, and as far as can be seen through no proxy."""
    return (
        _loopback(request.client.host if request.client else "")
        and _loopback(_name(f"//{request.headers.get('host', '')}"))
        and not any(header in request.headers for header in _OF_PROXIES)
        and request.scope.get("http_version") != "1.0"
    )


def _name(url: str) -> str:
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""


def _loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
