"""PostgreSQL: the truth. Small typed functions over a connection; the only user of SQLAlchemy."""
