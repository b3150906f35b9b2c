"""Whom we may speak to: nobody inside, however the address is written or the name resolves."""

from __future__ import annotations

import asyncio
import ipaddress
import socket

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.outlets.addresses import Refused, Target, is_public, public_address

PUBLIC = "93.184.216.34"


def look(url: str, *allow: str) -> Target:
    return asyncio.run(public_address(url, allow=frozenset(allow)))


@pytest.fixture
def names(monkeypatch: pytest.MonkeyPatch) -> dict[str, list[str]]:
    """What names resolve to; addresses resolve to themselves, all other names to nothing."""
    known: dict[str, list[str]] = {}

    def resolve(host: str, port: int, *_: object, **__: object) -> list[tuple[object, ...]]:
        try:
            found = [str(ipaddress.ip_address(host))]
        except ValueError:
            found = known.get(host, [])
        if not found:
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (one, port)) for one in found]

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    return known


HOSTILE = [
    "http://127.0.0.1/",
    "http://127.0.0.1./",
    "http://127.1/",
    "http://2130706433/",
    "http://0x7f.1/",
    "http://0x7f000001/",
    "http://0177.0.0.1/",
    "http://0/",
    "http://0.0.0.0/",
    "http://134744072/",
    "http://[::]/",
    "http://[::1]/",
    "http://[::ffff:127.0.0.1]/",
    "http://[::ffff:7f00:1]/",
    "http://[::127.0.0.1]/",
    "http://[64:ff9b::127.0.0.1]/",
    "http://[64:ff9b::a9fe:a9fe]/",
    "http://[64:ff9b:1::a00:1]/",
    "http://[2002:7f00:1::]/",
    "http://[2001:0:7f00:1::]/",
    "http://[2001:db8::1]/",
    "http://[fe80::1]/",
    "http://[fe80::1%25eth0]/",
    "http://[fec0::1]/",
    "http://[fc00::1]/",
    "http://[fd00:ec2::254]/latest/meta-data/",
    "http://[ff02::1]/",
    "http://10.0.0.8/",
    "http://172.16.3.4/",
    "http://192.168.1.1/",
    "http://100.64.0.1/",
    "http://100.100.100.200/latest/meta-data/",
    "http://169.254.169.254/latest/meta-data/",
    "http://192.0.0.192/opc/v2/",
    "http://168.63.129.16/",
    "http://192.88.99.1/",
    "http://198.18.0.1/",
    "http://224.0.0.1/",
    "http://255.255.255.255/",
    f"http://user@{PUBLIC}/",
    f"http://user:s3cr3t@{PUBLIC}/",
    f"http://{PUBLIC}\\@127.0.0.1/",
    "http://%31%32%37.0.0.1/",
    "http://①②⑦.0.0.1/",
    "file:///etc/passwd",
    f"gopher://{PUBLIC}/",
    "redis://127.0.0.1:6379/",
    f"http://{PUBLIC}:0/",
    f"http://{PUBLIC}:99999/",
    "http:///nothing",
    "http://[::1/",
    "http://a..b/",
    f"http://{'a' * 64}.test/",
    "http://two words/",
    f"//{PUBLIC}/",
    "nonsense",
    "",
]


@pytest.mark.parametrize("url", HOSTILE)
def test_what_is_refused(names: dict[str, list[str]], url: str) -> None:
    with pytest.raises(Refused) as refused:
        look(url)
    assert "s3cr3t" not in str(refused.value)


INSIDE = [
    ("localhost", ["127.0.0.1"]),
    ("localhost.", ["127.0.0.1"]),
    ("LOCALHOST", ["::1", "127.0.0.1"]),
    ("metadata.google.internal", ["169.254.169.254"]),
    ("mixed.test", [PUBLIC, "10.0.0.1"]),
    ("mixed6.test", ["2606:2800:220:1::1", "::ffff:10.0.0.1"]),
    ("scoped.test", ["fe80::1%2"]),
]


@pytest.mark.parametrize(("name", "found"), INSIDE)
def test_a_name_is_refused_if_any_of_its_addresses_is_inside(
    names: dict[str, list[str]], name: str, found: list[str]
) -> None:
    names[name.lower().rstrip(".")] = found
    with pytest.raises(Refused, match="allow_hosts"):
        look(f"https://{name}/")


@pytest.mark.parametrize(
    ("url", "pinned", "host", "name"),
    [
        ("https://board.test/kr?x=1#y", f"https://{PUBLIC}/kr?x=1", "board.test", "board.test"),
        ("https://board.test:444/", f"https://{PUBLIC}:444/", "board.test:444", "board.test"),
        ("http://Board.test.:80/", f"http://{PUBLIC}/", "board.test", "board.test"),
        ("https://bücher.test/", f"https://{PUBLIC}/", "xn--bcher-kva.test", "xn--bcher-kva.test"),
        (f"http://{PUBLIC}/", f"http://{PUBLIC}/", PUBLIC, PUBLIC),
        (
            "https://[2606:2800:220:1::1]:8443/",
            "https://[2606:2800:220:1::1]:8443/",
            "[2606:2800:220:1::1]:8443",
            "2606:2800:220:1::1",
        ),
    ],
)
def test_what_is_public_is_pinned(
    names: dict[str, list[str]], url: str, pinned: str, host: str, name: str
) -> None:
    names["board.test"] = names["xn--bcher-kva.test"] = [PUBLIC, "2606:2800:220:1::1"]
    target = look(url)
    assert (str(target.url), target.host, target.name) == (pinned, host, name)


def test_a_public_address_behind_nat64_is_public(names: dict[str, list[str]]) -> None:
    names["board.test"] = ["64:ff9b::5db8:d822"]
    assert look("https://board.test/").url.host == "64:ff9b::5db8:d822"


def test_only_the_very_host_and_port_are_let_through(names: dict[str, list[str]]) -> None:
    names["board.internal"] = ["10.0.0.8"]
    assert look("http://board.internal:8080/", "board.internal:8080").url.host == "10.0.0.8"
    assert look("http://[::1]:8080/", "[::1]:8080").host == "[::1]:8080"
    assert look("https://board.internal/", "board.internal:443").host == "board.internal"
    for allow in ("board.internal:8081", "board.internal", "internal:8080", "10.0.0.8:8080"):
        with pytest.raises(Refused):
            look("http://board.internal:8080/", allow)


def test_a_name_that_is_not_found_may_be_found_later(names: dict[str, list[str]]) -> None:
    with pytest.raises(OSError, match="not known"):
        look("https://board.test/")


NETWORKS = ["0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16"]
NETWORKS += ["172.16.0.0/12", "192.168.0.0/16", "224.0.0.0/4", "240.0.0.0/4"]


@given(st.sampled_from(NETWORKS).flatmap(lambda network: st.ip_addresses(network=network)))
def test_no_form_of_an_inner_address_is_public(inner: ipaddress.IPv4Address) -> None:
    number = int(inner)
    assert not is_public(inner)
    for prefix, shift in (("::ffff:0:0", 0), ("64:ff9b::", 0), ("2002::", 80), ("::", 0)):
        carried = int(ipaddress.IPv6Address(prefix)) | number << shift
        assert not is_public(ipaddress.IPv6Address(carried))
