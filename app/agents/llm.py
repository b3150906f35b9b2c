"""The backend `llm`: a model behind one of three wire formats (design/agents).

Every call goes over a lease of the forwarder, which holds the real key, waits, repeats and meters.
"""

from __future__ import annotations

import asyncio
import json
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import lru_cache, partial
from ssl import PROTOCOL_TLS_CLIENT, SSLContext
from typing import TYPE_CHECKING, Any, Literal, Protocol
from weakref import WeakKeyDictionary

from pydantic import BaseModel, ValidationError

from app.agents.protocols import (
    Account,
    AgentUnavailable,
    Completion,
    Declined,
    Malformed,
    Request,
    T,
)
from app.questions.model import Cost

if TYPE_CHECKING:
    import httpx2
    from pydantic_ai import Agent
    from pydantic_ai.messages import ModelResponse
    from pydantic_ai.models import Model as WireModel

Wire = Literal["anthropic", "openai", "google"]

USUAL: dict[Wire, str] = {
    "anthropic": "claude-sonnet-5-5",
    "openai": "gpt-6.1-terra",
    "google": "gemini-3.8-flash",
}
"""The model of each wire where none is named: a middle one of its provider."""

ALIASES = {"opus": "claude-opus-5-5", "sonnet": "claude-sonnet-5-5", "haiku": "claude-haiku-5-5"}
"""The newest model of each of Anthropic's families."""

AGAIN = 2  # how often a model is asked again when its answer does not fit

_FAMILIES: dict[str, Wire] = {"claude-": "anthropic", "gpt-": "openai", "gemini-": "google"}
_KEYS: dict[str, str] = {wire: f"{wire.upper()}_API_KEY" for wire in USUAL}
_TOOL = "answer"
_TOO_MUCH = ("tool", "function", "response_format", "max_completion_tokens")


class Leased(Protocol):
    """The use of a model's server for one request."""

    @property
    def base_url(self) -> str: ...
    @property
    def key(self) -> str: ...
    @property
    def cost(self) -> Cost: ...
    @property
    def refusal(self) -> AgentUnavailable | None: ...


class Leases(Protocol):
    """Lends the use of a model's server."""

    def lease(
        self, provider: str, account: Account, seconds: float
    ) -> AbstractContextManager[Leased]:
        """For one request; `seconds` count without the wait. Raises `AgentUnavailable`."""


def split(model: str) -> tuple[Wire | None, str]:
    """A model's wire, None if its name does not tell, and its full name.

    `anthropic:claude-opus-5-5`, `gpt-5` and the alias `opus` tell; `qwen3:8b` does not.
    """
    given = model.strip()
    prefix, _, rest = given.partition(":")
    told = next((wire for wire in USUAL if wire == prefix and rest), None)
    name = ALIASES.get(rest if told else given, rest if told else given)
    return told or next((w for start, w in _FAMILIES.items() if name.startswith(start)), None), name


class LlmModel:
    """A model of one provider; `usual` is the one that is asked where the request names none."""

    name = "llm"

    def __init__(self, leases: Leases, provider: str, wire: Wire, usual: str) -> None:
        self._leases = leases
        self._provider = provider
        self._wire: Wire = wire
        self._usual = usual
        self._clients: WeakKeyDictionary[Any, httpx2.AsyncClient] = WeakKeyDictionary()
        # Models whose server takes no tools: they are told the form in words.
        self._plain: set[str] = set()

    async def complete(self, request: Request[T]) -> Completion[T]:
        """Ask over a lease. Raises `AgentUnavailable`, `Malformed`, `Declined`, `OverBudget`."""
        _, name = split(request.model or self._usual)
        with self._leases.lease(self._provider, request.account, request.seconds) as lease:
            try:
                # The lease keeps the time, from the end of the wait on; this is for a lost call.
                async with asyncio.timeout(10 * request.seconds or None):
                    completion = await self._asked(request, name, lease)
            except Exception as error:
                raise lease.refusal or self._reason(error, name, request.seconds) from None
        return replace(completion, cost=lease.cost)

    async def aclose(self) -> None:
        """Close the connections that this event loop opened."""
        if client := self._clients.pop(asyncio.get_running_loop(), None):
            await client.aclose()

    async def _asked(self, request: Request[T], name: str, lease: Leased) -> Completion[T]:
        """The answer, at no cost yet; without tools, if the server has none of them."""
        from pydantic_ai.exceptions import ModelHTTPError

        if name not in self._plain:
            try:
                return await self._run(request, name, lease, False)
            except ModelHTTPError as error:
                too_much = _asks_too_much(error.status_code, str(error.body).lower())
                if self._wire != "openai" or lease.refusal or not too_much:
                    raise
        answered = await self._run(request, name, lease, True)
        self._plain.add(name)
        return answered

    async def _run(self, asked: Request[T], name: str, lease: Leased, plain: bool) -> Completion[T]:
        from pydantic_ai import ModelSettings, UsageLimits

        result = await _agent(asked.shape, plain).run(
            asked.prompt.user,
            instructions=asked.prompt.system,
            model=_MODELS[self._wire](name, lease, self._client(), plain),
            model_settings=ModelSettings(max_tokens=asked.most),
            # Whatever it does wrong, and in however many ways, it is asked again only so often.
            usage_limits=UsageLimits(request_limit=1 + AGAIN),
        )
        return Completion(result.output, result.response.model_name or name, Cost())

    def _client(self) -> httpx2.AsyncClient:
        """One for all calls of an event loop; without a proxy, for the forwarder is close by."""
        import httpx2

        loop = asyncio.get_running_loop()
        if loop not in self._clients:
            limits = httpx2.Limits(max_connections=256, max_keepalive_connections=256)
            self._clients[loop] = httpx2.AsyncClient(timeout=None, limits=limits, trust_env=False)
        return self._clients[loop]

    def _reason(self, error: Exception, name: str, seconds: float) -> AgentUnavailable:
        """What went wrong in one line, without a word of the prompt or the key."""
        from pydantic_ai import exceptions as ai

        match error:
            case AgentUnavailable():
                return error
            case TimeoutError():
                return AgentUnavailable(f"no answer within {seconds:g} seconds")
            case ai.OutputTokenLimitExceeded():
                return Malformed("the answer was cut off: it was longer than it may be")
            case ai.UnexpectedModelBehavior() | ai.UsageLimitExceeded():
                return Malformed(f"the answer does not fit: {_misfit(error)}")
            case ai.ModelHTTPError():
                return AgentUnavailable(self._status(error.status_code, name))
            case ai.ModelConnectionError() | ai.ModelRequestTimeout():
                return AgentUnavailable("the model's server cannot be reached, or broke off")
        return AgentUnavailable(f"the call of the model failed: {type(error).__name__}")

    def _status(self, status: int, name: str) -> str:
        told = "it is down or overloaded" if status >= 500 else "it does not take the request"
        if status in (401, 403):
            told = f"check {_KEYS.get(self._provider, f'the key of “{self._provider[:100]}”')}"
        elif status == 404:
            told = f"no such model {name[:100]}"
        elif status == 429:
            told = "too many calls; ask again later"
        return f"the model's server answers {status}: {told}"


def _anthropic(name: str, lease: Leased, http: httpx2.AsyncClient, plain: bool) -> WireModel:
    from anthropic import AsyncAnthropic
    from pydantic_ai.models.anthropic import AnthropicModel
    from pydantic_ai.providers.anthropic import AnthropicProvider

    client = AsyncAnthropic(open_telemetry=False, **_over(lease, http))
    return AnthropicModel(name, provider=AnthropicProvider(anthropic_client=client))


def _openai(name: str, lease: Leased, http: httpx2.AsyncClient, plain: bool) -> WireModel:
    from openai import AsyncOpenAI
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.profiles.openai import OpenAIModelProfile
    from pydantic_ai.providers.openai import OpenAIProvider

    # What every server that speaks this format can do.
    least = OpenAIModelProfile(
        supports_json_object_output=False,
        supports_inline_system_prompts=False,
        openai_chat_supports_max_completion_tokens=False,
        openai_chat_supports_multiple_system_messages=False,
    )
    provider = OpenAIProvider(openai_client=AsyncOpenAI(**_over(lease, http)))
    return OpenAIChatModel(name, provider=provider, profile=least if plain else None)


def _google(name: str, lease: Leased, http: httpx2.AsyncClient, plain: bool) -> WireModel:
    from google.genai import Client
    from google.genai.types import HttpOptions
    from pydantic_ai.models.google import GoogleModel
    from pydantic_ai.providers.google import GoogleProvider

    # Without a context it reads all certificates twice for each client: 35 ms, and for nothing.
    unused = SSLContext(PROTOCOL_TLS_CLIENT)
    options = HttpOptions(
        base_url=lease.base_url,
        httpx_async_client=http,
        async_client_args={"verify": unused, "ssl": unused},
    )
    client = Client(vertexai=False, api_key=lease.key, http_options=options)
    return GoogleModel(name, provider=GoogleProvider(client=client))


def _over(lease: Leased, http: httpx2.AsyncClient) -> dict[str, Any]:
    """A client's settings: over the lease, once, and for as long as it takes."""
    settings = {"base_url": lease.base_url, "http_client": http, "max_retries": 0, "timeout": None}
    return {"api_key": lease.key, **settings}


_MODELS = {"anthropic": _anthropic, "openai": _openai, "google": _google}


@lru_cache(maxsize=32)
def _agent(shape: type[BaseModel], plain: bool) -> Agent[object, Any]:
    """What asks for a shape; kept, because making one takes longer than a call's own work."""
    from pydantic_ai import Agent, PromptedOutput, ToolOutput
    from pydantic_ai.capabilities import Hooks

    tool = ToolOutput(shape, name=_TOOL, description="Give your answer.", strict=False)
    agent: Agent[object, Any] = Agent(
        name="llm",
        output_type=PromptedOutput(shape) if plain else tool,
        retries={"tools": AGAIN, "output": AGAIN},
        capabilities=[Hooks(after_model_request=partial(_understood, plain))],
    )
    agent.instrument = False
    return agent


async def _understood(
    plain: bool, context: Any, *, request_context: Any, response: ModelResponse
) -> ModelResponse:
    """An answer in plain text as if it had come by the tool: many models forget to call it.

    If `plain`, the text without what was said around the answer. Raises `Declined`.
    """
    from pydantic_ai.messages import TextPart, ToolCallPart

    if response.finish_reason == "content_filter":  # what words there may be are no answer
        raise Declined("the model declined to answer")
    found = None if response.tool_calls else _object(response.text or "")
    if found is None:
        return response
    own = [part for part in response.parts if not isinstance(part, TextPart)]
    return replace(response, parts=[*own, TextPart(found) if plain else ToolCallPart(_TOOL, found)])


def _object(text: str) -> str | None:
    """The JSON object in a text: alone, in a fence, or between sentences."""
    found = text[text.find("{") : text.rfind("}") + 1]
    try:
        return found if isinstance(json.loads(found), dict) else None
    except (ValueError, RecursionError):
        return None


def _asks_too_much(status: int, told: str) -> bool:
    """A server that knows less of the format than the provider who made it up."""
    return status in (400, 404, 422, 500, 501) and any(word in told for word in _TOO_MUCH)


def _misfit(error: BaseException | None) -> str:
    """Which part did not fit and why, as pydantic says it; never what stood there."""
    while error is not None and not isinstance(error, ValidationError):
        error = error.__cause__ or error.__context__
    if error is None:
        return "it is not in the form that was asked for"
    first = error.errors(include_url=False, include_input=False, include_context=False)[0]
    where = ".".join(map(str, first["loc"])) or "the whole"
    return " ".join(f"{where}: {first['msg'].removeprefix('Value error, ')}".split())[:250]
