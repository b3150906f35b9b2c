"""What is in force in a repository, while layers change, break and cannot be reached."""

from __future__ import annotations

import asyncio
import os
from collections import Counter
from pathlib import Path

import pytest

from app.config import inforce
from app.config.inforce import Configurations, Fetch, InForce, Unreachable
from app.config.loader import Config
from app.config.problems import ConfigInvalid

REPO = "acme/storefront"
ORGANISATION_FILE = "acme/.github/baron.yml"
REPOSITORY_FILE = "acme/storefront/.github/baron.yml"
ANSWERERS = """
routes:
  - {pattern: security.**, answerer: agent/architect, sla: 30m}
"""
BAD = "baron:\n  questions:\n    limt: 3\n"


class Clock:
    """Time that passes when told to."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


class Memory:
    """What would be in the database."""

    def __init__(self) -> None:
        self.texts: dict[str, str | None] = {}
        self.writes: list[str] = []

    def last_good(self, repo: str, path: str) -> str | None:
        return self.texts.get(f"{repo}/{path}")

    def remember(self, repo: str, path: str, text: str | None) -> None:
        self.writes.append(f"{repo}/{path}")
        self.texts[f"{repo}/{path}"] = text


class GitHub:
    """Files by `owner/repo/path`, and how often each was asked for."""

    def __init__(self, **files: str) -> None:
        self.files: dict[str, str] = files
        self.asked: Counter[str] = Counter()
        self.down = False

    async def fetch(self, repo: str, path: str) -> str | None:
        self.asked[f"{repo}/{path}"] += 1
        await asyncio.sleep(0)
        if self.down:
            raise Unreachable
        return self.files.get(f"{repo}/{path}")


class World:
    """A server with its folder, its memory, its clock, and GitHub."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.clock, self.memory, self.github = folder, Clock(), Memory(), GitHub()
        self.write("answerers.yaml", ANSWERERS)
        self.write("baron.yaml", "questions: {limit: 6}\n")
        self.restart()

    def restart(self) -> None:
        self.configurations = Configurations(self.folder, self.memory, clock=self.clock)

    def write(self, name: str, text: str) -> None:
        """Write a file so that its time of change differs, however coarse the disk's clock."""
        path = self.folder / name
        changed = path.stat().st_mtime_ns + 10**9 if path.exists() else 10**18
        path.write_text(text, "utf-8")
        os.utime(path, ns=(changed, changed))

    def of(self, repo: str = REPO) -> InForce:
        return asyncio.run(self.configurations.of(repo, self.github.fetch))

    def limit(self, repo: str = REPO) -> int:
        return self.of(repo).config.baron.questions.limit

    def told(self) -> list[str]:
        return [str(problem) for problem in self.of().problems]


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def test_three_layers_and_where_every_word_is_from(world: World) -> None:
    world.github.files[ORGANISATION_FILE] = (
        "baron: {questions: {limit: 4}}\n"
        "answerers:\n  routes: [{pattern: security.*, answerer: team/a}]\n"
    )
    world.github.files[REPOSITORY_FILE] = "\nbaron: {comments: none}\n"
    found = world.of()
    assert found.layers == ("server", ORGANISATION_FILE, REPOSITORY_FILE)
    assert found.problems == ()
    assert (found.config.baron.questions.limit, found.config.baron.comments) == (4, "none")
    assert [route.pattern for route in found.config.answerers.routes] == [
        "security.*",
        "security.**",
    ]
    origins = found.config.origins
    assert origins["baron.questions.limit"] == f"{ORGANISATION_FILE}:1"
    assert origins["baron.comments"] == f"{REPOSITORY_FILE}:2"
    assert origins["answerers.routes[0].pattern"] == f"{ORGANISATION_FILE}:3"
    assert origins["answerers.routes[1].pattern"] == "answerers.yaml:3"


def test_without_layers_the_server_alone_is_in_force(world: World) -> None:
    assert world.of().layers == ("server",)
    assert world.of().config is world.configurations.server()
    assert world.memory.writes == []


def test_a_change_is_taken_up_when_it_is_no_longer_fresh(world: World) -> None:
    world.github.files[REPOSITORY_FILE] = "baron: {questions: {limit: 3}}"
    first = world.of()
    world.github.files[REPOSITORY_FILE] = "baron: {questions: {limit: 2}}"
    world.clock.now += 7.9
    assert world.of() is first
    assert world.github.asked == {ORGANISATION_FILE: 1, REPOSITORY_FILE: 1}
    world.clock.now += 0.2
    assert world.limit() == 2
    del world.github.files[REPOSITORY_FILE]
    world.clock.now += 8
    assert (world.limit(), world.of().layers) == (6, ("server",))


def test_what_did_not_change_is_not_merged_again(world: World) -> None:
    world.github.files[REPOSITORY_FILE] = "baron: {comments: none}"
    first = world.of()
    world.clock.now += 100
    assert world.of() is first
    assert world.github.asked[REPOSITORY_FILE] == 2
    assert world.memory.writes == [REPOSITORY_FILE]


@pytest.mark.parametrize(
    ("bad", "problem"),
    [
        (BAD, ':3: baron.questions.limt: unknown key (did you mean "limit"?)'),
        ("baron: [", ":1: is not valid YAML"),
        ("agents:\n  apps: {}", ":2: agents.apps: only the server"),
        ("baron: {questions: {limit: 30}}", ":1: baron.questions.limit: may not be above 6"),
        ("baron: {comments: none}\n" + "#" * inforce.MAX_LAYER_BYTES, ":1: is larger than 256 KB"),
        ("ä" * (inforce.MAX_LAYER_BYTES // 2 + 1), ":1: is larger than 256 KB"),
        (
            "a0: &a0 [x,x,x,x,x,x,x,x,x]\n"
            + "".join(f"a{n}: &a{n} [{','.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 9)),
            "has more than 30,000 entries",
        ),
        ("baron: {comments: '\ud800'}", ":1: has a character that YAML does not allow"),
    ],
)
def test_a_bad_layer_keeps_its_last_good_text_across_a_restart(
    world: World, bad: str, problem: str
) -> None:
    world.github.files[REPOSITORY_FILE] = "baron: {questions: {limit: 3}}"
    assert world.limit() == 3
    world.github.files[REPOSITORY_FILE] = bad
    for _ in range(2):
        world.restart()
        assert world.limit() == 3
        assert world.of().layers == ("server", f"{REPOSITORY_FILE} (last good one)")
        [told] = world.told()
        assert told.startswith(REPOSITORY_FILE)
        assert problem in told
    world.github.files[REPOSITORY_FILE] = "baron: {questions: {limit: 1}}"
    world.clock.now += 8
    assert (world.limit(), world.told()) == (1, [])


def test_a_layer_that_was_never_good_is_left_out(world: World) -> None:
    world.github.files |= {ORGANISATION_FILE: BAD, REPOSITORY_FILE: "baron: {comments: none}"}
    found = world.of()
    assert found.layers == ("server", REPOSITORY_FILE)
    assert (found.config.baron.questions.limit, found.config.baron.comments) == (6, "none")
    assert [(problem.file, problem.line) for problem in found.problems] == [(ORGANISATION_FILE, 3)]


def test_a_layer_that_was_taken_away_does_not_come_back_when_the_next_is_bad(
    world: World,
) -> None:
    for text in ("baron: {questions: {limit: 3}}", None, BAD):
        world.github.files.pop(REPOSITORY_FILE, None)
        if text is not None:
            world.github.files[REPOSITORY_FILE] = text
        world.clock.now += 8
        found = world.of()
    assert (found.config.baron.questions.limit, found.layers) == (6, ("server",))


def test_a_last_good_layer_that_no_longer_fits_is_dropped(world: World) -> None:
    world.github.files[REPOSITORY_FILE] = "baron: {questions: {limit: 5}}"
    assert world.limit() == 5
    world.write("baron.yaml", "questions: {limit: 2}\n")
    world.clock.now += 1
    assert (world.limit(), world.of().layers) == (2, ("server",))
    assert world.told() == [
        f"{REPOSITORY_FILE}:1: baron.questions.limit: may not be above 2, which it inherits"
    ]
    world.github.files[REPOSITORY_FILE] = BAD
    world.clock.now += 8
    assert (world.limit(), len(world.told())) == (2, 1)


def test_a_problem_that_shows_elsewhere_names_the_layer_that_causes_it(world: World) -> None:
    world.write("answerers.yaml", "routes:\n  - {pattern: a, answerer: agent/security-reviewer}\n")
    world.clock.now += 1
    world.github.files[REPOSITORY_FILE] = "agents: {roles: {architect: {aliases: [guard]}}}"
    [told] = world.told()
    assert told.startswith('answerers.yaml:2: routes[0].answerer: no role "security-reviewer"')
    assert told.endswith(f", if {REPOSITORY_FILE} were in force")


def test_unreachable_uses_what_was_heard_however_old(world: World) -> None:
    world.github.files[REPOSITORY_FILE] = "baron: {questions: {limit: 3}}"
    first = world.of()
    world.github.down = True
    world.clock.now += 100_000
    assert world.of() is first
    assert world.of() is first
    assert world.github.asked[REPOSITORY_FILE] == 2, "GitHub has a rest when it is down"
    world.github.down = False
    world.github.files[REPOSITORY_FILE] = "baron: {questions: {limit: 2}}"
    world.clock.now += 8
    assert world.limit() == 2


def test_unreachable_from_the_start_uses_what_was_kept(world: World) -> None:
    world.github.files[REPOSITORY_FILE] = "baron: {questions: {limit: 3}}"
    world.of()
    world.restart()
    world.github.down = True
    assert world.limit() == 3
    assert world.of().layers == ("server", f"{REPOSITORY_FILE} (last good one)")
    assert world.told() == []
    assert world.limit("acme/other") == 6
    world.github.down = False
    world.clock.now += 8
    assert world.of().layers == ("server", REPOSITORY_FILE)


def test_unreachable_forgets_nothing(world: World) -> None:
    """A file that GitHub could not be asked for is not a file that was taken away."""
    world.github.files[REPOSITORY_FILE] = "baron: {questions: {limit: 3}}"
    world.of()
    world.github.down = True
    for _ in range(2):
        world.restart()
        assert world.limit() == 3
    assert world.memory.writes == [REPOSITORY_FILE]


def test_another_failure_reaches_the_caller_and_stops_nobody_else(world: World) -> None:
    async def broken(repo: str, path: str) -> str | None:
        raise RuntimeError("a mistake of ours")

    with pytest.raises(RuntimeError):
        asyncio.run(world.configurations.of(REPO, broken))
    assert world.limit() == 6


def test_the_servers_files_are_read_again_good_and_bad(world: World) -> None:
    server = world.configurations.server
    world.write("baron.yaml", "questions: {limit: 5}\n")
    assert server().baron.questions.limit == 6, "looked at once a second at most"
    world.clock.now += 1
    assert server().baron.questions.limit == 5
    assert world.limit() == 5
    world.write("baron.yaml", "questions: {limt: 4}\n")
    world.clock.now += 1
    assert server().baron.questions.limit == 5
    [problem] = world.configurations.server_problems
    assert str(problem).startswith("baron.yaml:1: questions.limt: unknown key")
    world.write("baron.yaml", "questions: {limit: 4}\n")
    world.clock.now += 1
    assert server().baron.questions.limit == 4
    assert world.configurations.server_problems == ()
    world.write("agents.yaml", "roles: {architect: {handle: dux}}\n")
    world.clock.now += 1
    assert server().agents.handles() == {"architect": "@dux"}


def test_files_that_did_not_change_are_not_read_again(world: World) -> None:
    first = world.configurations.server()
    world.clock.now += 100
    assert world.configurations.server() is first


def test_a_folder_that_is_gone_for_a_while(world: World, tmp_path: Path) -> None:
    world.clock.now += 1
    aside = tmp_path.with_name(f"{tmp_path.name}-aside")
    tmp_path.rename(aside)
    assert world.limit() == 6
    [problem] = world.configurations.server_problems
    assert problem.file == str(tmp_path)
    assert "KR_CONFIG_DIR" in problem.what
    aside.rename(tmp_path)
    world.clock.now += 1
    assert world.limit() == 6
    assert world.configurations.server_problems == ()


def test_a_file_that_may_be_read_again_is_read_though_it_did_not_change(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    def forbidden(folder: Path) -> Config:
        raise PermissionError(13, "Permission denied", str(folder / "baron.yaml"))

    world.write("baron.yaml", "questions: {limit: 5}\n")
    world.clock.now += 1
    with monkeypatch.context() as patch:
        patch.setattr(inforce, "load_config", forbidden)
        assert world.limit() == 6
        [problem] = world.configurations.server_problems
        assert "cannot be read (Permission denied)" in str(problem)
    world.clock.now += 1
    assert world.limit() == 5
    assert world.configurations.server_problems == ()


def test_a_bad_folder_is_no_start(tmp_path: Path) -> None:
    (tmp_path / "baron.yaml").write_text("questons: {}\n", "utf-8")
    with pytest.raises(ConfigInvalid, match="questons"):
        Configurations(tmp_path, Memory())
    with pytest.raises(ConfigInvalid, match="cannot be read"):
        Configurations(tmp_path / "nowhere", Memory())


def test_many_at_once_ask_once(world: World) -> None:
    async def many(fetch: Fetch) -> list[InForce]:
        asked = [world.configurations.of(REPO, fetch) for _ in range(50)]
        return await asyncio.gather(*asked)

    world.github.files[REPOSITORY_FILE] = "baron: {comments: none}"
    for times in (1, 2):  # each in an event loop of its own, as jobs are
        found = asyncio.run(many(world.github.fetch))
        assert all(one is found[0] for one in found)
        assert world.github.asked == {ORGANISATION_FILE: times, REPOSITORY_FILE: times}
        world.clock.now += 8


def test_repositories_of_an_organisation_share_its_layer(world: World) -> None:
    async def all_of_them() -> None:
        await asyncio.gather(
            *(world.configurations.of(f"acme/r{n}", world.github.fetch) for n in range(20))
        )

    asyncio.run(all_of_them())
    assert world.github.asked[ORGANISATION_FILE] == 1


def test_who_gives_up_leaves_the_way_free(world: World) -> None:
    async def impatient() -> InForce:
        never = asyncio.Event()

        async def hanging(repo: str, path: str) -> str | None:
            await never.wait()
            return None

        first = asyncio.create_task(world.configurations.of(REPO, hanging))
        await asyncio.sleep(0)
        second = asyncio.create_task(world.configurations.of(REPO, world.github.fetch))
        await asyncio.sleep(0)
        first.cancel()
        return await second

    world.github.files[REPOSITORY_FILE] = "baron: {questions: {limit: 3}}"
    assert asyncio.run(impatient()).config.baron.questions.limit == 3


def test_what_was_not_used_for_longest_is_forgotten(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inforce, "MAX_REPOSITORIES", 2)
    world.restart()
    for repo in ("acme/a", "acme/b", "acme/a", "acme/c", "acme/d", "acme/a", "acme/b"):
        world.of(repo)
    assert world.github.asked["acme/a/.github/baron.yml"] == 1
    assert world.github.asked["acme/b/.github/baron.yml"] == 2
    assert world.github.asked[ORGANISATION_FILE] == 1
