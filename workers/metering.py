"""The meter of the agents' process: the database's ledger, each repository's caps."""

from __future__ import annotations

from app.agents.meter import BudgetMeter
from app.agents.prices import Price, Prices
from app.config.loader import Config
from app.deps import Deps
from app.questions.caps import Caps
from app.store.spending import Spending


def build_meter(deps: Deps) -> BudgetMeter:
    """Caps are looked up for every call, so that a changed budget counts at once."""

    def caps(repo: str) -> Caps:
        policies = deps.policies
        return (policies.known(repo) if repo else policies.server()).caps

    return BudgetMeter(Spending(deps.engine), caps, prices_of(deps.policies.server_config()))


def prices_of(config: Config) -> Prices:
    """The operator's own prices before the lists."""
    own = config.agents.prices
    return Prices({name: Price(price.input, price.output) for name, price in own.items()})
