"""Tasks of features, and their pull requests. What was "done" is planned now."""

from alembic import op

revision = "0005"
down_revision = "0004"

_TASKS = """
CREATE TABLE tasks (
    feature_id bigint NOT NULL REFERENCES features (id),
    name text NOT NULL,
    state text NOT NULL,
    data jsonb NOT NULL,
    updated_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (feature_id, name)
);
ALTER TABLE features ADD COLUMN pull bigint;
CREATE INDEX features_by_pull ON features (repo_id, pull) WHERE pull IS NOT NULL;
CREATE TABLE allowances (
    repo_id bigint NOT NULL,
    pull bigint NOT NULL,
    head text NOT NULL,
    path text NOT NULL,
    by text NOT NULL,
    reason text NOT NULL,
    at timestamptz NOT NULL DEFAULT now(),
    until timestamptz NOT NULL,
    place jsonb NOT NULL,
    ended boolean NOT NULL DEFAULT false,
    PRIMARY KEY (repo_id, pull, head, path)
);
CREATE INDEX allowances_until ON allowances (until) WHERE NOT ended;
UPDATE features SET state = 'planned', data = jsonb_set(data, '{state}', '"planned"')
 WHERE state = 'done';
"""


def upgrade() -> None:
    op.execute(_TASKS)


def downgrade() -> None:
    op.execute(
        "UPDATE features SET state = 'done', data = jsonb_set(data, '{state}', '\"done\"')"
        " WHERE state IN ('planned', 'building', 'review')"
    )
    op.execute("DROP TABLE allowances")
    op.execute("DROP TABLE tasks")
    op.execute("ALTER TABLE features DROP COLUMN pull")
