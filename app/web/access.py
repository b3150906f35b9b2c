"""Who may read over HTTP: anybody on this machine; elsewhere nobody without a token."""

from __future__ import annotations

import hmac
import ipaddress

from fastapi import HTTPException, Request

from app.settings import Settings


class Reader:
    """A dependency that lets a request read.

    A loopback peer that asks for a loopback name may (a page of a stranger's, opened in the
    operator's browser, asks for the stranger's name). Any other needs `Authorization: Bearer`
    with the API secret.
    """

    def __init__(self, settings: Settings) -> None:
        self._secret = settings.api_secret.get_secret_value() if settings.api_secret else None

    def __call__(self, request: Request) -> None:
        given = request.headers.get("authorization", "").removeprefix("Bearer ")
        if self._secret and hmac.compare_digest(given.encode(), self._secret.encode()):
            return
        if _loopback(request.client.host if request.client else "") and _loopback(
            request.url.hostname or ""
        ):
            return
        raise HTTPException(401, "Give the API's token: Authorization: Bearer …")


def _loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
