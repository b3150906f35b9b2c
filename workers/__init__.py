"""The processes that do the work: `python -m workers events|outbox|agents|timer`."""
