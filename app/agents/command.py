"""Agents that are programs: one JSON document on standard input, one on standard output.

In: `version` (1), `role`, `system`, `prompt`, `model`, `schema` and `seconds`; `problem` as well
when it is asked again. Out: a document that fits `schema`, which may have a `cost` besides
(`usd`, `input_tokens`, `output_tokens`); or `{"error": "…"}` from a program that will not answer.
"""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, Field, ValidationError

from app.agents.contained import Finished, Lease, Leases, enclosure, misfit, one_line, run
from app.agents.protocols import AgentUnavailable, Completion, Declined, Malformed, Request
from app.questions.model import Cost

T = TypeVar("T", bound=BaseModel)

ASKED = 3
"""How often at most an answer is asked for until it fits."""
MOST = 1_000_000
"""Bytes of an answer."""
VARIABLES = {
    "anthropic": ("ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY"),
    "openai": ("OPENAI_BASE_URL", "OPENAI_API_KEY"),
    "google": ("GOOGLE_GEMINI_BASE_URL", "GEMINI_API_KEY"),
}
"""Under which names a program finds a lease of each provider: (address, ticket)."""


class _Paid(BaseModel):
    """What a program says that its answer cost."""

    usd: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    input_tokens: int = Field(default=0, ge=0)
    output_tokens: int = Field(default=0, ge=0)

    def cost(self) -> Cost:
        return Cost(self.usd, self.input_tokens, self.output_tokens, calls=1)


class _Unfit(Exception):
    """The answer has not the form; the text says why, for the program."""


class CommandModel:
    """A `Model` behind a program, which is found on the path or named by its path.

    For each of `providers` (`anthropic`, `openai`, `google`) it gets a lease, so that it can call
    a model without a key. It starts in an empty directory: arguments that are paths have to be
    absolute.
    """

    name = "command"

    def __init__(
        self, argv: Sequence[str], leases: Leases | None, providers: Sequence[str] = ()
    ) -> None:
        """Raises `ValueError` for no program, and for a provider that nobody knows."""
        if not argv or not argv[0]:
            raise ValueError("name a program")
        if unknown := sorted(set(providers) - set(VARIABLES)):
            raise ValueError(f"unknown provider {unknown[0]}; known are {', '.join(VARIABLES)}")
        self._argv = tuple(argv)
        self._leases = leases
        self._providers = tuple(dict.fromkeys(providers))

    async def complete(self, request: Request[T]) -> Completion[T]:
        """See `Model.complete`."""
        program = self._program()
        with ExitStack() as stack:
            leases = self._leased(request, stack)
            call = _Call(request, program, leases)
            try:
                async with asyncio.timeout(request.seconds):
                    value = await call.asked()
            except TimeoutError:
                late = f"{call.title} gave no answer within {request.seconds:g} seconds"
                raise call.refusal() or AgentUnavailable(late) from None
            except AgentUnavailable:
                if refusal := call.refusal():
                    raise refusal from None
                raise
        model = next((lease.model for lease in leases.values() if lease.model), request.model)
        cost = sum((lease.cost for lease in leases.values()), call.paid)
        return Completion(value, model or call.title, cost)

    def _program(self) -> list[str]:
        found = shutil.which(self._argv[0])
        if found is not None:
            return [str(Path(found).absolute()), *self._argv[1:]]
        named = self._argv[0]
        if Path(named).is_file():
            raise AgentUnavailable(f"{named} is not executable; run: chmod +x {named}")
        raise AgentUnavailable(
            f"there is no program {named}; install it, or name it by its whole path"
        )

    def _leased(self, request: Request[T], stack: ExitStack) -> dict[str, Lease]:
        if self._leases is None:
            return {}
        return {
            provider: stack.enter_context(
                self._leases.lease(provider, request.account, request.seconds)
            )
            for provider in self._providers
        }


class _Call:
    """One request to one program, until its answer fits."""

    def __init__(
        self, request: Request[Any], program: Sequence[str], leases: dict[str, Lease]
    ) -> None:
        self.title = Path(program[0]).name
        self.paid = Cost()
        self._request = request
        self._program = program
        self._leases = leases
        self._seen: dict[str, str] = {}
        for provider, lease in leases.items():
            address, ticket = VARIABLES[provider]
            self._seen |= {address: lease.base_url, ticket: lease.key}

    def refusal(self) -> AgentUnavailable | None:
        """Why the forwarder let a call not through, if there was one."""
        return next((lease.refusal for lease in self._leases.values() if lease.refusal), None)

    async def asked(self) -> Any:
        """Ask until the answer fits. Raises `AgentUnavailable`."""
        problem = last_line = ""
        for _ in range(ASKED):
            done = await self._once(problem)
            try:
                return self._fitted(done.output)
            except _Unfit as unfit:
                problem, last_line = str(unfit), done.last_line
        said = f" (it said: {last_line})" if last_line else ""
        raise Malformed(self._told(f"gave no fitting answer in {ASKED} times: {problem}{said}"))

    async def _once(self, problem: str) -> Finished:
        async with enclosure(self._seen) as inside:
            try:
                done = await run(inside, self._program, self._document(problem), MOST)
            except OSError as error:
                raise AgentUnavailable(self._told(f"cannot be started: {error}")) from error
        self._check(done)
        return done

    def _document(self, problem: str) -> bytes:
        request = self._request
        document = {
            "version": 1,
            "role": request.account.role,
            "system": request.prompt.system,
            "prompt": request.prompt.user,
            "model": request.model,
            "schema": request.shape.model_json_schema(),
            "seconds": request.seconds,
        }
        return json.dumps(document | ({"problem": problem} if problem else {})).encode()

    def _check(self, done: Finished) -> None:
        if done.too_much:
            raise Malformed(self._told(f"wrote more than {MOST // 1_000_000} MB"))
        if done.code != 0:
            how = "was killed" if done.code is None or done.code < 0 else f"ended with {done.code}"
            why = f": {done.last_line}" if done.last_line else ""
            raise AgentUnavailable(self._told(f"{how}{why}"))

    def _fitted(self, output: bytes) -> Any:
        document = _json_object(output)
        if error := document.get("error"):
            raise Declined(self._told(f"declined: {error}"))
        shape = self._request.shape
        try:
            if "cost" in document and "cost" not in shape.model_fields:
                self.paid += _Paid.model_validate(document.pop("cost")).cost()
            return shape.model_validate(document)
        except ValidationError as error:
            raise _Unfit(misfit(error)) from None

    def _told(self, what: str) -> str:
        return one_line(f"{self.title} {what}", *self._seen.values())


def _json_object(output: bytes) -> dict[str, Any]:
    try:
        document = json.loads(output)
    except (ValueError, RecursionError):
        raise _Unfit("standard output is not one JSON document") from None
    if not isinstance(document, dict):
        raise _Unfit("the document is no object")
    return document
