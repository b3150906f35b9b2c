"""Sentences become vectors, on the CPU, with a model that is shipped: nothing is downloaded."""

from app.embeddings.minilm_model import EmbeddingModelError, MiniLM, verify_model

__all__ = ["EmbeddingModelError", "MiniLM", "verify_model"]
