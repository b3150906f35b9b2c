"""Whom we may speak to: never an address inside, whatever name it goes by (SSRF).

A name is resolved once and the connection goes to that very address, so that a name which changes
its mind between the look and the call gains nothing.
"""

from __future__ import annotations

import asyncio
import ipaddress
import re
import socket
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network

import httpx

Address = IPv4Address | IPv6Address

_PORTS = {"http": 80, "https": 443}
_NAME = re.compile(r"[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?)*")
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")

# From IANA's special-purpose registries, written out: what `ipaddress` calls global differs
# between versions of Python, and some addresses in its global space are a cloud's own.
_INSIDE_4 = tuple(
    IPv4Network(network)
    for network in """
    0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24
    192.0.2.0/24 192.88.99.0/24 192.168.0.0/16 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24
    224.0.0.0/4 240.0.0.0/4 168.63.129.16/32
    """.split()
)
"""The last one is Azure's own service; other clouds' metadata is link-local or in 192.0.0.0/24."""
_OUTSIDE_6 = IPv6Network("2000::/3")
_INSIDE_6 = tuple(IPv6Network(network) for network in ("2001::/23", "2001:db8::/32", "3fff::/20"))
_NAT64 = IPv6Network("64:ff9b::/96")


class Refused(ValueError):
    """This address is not spoken to; the text says why, and holds no path and no password."""


@dataclass(frozen=True, slots=True)
class Target:
    """Where to connect, and under which name."""

    url: httpx.URL
    """With the address in place of the host."""
    host: str
    """The `Host` header."""
    name: str
    """The name that is asked for in TLS (SNI), and that the certificate must have."""


async def public_address(url: str, *, allow: frozenset[str] = frozenset()) -> Target:
    """Resolve a URL's host once, refusing what is not public. `allow` holds `host:port`.

    Raises `Refused`; `OSError` if the name cannot be resolved, which may pass.
    """
    parsed = _parsed(url)
    name = _name(parsed.host)
    port = _PORTS[parsed.scheme] if parsed.port is None else parsed.port
    shown = f"[{name}]" if ":" in name else name
    addresses = await _resolve(name, port)
    if f"{shown}:{port}" not in allow:
        inside = [address for address in addresses if not is_public(address)]
        if inside:
            raise Refused(
                f"{shown}:{port} is inside, at {inside[0]}: name it in `allow_hosts` if it is meant"
            )
    host = shown if port == _PORTS[parsed.scheme] else f"{shown}:{port}"
    return Target(parsed.copy_with(host=str(addresses[0]), fragment=None), host, name)


def _parsed(url: str) -> httpx.URL:
    try:
        parsed = httpx.URL(url)
    except (httpx.InvalidURL, ValueError) as error:
        raise Refused("it is no URL: write https://host/path") from error
    if parsed.scheme not in _PORTS:
        raise Refused("only https and http are spoken: write https://host/path")
    if parsed.userinfo:
        raise Refused("it has a user name in it: take it out, the messages are signed instead")
    if not parsed.host:
        raise Refused("it has no host: write https://host/path")
    if parsed.port is not None and not 0 < parsed.port < 65536:
        raise Refused(f"there is no port {parsed.port}: write one from 1 to 65535")
    return parsed


def _name(host: str) -> str:
    """The host as it is resolved: an address in its usual form, or a plain name.

    Raises `Refused` for `0x7f.1` and the like: only old resolvers read these as addresses.
    """
    try:
        return str(ipaddress.ip_address(host))
    except ValueError:
        pass
    try:
        name = httpx.URL(f"http://{host}").raw_host.decode("ascii").removesuffix(".")
    except (httpx.InvalidURL, ValueError) as error:
        raise Refused("its host is no name: write it as in a browser") from error
    if len(name) > 253 or not _NAME.fullmatch(name) or max(map(len, name.split("."))) > 63:
        raise Refused("its host is no name: write it as in a browser")
    if _NUMBER.fullmatch(name.rpartition(".")[2]):
        raise Refused("its host is an unusual spelling of an address: write four numbers with dots")
    return name


async def _resolve(host: str, port: int) -> list[Address]:
    """All addresses of a host, the resolver's best one first. Raises `OSError`."""
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    addresses = [ipaddress.ip_address(str(entry[4][0]).partition("%")[0]) for entry in found]
    if not addresses:
        raise OSError("the name has no address")
    return addresses


def is_public(address: Address) -> bool:
    """Whether it is out there; an address that carries another one is judged by that."""
    if isinstance(address, IPv4Address):
        return not any(address in network for network in _INSIDE_4)
    inner = address.ipv4_mapped or address.sixtofour
    if inner is None and address in _NAT64:
        inner = IPv4Address(int(address) & 0xFFFFFFFF)
    if inner is not None:
        return is_public(inner)
    return address in _OUTSIDE_6 and not any(address in network for network in _INSIDE_6)
