"""The write lane of an installation: a token bucket in SQL, shared by all processes."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import Connection, text

_TAKE = text(
    """
    WITH bucket AS (
        INSERT INTO lanes AS l (lane, burst, hour, at) VALUES (:lane, :burst, :hour, now())
        ON CONFLICT (lane) DO UPDATE SET
            burst = LEAST(:burst, l.burst + :per_second * extract(epoch FROM now() - l.at)),
            hour = LEAST(:hour, l.hour + :hour / 3600 * extract(epoch FROM now() - l.at)),
            at = now()
        RETURNING l.burst, l.hour,
                  greatest(0, extract(epoch FROM coalesce(l.blocked_until, now()) - now())) AS held)
    SELECT burst, hour, held::float FROM bucket
    """
)


@dataclass(frozen=True, slots=True)
class Limits:
    """What one installation may write: GitHub's secondary limits, or an operator's own."""

    per_minute: int = 80
    per_hour: int = 500
    burst: int = 10


def take(connection: Connection, lane: str, limits: Limits) -> float:
    """Take the right to one write. Returns 0, or the seconds to wait before asking again."""
    per_second = limits.per_minute / 60
    row = connection.execute(
        _TAKE,
        {
            "lane": lane,
            "burst": float(limits.burst),
            "hour": float(limits.per_hour),
            "per_second": per_second,
        },
    ).one()
    wait = max(
        row.held,
        (1 - row.burst) / per_second,
        (1 - row.hour) * 3600 / limits.per_hour,
    )
    if wait > 0:
        return float(wait)
    connection.execute(
        text("UPDATE lanes SET burst = burst - 1, hour = hour - 1 WHERE lane = :lane"),
        {"lane": lane},
    )
    return 0.0


def block(connection: Connection, lane: str, seconds: float) -> None:
    """Hold a lane: GitHub asked us to wait. A longer hold is not shortened."""
    connection.execute(
        text(
            "INSERT INTO lanes AS l (lane, burst, hour, at, blocked_until)"
            " VALUES (:lane, 0, 1, now(), now() + make_interval(secs => :seconds))"
            " ON CONFLICT (lane) DO UPDATE SET blocked_until ="
            " greatest(l.blocked_until, excluded.blocked_until)"
        ),
        {"lane": lane, "seconds": seconds},
    )
