"""Webhooks: signed over the raw body, judged by the status, bounded, pinned to one address."""

from __future__ import annotations

import asyncio
import datetime
import hashlib
import hmac
import json
import logging
import socket
import ssl
import threading
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from app.outlets import hooks
from app.outlets.hooks import Delivered, Hook, deliver
from tests.outlets.receiver import Receiver, event, receiving

NAME = "board.test"


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as server:
        yield server


def post(place: str, *, secret: str = "a secret", allow: bool = True) -> Delivered:
    async def go() -> Delivered:
        async with httpx.AsyncClient() as client:
            hook = Hook(f"http://{place}/kr/t0ken", secret)
            return await deliver(client, hook, event(), allow=frozenset({place} if allow else ()))

    return asyncio.run(go())


def test_a_webhook_is_signed_over_its_raw_body(receiver: Receiver) -> None:
    assert post(receiver.place) == Delivered(True, True)
    headers, body = receiver.got[0]
    expected = hmac.new(b"a secret", body, hashlib.sha256).hexdigest()
    assert headers["X-KR-Signature-256"] == f"sha256={expected}"
    assert headers["X-KR-Event"] == "question.escalated"
    assert headers["X-KR-Delivery"] == json.loads(body)["id"] == "7-3-0"
    assert headers["Host"] == receiver.place
    assert headers["User-Agent"] == "knowledge-router"


def test_without_a_secret_there_is_no_signature(receiver: Receiver) -> None:
    assert post(receiver.place, secret="").ok
    assert "X-KR-Signature-256" not in receiver.got[0][0]


@pytest.mark.parametrize("status", [400, 401, 402, 403, 404, 405, 410, 413, 422])
def test_final_refusals(receiver: Receiver, status: int) -> None:
    receiver.status, receiver.more = status, {"Retry-After": "7"}
    assert post(receiver.place) == Delivered(False, True, f"answered {status}")


@pytest.mark.parametrize("status", [408, 425, 429, 500, 502, 503, 504])
def test_refusals_that_may_pass(receiver: Receiver, status: int) -> None:
    receiver.status, receiver.more = status, {"Retry-After": "7"}
    assert post(receiver.place) == Delivered(False, False, f"answered {status}", 7.0)


@pytest.mark.parametrize(
    ("after", "wait"),
    [
        ("0", 0.0),
        ("999999", 3600.0),
        ("9" * 5000, 3600.0),
        ("soon", None),
        ("-1", None),
        ("1e3", None),
        ("", None),
        ("Wed, 21 Oct 2026 07:28:00 GMT", None),
    ],
)
def test_how_long_a_receiver_may_ask_to_wait(
    receiver: Receiver, after: str, wait: float | None
) -> None:
    receiver.status, receiver.more = 503, {"Retry-After": after}
    assert post(receiver.place).wait == wait


def test_a_redirect_is_not_followed(receiver: Receiver) -> None:
    receiver.status, receiver.more = 307, {"Location": f"http://{receiver.place}/elsewhere"}
    outcome = post(receiver.place)
    assert (outcome.ok, outcome.final) == (False, True)
    assert "leads to" in outcome.reason
    assert len(receiver.got) == 1


def test_an_endless_answer_is_not_read(receiver: Receiver) -> None:
    receiver.status, receiver.endless = 200, True
    assert post(receiver.place).ok


def test_an_internal_receiver_must_be_named(receiver: Receiver) -> None:
    outcome = post(receiver.place, allow=False)
    assert (outcome.ok, outcome.final) == (False, True)
    assert "allow_hosts" in outcome.reason
    assert receiver.got == []


def test_nobody_there_is_tried_again() -> None:
    assert post("127.0.0.1:9") == Delivered(False, False, "no answer: ConnectError")


def test_a_name_that_is_not_found_is_tried_again() -> None:
    outcome = post("nowhere.invalid:9", allow=False)
    assert (outcome.ok, outcome.final) == (False, False)


def test_a_receiver_that_drips_is_given_up_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each piece comes in time, the whole never does."""
    monkeypatch.setattr(hooks, "SECONDS", 0.4)
    over = threading.Event()

    def drip() -> None:
        caller, _ = silent.accept()
        with caller:
            caller.sendall(b"HTTP/1.1 200 OK\r\n")
            while not over.wait(0.05):
                try:
                    caller.sendall(b"X-More: a\r\n")
                except OSError:
                    return

    with socket.create_server(("127.0.0.1", 0)) as silent:
        thread = threading.Thread(target=drip, daemon=True)
        thread.start()
        try:
            outcome = post(f"127.0.0.1:{silent.getsockname()[1]}")
        finally:
            over.set()
            thread.join()
    assert outcome == Delivered(False, False, "no answer within 0.4 seconds")


def test_no_secret_is_told_or_logged(receiver: Receiver, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    logging.getLogger("httpx").setLevel(logging.WARNING)  # as `workers` does
    receiver.status = 500
    told = post(receiver.place).reason + post("127.0.0.1:9").reason
    told += post(receiver.place, allow=False).reason
    assert "t0ken" not in told + caplog.text
    assert "a secret" not in told + caplog.text


def test_what_one_receiver_sets_another_never_gets(receiver: Receiver) -> None:
    receiver.more = {"Set-Cookie": "a=b; Path=/"}

    async def go() -> None:
        async with httpx.AsyncClient() as client:
            for _ in range(2):
                hook = Hook(f"http://{receiver.place}/")
                await deliver(client, hook, event(), allow=frozenset({receiver.place}))

    asyncio.run(go())
    assert "Cookie" not in receiver.got[1][0]
    assert len(set(receiver.callers)) == 2, "a connection was kept for another name"


# --- TLS: the connection goes to an address, the certificate is checked against the name


def _certificate(folder: Path, name: str) -> tuple[ssl.SSLContext, ssl.SSLContext]:
    """A server's context for a name, and a client's context that trusts it."""
    key = ec.generate_private_key(ec.SECP256R1())
    now = datetime.datetime.now(datetime.UTC)
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    made = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .sign(key, hashes.SHA256())
    )
    text = serialization.Encoding.PEM
    plain = serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    (folder / "key").write_bytes(key.private_bytes(text, *plain))
    (folder / "cert").write_bytes(made.public_bytes(text))
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(folder / "cert", folder / "key")
    return server, ssl.create_default_context(cafile=str(folder / "cert"))


@pytest.fixture
def secure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[tuple[Receiver, ssl.SSLContext]]:
    """A receiver with a certificate for `board.test`; every name leads to it."""
    server, client = _certificate(tmp_path, NAME)
    real = socket.getaddrinfo

    def resolve(host: str, *rest: object, **more: object) -> object:
        return real("127.0.0.1", *rest, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    with receiving(server) as receiver:
        yield receiver, client


def test_the_certificate_is_checked_against_the_name(
    secure: tuple[Receiver, ssl.SSLContext],
) -> None:
    """Also when a connection to the same address, made for another name, was just used."""
    receiver, trusting = secure
    port = receiver.server_port

    async def go() -> list[Delivered]:
        async with httpx.AsyncClient(verify=trusting, trust_env=False) as client:
            allow = frozenset({f"{NAME}:{port}", f"other.test:{port}"})
            return [
                await deliver(client, Hook(f"https://{name}:{port}/"), event(), allow=allow)
                for name in (NAME, "other.test")
            ]

    good, bad = asyncio.run(go())
    assert good == Delivered(True, True)
    assert (bad.ok, bad.final) == (False, False)
    assert [headers["Host"] for headers, _ in receiver.got] == [f"{NAME}:{port}"]
