"""The first schema."""

from alembic import op

revision = "0001"
down_revision = None

_DELIVERIES = """
CREATE TABLE deliveries (
    seq bigserial PRIMARY KEY,
    guid text NOT NULL UNIQUE,
    event text NOT NULL,
    action text NOT NULL DEFAULT '',
    repo_id bigint,
    issue bigint,
    payload bytea NOT NULL,
    state text NOT NULL DEFAULT 'new' CHECK (state IN ('new', 'done', 'ignored', 'dead')),
    attempts integer NOT NULL DEFAULT 0,
    fence integer NOT NULL DEFAULT 0,
    lease_owner text,
    error text,
    received_at timestamptz NOT NULL DEFAULT now(),
    due_at timestamptz NOT NULL DEFAULT now(),
    lease_until timestamptz,
    finished_at timestamptz
);
CREATE INDEX deliveries_waiting ON deliveries (due_at) WHERE state = 'new';
CREATE INDEX deliveries_in_order ON deliveries (repo_id, issue, seq) WHERE state = 'new';
"""

_FEATURES = """
CREATE TABLE features (
    id bigserial PRIMARY KEY,
    repo_id bigint NOT NULL,
    number bigint NOT NULL,
    repo text NOT NULL,
    installation bigint NOT NULL,
    state text NOT NULL,
    data jsonb NOT NULL,
    log_seq bigint NOT NULL DEFAULT 0,
    log_hash text NOT NULL DEFAULT '',
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    UNIQUE (repo_id, number)
);
CREATE INDEX features_by_name ON features (repo, number);
CREATE TABLE questions (
    feature_id bigint NOT NULL REFERENCES features (id),
    number integer NOT NULL,
    gid text NOT NULL UNIQUE,
    state text NOT NULL,
    topic text NOT NULL,
    data jsonb NOT NULL,
    updated_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (feature_id, number)
);
"""

_LOG = """
CREATE TABLE log (
    feature_id bigint NOT NULL REFERENCES features (id),
    seq bigint NOT NULL,
    at timestamptz NOT NULL,
    kind text NOT NULL,
    question text,
    actor text NOT NULL,
    data jsonb NOT NULL,
    links jsonb NOT NULL,
    prev text NOT NULL,
    hash text NOT NULL,
    PRIMARY KEY (feature_id, seq)
);
CREATE FUNCTION log_is_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'the log is append-only: % refused', TG_OP;
END $$;
CREATE TRIGGER log_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON log
    FOR EACH STATEMENT EXECUTE FUNCTION log_is_append_only();
"""

_OUTBOX = """
CREATE TABLE outbox (
    id bigserial PRIMARY KEY,
    key text NOT NULL UNIQUE,
    lane text NOT NULL,
    kind text NOT NULL,
    payload jsonb NOT NULL,
    feature_id bigint,
    priority smallint NOT NULL DEFAULT 5,
    state text NOT NULL DEFAULT 'new' CHECK (state IN ('new', 'done', 'failed', 'dropped')),
    wanted integer NOT NULL DEFAULT 1,
    doubtful boolean NOT NULL DEFAULT false,
    looks integer NOT NULL DEFAULT 0,
    attempts integer NOT NULL DEFAULT 0,
    fence integer NOT NULL DEFAULT 0,
    lease_owner text,
    result jsonb NOT NULL DEFAULT '{}'::jsonb,
    error text,
    created_at timestamptz NOT NULL DEFAULT now(),
    due_at timestamptz NOT NULL DEFAULT now(),
    lease_until timestamptz,
    finished_at timestamptz
);
CREATE INDEX outbox_waiting ON outbox (lane, priority, id) WHERE state = 'new';
CREATE INDEX outbox_by_feature ON outbox (feature_id);
CREATE TABLE lanes (
    lane text PRIMARY KEY,
    burst double precision NOT NULL,
    hour double precision NOT NULL,
    at timestamptz NOT NULL,
    blocked_until timestamptz
);
CREATE TABLE workers (
    name text PRIMARY KEY,
    kind text NOT NULL,
    started_at timestamptz NOT NULL DEFAULT now(),
    seen_at timestamptz NOT NULL DEFAULT now()
);
"""


def upgrade() -> None:
    for statements in (_DELIVERIES, _FEATURES, _LOG, _OUTBOX):
        op.execute(statements)


def downgrade() -> None:
    op.execute("DROP TABLE workers, lanes, outbox, log, questions, features, deliveries")
    op.execute("DROP FUNCTION log_is_append_only")
