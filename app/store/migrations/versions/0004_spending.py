"""What calls of models cost."""

from alembic import op

revision = "0004"
down_revision = "0003"

_SPENDING = """
CREATE TABLE spending (
    id bigserial PRIMARY KEY,
    key text NOT NULL,
    feature_id bigint NOT NULL,
    question integer NOT NULL,
    repo text NOT NULL,
    person text NOT NULL,
    role text NOT NULL,
    provider text NOT NULL,
    model text NOT NULL,
    aside double precision,
    usd double precision,
    read bigint NOT NULL DEFAULT 0,
    written bigint NOT NULL DEFAULT 0,
    cache_read bigint NOT NULL DEFAULT 0,
    cache_written bigint NOT NULL DEFAULT 0,
    begun_at timestamptz NOT NULL DEFAULT now(),
    ended_at timestamptz
);
CREATE INDEX spending_by_feature ON spending (feature_id, question);
CREATE INDEX spending_by_repo ON spending (repo, begun_at);
CREATE INDEX spending_by_day ON spending (begun_at);
CREATE INDEX spending_by_key ON spending (key);
"""


def upgrade() -> None:
    op.execute(_SPENDING)


def downgrade() -> None:
    op.execute("DROP TABLE spending")
