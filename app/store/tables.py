"""The tables. `app/store/migrations` makes them; a test holds the two against each other."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    DateTime,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    SmallInteger,
    Table,
    Text,
    UniqueConstraint,
    func,
    text,
)
from sqlalchemy.dialects.postgresql import JSONB

metadata = MetaData()


def _moment(name: str, *, default: bool = False) -> Column[object]:
    if default:
        return Column(name, DateTime(timezone=True), nullable=False, server_default=func.now())
    return Column(name, DateTime(timezone=True), nullable=True)


deliveries = Table(
    "deliveries",
    metadata,
    Column("seq", BigInteger, primary_key=True, autoincrement=True),
    Column("guid", Text, nullable=False, unique=True),
    Column("event", Text, nullable=False),
    Column("action", Text, nullable=False, server_default=""),
    Column("repo_id", BigInteger, nullable=True),
    Column("issue", BigInteger, nullable=True),
    Column("payload", LargeBinary, nullable=False),
    Column("state", Text, nullable=False, server_default="new"),
    Column("attempts", Integer, nullable=False, server_default="0"),
    Column("fence", Integer, nullable=False, server_default="0"),
    Column("lease_owner", Text, nullable=True),
    Column("error", Text, nullable=True),
    _moment("received_at", default=True),
    _moment("due_at", default=True),
    _moment("lease_until"),
    _moment("finished_at"),
    Index("deliveries_waiting", "due_at", postgresql_where=text("state = 'new'")),
    Index("deliveries_head", "seq", postgresql_where=text("state = 'new'")),
    Index("deliveries_in_order", "repo_id", "issue", "seq", postgresql_where=text("state = 'new'")),
)

features = Table(
    "features",
    metadata,
    Column("id", BigInteger, primary_key=True, autoincrement=True),
    Column("repo_id", BigInteger, nullable=False),
    Column("number", BigInteger, nullable=False),
    Column("repo", Text, nullable=False),
    Column("installation", BigInteger, nullable=False),
    Column("state", Text, nullable=False),
    Column("data", JSONB, nullable=False),
    Column("log_seq", BigInteger, nullable=False, server_default="0"),
    Column("log_hash", Text, nullable=False, server_default=""),
    Column("pull", BigInteger, nullable=True),
    _moment("created_at", default=True),
    _moment("updated_at", default=True),
    UniqueConstraint("repo_id", "number"),
    Index("features_by_name", "repo", "number"),
    Index("features_by_pull", "repo_id", "pull", postgresql_where=text("pull IS NOT NULL")),
)

questions = Table(
    "questions",
    metadata,
    Column("feature_id", BigInteger, ForeignKey("features.id"), primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("gid", Text, nullable=False, unique=True),
    Column("state", Text, nullable=False),
    Column("topic", Text, nullable=False),
    Column("data", JSONB, nullable=False),
    _moment("updated_at", default=True),
    _moment("due_at"),
    Column("asked", Text, nullable=True),
    _moment("asked_at"),
    Index("questions_due", "due_at", postgresql_where=text("due_at IS NOT NULL")),
    Index("questions_open", "asked", postgresql_where=text("state = 'escalated'")),
)

tasks = Table(
    "tasks",
    metadata,
    Column("feature_id", BigInteger, ForeignKey("features.id"), primary_key=True),
    Column("name", Text, primary_key=True),
    Column("state", Text, nullable=False),
    Column("data", JSONB, nullable=False),
    _moment("updated_at", default=True),
)

allowances = Table(
    "allowances",
    metadata,
    Column("repo_id", BigInteger, primary_key=True),
    Column("pull", BigInteger, primary_key=True),
    Column("head", Text, primary_key=True),
    Column("path", Text, primary_key=True),
    Column("by", Text, nullable=False),
    Column("reason", Text, nullable=False),
    _moment("at", default=True),
    Column("until", DateTime(timezone=True), nullable=False),
    Column("place", JSONB, nullable=False),
    Column("ended", Boolean, nullable=False, server_default=text("false")),
    Index("allowances_until", "until", postgresql_where=text("NOT ended")),
)

layers = Table(
    "layers",
    metadata,
    Column("repo", Text, primary_key=True),
    Column("path", Text, primary_key=True),
    Column("text", Text, nullable=True),
    _moment("updated_at", default=True),
)

rules = Table(
    "rules",
    metadata,
    Column("revision", BigInteger, primary_key=True, autoincrement=True),
    Column("text", Text, nullable=False),
    Column("set_by", Text, nullable=False),
    _moment("set_at", default=True),
)

log = Table(
    "log",
    metadata,
    Column("feature_id", BigInteger, ForeignKey("features.id"), primary_key=True),
    Column("seq", BigInteger, primary_key=True),
    Column("at", DateTime(timezone=True), nullable=False),
    Column("kind", Text, nullable=False),
    Column("question", Text, nullable=True),
    Column("actor", Text, nullable=False),
    Column("data", JSONB, nullable=False),
    Column("links", JSONB, nullable=False),
    Column("prev", Text, nullable=False),
    Column("hash", Text, nullable=False),
)

outbox = Table(
    "outbox",
    metadata,
    Column("id", BigInteger, primary_key=True, autoincrement=True),
    Column("key", Text, nullable=False, unique=True),
    Column("lane", Text, nullable=False),
    Column("kind", Text, nullable=False),
    Column("payload", JSONB, nullable=False),
    Column("feature_id", BigInteger, nullable=True),
    Column("priority", SmallInteger, nullable=False, server_default="5"),
    Column("state", Text, nullable=False, server_default="new"),
    Column("wanted", Integer, nullable=False, server_default="1"),
    Column("doubtful", Boolean, nullable=False, server_default=text("false")),
    Column("looks", Integer, nullable=False, server_default="0"),
    Column("attempts", Integer, nullable=False, server_default="0"),
    Column("fence", Integer, nullable=False, server_default="0"),
    Column("lease_owner", Text, nullable=True),
    Column("result", JSONB, nullable=False, server_default=text("'{}'::jsonb")),
    Column("error", Text, nullable=True),
    _moment("created_at", default=True),
    _moment("due_at", default=True),
    _moment("lease_until"),
    _moment("finished_at"),
    Index("outbox_waiting", "lane", "priority", "id", postgresql_where=text("state = 'new'")),
    Index("outbox_by_feature", "feature_id"),
)

lanes = Table(
    "lanes",
    metadata,
    Column("lane", Text, primary_key=True),
    Column("burst", Float, nullable=False),
    Column("hour", Float, nullable=False),
    Column("at", DateTime(timezone=True), nullable=False),
    _moment("blocked_until"),
)

workers = Table(
    "workers",
    metadata,
    Column("name", Text, primary_key=True),
    Column("kind", Text, nullable=False),
    _moment("started_at", default=True),
    _moment("seen_at", default=True),
)

spending = Table(
    "spending",
    metadata,
    Column("id", BigInteger, primary_key=True, autoincrement=True),
    Column("key", Text, nullable=False),
    Column("feature_id", BigInteger, nullable=False),
    Column("question", Integer, nullable=False),
    Column("repo", Text, nullable=False),
    Column("person", Text, nullable=False),
    Column("role", Text, nullable=False),
    Column("provider", Text, nullable=False),
    Column("model", Text, nullable=False),
    Column("aside", Float, nullable=True),
    Column("usd", Float, nullable=True),
    Column("read", BigInteger, nullable=False, server_default="0"),
    Column("written", BigInteger, nullable=False, server_default="0"),
    Column("cache_read", BigInteger, nullable=False, server_default="0"),
    Column("cache_written", BigInteger, nullable=False, server_default="0"),
    _moment("begun_at", default=True),
    _moment("ended_at"),
    Index("spending_by_feature", "feature_id", "question"),
    Index("spending_by_repo", "repo", "begun_at"),
    Index("spending_by_day", "begun_at"),
    Index("spending_by_key", "key"),
)
