"""Deadlines of questions, the last good configuration, and rules set while running."""

from alembic import op

revision = "0002"
down_revision = "0001"

_QUESTIONS = """
ALTER TABLE questions ADD COLUMN due_at timestamptz;
ALTER TABLE questions ADD COLUMN asked text;
ALTER TABLE questions ADD COLUMN asked_at timestamptz;
CREATE INDEX questions_due ON questions (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX questions_open ON questions (asked) WHERE state = 'escalated';
"""

_DELIVERIES = """
CREATE INDEX deliveries_head ON deliveries (seq) WHERE state = 'new';
"""

_LAYERS = """
CREATE TABLE layers (
    repo text NOT NULL,
    path text NOT NULL,
    text text,
    updated_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (repo, path)
);
"""

_RULES = """
CREATE TABLE rules (
    revision bigserial PRIMARY KEY,
    text text NOT NULL,
    set_by text NOT NULL,
    set_at timestamptz NOT NULL DEFAULT now()
);
CREATE FUNCTION rules_are_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'the rules that were set are an audit: % refused', TG_OP;
END $$;
CREATE TRIGGER rules_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON rules
    FOR EACH STATEMENT EXECUTE FUNCTION rules_are_append_only();
"""


def upgrade() -> None:
    for statements in (_QUESTIONS, _DELIVERIES, _LAYERS, _RULES):
        op.execute(statements)


def downgrade() -> None:
    op.execute(
        "DROP INDEX deliveries_head; DROP TABLE rules; DROP FUNCTION rules_are_append_only;"
        " DROP TABLE layers;"
        " ALTER TABLE questions DROP COLUMN due_at, DROP COLUMN asked, DROP COLUMN asked_at"
    )
