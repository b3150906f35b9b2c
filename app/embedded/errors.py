"""What goes wrong with the embedded servers."""

from __future__ import annotations


class EmbeddedError(Exception):
    """An embedded server cannot run here; the text says why and what to do next."""
