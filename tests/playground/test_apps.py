"""A second App: its own key, bot and installation; it may what the author of a change may not."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import httpx
import jwt
import pytest

from app.cli_commands.demo_setup import make_keys
from app.embedded.files import free_port, private_folder
from app.playground.__main__ import _parser
from tests.playground.conftest import REPO, Running, Two, _served_two, two
from tests.playground.pulls import open_pull

__all__ = ["_served_two", "two"]


def slug(running: Running) -> str:
    return str(running.as_app("GET", "/app").json()["slug"])


def test_each_app_is_itself_and_sees_its_own_installation(two: Two) -> None:
    assert [slug(two.first), slug(two.second)] == ["baron", "degaulle"]
    (first,) = two.first.as_app("GET", "/app/installations").json()
    (second,) = two.second.as_app("GET", "/app/installations").json()
    assert (first["app_slug"], second["app_slug"]) == ("baron", "degaulle")
    assert first["id"] != second["id"]
    others = two.second.as_app("POST", f"/app/installations/{first['id']}/access_tokens")
    assert others.status_code == 404
    assert two.second.as_app("GET", f"/app/installations/{first['id']}").status_code == 404


def test_a_key_is_good_for_its_own_app_alone(two: Two) -> None:
    forged = two.first.call("GET", "/app", two.first.app_jwt(iss="2"))
    assert forged.status_code == 401
    unknown = two.first.call("GET", "/app", two.first.app_jwt(iss="3"))
    assert (unknown.status_code, unknown.json()["message"]) == (404, "Integration not found")


def test_its_comments_are_by_its_bot_and_through_it(two: Two) -> None:
    for running in (two.first, two.second):
        running.as_bot("POST", "/issues/1/comments", json={"body": "Here"})
    found = two.first.client.comments(REPO, 1)
    assert [one["user"]["login"] for one in found] == ["baron[bot]", "degaulle[bot]"]
    assert [one["performed_via_github_app"]["id"] for one in found] == [1, 2]


def test_webhooks_go_to_the_first_app_alone(two: Two) -> None:
    two.second.as_bot("POST", "/issues/1/comments", json={"body": "Here"})
    two.first.client.settle()
    (told,) = two.first.client.deliveries()
    (own,) = two.first.as_app("GET", "/app/installations").json()
    assert told["payload"]["installation"]["id"] == own["id"]
    assert told["payload"]["sender"]["login"] == "degaulle[bot]"
    assert len(two.first.as_app("GET", "/app/hook/deliveries").json()) == 1
    assert two.second.as_app("GET", "/app/hook/deliveries").json() == []


def test_an_app_requests_changes_on_the_others_pull_request_alone(two: Two) -> None:
    path = f"{open_pull(two.first).path}/reviews"
    data = {"event": "REQUEST_CHANGES", "body": "No"}
    refused = two.first.as_bot("POST", path, json=data)
    assert refused.status_code == 422
    assert "your own pull request" in refused.text
    made = two.second.as_bot("POST", path, json=data).json()
    assert (made["state"], made["user"]["login"]) == ("CHANGES_REQUESTED", "degaulle[bot]")


def test_a_request_for_changes_is_dismissed_once_and_a_comment_never(two: Two) -> None:
    path = f"{open_pull(two.first).path}/reviews"
    asked = two.second.as_bot("POST", path, json={"event": "REQUEST_CHANGES", "body": "No"}).json()
    said = two.second.as_bot("POST", path, json={"event": "COMMENT", "body": "Well"}).json()
    at = f"{path}/{asked['id']}/dismissals"
    assert two.second.as_bot("PUT", at, json={}).status_code == 422
    assert two.second.as_bot("PUT", at, json={"message": "Mended"}).json()["state"] == "DISMISSED"
    assert two.second.as_bot("PUT", at, json={"message": "Mended"}).status_code == 422
    at = f"{path}/{said['id']}/dismissals"
    assert two.second.as_bot("PUT", at, json={"message": "Mended"}).status_code == 422
    page = httpx.get(f"{two.first.url}/{REPO}/pull/{path.split('/')[2]}").text
    assert "since dismissed" in page


def test_taken_away_and_put_back(two: Two) -> None:
    two.second.as_bot("GET", "/issues/1")
    two.first.client.install("degaulle", installed=False)
    assert two.second.as_app("GET", f"/repos/{REPO}/installation").status_code == 404
    assert two.second.as_bot("GET", "/issues/1").status_code == 401
    assert two.first.as_bot("GET", "/issues/1").status_code == 200
    two.first.client.install("degaulle")
    assert two.second.as_app("GET", f"/repos/{REPO}/installation").status_code == 200
    with pytest.raises(httpx.HTTPStatusError):
        two.first.client.install("nobody")


@pytest.mark.parametrize("text", ["degaulle", "degaulle=2", "degaulle=two:key.pem", "=2:key.pem"])
def test_an_option_that_is_wrong_is_refused(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        _parser().parse_args(["--app", text])
    assert "NAME=ID:PUBLIC_KEY_FILE" in capsys.readouterr().err


def test_on_the_command_line(tmp_path: Path) -> None:
    names = ("first", "second", "third")
    first, second, third = (make_keys(private_folder(tmp_path / name)) for name in names)
    url = f"http://127.0.0.1:{free_port()}"
    process = subprocess.Popen(
        [
            *(sys.executable, "-m", "app.playground", "--port", url.rpartition(":")[2]),
            *("--app-public-key-file", str(first.public)),
            *("--app", f"degaulle=2:{second.public}", "--app", f"duc=3:{third.public}"),
        ],
        stdout=subprocess.PIPE,
    )
    try:
        assert process.stdout is not None
        process.stdout.readline()  # it listens
        now = int(time.time())
        claims = {"iat": now - 60, "exp": now + 500, "iss": "3"}
        token = jwt.encode(claims, third.private.read_text(), algorithm="RS256")
        headers = {"Authorization": f"Bearer {token}"}
        assert httpx.get(f"{url}/api/v3/app", headers=headers).json()["slug"] == "duc"
    finally:
        process.kill()
        process.wait()
