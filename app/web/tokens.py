"""The API's tokens: JWTs that `KR_API_SECRET` signs, and that say who somebody is and what as."""

from __future__ import annotations

import re
import uuid
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Literal, cast, get_args

import jwt

Role = Literal["user", "admin"]
"""A user asks and decides; an admin also sets rules and answers for agents."""

ROLES: tuple[Role, ...] = get_args(Role)
ISSUER = "knowledge-router"
SHORTEST_SECRET = 32
"""Bytes; with fewer, HS256 is easier to guess than its hash is long (RFC 7518, 3.2)."""
NEW_KEY = 'export KR_API_SECRET="$(openssl rand -hex 32)"'
LONGEST_LIFE = 3650
"""Days."""
_ALGORITHM = "HS256"
_LEEWAY = 30
"""Seconds that clocks may differ."""
_LONGEST_TOKEN = 4096
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_CLAIMS = ("iss", "sub", "role", "iat", "exp", "jti")


@dataclass(frozen=True, slots=True)
class Identity:
    """Who sends a request."""

    name: str
    role: Role

    def may(self, role: Role) -> bool:
        """Whether they may do what that role may; an admin may do all that a user may."""
        return self.role in {role, "admin"}


class BadToken(ValueError):
    """A token that says nothing; the text says why, and what to do."""


class CannotCreate(ValueError):
    """No token can be made of this; the text says what to change."""


def create(secret: str, name: str, role: Role, days: int) -> str:
    """A token for `name`, good for so many days. Raises `CannotCreate`."""
    if too_short(secret):
        raise CannotCreate(
            f"KR_API_SECRET is shorter than {SHORTEST_SECRET} bytes, which can be guessed."
            f" Make one: {NEW_KEY}"
        )
    if not _NAME.fullmatch(name):
        raise CannotCreate(
            "A name has up to 100 letters, digits, dots, hyphens and underscores,"
            " and begins with a letter or a digit."
        )
    if role not in ROLES:
        raise CannotCreate(f"There is no role {role}: take one of {', '.join(ROLES)}.")
    if not 1 <= days <= LONGEST_LIFE:
        raise CannotCreate(f"A token is good for 1 to {LONGEST_LIFE} days.")
    now = datetime.now(UTC)
    claims = {
        "iss": ISSUER,
        "sub": name,
        "role": role,
        "iat": now,
        "exp": now + timedelta(days=days),
        "jti": uuid.uuid4().hex,
    }
    return jwt.encode(claims, secret, algorithm=_ALGORITHM)


def read(secret: str, token: str) -> Identity:
    """Who a token names. Raises `BadToken`."""
    claims = _claims(secret, token)
    name, role = claims["sub"], claims["role"]
    if not isinstance(name, str) or not _NAME.fullmatch(name) or role not in ROLES:
        raise BadToken("The token names nobody that we know: `kr token create` makes another.")
    return Identity(name, cast(Role, role))


def expires(secret: str, token: str) -> datetime:
    """Until when a token is good, in UTC. Raises `BadToken`."""
    return datetime.fromtimestamp(_claims(secret, token)["exp"], UTC)


def too_short(secret: str) -> bool:
    """Whether a secret is too short to sign with."""
    return len(secret.encode("utf-8", "surrogateescape")) < SHORTEST_SECRET


def _claims(secret: str, token: str) -> dict[str, Any]:
    if too_short(secret):
        raise BadToken("The server's KR_API_SECRET is too short to be safe: no token is taken.")
    if len(token) > _LONGEST_TOKEN:
        raise BadToken("The token is longer than any of ours.")
    try:
        claims: dict[str, Any] = jwt.decode(
            token,
            secret,
            algorithms=[_ALGORITHM],
            issuer=ISSUER,
            leeway=_LEEWAY,
            options={"require": list(_CLAIMS)},
        )
    except jwt.ExpiredSignatureError:
        raise BadToken("The token has expired: `kr token create` makes another.") from None
    except jwt.ImmatureSignatureError:
        raise BadToken("The token is from the future: set the clocks right.") from None
    except (jwt.PyJWTError, ValueError, TypeError, OverflowError, RecursionError):
        raise BadToken(
            "The token is not one of ours, or was cut short: `kr token create` makes one."
        ) from None
    return claims
