"""The REST API over `KnowledgeRouterService`: ask, answer, escalate, respond, report, route.

Thin: a route reads a body, calls the service, and shows what came of it. All are sync, so that
FastAPI runs them in threads of their own.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial
from typing import Annotated, Any, TypeVar

from fastapi import APIRouter, Depends, FastAPI, Path, Query, Request, Security
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse

from app.config.problems import ConfigInvalid
from app.features.model import Feature, Question
from app.outlets.schemas import schemas
from app.outlets.stream import Stream
from app.policies import Policies
from app.questions.model import Answer, Choice
from app.queue import Bell
from app.service import KnowledgeRouterService
from app.service_types import Accepted, HumanResponse, NewQuestion, NotFound, Refused
from app.settings import Settings
from app.store import threads
from app.store.engine import Engine, connect, to_json
from app.store.layers import Layers
from app.texts.replies import QUESTION_FILTERS
from app.web.access import BEARER, Reader, Writer
from app.web.bodies import (
    FEATURE,
    AnswerBody,
    EscalateBody,
    Handle,
    IssueNumber,
    Json,
    OwnerOrRepo,
    Problem,
    QuestionBody,
    ResponseBody,
    RoutingBody,
    TaskBody,
    TaskName,
)
from app.web.tokens import Identity

T = TypeVar("T")


class _Lazy:
    """One service for the process, built when it is first asked for.

    A bad configuration must not keep webhooks out. What decides takes its turn, because the
    configuration of a repository is read in one event loop at a time.
    """

    def __init__(self, settings: Settings, engine: Engine) -> None:
        self._settings, self._engine = settings, engine
        self._service: KnowledgeRouterService | None = None
        self._building = threading.Lock()
        self._deciding = threading.Lock()

    def __call__(self) -> KnowledgeRouterService:
        with self._building:
            if self._service is None:
                policies = Policies(self._settings, self._engine)
                bell = Bell(self._settings.redis_url or "")
                stream = Stream(self._settings.redis_url or "")
                self._service = KnowledgeRouterService(
                    self._engine, policies, bell.ring, stream.publish
                )
            return self._service

    def decide(self, call: Callable[[KnowledgeRouterService], T]) -> T:
        """What a call of the service returns, one call at a time."""
        service = self()
        with self._deciding:
            return call(service)


def router(settings: Settings) -> APIRouter:
    """`/api/questions…`, `/api/agents…`, `/api/routing`, `/api/tasks`; described at `/docs`."""
    routes = APIRouter(
        prefix="/api",
        dependencies=[Depends(Reader(settings)), Security(BEARER)],
        responses={code: {"model": Problem} for code in (401, 403, 404, 409, 422)},
    )
    engine = connect(settings.database_url or "", pool=4)
    service = _Lazy(settings, engine)
    _add_reads(routes, engine, service)
    _add_questions(routes, service, Depends(Writer(settings, "user")))
    _add_administration(routes, service, Depends(Writer(settings, "admin")))
    return routes


def _add_reads(routes: APIRouter, engine: Engine, service: _Lazy) -> None:
    @routes.get("/questions")
    def questions(
        feature: Annotated[str, Query(pattern=FEATURE)],
        status: Annotated[str, Query(pattern=f"^({'|'.join(QUESTION_FILTERS)})$")] = "pending",
    ) -> list[Json]:
        """The questions of a feature with a status, as `/questions` lists them."""
        repo, _, number = feature.rpartition("#")
        with engine.connect() as connection:
            thread = threads.read(connection, repo, int(number))
        if thread is None:
            raise NotFound(f"There is no feature {feature}: name it as owner/repo#N.")
        return [_shown(thread.feature, one) for one in thread.questions if _has(one, status)]

    @routes.get("/questions/{gid}")
    def question(gid: Handle) -> Json:
        """A question with its answer; `digest` binds a response to it."""
        return _shown(*service().question(gid))

    @routes.get("/schemas")
    def event_schemas() -> dict[str, Any]:
        """JSON Schema of every event that the stream and the webhooks carry."""
        return schemas()

    @routes.get("/agents/{gid}:{asking}")
    def agent(gid: Handle, asking: Annotated[int, Path(ge=0)]) -> Json:
        """Where the asking of an agent stands."""
        return {"status": service().get_agent_status(f"{gid}:{asking}").value}

    @routes.get("/features/{owner}/{repo}/{number}/tasks/{name}")
    def task(owner: OwnerOrRepo, repo: OwnerOrRepo, number: IssueNumber, name: TaskName) -> Json:
        """Where a task stands."""
        handle = f"{owner}/{repo}#{number}/{name}:"
        return {"status": service().get_agent_status(handle).value}

    @routes.get("/features/{owner}/{repo}/{number}/retro")
    def retro(owner: OwnerOrRepo, repo: OwnerOrRepo, number: IssueNumber) -> Any:
        """The figures of a feature."""
        return to_json(service().generate_retro(f"{owner}/{repo}#{number}"))

    @routes.get("/routing")
    def routing() -> list[Json]:
        """Every set of rules that was put before the server's, the newest first."""
        return [to_json(one) for one in Layers(engine).history()]


def _add_questions(routes: APIRouter, service: _Lazy, user: Any) -> None:
    @routes.post("/questions", status_code=202)
    def ask(body: QuestionBody, who: Identity = user) -> Json:
        """Route a question and put it to whoever answers."""
        handle = service.decide(lambda one: one.route_question(_new(body), who.name))
        return {"handle": str(handle), **to_json(handle)}

    @routes.post("/questions/{gid}/escalate")
    def escalate(gid: Handle, body: EscalateBody, who: Identity = user) -> Any:
        """Put a question to a person, whatever its agent says."""
        return to_json(
            service.decide(lambda one: one.escalate_to_human(gid, body.because, who.name))
        )

    @routes.post("/questions/{gid}/response")
    def respond(gid: Handle, body: ResponseBody, who: Identity = user) -> Any:
        """Confirm, correct or add context."""
        response = HumanResponse(body.action, who.name, body.text, body.digest.lower())
        return to_json(service.decide(lambda one: one.handle_human_response(gid, response)))

    @routes.post("/tasks", status_code=202)
    def dispatch(body: TaskBody, who: Identity = user) -> Json:
        """Give a task to an execution role; it starts when all before it is done."""
        handle = service.decide(
            lambda one: one.dispatch_task(body.feature, body.task, body.role, who.name)
        )
        return {"handle": str(handle), **to_json(handle)}


def _add_administration(routes: APIRouter, service: _Lazy, admin: Any) -> None:
    @routes.post("/questions/{gid}/answer")
    def answer(gid: Handle, body: AnswerBody, who: Identity = admin) -> Json:
        """An agent's answer: accepted, or put to a person."""
        given = Answer(
            content=body.content,
            rationale=body.rationale,
            confidence=body.confidence,
            uncertainty_reasons=tuple(body.uncertainty_reasons),
            agent=body.agent or who.name,
        )
        outcome = service.decide(lambda one: one.submit_answer(gid, given))
        verdict = "accepted" if isinstance(outcome, Accepted) else "escalated"
        return {"verdict": verdict, **to_json(outcome)}

    @routes.put("/routing")
    def configure(body: RoutingBody, who: Identity = admin) -> Json:
        """Put rules before the server's, in place of those set before."""
        return {"revision": service.decide(lambda one: one.configure_routing(body.rules, who.name))}


def _new(body: QuestionBody) -> NewQuestion:
    return NewQuestion(
        feature=body.feature,
        topic=body.topic,
        text=body.text,
        target=body.target,
        context=body.context,
        why=body.why,
        choices=tuple(Choice(one.letter, one.text, one.implication) for one in body.choices),
        recommended=body.recommended,
    )


def _shown(feature: Feature, question: Question) -> Json:
    return {
        "feature": str(feature.place),
        "name": question.name,
        "digest": question.digest,
        **to_json(question),
    }


def _has(question: Question, status: str) -> bool:
    """Whether `/questions status` lists it: pending is all that is open, answered is settled."""
    match status:
        case "all":
            return True
        case "pending":
            return not question.ended
        case "answered":
            return question.settled
        case _:
            return question.state.value == status


def explain_errors(rest: FastAPI) -> None:
    """Have every refusal say in one sentence what is wrong."""
    refusals = {NotFound: 404, Refused: 409, ConfigInvalid: 503}
    for kind, status in refusals.items():
        rest.add_exception_handler(kind, partial(_refuse, status))
    rest.add_exception_handler(RequestValidationError, _misread)


def _refuse(status: int, request: Request, error: Exception) -> JSONResponse:
    return JSONResponse({"detail": str(error)}, status)


def _misread(request: Request, error: Exception) -> JSONResponse:
    found = error.errors()[:5] if isinstance(error, RequestValidationError) else []
    wrong = "; ".join(
        ".".join(map(str, one["loc"][1:])) + ": " + one["msg"].removeprefix("Value error, ")
        for one in found
    )
    plain = wrong[:1_000].encode("utf-8", "replace").decode()
    return JSONResponse({"detail": f"The request cannot be read: {plain}."}, 422)
