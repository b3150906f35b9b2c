"""Payloads come compressed; PostgreSQL need not try again."""

from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    op.execute("ALTER TABLE deliveries ALTER COLUMN payload SET STORAGE EXTERNAL")


def downgrade() -> None:
    op.execute("ALTER TABLE deliveries ALTER COLUMN payload SET STORAGE EXTENDED")
