"""Agents that are Claude Code: its CLI, started by claude-agent-sdk, once for each question.

It has no tool but the one that gives the answer its form, no settings, no memory and no key: it
talks to the forwarder with a ticket. The SDK is an optional extra and is imported late.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib.util
import re
import shutil
import threading
from collections import deque
from collections.abc import AsyncIterator
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import BaseModel, ValidationError

from app.agents.contained import Enclosure, Lease, Leases, enclosure, misfit, one_line
from app.agents.protocols import AgentUnavailable, Completion, Declined, Malformed, Request

if TYPE_CHECKING:
    from claude_agent_sdk import ClaudeAgentOptions, ResultMessage

T = TypeVar("T", bound=BaseModel)

ASKED = 3
"""How often at most an answer is asked for until it fits."""
_MOST_TURNS = 8
_EXTRA = "pip install 'knowledge-router[claude]'"
_NOT_HERE = f"Claude Code is not installed here; install it with: {_EXTRA}"
_ENVIRONMENT = {
    "CLAUDE_CODE_SIMPLE": "1",  # as --bare: nothing of this machine reaches the prompt
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "DISABLE_TELEMETRY": "1",
    "DISABLE_ERROR_REPORTING": "1",
    "DISABLE_AUTOUPDATER": "1",
    "DISABLE_UPDATES": "1",
    "CLAUDE_CODE_ATTRIBUTION_HEADER": "0",
    "CLAUDE_CODE_DISABLE_FILE_MENTIONS": "1",  # an issue may mention @/etc/passwd
    # The forwarder tries again, and knows what it costs.
    "CLAUDE_CODE_MAX_RETRIES": "0",
    "CLAUDE_CODE_DISABLE_NONSTREAMING_FALLBACK": "1",
    "CLAUDE_CODE_DISABLE_REFUSAL_RETRY": "1",
    "CLAUDE_CODE_DISABLE_REFUSAL_FALLBACK": "1",
    "MAX_STRUCTURED_OUTPUT_RETRIES": str(ASKED),
    # The SDK sets these; named here, they get through to the CLI.
    "CLAUDE_CODE_ENTRYPOINT": "sdk-py",
    "CLAUDE_AGENT_SDK_VERSION": "",
    "CLAUDE_CODE_SDK_READS_SESSION_STATE": "1",
}
_GOES_BY_ITSELF = 1.0
"""Seconds that a CLI has, after its answer, to end."""
_ADVICE_ON_GATEWAY = re.compile(r"\s*If it persists, check your inference gateway \([^)]*\)\.?")


def find_claude() -> str | None:
    """The CLI: `claude` on the path, else the one that the SDK brings."""
    spec = importlib.util.find_spec("claude_agent_sdk")
    if spec is None or spec.origin is None:
        return None
    if found := shutil.which("claude"):
        return str(Path(found).absolute())
    bundled = Path(spec.origin).with_name("_bundled") / "claude"
    return str(bundled) if bundled.is_file() else None


class Slots:
    """How many CLIs may run at once, by the memory they need; who came first goes first.

    Usable from several event loops.
    """

    def __init__(self, memory_mb: int, each_mb: int = 200) -> None:
        self.at_once = max(1, memory_mb // each_mb)
        self._free = self.at_once
        self._waiting: deque[Future[None]] = deque()
        self._lock = threading.Lock()

    @contextlib.asynccontextmanager
    async def one(self) -> AsyncIterator[None]:
        """Wait for a slot, and keep it inside the block."""
        turn = self._queue()
        try:
            await asyncio.wrap_future(turn)
            yield
        finally:
            if not turn.cancel():  # it was our turn, perhaps without our knowing
                self._hand_on()

    def _queue(self) -> Future[None]:
        turn: Future[None] = Future()
        with self._lock:
            if self._free:
                self._free -= 1
                turn.set_result(None)
            else:
                self._waiting.append(turn)
        return turn

    def _hand_on(self) -> None:
        with self._lock:
            while self._waiting:
                turn = self._waiting.popleft()
                if turn.set_running_or_notify_cancel():
                    turn.set_result(None)
                    return
            self._free += 1


class _Unfit(Exception):
    """The answer has not the form; the text says why, for the model."""


@dataclass(frozen=True, slots=True)
class _Heard:
    """What the CLI said at the end."""

    answer: Any
    model: str


class ClaudeModel:
    """A `Model` behind Claude Code."""

    name = "claude"

    def __init__(self, leases: Leases, slots: Slots, *, cli: str | None = None) -> None:
        self._leases = leases
        self._slots = slots
        self._cli = cli

    async def complete(self, request: Request[T]) -> Completion[T]:
        """See `Model.complete`. `request.seconds` begin when there is a slot."""
        program = _program(self._cli)
        async with self._slots.one():
            leased = self._leases.lease("anthropic", request.account, request.seconds)
            with leased as lease:
                value, model = await self._in_time(request, lease, program)
            return Completion(value, lease.model or model, lease.cost)

    async def _in_time(self, request: Request[T], lease: Lease, program: str) -> tuple[T, str]:
        try:
            async with asyncio.timeout(request.seconds):
                return await _asked(request, lease, program)
        except TimeoutError:
            late = f"Claude Code gave no answer within {request.seconds:g} seconds"
            raise lease.refusal or AgentUnavailable(late) from None
        except AgentUnavailable:
            if lease.refusal is not None:
                raise lease.refusal from None
            raise


def _program(cli: str | None) -> str:
    if importlib.util.find_spec("claude_agent_sdk") is None:
        raise AgentUnavailable(_NOT_HERE)
    found = find_claude() if cli is None else shutil.which(cli)
    if found is None:
        missing = f"there is no program {cli}; name another or install one with: {_EXTRA}"
        raise AgentUnavailable(_NOT_HERE if cli is None else missing)
    return str(Path(found).absolute())


async def _asked(request: Request[T], lease: Lease, program: str) -> tuple[T, str]:
    """Ask until the answer fits. Raises `AgentUnavailable`."""
    problem = ""
    for _ in range(ASKED):
        heard = await _once(request, problem, lease, program)
        try:
            return _fitted(request.shape, heard.answer), heard.model
        except _Unfit as unfit:
            problem = str(unfit)
    raise Malformed(one_line(f"the answer did not fit, asked {ASKED} times: {problem}", lease.key))


def _fitted(shape: type[T], answer: Any) -> T:
    if answer is None:
        raise _Unfit("it was not given in the form that was asked for")
    try:
        return shape.model_validate(answer)
    except ValidationError as error:
        raise _Unfit(misfit(error)) from None


async def _once(request: Request[T], problem: str, lease: Lease, program: str) -> _Heard:
    """Start the CLI and hear it out."""
    user = request.prompt.user
    if problem:
        user += f"\n\nYour former answer was not accepted: {problem}\nGive the whole answer again."
    async with enclosure(_environment(request, lease)) as inside:
        errors: deque[str] = deque(maxlen=1)
        try:
            options = _options(request, inside, program, errors)
            result = await _result(user, options, inside)
        except Exception as error:  # the SDK raises many kinds, `Exception` itself among them
            raise AgentUnavailable(_crash(error, "".join(errors), lease)) from error
        return _heard(result, lease)


def _environment(request: Request[T], lease: Lease) -> dict[str, str]:
    return _ENVIRONMENT | {
        "ANTHROPIC_BASE_URL": lease.base_url,
        "ANTHROPIC_API_KEY": lease.key,
        "API_TIMEOUT_MS": str(max(1000, int(request.seconds * 1000))),
        "CLAUDE_CODE_MAX_OUTPUT_TOKENS": str(request.most),
    }


def _options(
    request: Request[T], inside: Enclosure, program: str, errors: deque[str]
) -> ClaudeAgentOptions:
    from claude_agent_sdk import ClaudeAgentOptions

    system = inside.root / "system.txt"  # as an argument it might be too long, and others see it
    system.write_text(request.prompt.system, "utf-8", errors="replace")
    return ClaudeAgentOptions(
        cli_path=inside.script(program),
        system_prompt={"type": "file", "path": str(system)},
        tools=[],
        strict_mcp_config=True,
        setting_sources=[],
        output_format={"type": "json_schema", "schema": request.shape.model_json_schema()},
        model=request.model,
        max_turns=_MOST_TURNS,
        cwd=inside.work,
        env=dict(inside.environment),
        verbatim_prompts=True,  # what people typed is no command and mentions no file
        extra_args={"no-session-persistence": None, "disable-slash-commands": None},
        stderr=lambda line: errors.append(line[:2000]),
    )


async def _result(user: str, options: ClaudeAgentOptions, inside: Enclosure) -> ResultMessage:
    """In a task of its own: the SDK does not bear to be cancelled while its child lives."""
    task = asyncio.create_task(_conversation(user, options, inside))
    try:
        await asyncio.wait([task])
        return task.result()
    finally:
        if not task.done():
            inside.kill()
            task.cancel()
            await asyncio.wait([task])
            if not task.cancelled():
                task.exception()  # nobody else asks for it


async def _conversation(user: str, options: ClaudeAgentOptions, inside: Enclosure) -> ResultMessage:
    from claude_agent_sdk import ResultMessage, query

    result: ResultMessage | None = None
    try:
        # To the end of it: only then has the SDK put everything away.
        async for message in query(prompt=user, options=options):
            if isinstance(message, ResultMessage):
                result = message
                asyncio.get_running_loop().call_later(_GOES_BY_ITSELF, inside.kill)
    except Exception:  # after an error result there is an exception as well
        if result is None:
            raise
    if result is None:
        raise EOFError("it ended without a result")
    return result


def _heard(result: ResultMessage, lease: Lease) -> _Heard:
    """Raises `Declined`, `Malformed`, `AgentUnavailable`."""
    text = _ADVICE_ON_GATEWAY.sub("", result.result or "; ".join(result.errors or ()))
    reason = one_line(text or result.subtype, lease.key, lease.base_url)
    if result.stop_reason == "refusal":
        raise Declined(one_line(f"the model declined to answer: {reason}"))
    if result.subtype == "error_max_structured_output_retries":
        raise Malformed(reason)
    if result.is_error:
        raise AgentUnavailable(one_line(f"Claude Code failed: {reason}"))
    return _Heard(result.structured_output, next(iter(result.model_usage or {}), ""))


def _crash(error: Exception, last: str, lease: Lease) -> str:
    """Why there is no result."""
    told = f"Claude Code stopped: {last or error}"
    if isinstance(error.__cause__, PermissionError):
        told = f"{error}; set TMPDIR to a directory from which programs may be started"
    return one_line(told, lease.key, lease.base_url)
