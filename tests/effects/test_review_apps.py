"""`apps:` in agents.yaml and their keys become Apps to speak under; or it is said why not."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Mapping
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from app.cli_commands import doctor_checks
from app.config.loader import Config, load_config
from app.config.shipped import shipped_folder
from app.github.apps import Named, Unusable, apps_of, further, open_apps, ours_of
from app.github.client import AppClient, GitHubError
from app.settings import Settings
from tests.playground.conftest import REPO, Two, _served_two, two

__all__ = ["_served_two", "two"]
DEGAULLE = "  degaulle: {slug: degaulle, roles: [reviewer]}\n"
NUMBER = {"KR_APP_DEGAULLE_ID": "2"}


def configured(folder: Path, apps: str = DEGAULLE) -> Path:
    """The shipped configuration with Apps."""
    shutil.copytree(shipped_folder(), folder / "configs", dirs_exist_ok=True)
    with (folder / "configs" / "agents.yaml").open("a") as file:
        file.write(f"\napps:\n{apps}")
    return folder / "configs"


def config(folder: Path, apps: str = DEGAULLE) -> Config:
    return load_config(configured(folder, apps))


def settings(two: Two, **more: object) -> Settings:
    given = {"github_app_id": "1", "github_private_key": two.first.private_key, **more}
    return Settings(github_api_url=two.first.api, github_url=two.first.url, **given)  # type: ignore[arg-type]  # a dict has no types


def read(two: Two, folder: Path, env: Mapping[str, str], apps: str = DEGAULLE) -> Named | Unusable:
    (found,) = further(settings(two), config(folder, apps), env)
    return found


def problem(two: Two, folder: Path, env: Mapping[str, str]) -> tuple[str, str]:
    found = read(two, folder, env)
    assert isinstance(found, Unusable)
    assert found.name == "degaulle"
    return found.problem, found.remedy


@pytest.mark.parametrize("form", ["path", "text", "one line"])
def test_a_role_speaks_under_its_app(two: Two, tmp_path: Path, form: str) -> None:
    key, env = two.second.private_key, dict(NUMBER)
    if form == "path":
        (tmp_path / "key.pem").write_text(key)
        env["KR_APP_DEGAULLE_PRIVATE_KEY_PATH"] = str(tmp_path / "key.pem")
    else:
        env["KR_APP_DEGAULLE_PRIVATE_KEY"] = key.replace("\n", "\\n") if form != "text" else key
    apps = apps_of(settings(two), config(tmp_path), env)
    assert list(apps) == ["reviewer"]
    assert asyncio.run(apps["reviewer"].slug()) == "degaulle"


def test_an_alias_is_the_role_and_the_first_app_of_a_role_is_the_one(
    two: Two, tmp_path: Path
) -> None:
    env = {f"KR_APP_{name}_ID": number for name, number in (("A_B", "2"), ("C", "3"))}
    env |= {f"KR_APP_{name}_PRIVATE_KEY": two.second.private_key for name in ("A_B", "C")}
    listed = "  a-b: {roles: [security-reviewer]}\n  c: {roles: [architect, reviewer]}\n"
    apps = apps_of(settings(two), config(tmp_path, listed), env)
    assert sorted(apps) == ["architect", "reviewer"]
    assert asyncio.run(apps["architect"].slug()) == "degaulle"
    with pytest.raises(GitHubError):
        asyncio.run(apps["reviewer"].slug())


def test_what_is_missing_is_named_with_its_remedy(two: Two, tmp_path: Path) -> None:
    key = {"KR_APP_DEGAULLE_PRIVATE_KEY": two.second.private_key}
    assert problem(two, tmp_path, {})[0] == "KR_APP_DEGAULLE_ID is not set."
    what, remedy = problem(two, tmp_path, key)
    assert what == "there is a key, but KR_APP_DEGAULLE_ID is not set."
    assert remedy.startswith("Set KR_APP_DEGAULLE_ID to the App's number")
    what, remedy = problem(two, tmp_path, NUMBER)
    assert "neither KR_APP_DEGAULLE_PRIVATE_KEY_PATH nor KR_APP_DEGAULLE_PRIVATE_KEY" in what
    assert "private key" in remedy
    gone = {**NUMBER, "KR_APP_DEGAULLE_PRIVATE_KEY_PATH": str(tmp_path / "gone.pem")}
    assert "cannot be read: No such file" in problem(two, tmp_path, gone)[0]
    assert "first App" in problem(two, tmp_path, {**key, "KR_APP_DEGAULLE_ID": "1"})[0]
    assert apps_of(settings(two), load_config(shipped_folder()), key) == {}


def test_a_key_that_is_none_stops_nothing(
    two: Two, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    curve = ec.generate_private_key(ec.SECP256R1())
    other = curve.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
    for text, what in (("no key", "not a PEM key"), (other, "not an RSA key")):
        env = {**NUMBER, "KR_APP_DEGAULLE_PRIVATE_KEY": text}
        assert what in problem(two, tmp_path, env)[0]
    apps = open_apps(settings(two), config(tmp_path), env)
    assert apps.of("reviewer") is None
    assert "the App degaulle is not used: the private key is not an RSA key" in caplog.text
    assert asyncio.run(apps.first.slug()) == "baron"


def test_no_key_is_shown(two: Two, tmp_path: Path) -> None:
    env = {**NUMBER, "KR_APP_DEGAULLE_PRIVATE_KEY": two.second.private_key}
    assert "PRIVATE" not in repr(read(two, tmp_path, env))


def test_ours_is_what_any_of_our_apps_wrote(two: Two, tmp_path: Path) -> None:
    for running in (two.first, two.second):
        running.as_bot("POST", "/issues/1/comments", json={"body": "Here"})
    two.first.client.as_user("mara").comment(REPO, 1, "Mine")
    comments = two.first.client.comments(REPO, 1)
    env = {**NUMBER, "KR_APP_DEGAULLE_PRIVATE_KEY": two.second.private_key}
    apps = open_apps(settings(two), config(tmp_path), env)
    both = asyncio.run(apps.recogniser())
    assert [both(one) for one in comments] == [True, True, False]
    first = asyncio.run(ours_of([AppClient(settings(two))]))
    assert [first(one) for one in comments] == [True, False, False]


def test_what_a_refused_app_wrote_stays_ours_by_its_slug(two: Two, tmp_path: Path) -> None:
    two.second.as_bot("POST", "/issues/1/comments", json={"body": "Here"})
    (comment,) = two.first.client.comments(REPO, 1)
    env = {**NUMBER, "KR_APP_DEGAULLE_PRIVATE_KEY": two.first.private_key}
    for listed, known in ((DEGAULLE, True), ("  degaulle: {roles: [reviewer]}\n", False)):
        apps = open_apps(settings(two), config(tmp_path / str(known), listed), env)
        ours = asyncio.run(apps.recogniser())
        assert ours(comment) is known
        assert not ours({"user": {"login": "degaulle[bot]", "type": "User"}})
        assert not ours({"user": {"login": "[bot]", "type": "Bot"}})


def doctor(two: Two, folder: Path, monkeypatch: pytest.MonkeyPatch, listed: str, key: str) -> str:
    monkeypatch.setenv("KR_APP_DEGAULLE_ID", "2")
    monkeypatch.setenv("KR_APP_DEGAULLE_PRIVATE_KEY", key)
    return doctor_checks.apps(settings(two, config_dir=configured(folder, listed)))


def test_doctor_tries_each_app(two: Two, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said = doctor(two, tmp_path / "a", monkeypatch, DEGAULLE, two.second.private_key)
    assert said == "degaulle is degaulle[bot] for reviewer"
    with pytest.raises(doctor_checks.Failed, match="GitHub refuses its number or key: 401"):
        doctor(two, tmp_path / "b", monkeypatch, DEGAULLE, two.first.private_key)
    other = "  degaulle: {slug: acme-degaulle, roles: [reviewer]}\n  duc: {roles: [architect]}\n"
    with pytest.raises(doctor_checks.Failed) as wrong:
        doctor(two, tmp_path / "c", monkeypatch, other, two.second.private_key)
    assert "degaulle: its slug is degaulle, agents.yaml says acme-degaulle" in str(wrong.value)
    assert "duc: KR_APP_DUC_ID is not set" in str(wrong.value)
    assert "Write `slug: degaulle`" in wrong.value.remedy
    assert "Set KR_APP_DUC_ID" in wrong.value.remedy
    shipped = settings(two, config_dir=shipped_folder())
    assert doctor_checks.apps(shipped).startswith("none")
