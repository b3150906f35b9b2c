"""`/api/questions`, `/api/agents`, `/api/routing`: the service over HTTP, on a real database."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import httpx
import pytest
from redis import Redis
from sqlalchemy import Engine

from app.features.dispatch import ExecutionTask, TaskState
from app.features.model import FeatureState, Place
from app.questions.model import QuestionState
from app.settings import Settings
from app.store import log, threads
from app.texts.replies import QUESTION_FILTERS, questions_reply
from app.web import tokens
from app.web.app import create_app
from tests.servers import Backing

SECRET = "0123456789abcdef0123456789abcdef"
USER = tokens.create(SECRET, "rosa", "user", 1)
ADMIN = tokens.create(SECRET, "mara", "admin", 1)
FEATURE = "acme/storefront#12"
CHOICES = [
    {"letter": "A", "text": "A cookie", "implication": "The browser sends it."},
    {"letter": "B", "text": "Local storage"},
]
Call = Callable[..., httpx.Response]
_JSON = {"content-type": "application/json"}


@pytest.fixture
def app(backing: Backing, engine: Engine) -> Any:
    with engine.begin() as connection:
        thread = threads.ensure(connection, Place(7, 70, "acme/storefront", 12))
        threads.save_feature(
            connection,
            replace(
                thread.feature,
                state=FeatureState.WAITING,
                title="Wishlist",
                author="sol",
                started_by="mara",
                branch="012-wishlist",
                run=1,
            ),
        )
    return create_app(
        Settings(
            database_url=backing.database_url,
            redis_url=backing.redis_url,
            api_secret=SECRET,
            host="127.0.0.1",
            _env_file=None,
        )
    )


@pytest.fixture
def call(app: Any) -> Call:
    def call(method: str, path: str, token: str | None = USER, **kwargs: Any) -> httpx.Response:
        return asyncio.run(_all(app, [(method, path, token, kwargs)]))[0]

    return call


async def _all(app: Any, wanted: list[tuple[str, str, str | None, Any]]) -> list[httpx.Response]:
    transport = httpx.ASGITransport(app, client=("127.0.0.1", 40000))
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8000") as client:
        return await asyncio.gather(
            *(
                client.request(
                    method,
                    "/api" + path,
                    headers=_JSON | ({"authorization": f"Bearer {token}"} if token else {}),
                    **kwargs,
                )
                for method, path, token, kwargs in wanted
            )
        )


def _question(**changes: Any) -> dict[str, Any]:
    return {
        "feature": FEATURE,
        "topic": "api.tokens",
        "text": "Where do refresh tokens live?",
        **changes,
    }


def _ask(call: Call, **changes: Any) -> dict[str, Any]:
    response = call("POST", "/questions", json=_question(**changes))
    assert response.status_code == 202, response.text
    told: dict[str, Any] = response.json()
    return told


def _answer(confidence: int, content: str = "In an HttpOnly cookie.") -> dict[str, Any]:
    return {"json": {"confidence": confidence, "content": content}}


def test_a_question_is_routed_and_its_agent_rung(call: Call, backing: Backing) -> None:
    handle = _ask(call, choices=CHOICES, recommended="A", why="They can be stolen.")
    assert handle["answerer"] == "agent/architect"
    assert handle["handle"] == f"{handle['question']}:{handle['round']}"
    assert handle["round"] == 1
    assert call("GET", f"/agents/{handle['handle']}").json() == {"status": "queued"}
    assert Redis.from_url(backing.redis_url).llen("rq:queue:agents") == 1
    shown = call("GET", f"/questions/{handle['question']}", None).json()
    assert shown["feature"] == FEATURE
    assert (shown["name"], shown["state"], shown["asker"]) == ("Q1", "asking", "rosa")
    assert shown["choices"] == [CHOICES[0], {**CHOICES[1], "implication": ""}]
    assert len(shown["digest"]) == 64


def test_a_sure_answer_is_accepted(call: Call) -> None:
    handle = _ask(call)
    answered = call("POST", f"/questions/{handle['question']}/answer", ADMIN, **_answer(95))
    assert answered.json() == {
        "verdict": "accepted",
        "question": handle["question"],
        "answer": "In an HttpOnly cookie.",
        "source": "@duc",
    }
    assert call("GET", f"/agents/{handle['handle']}").json() == {"status": "answered"}
    again = call("POST", f"/questions/{handle['question']}/answer", ADMIN, **_answer(95))
    assert again.status_code == 409
    assert "waits for no such answer" in again.json()["detail"]


def test_an_unsure_answer_goes_to_a_person_who_confirms_what_they_read(
    call: Call, engine: Engine
) -> None:
    gid = _ask(call)["question"]
    request = call("POST", f"/questions/{gid}/answer", ADMIN, **_answer(40)).json()
    assert request["verdict"] == "escalated"
    assert request["tentative"]["content"] == "In an HttpOnly cookie."
    changed = call(
        "POST", f"/questions/{gid}/response", json={"action": "confirm", "digest": "0" * 8}
    )
    assert changed.status_code == 409
    final = call(
        "POST",
        f"/questions/{gid}/response",
        json={"action": "confirm", "digest": request["digest"][:8].upper()},
    ).json()
    assert final["settled"] is True
    assert (final["state"], final["validated_by"]) == ("confirmed", "human")
    with engine.connect() as connection:
        thread = threads.read(connection, "acme/storefront", 12)
        actors = [e.actor for e in log.entries(connection, thread.feature.id) if e.kind == "human"]
    assert actors == ["@rosa"]


def test_a_correction_is_text_and_never_a_command(call: Call) -> None:
    gid = _ask(call)["question"]
    call("POST", f"/questions/{gid}/answer", ADMIN, **_answer(40))
    text = "In the session.\n/stop\n@baron stop"
    final = call("POST", f"/questions/{gid}/response", json={"action": "correct", "text": text})
    assert final.json()["state"] == "corrected"
    assert final.json()["answer"].startswith("In the session.")
    assert call("GET", "/features/acme/storefront/12", None).json()["feature"]["state"] != "stopped"


def test_context_has_the_agent_asked_again(call: Call) -> None:
    handle = _ask(call)
    gid = handle["question"]
    call("POST", f"/questions/{gid}/answer", ADMIN, **_answer(40))
    body = {"action": "add_context", "text": "There is a mobile application, too."}
    final = call("POST", f"/questions/{gid}/response", json=body).json()
    assert (final["settled"], final["state"]) == (False, "asking")
    assert call("GET", f"/agents/{gid}:2").json() == {"status": "queued"}
    empty = call("POST", f"/questions/{gid}/response", json={"action": "correct"})
    assert empty.status_code == 409


def test_a_question_can_be_put_to_a_person(call: Call) -> None:
    gid = _ask(call)["question"]
    request = call("POST", f"/questions/{gid}/escalate", json={"because": "It is about money."})
    assert request.status_code == 200
    assert request.json()["because"].startswith("It is about money")
    assert call("GET", f"/questions/{gid}").json()["state"] == "escalated"


def test_the_list_has_the_same_filters_as_the_command(call: Call, engine: Engine) -> None:
    _ask(call)
    with engine.begin() as connection:
        thread = threads.read(connection, "acme/storefront", 12)
        for number, state in enumerate(QuestionState, start=1):
            one = replace(thread.questions[0], number=number, gid=f"q-00000{number:x}", state=state)
            threads.save_question(connection, thread.feature.id, one)
        questions = threads.read(connection, "acme/storefront", 12).questions
    for status in QUESTION_FILTERS:
        found = call("GET", "/questions", None, params={"feature": FEATURE, "status": status})
        told = questions_reply(questions, status)
        names = [one["name"] for one in found.json()]
        assert names == [one.name for one in questions if f"| {one.name} |" in told], status
        assert names, status
    default = call("GET", "/questions?feature=acme/storefront%2312", None).json()
    assert [one["state"] for one in default].count("accepted") == 0
    assert default


def test_the_figures_of_a_feature(call: Call) -> None:
    gid = _ask(call)["question"]
    call("POST", f"/questions/{gid}/answer", ADMIN, **_answer(95))
    report = call("GET", "/features/acme/storefront/12/retro", None).json()
    assert (report["feature"], report["questions"], report["accepted"]) == (FEATURE, 1, 1)


def test_rules_are_put_before_the_servers_by_an_admin(call: Call) -> None:
    rules = [{"pattern": "api.**", "answerer": "human/maintainer"}]
    assert call("PUT", "/routing", USER, json={"rules": rules}).status_code == 403
    first = call("PUT", "/routing", ADMIN, json={"rules": rules})
    assert first.status_code == 200, first.text
    second = call("PUT", "/routing", ADMIN, json={"rules": []}).json()["revision"]
    assert second > first.json()["revision"]
    history = call("GET", "/routing", None).json()
    assert [one["rules"] for one in history] == [[], rules]
    assert {one["set_by"] for one in history} == {"mara"}


def test_bad_rules_are_refused_with_every_mistake(call: Call) -> None:
    rules = [{"pattern": "api.**"}, {"pattern": "x", "answerer": "agent/product", "colour": 1}]
    refused = call("PUT", "/routing", ADMIN, json={"rules": rules})
    assert refused.status_code == 409
    assert "answerer: is missing" in refused.json()["detail"]
    assert "colour: unknown key" in refused.json()["detail"]
    assert call("GET", "/routing", None).json() == []


def test_a_task_is_given_to_a_role_and_says_where_it_stands(call: Call, engine: Engine) -> None:
    _with_tasks(engine)
    body = {"feature": FEATURE, "task": "T002", "role": "developer"}
    told = call("POST", "/tasks", json=body)
    assert told.status_code == 202, told.text
    assert told.json()["handle"] == "acme/storefront#12/T002:0"
    assert told.json()["answerer"] == "agent/developer"
    status = call("GET", "/features/acme/storefront/12/tasks/T002")
    assert status.json() == {"status": "failed"}  # offered: nothing here does its tasks
    for changes in ({"role": "wizard"}, {"task": "T001"}):
        assert call("POST", "/tasks", json=body | changes).status_code == 409
    assert call("POST", "/tasks", json=body | {"task": "T009"}).status_code == 404
    assert call("POST", "/tasks", json=body | {"task": "../x"}).status_code == 422
    assert call("POST", "/tasks", None, json=body).status_code == 401


def _with_tasks(engine: Engine) -> None:
    with engine.begin() as connection:
        thread = threads.lock(connection, 70, 12)
        assert thread is not None
        building = replace(
            thread.feature, state=FeatureState.BUILDING, approved_by="mara", written=1,
            spec_revision=1, generated=1,
        )  # fmt: skip
        threads.save_feature(connection, building)
        for place, state in ((1, TaskState.DONE), (2, TaskState.FAILED)):
            task = ExecutionTask(f"T00{place}", place, "Write it", role="qa", state=state)
            threads.save_task(connection, thread.feature.id, task)


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "/questions", _question(feature="acme/storefront#99")),
        ("GET", "/questions?feature=acme/nowhere%2312", None),
        ("GET", "/questions/q-zzzzzz", None),
        ("GET", "/questions/Q1", None),
        ("GET", "/agents/q-zzzzzz:1", None),
        ("POST", "/questions/q-zzzzzz/escalate", {"because": "so"}),
        ("POST", "/questions/q-zzzzzz/response", {"action": "confirm"}),
        ("GET", "/features/acme/storefront/99/retro", None),
        ("GET", "/features/acme/storefront/12/tasks/T001", None),
    ],
)
def test_what_is_not_there_is_404(call: Call, method: str, path: str, body: Any) -> None:
    response = call(method, path, json=body)
    assert response.status_code == 404
    assert response.json()["detail"].endswith(".")


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/questions", {}),
        ("/questions", _question(feature="acme/storefront")),
        ("/questions", _question(feature="acme/storefront#²")),
        ("/questions", _question(feature="acme/store\x00front#12")),
        ("/questions", _question(text="")),
        ("/questions", _question(text="x" * 10_001)),
        ("/questions", _question(text="nothing\x00ness")),
        ("/questions", _question(context="x" * 50_001)),
        ("/questions", _question(choices=[{"letter": "AB", "text": "x"}])),
        ("/questions", _question(choices=[CHOICES[0]] * 27)),
        ("/questions", _question(colour="blue")),
        ("/questions/q-zzzzzz/response", {"action": "shout"}),
        ("/questions/q-zzzzzz/response", {"action": "confirm", "digest": "abcd /stop"}),
        ("/questions/q-zzzzzz/escalate", {"because": ""}),
        ("/questions/q-%00zzzzz/escalate", {"because": "so"}),
        ("/questions/q-zzzzzz/answer", {"confidence": 101, "content": "x"}),
        ("/questions/q-zzzzzz/answer", {"confidence": 80, "content": ""}),
    ],
)
def test_what_cannot_be_read_is_422_with_a_sentence(call: Call, path: str, body: Any) -> None:
    response = call("POST", path, ADMIN, json=body)
    assert response.status_code == 422
    assert response.json()["detail"].startswith("The request cannot be read: ")


@pytest.mark.parametrize(
    ("raw", "status"),
    [(b"{", 422), (b'{"text": "\\ud800"}', 422), (b'{"\\ud800": 1}', 422), (b"[" * 100_000, 400)],
)
def test_hostile_json_is_refused(call: Call, raw: bytes, status: int) -> None:
    response = call("POST", "/questions", content=raw)
    assert response.status_code == status
    assert isinstance(response.json()["detail"], str)


def test_the_bounds_themselves_are_fine(call: Call) -> None:
    gid = _ask(call, text="x" * 10_000, context="ö" * 50_000)["question"]
    assert call("GET", f"/questions/{gid}").json()["context"] == "ö" * 50_000


def test_many_at_once_each_get_a_question_of_their_own(app: Any, call: Call) -> None:
    wanted = [("POST", "/questions", USER, {"json": _question()})] * 12
    wanted += [("GET", f"/questions?feature={FEATURE.replace('#', '%23')}", None, {})] * 4
    answers = asyncio.run(asyncio.wait_for(_all(app, wanted), 60))
    assert [answer.status_code for answer in answers] == [202] * 12 + [200] * 4
    assert len({answer.json()["question"] for answer in answers[:12]}) == 12


def test_a_bad_configuration_is_said_and_does_not_keep_the_process_down(
    backing: Backing, tmp_path: Any
) -> None:
    (tmp_path / "answerers.yaml").write_text("routes: 7\n")
    app = create_app(
        Settings(
            database_url=backing.database_url,
            redis_url=backing.redis_url,
            config_dir=tmp_path,
            host="127.0.0.1",
            _env_file=None,
        )
    )
    asked = asyncio.run(
        _all(app, [("GET", "/questions/q-000001", None, {}), ("GET", "/features", None, {})])
    )
    assert [response.status_code for response in asked] == [503, 200]
    assert "answerers.yaml" in asked[0].json()["detail"]


def test_the_description_names_the_token_and_every_route(app: Any) -> None:
    described = app.rest.openapi()
    assert described["components"]["securitySchemes"]["HTTPBearer"]["bearerFormat"] == "JWT"
    for path in ("/questions", "/questions/{gid}/answer", "/agents/{gid}:{asking}", "/routing"):
        assert f"/api{path}" in described["paths"]
