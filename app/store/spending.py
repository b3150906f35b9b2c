"""What calls of models cost: set aside before, written down after, summed for the caps.

A process that dies in a call leaves what was set aside as spent: too much is counted, never too
little.
"""

from __future__ import annotations

from sqlalchemy import text

from app.agents.meter import Check
from app.agents.protocols import Account, OverBudget, Tokens
from app.questions.caps import Spent
from app.questions.model import Cost
from app.store.engine import Connection, Engine

_LOCK = 7_203_114
"""Of the advisory lock: two calls must not both see room that is enough for one."""

_SPENT = text(
    """
    SELECT coalesce(sum(cost) FILTER (WHERE mine AND question = :question AND :question <> 0), 0),
           coalesce(sum(cost) FILTER (WHERE mine), 0),
           coalesce(sum(cost) FILTER (WHERE repo = :repo AND begun_at >= month), 0),
           coalesce(sum(cost) FILTER (WHERE begun_at >= day), 0),
           coalesce(sum(cost) FILTER (WHERE person = :person AND begun_at >= day), 0),
           coalesce(sum(cost) FILTER (WHERE key = :key), 0)
      FROM (SELECT *, coalesce(usd, aside, 0) AS cost,
                   CASE WHEN :feature = 0 THEN key = :key ELSE feature_id = :feature END AS mine,
                   date_trunc('month', now(), 'UTC') AS month,
                   date_trunc('day', now(), 'UTC') AS day
              FROM spending
             WHERE feature_id = :feature OR begun_at >= date_trunc('month', now(), 'UTC')) AS s
    """
)
_BEGIN = text(
    """
    INSERT INTO spending (key, feature_id, question, repo, person, role, provider, model, aside)
    VALUES (:key, :feature, :question, :repo, :person, :role, :provider, :model, :aside)
    RETURNING id
    """
)
_END = text(
    """
    UPDATE spending SET ended_at = now(), usd = :usd, read = :read, written = :written,
           cache_read = :cache_read, cache_written = :cache_written
     WHERE id = :id
    """
)
_COST = text(
    """
    SELECT count(*) AS calls, coalesce(sum(read + cache_read + cache_written), 0) AS read,
           coalesce(sum(written), 0) AS written, sum(coalesce(usd, aside)) AS usd,
           bool_and(coalesce(usd, aside) IS NOT NULL) AS known
      FROM spending WHERE key = :key
    """
)


class Spending:
    """`Ledger` in the database."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def begin(
        self, account: Account, provider: str, model: str, most: float | None, check: Check
    ) -> int:
        """See `Ledger.begin`."""
        with self._engine.begin() as connection:
            connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _LOCK})
            if (reason := check(_spent(connection, account))) is not None:
                raise OverBudget(reason)
            values = {"provider": provider, "model": model[:200], "aside": most}
            row = connection.execute(_BEGIN, _named(account) | values)
            return int(row.scalar_one())

    def end(self, call: int, tokens: Tokens | None, usd: float | None) -> None:
        """See `Ledger.end`."""
        known = tokens or Tokens()
        with self._engine.begin() as connection:
            connection.execute(
                _END,
                {
                    "id": call,
                    "usd": usd,
                    "read": known.read,
                    "written": known.written,
                    "cache_read": known.cache_read,
                    "cache_written": known.cache_written,
                },
            )

    def spent(self, account: Account) -> Spent:
        """See `Ledger.spent`."""
        with self._engine.connect() as connection:
            return _spent(connection, account)

    def cost(self, key: str) -> Cost | None:
        """See `Ledger.cost`."""
        with self._engine.connect() as connection:
            row = connection.execute(_COST, {"key": key}).one()
        if not row.calls:
            return None
        usd = float(row.usd or 0.0) if row.known else None
        return Cost(usd, int(row.read), int(row.written), int(row.calls))


def _spent(connection: Connection, account: Account) -> Spent:
    row = connection.execute(_SPENT, _named(account)).one()
    return Spent(*(float(value) for value in row))


def _named(account: Account) -> dict[str, object]:
    return {
        "key": account.key,
        "feature": account.feature_id,
        "question": account.question,
        "repo": account.repo,
        "person": account.person,
        "role": account.role,
    }
