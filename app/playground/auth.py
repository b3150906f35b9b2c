"""Who a request is from: App JWT, installation token, a user's token, or nobody."""

from __future__ import annotations

import base64
import binascii
import secrets
import time

import jwt

from app.playground.box import Actor, Box
from app.playground.errors import ApiError
from app.playground.state import Token

TOKEN_SECONDS = 3600
ANONYMOUS = Actor("anonymous")


def authenticate(box: Box, header: str | None) -> Actor:
    """The actor of an `Authorization` header. Raises `ApiError` 401."""
    if not header:
        return ANONYMOUS
    scheme, _, secret = header.partition(" ")
    secret = secret.strip()
    if scheme.lower() == "basic":
        secret = _password(secret)
    elif scheme.lower() not in ("bearer", "token"):
        raise ApiError(401, "Bad credentials")
    if secret.count(".") == 2:
        return _app(box, secret)
    return _token(box, secret)


def _password(encoded: str) -> str:
    try:
        return base64.b64decode(encoded, validate=True).decode().partition(":")[2]
    except (binascii.Error, UnicodeDecodeError) as error:
        raise ApiError(401, "Bad credentials") from error


def _token(box: Box, secret: str) -> Actor:
    if secret.startswith("ghs_"):
        token = box.world.tokens.get(secret)
        if token and token.expires > time.time():
            owner = box.world.installations.get(token.installation)
            if owner is None:  # it was uninstalled
                raise ApiError(401, "Bad credentials")
            return Actor("installation", box.bot_of(owner.app), token.installation, owner.app)
    user = box.world.user(secret.removeprefix("ghp_")) if secret.startswith("ghp_") else None
    if user and user.kind == "User":
        return Actor("user", user)
    raise ApiError(401, "Bad credentials")


def _app(box: Box, secret: str) -> Actor:
    """Check an App's JWT as GitHub does: RS256, issued by us, at most ten minutes."""
    issuer = _issuer(secret)
    given = box.config.app(issuer)
    key = (given or box.config.apps[0]).public_key_pem
    try:
        if jwt.get_unverified_header(secret).get("alg") != "RS256":
            raise ApiError(401, "A JSON web token could not be decoded")
        claims = jwt.decode(
            secret,
            key or "",
            algorithms=["RS256"],
            leeway=60,
            options={"verify_signature": key is not None, "verify_iss": False, "verify_sub": False},
        )
        expires, issued = float(claims["exp"]), float(claims["iat"])
    except (jwt.PyJWTError, KeyError, TypeError, ValueError) as error:
        raise ApiError(401, "A JSON web token could not be decoded") from error
    if given is None:
        raise ApiError(404, "Integration not found")
    if expires < time.time():
        raise ApiError(401, "'Expiration time' claim ('exp') must be in the future")
    if expires > time.time() + 660 or issued > time.time() + 60:
        raise ApiError(401, "'Expiration time' claim ('exp') is too far in the future")
    return Actor("app", app=issuer)


def _issuer(secret: str) -> str:
    """Who says to have made it; the signature tells whether that is so."""
    try:
        claims = jwt.decode(secret, options={"verify_signature": False, "verify_iss": False})
    except jwt.PyJWTError as error:
        raise ApiError(401, "A JSON web token could not be decoded") from error
    return str(claims.get("iss"))


def new_token(box: Box, installation: int) -> tuple[str, Token]:
    """Give an installation an access token for an hour."""
    secret = "ghs_" + secrets.token_hex(18)
    token = Token(installation, time.time() + TOKEN_SECONDS)
    box.world.tokens[secret] = token
    return secret, token
