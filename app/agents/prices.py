"""What a model costs: the operator's own prices first, else the public price lists.

The lists come with the package genai-prices and are read from its files, never from the network.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from app.agents.protocols import Tokens

_MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class Price:
    """USD for a million tokens."""

    read: float
    written: float


class Prices:
    """Prices by model name; the operator's own may name a model with or without its provider."""

    def __init__(self, own: Mapping[str, Price] | None = None) -> None:
        self._own = {name.lower(): price for name, price in (own or {}).items()}

    def of(self, provider: str, model: str, tokens: Tokens) -> float | None:
        """What these tokens cost in USD; None if nobody knows."""
        own = self._own.get(model.lower()) or self._own.get(f"{provider}:{model}".lower())
        if own is not None:
            read = tokens.read + tokens.cache_read + tokens.cache_written
            return (read * own.read + tokens.written * own.written) / _MILLION
        return _listed(provider, model, tokens)

    def most(self, provider: str, model: str, tokens: Tokens) -> float | None:
        """What a call may cost at most: its prompt may be written to a cache, which costs more."""
        dearest = Tokens(0, tokens.written, 0, tokens.read)
        costs = [self.of(provider, model, tokens), self.of(provider, model, dearest)]
        known = [cost for cost in costs if cost is not None]
        return max(known) if known else None


def _listed(provider: str, model: str, tokens: Tokens) -> float | None:
    from genai_prices import Usage, calc_price

    usage = Usage(
        input_tokens=tokens.read + tokens.cache_read + tokens.cache_written,
        output_tokens=tokens.written,
        cache_read_tokens=tokens.cache_read,
        cache_write_tokens=tokens.cache_written,
    )
    known = None if provider.startswith("role:") else provider  # a gateway: by the name alone
    try:
        return float(calc_price(usage, model, provider_id=known).total_price)
    except (LookupError, ValueError):
        return None
