"""Caps, prices and the meter: each cap stops, an unknown cost counts as over."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest
from sqlalchemy import Engine, text

from app.agents.meter import BudgetMeter, Ledger, MemoryLedger
from app.agents.prices import Price, Prices
from app.agents.protocols import Account, OverBudget, Tokens
from app.questions.caps import Caps, Spent, near, over
from app.store.spending import Spending

ACCOUNT = Account(1, 3, "acme/storefront", "mara", "architect", "f1:Q3:ask:1")
PRICES = Prices({"tester": Price(1.0, 1.0)})
MILLION = Tokens(1_000_000, 0)
"""A dollar's worth of the tester."""


@pytest.fixture(params=["memory", "database"])
def ledger(request: pytest.FixtureRequest) -> Ledger:
    if request.param == "memory":
        return MemoryLedger()
    return Spending(request.getfixturevalue("engine"))


def meter(ledger: Ledger, caps: Caps, prices: Prices = PRICES) -> BudgetMeter:
    return BudgetMeter(ledger, lambda repo: caps, lambda: prices)


def spend(meter: BudgetMeter, account: Account = ACCOUNT, tokens: Tokens | None = MILLION) -> None:
    async def call() -> None:
        number = await meter.begin(account, "x", "tester", MILLION)
        await meter.end(number, tokens)

    asyncio.run(call())


OTHERS = {
    "question": replace(ACCOUNT, question=4),
    "feature": replace(ACCOUNT, feature_id=2),
    "repository": replace(ACCOUNT, feature_id=2, repo="acme/other"),
    "person": replace(ACCOUNT, feature_id=2, person="rosa"),
}


@pytest.mark.parametrize("name", ["question", "feature", "repository", "day", "person"])
def test_each_cap_stops_what_it_counts_and_nothing_else(ledger: Ledger, name: str) -> None:
    capped = meter(ledger, Caps(**{name: 2.5}))
    spend(capped)
    spend(capped)
    with pytest.raises(OverBudget, match=r"the budget of \$2\.50 for"):
        spend(capped)
    if name == "day":
        with pytest.raises(OverBudget):
            spend(capped, Account(9, 9, "else/where", "rosa"))
    else:
        spend(capped, OTHERS[name])


def test_what_is_done_for_no_single_question_counts_for_the_issue_alone(ledger: Ledger) -> None:
    """@baron reads the issue and writes three documents, again after every correction."""
    capped = meter(ledger, Caps(question=1.5, feature=4.5))
    for _ in range(4):
        spend(capped, replace(ACCOUNT, question=0))
    with pytest.raises(OverBudget, match="this issue"):
        spend(capped, replace(ACCOUNT, question=0))


def test_a_changed_price_counts_from_the_next_call_on() -> None:
    prices = [Prices({"tester": Price(1.0, 1.0)}), Prices({"tester": Price(5.0, 5.0)})]
    changing = BudgetMeter(MemoryLedger(), lambda repo: Caps(day=3.0), lambda: prices[-1])
    with pytest.raises(OverBudget):
        spend(changing)
    prices.pop()
    spend(changing)


def test_a_cap_of_nothing_allows_nothing(ledger: Ledger) -> None:
    with pytest.raises(OverBudget, match=r"\$0\.00"):
        spend(meter(ledger, Caps(day=0.0)))


def test_what_is_set_aside_counts_while_the_call_is_under_way(ledger: Ledger) -> None:
    capped = meter(ledger, Caps(feature=1.5))

    async def both() -> None:
        first = await capped.begin(ACCOUNT, "x", "tester", MILLION)
        with pytest.raises(OverBudget):
            await capped.begin(ACCOUNT, "x", "tester", MILLION)
        await capped.end(first, Tokens(1000, 0))
        await capped.begin(ACCOUNT, "x", "tester", MILLION)  # now there is room

    asyncio.run(both())


def test_a_call_whose_end_nobody_heard_stays_paid_in_full(ledger: Ledger) -> None:
    capped = meter(ledger, Caps(feature=1.5))
    spend(capped, tokens=None)
    with pytest.raises(OverBudget):
        spend(capped)
    assert capped.cost(ACCOUNT.key).usd == pytest.approx(1.0)


def test_an_unknown_cost_counts_as_over(ledger: Ledger) -> None:
    unknown = meter(ledger, Caps(person=1000.0), Prices())
    with pytest.raises(OverBudget, match="price of the model tester is not known"):
        spend(unknown)
    free = meter(ledger, Caps(), Prices())
    spend(free)
    assert free.cost(ACCOUNT.key).usd is None
    assert free.cost(ACCOUNT.key).input_tokens == 1_000_000


def test_a_hundred_calls_at_once_do_not_slip_through(ledger: Ledger) -> None:
    capped = meter(ledger, Caps(day=10.0))

    async def call(n: int) -> int:
        try:
            number = await capped.begin(replace(ACCOUNT, question=n), "x", "tester", MILLION)
        except OverBudget:
            return 0
        await capped.end(number, MILLION)
        return 1

    async def crowd() -> int:
        return sum(await asyncio.gather(*(call(n) for n in range(100))))

    assert asyncio.run(crowd()) == 10


def test_all_tries_of_a_piece_of_work_are_one_cost(ledger: Ledger) -> None:
    open_ = meter(ledger, Caps())
    spend(open_, tokens=Tokens(100, 20, 30, 40))
    spend(open_, tokens=Tokens(1, 2))
    cost = open_.cost(ACCOUNT.key)
    assert (cost.input_tokens, cost.output_tokens, cost.calls) == (171, 22, 2)
    assert cost.usd == pytest.approx(193e-6)
    assert open_.cost("something else") is None


def test_from_eighty_per_cent_on_there_is_a_line(ledger: Ledger) -> None:
    capped = meter(ledger, Caps(feature=1.25, day=100.0))
    assert capped.standing(ACCOUNT) == ()
    spend(capped)
    assert capped.standing(ACCOUNT) == ("80 % of the $1.25 for this issue is spent",)


def test_yesterday_and_last_month_do_not_count(engine: Engine) -> None:
    capped = meter(Spending(engine), Caps(repository=1.5, day=1.5, person=1.5))
    spend(capped)
    with engine.begin() as connection:
        connection.execute(text("UPDATE spending SET begun_at = now() - interval '32 days'"))
    spend(capped)


@pytest.mark.parametrize(
    ("provider", "model", "tokens"),
    [
        ("anthropic", "claude-opus-5-5", Tokens(1000, 1000)),
        ("openai", "gpt-5", Tokens(1000, 1000)),
        ("google", "gemini-2.5-pro", Tokens(1000, 1000)),
    ],
)
def test_public_prices_are_known(provider: str, model: str, tokens: Tokens) -> None:
    price = Prices().of(provider, model, tokens)
    assert price is not None
    assert 0 < price < 1
    assert Prices().most(provider, model, tokens) >= price
    assert Prices().of(provider, "no-such-model", tokens) is None


def test_what_is_read_from_a_cache_costs_less() -> None:
    prices = Prices()
    fresh = prices.of("anthropic", "claude-opus-5-5", Tokens(10_000, 0))
    cached = prices.of("anthropic", "claude-opus-5-5", Tokens(0, 0, 10_000))
    assert 0 < cached < fresh


def test_the_operators_own_price_comes_first() -> None:
    own = Prices({"llama": Price(0, 0), "openai:gpt-5": Price(1, 2)})
    assert own.of("role:architect", "LLAMA", Tokens(10, 10)) == 0
    assert own.of("openai", "gpt-5", Tokens(1_000_000, 1_000_000)) == pytest.approx(3)


def test_caps_say_what_they_are_for() -> None:
    spent = Spent(feature=9.0)
    assert over(spent, 1.0, Caps(feature=10.0), "m") is None
    assert over(spent, 1.1, Caps(feature=10.0), "m") == (
        "the budget of $10.00 for this issue is used up"
    )
    assert over(Spent(), 3.0, Caps(question=1.0), "m") == (
        "the budget of $1.00 for one question does not hold a call that may cost $3.00"
        " ($0.00 is spent)"
    )
    assert near(spent, Caps(feature=10.0, day=5.0)) == (
        "90 % of the $10.00 for this issue is spent",
    )
