"""Who may read and write over HTTP, and how a new App's keys are fetched (`/setup`)."""

from __future__ import annotations

import asyncio
import json
import stat
import subprocess
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx
import pytest
from pydantic import SecretStr

from app.settings import Settings
from app.web import tokens
from app.web.app import create_app
from app.web.manifest import States
from tests.servers import Backing

SECRET = "0123456789abcdef0123456789abcdef"
TOKEN = tokens.create(SECRET, "rosa", "user", 1)
ADMIN = tokens.create(SECRET, "mara", "admin", 1)
PAGES = ["/", "/setup", "/metrics", "/docs", "/redoc", "/openapi.json", "/api/features"]
_KEY = " ".join(("RSA", "PRIVATE", "KEY"))  # made here, so that no key's header stands in a file
PEM = f"-----BEGIN {_KEY}-----\nnot really\n-----END {_KEY}-----\n"
WEBHOOK = "it's a webhook secret"


@dataclass
class Web:
    """The web process as a client of some address sees it."""

    settings: Settings
    peer: str = "127.0.0.1"
    base: str = "http://127.0.0.1:8000"
    app: Any = field(init=False)

    def __post_init__(self) -> None:
        self.app = create_app(self.settings)

    def __call__(
        self, path: str, method: str = "GET", *, http: str = "1.1", **kwargs: Any
    ) -> httpx.Response:
        async def versioned(scope: Any, receive: Any, send: Any) -> None:
            await self.app({**scope, "http_version": http}, receive, send)

        async def call() -> httpx.Response:
            transport = httpx.ASGITransport(versioned, client=(self.peer, 40000))
            async with httpx.AsyncClient(transport=transport, base_url=self.base) as client:
                return await client.request(method, path, **kwargs)

        return asyncio.run(call())


@pytest.fixture
def settings(backing: Backing, tmp_path: Path) -> Settings:
    return Settings(
        database_url=backing.database_url,
        redis_url=backing.redis_url,
        data_dir=tmp_path / "kr",
        api_secret=SECRET,
        host="127.0.0.1",
        _env_file=None,
    )


def _with(settings: Settings, **changes: Any) -> Settings:
    return settings.model_copy(update=changes)


def _bearer(token: str) -> dict[str, str]:
    return {"authorization": f"Bearer {token}"}


def test_here_reading_is_open(settings: Settings) -> None:
    web = Web(settings)
    assert {path: web(path).status_code for path in PAGES} == dict.fromkeys(PAGES, 200)
    web.base = "http://localhost:8000"
    assert web("/api/features").status_code == 200
    web.base, web.peer = "http://[::1]:8000", "::1"
    assert web("/api/features").status_code == 200


def test_a_loopback_public_url_is_still_here(settings: Settings) -> None:
    """The demo sets it."""
    web = Web(_with(settings, public_url="http://127.0.0.1:8123"))
    assert web("/").status_code == 200


def _closed(web: Web, **kwargs: Any) -> None:
    for path in PAGES:
        response = web(path, **kwargs)
        assert response.status_code == 401, path
        assert response.headers["www-authenticate"] == "Bearer"
        assert "kr token create" in response.json()["detail"]


@pytest.mark.parametrize(
    "changes",
    [
        {"public_url": "https://router.acme.example"},
        {"public_url": "https://["},
        {"host": "0.0.0.0"},
        {"host": ""},
    ],
)
def test_a_public_service_is_closed_even_from_here(
    settings: Settings, changes: dict[str, str]
) -> None:
    """A proxy on the same machine looks like somebody on the same machine."""
    web = Web(_with(settings, **changes))
    _closed(web)
    assert web("/api/features", headers=_bearer(TOKEN)).status_code == 200


@pytest.mark.parametrize(
    "header", ["X-Forwarded-For", "X-Forwarded-Host", "X-Real-IP", "Forwarded", "Via"]
)
def test_what_a_proxy_passed_on_is_closed(settings: Settings, header: str) -> None:
    _closed(Web(settings), headers={header: "127.0.0.1"})


def test_the_default_of_nginx_is_closed(settings: Settings) -> None:
    _closed(Web(settings), http="1.0")


@pytest.mark.parametrize(
    ("peer", "host"),
    [
        ("127.0.0.1", "evil.example"),
        ("127.0.0.1", "127.0.0.1.evil.example"),
        ("127.0.0.1", "["),
        ("127.0.0.1", ""),
        ("10.0.0.7", "127.0.0.1:8000"),
    ],
)
def test_other_peers_and_other_names_are_closed(settings: Settings, peer: str, host: str) -> None:
    web = Web(settings, peer)
    assert web("/api/features", headers={"host": host}).status_code == 401


@pytest.mark.parametrize(
    ("authorization", "status"),
    [
        (f"Bearer {TOKEN}", 200),
        (f"bearer  {TOKEN}", 200),
        (f"Bearer {ADMIN}", 200),
        (f"Bearer {SECRET}", 401),
        (SECRET, 401),
        (TOKEN, 401),
        ("Bearer", 401),
        (f"Basic {TOKEN}", 401),
        (f"Bearer {TOKEN[:-4]}AAAA", 401),
    ],
)
def test_elsewhere_a_token_is_needed(settings: Settings, authorization: str, status: int) -> None:
    web = Web(settings, "10.0.0.7", "http://router.acme.example")
    response = web("/api/features", headers={"authorization": authorization})
    assert response.status_code == status


def test_health_is_always_open(settings: Settings) -> None:
    web = Web(_with(settings, public_url="https://router.acme.example"), "10.0.0.7", "http://x")
    assert web("/healthz").status_code == 200
    assert web("/readyz").status_code == 200


def test_writing_takes_a_token_also_here(settings: Settings) -> None:
    web = Web(settings)
    for method, path in (
        ("POST", "/api/questions"),
        ("POST", "/api/questions/q-000001/answer"),
        ("POST", "/api/questions/q-000001/escalate"),
        ("POST", "/api/questions/q-000001/response"),
        ("PUT", "/api/routing"),
        ("POST", "/api/tasks"),
    ):
        assert web(path, method, json={}).status_code == 401, path


def test_an_admins_work_takes_an_admin(settings: Settings) -> None:
    web = Web(settings)
    response = web("/api/routing", "PUT", json={"rules": []}, headers=_bearer(TOKEN))
    assert response.status_code == 403
    assert "--role admin" in response.json()["detail"]
    assert web("/api/routing").json() == []


def test_without_a_secret_no_token_helps(settings: Settings) -> None:
    web = Web(_with(settings, api_secret=None))
    response = web("/api/tasks", "POST", headers=_bearer(TOKEN))
    assert response.status_code == 401
    assert "KR_API_SECRET" in response.json()["detail"]


def test_large_bodies_are_refused_before_they_are_read(settings: Settings) -> None:
    web = Web(settings)
    too_long = {"content-length": str(2 * 1024 * 1024)}
    assert web("/api/tasks", "POST", headers=too_long).status_code == 413
    assert web("/api/tasks", "POST", headers={"content-length": "x"}).status_code == 413

    async def chunks() -> Any:
        yield b"{}"

    assert web("/api/tasks", "POST", content=chunks()).status_code == 411


# /setup


@dataclass
class GitHub:
    """Stands in for GitHub's conversion of a manifest's code."""

    url: str = ""
    status: int = 201
    answer: Any = field(
        default_factory=lambda: {
            "id": 41,
            "slug": "baron",
            "html_url": "https://github.com/apps/baron",
            "client_secret": "a client secret",
            "webhook_secret": WEBHOOK,
            "pem": PEM,
        }
    )
    asked: list[str] = field(default_factory=list)


@pytest.fixture
def github() -> Iterator[GitHub]:
    box = GitHub()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            box.asked.append(self.path)
            body = json.dumps(box.answer).encode()
            self.send_response(box.status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    box.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield box
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def web(settings: Settings, github: GitHub) -> Web:
    return Web(_with(settings, github_api_url=github.url))


def _state(page: str) -> str:
    return page.partition("/settings/apps/new?state=")[2].partition('"')[0]


def _mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_the_code_becomes_keys_that_only_we_can_read(web: Web, github: GitHub) -> None:
    page = web("/setup?code=a-Code_1")
    assert page.status_code == 200
    assert github.asked == ["/app-manifests/a-Code_1/conversions"]
    keys = web.settings.data_dir / "keys"
    assert _mode(keys) == 0o700
    assert sorted(path.name for path in keys.iterdir()) == ["github-app.pem", "settings.env"]
    assert (keys / "github-app.pem").read_text() == PEM
    assert {_mode(path) for path in keys.iterdir()} == {0o600}


def test_a_shell_can_load_the_settings(web: Web) -> None:
    web("/setup?code=abc")
    keys = web.settings.data_dir / "keys"
    names = ("APP_ID", "PRIVATE_KEY_PATH", "WEBHOOK_SECRET")
    script = f"set -a; . {keys / 'settings.env'}; env"
    shown = subprocess.run(
        ["sh", "-c", script], capture_output=True, text=True, check=True
    ).stdout.splitlines()
    assert [next(line for line in shown if line.startswith(f"KR_GITHUB_{n}=")) for n in names] == [
        "KR_GITHUB_APP_ID=41",
        f"KR_GITHUB_PRIVATE_KEY_PATH={keys / 'github-app.pem'}",
        f"KR_GITHUB_WEBHOOK_SECRET={WEBHOOK}",
    ]


def test_the_page_says_what_is_next_and_no_secret(web: Web) -> None:
    page = web("/setup?code=abc")
    assert 'href="https://github.com/apps/baron"' in page.text
    assert f"set -a; . {web.settings.data_dir}/keys/settings.env; kr up" in page.text
    assert "webhook secret" in page.text
    for secret in ("not really", "it's a", "it&#39;s a", "a client secret"):
        assert secret not in page.text
    assert page.headers["cache-control"] == "no-store"


def test_a_hostile_link_is_no_link(web: Web, github: GitHub) -> None:
    github.answer["html_url"] = "javascript:alert(1)"
    page = web("/setup?code=abc")
    assert page.status_code == 200
    assert "javascript:" not in page.text


def test_keys_that_are_there_are_never_overwritten(web: Web, github: GitHub) -> None:
    web("/setup?code=abc")
    github.answer["pem"] = PEM.replace("not really", "another one")
    page = web("/setup?code=def")
    assert page.status_code == 409
    assert "move them away" in page.text
    assert len(github.asked) == 1
    assert (web.settings.data_dir / "keys" / "github-app.pem").read_text() == PEM
    waiting = web("/setup").text
    assert "settings.env; kr up" in waiting
    assert "<form" not in waiting


def test_a_configured_app_is_said_and_nothing_offered(web: Web, github: GitHub) -> None:
    configured = Web(_with(web.settings, github_app_id="41", github_webhook_secret=SecretStr("s")))
    for path in ("/setup", "/setup?code=abc"):
        page = configured(path)
        assert "The App is configured" in page.text
        assert "<form" not in page.text
    assert github.asked == []


@pytest.mark.parametrize("code", ["", "a/b", "a%2e%2e", "x" * 101, "a%0A", "é"])
def test_only_a_code_is_a_code(web: Web, github: GitHub, code: str) -> None:
    page = web(f"/setup?code={code}")
    assert page.status_code == 400
    assert github.asked == []
    assert not (web.settings.data_dir / "keys").exists()


@pytest.mark.parametrize(
    ("status", "answer", "shown"),
    [
        (404, {"message": "Not Found"}, 400),
        (500, {}, 502),
        (302, {}, 502),
        (201, {}, 502),
        (201, [], 502),
        (201, "no", 502),
        (201, {"id": 1, "html_url": "", "pem": "no key", "webhook_secret": "s"}, 502),
        (201, {"id": 1, "html_url": "", "pem": PEM, "webhook_secret": None}, 502),
        (201, {"id": "1; rm", "html_url": "", "pem": PEM, "webhook_secret": "s"}, 502),
        (201, {"id": 1, "html_url": "", "pem": PEM, "webhook_secret": "s\nX=1"}, 502),
    ],
)
def test_what_github_refuses_leaves_nothing(
    web: Web, github: GitHub, status: int, answer: Any, shown: int
) -> None:
    github.status, github.answer = status, answer
    page = web("/setup?code=abc")
    assert page.status_code == shown
    assert "GitHub" in page.text
    assert list((web.settings.data_dir / "keys").iterdir()) == []


def test_github_away_is_said(settings: Settings) -> None:
    page = Web(_with(settings, github_api_url="http://127.0.0.1:9"))("/setup?code=abc")
    assert page.status_code == 502
    assert "did not answer" in page.text


def test_a_folder_that_cannot_be_used_does_not_cost_the_code(web: Web, github: GitHub) -> None:
    web.settings.data_dir.write_text("a file")
    assert web("/setup?code=abc").status_code == 500
    assert github.asked == []


def test_from_elsewhere_the_state_opens_the_way_back(web: Web, github: GitHub) -> None:
    public = Web(
        _with(web.settings, public_url="https://router.acme.example"),
        "10.0.0.7",
        "https://router.acme.example",
    )
    assert public("/setup?code=abc").status_code == 401
    assert public("/setup?code=abc&state=guessed").status_code == 401
    form = public("/setup", headers=_bearer(TOKEN)).text
    state = _state(form)
    assert len(state) >= 32
    assert public(f"/setup?state={state}").status_code == 401
    assert github.asked == []
    cross = {"sec-fetch-site": "cross-site"}
    assert public(f"/setup?code=abc&state={state}", headers=cross).status_code == 200


def test_a_strangers_page_cannot_bring_the_strangers_app(web: Web, github: GitHub) -> None:
    cross = {"sec-fetch-site": "cross-site"}
    page = web("/setup?code=abc", headers=cross)
    assert page.status_code == 403
    assert "new tab" in page.text
    assert github.asked == []
    state = _state(web("/setup").text)
    assert web(f"/setup?code=abc&state={state}", headers=cross).status_code == 200


def test_a_state_lives_an_hour_and_a_hundred_are_kept() -> None:
    now = [0.0]
    states = States(lambda: now[0])
    first, second = states.make(), states.make()
    now[0] = 3599.0
    assert states.knows(first)
    assert not states.knows("")
    for _ in range(99):
        states.make()
    assert not states.knows(first)
    assert states.knows(second)
    now[0] = 3600.0
    assert not states.knows(second)
