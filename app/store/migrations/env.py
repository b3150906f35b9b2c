"""Alembic runs this; the connection comes from `app.store.migrate`."""

from alembic import context

from app.store.tables import metadata

context.configure(connection=context.config.attributes["connection"], target_metadata=metadata)
with context.begin_transaction():
    context.run_migrations()
