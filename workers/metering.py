"""The meter of the agents' process: the database's ledger, each repository's caps."""

from __future__ import annotations

from app.agents.meter import BudgetMeter
from app.agents.models import prices_of
from app.agents.prices import Prices
from app.deps import Deps
from app.questions.caps import Caps
from app.store.spending import Spending


def build_meter(deps: Deps) -> BudgetMeter:
    """Caps are looked up for every call, so that a changed budget counts at once."""

    def caps(repo: str) -> Caps:
        policies = deps.policies
        return (policies.known(repo) if repo else policies.server()).caps

    def prices() -> Prices:
        return prices_of(deps.policies.server_config())

    return BudgetMeter(Spending(deps.engine), caps, prices)
