"""`kr token create`, and what the API's tokens say and refuse."""

from __future__ import annotations

import base64
import json
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import jwt
import pytest

from app import cli
from app.web import tokens
from app.web.tokens import BadToken, CannotCreate, Identity

SECRET = "0123456789abcdef0123456789abcdef"


@pytest.fixture(autouse=True)
def _no_settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in list(os.environ):
        if name.startswith("KR_") and name != "KR_REQUIRE_ALL":
            monkeypatch.delenv(name)
    monkeypatch.setenv("KR_DATA_DIR", str(tmp_path / "kr"))


def signed(secret: str = SECRET, algorithm: str = "HS256", **changes: Any) -> str:
    """A token with other claims than ours; None leaves one out."""
    now = datetime.now(UTC)
    claims = {
        "iss": tokens.ISSUER,
        "sub": "rosa",
        "role": "user",
        "iat": now,
        "exp": now + timedelta(minutes=5),
        "jti": "1",
    }
    kept = {name: value for name, value in {**claims, **changes}.items() if value is not None}
    return jwt.encode(kept, secret, algorithm=algorithm)


def test_the_command_prints_a_token_that_reads_back(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("KR_API_SECRET", SECRET)
    argv = ["token", "create", "--role", "admin", "--name", "rosa"]
    assert cli.main(argv) == 0
    printed = capsys.readouterr().out
    assert tokens.read(SECRET, printed.strip()) == Identity("rosa", "admin")
    assert cli.main([*argv, "--days", "2", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert set(told) == {"token", "name", "role", "expires"}
    assert (told["name"], told["role"]) == ("rosa", "admin")
    claims = jwt.decode(told["token"], SECRET, algorithms=["HS256"], issuer="knowledge-router")
    assert claims["exp"] - claims["iat"] == 2 * 24 * 3600
    assert claims["jti"]
    assert datetime.fromisoformat(told["expires"]).timestamp() == claims["exp"]


@pytest.mark.parametrize(
    ("secret", "words", "said"),
    [
        (None, [], "KR_API_SECRET is not set"),
        ("", [], "KR_API_SECRET is not set"),
        ("x" * 31, [], "openssl rand -hex 32"),
        (SECRET, ["--name", "rosa\n@everybody"], "A name has"),
        (SECRET, ["--days", "0"], "1 to 3650 days"),
        (SECRET, ["--role", "king"], "invalid choice"),
    ],
)
def test_the_command_says_what_to_do(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    secret: str | None,
    words: list[str],
    said: str,
) -> None:
    if secret is not None:
        monkeypatch.setenv("KR_API_SECRET", secret)
    assert cli.main(["token", "create", "--role", "user", "--name", "rosa", *words]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert said in shown.err


def test_a_role_that_is_none_is_refused() -> None:
    with pytest.raises(CannotCreate, match="no role king"):
        tokens.create(SECRET, "rosa", "king", 1)  # type: ignore[arg-type]


def test_every_token_is_another() -> None:
    one, other = (tokens.create(SECRET, "rosa", "user", 1) for _ in range(2))
    assert one != other


def test_an_admin_may_all_that_a_user_may() -> None:
    assert Identity("rosa", "admin").may("user")
    assert not Identity("rosa", "user").may("admin")


def test_clocks_may_differ_by_half_a_minute() -> None:
    now = datetime.now(UTC)
    late = signed(iat=now - timedelta(minutes=5), exp=now - timedelta(seconds=15))
    assert tokens.read(SECRET, late).name == "rosa"
    with pytest.raises(BadToken, match="expired"):
        tokens.read(SECRET, signed(exp=now - timedelta(seconds=45)))


@pytest.mark.parametrize("claim", ["iss", "sub", "role", "iat", "exp", "jti"])
def test_every_claim_is_needed(claim: str) -> None:
    with pytest.raises(BadToken):
        tokens.read(SECRET, signed(**{claim: None}))


@pytest.mark.parametrize(
    "changes",
    [
        {"iss": "somebody else"},
        {"role": "king"},
        {"role": ["admin"]},
        {"sub": ""},
        {"sub": "@everybody"},
        {"sub": "rosa\n"},
        {"iat": datetime.now(UTC) + timedelta(hours=1)},
        {"secret": "another secret that is long enough"},
        {"algorithm": "none", "secret": ""},
    ],
)
def test_other_peoples_tokens_are_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(BadToken):
        tokens.read(SECRET, signed(**changes))


def test_the_algorithm_is_ours_whatever_the_header_says() -> None:
    long = SECRET * 2
    with pytest.raises(BadToken):
        tokens.read(long, signed(long, algorithm="HS384"))
    _, payload, _ = signed().split(".")
    header = base64.urlsafe_b64encode(b'{"alg":"none","typ":"JWT"}').decode().rstrip("=")
    with pytest.raises(BadToken):
        tokens.read(SECRET, f"{header}.{payload}.")


@pytest.mark.parametrize(
    "token",
    [
        "",
        "a.b.c",
        SECRET,
        "é.é.é",
        base64.urlsafe_b64encode(b"[" * 2500).decode() + ".e30.AA",
        "x" * 10_000,
    ],
)
def test_nonsense_is_refused_with_a_sentence(token: str) -> None:
    with pytest.raises(BadToken) as error:
        tokens.read(SECRET, token)
    assert str(error.value).endswith(".")


def test_a_short_secret_vouches_for_nobody() -> None:
    with pytest.warns(jwt.InsecureKeyLengthWarning):
        forged = signed(secret="guessable")
    with pytest.raises(BadToken, match="too short"):
        tokens.read("guessable", forged)
