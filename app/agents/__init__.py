"""The roster and the backends that answer for it."""
