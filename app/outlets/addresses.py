"""Whom we may speak to: never an address inside, whatever name it goes by (SSRF).

The name is resolved once and the connection goes to that very address, so that a name that changes
its mind between the look and the call gains nothing.
"""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from dataclasses import dataclass

import httpx

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
_NAT64 = ipaddress.ip_network("64:ff9b::/96")
_PORTS = {"http": 80, "https": 443}


class Refused(ValueError):
    """This address is not spoken to; the text says why."""


@dataclass(frozen=True, slots=True)
class Target:
    """Where to connect (`url` with the address in it), and under which name."""

    url: httpx.URL
    host: str
    """The `Host` header."""
    name: str
    """The name that the certificate must have."""


async def public_address(url: str, *, allow: frozenset[str] = frozenset()) -> Target:
    """Resolve a URL's host, refusing what is not public. `allow` holds `host:port`.

    Raises `Refused`.
    """
    parsed = _parsed(url)
    port = parsed.port or _PORTS[parsed.scheme]
    trusted = f"{parsed.host}:{port}" in allow
    addresses = await _resolve(parsed.host, port)
    if not trusted:
        for address in addresses:
            if not is_public(address):
                why = "name it in `allow_hosts` if it is meant"
                raise Refused(f"{parsed.host} is inside, at {address}: {why}")
    first = addresses[0]
    shown = f"[{first}]" if first.version == 6 else str(first)
    host = parsed.host if port == _PORTS[parsed.scheme] else f"{parsed.host}:{port}"
    return Target(parsed.copy_with(host=shown.strip("[]"), port=port), host, parsed.host)


def _parsed(url: str) -> httpx.URL:
    try:
        parsed = httpx.URL(url)
    except (httpx.InvalidURL, ValueError) as error:
        raise Refused("it is no URL") from error
    if parsed.scheme not in _PORTS:
        raise Refused("only http and https are spoken")
    if parsed.userinfo:
        raise Refused("it has a user name in it")
    if not parsed.host:
        raise Refused("it has no host")
    return parsed


async def _resolve(host: str, port: int) -> list[Address]:
    try:
        loop = asyncio.get_running_loop()
        found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise Refused(f"{host} cannot be resolved") from error
    addresses = [ipaddress.ip_address(str(entry[4][0]).partition("%")[0]) for entry in found]
    if not addresses:
        raise Refused(f"{host} cannot be resolved")
    return addresses


def is_public(address: Address) -> bool:
    """Whether it is out there; an address that carries another one is judged by that, too."""
    if isinstance(address, ipaddress.IPv6Address):
        inner = address.ipv4_mapped or address.sixtofour
        if inner is None and address in _NAT64:
            inner = ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
        if inner is None and address.teredo:
            inner = address.teredo[1]
        if inner is not None:
            return is_public(inner)
    return address.is_global and not (address.is_multicast or address.is_reserved)
