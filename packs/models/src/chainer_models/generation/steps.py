"""One step of generation after the other, with or without an encoder and a cache."""

from __future__ import annotations

from typing import Any

import numpy
from chainer.backend import get_array_module
from chainer.typing import Array

from chainer_models.generation.captured import CapturedDecoder


class Steps:
    """The tokens of a batch of texts, and the scores of the next one.

    Args:
        model: A model that generates text.
        ids: Tokens at the beginning, shape ``(B, T)``; None for the start token of the model.
        mask: True for tokens that are no padding, or None; of the encoder's inputs if there is one.
        inputs: What the encoder reads, or None.
        use_cache: Whether keys of earlier tokens are kept.
        decoder: Computes the scores of all tokens but the first, or None.

    Attributes:
        ids (array): Tokens so far.
    """

    def __init__(
        self,
        model: Any,
        ids: Array | None,
        mask: Array | None,
        inputs: Any,
        use_cache: bool,
        decoder: CapturedDecoder | None = None,
    ) -> None:
        self._model = model
        self._memory: dict[str, Any] = {}
        if hasattr(model, "encode"):
            if inputs is None:
                raise ValueError("inputs must be given: the model has an encoder")
            self._memory = {"memory": model.encode(inputs, mask), "memory_mask": mask}
            # The mask is of the encoder's inputs: outputs have no padding.
            mask = None
            if ids is None:
                xp = get_array_module(inputs)
                ids = xp.full((len(inputs), 1), model.start_token, numpy.int64)
        elif inputs is not None:
            raise ValueError("inputs must be None: the model has no encoder")
        if ids is None or ids.ndim != 2 or not ids.shape[1]:
            shape = None if ids is None else ids.shape
            raise ValueError(f"ids must have the shape (texts, tokens), got {shape}")
        if mask is not None and mask.shape != ids.shape:
            raise ValueError(f"mask must have the shape of ids, {ids.shape}, got {mask.shape}")
        self.ids = ids
        self._mask = None if mask is None else mask.astype(bool)
        self._cache = model.make_cache() if use_cache else None
        self._decoder = decoder
        if self._mask is not None and self._cache is not None:
            self._cache.padding = self.ids.shape[1] - self._mask.sum(axis=1)

    def scores(self) -> Array:
        """Returns the scores of the next token, shape ``(B, vocabulary)``."""
        if self._decoder is None or self._cache is None:
            return self._scores_as_written()
        # The prompt has another length each time: it is read as it is written.
        if not self._cache.length:
            scores = self._scores_as_written()
            self._decoder.begin(self._cache)
            return scores
        return self._decoder(self.ids[:, -1:]).array[:, -1]

    def _scores_as_written(self) -> Array:
        ids, mask = self.ids, self._mask
        options: dict[str, Any] = dict(self._memory)
        if mask is not None:
            xp = get_array_module(ids)
            positions = xp.maximum(xp.cumsum(mask, axis=1) - 1, 0)
            options = {"mask": mask, "positions": positions}
        if self._cache is not None:
            known = self._cache.length
            # The cache has the keys of all others.
            ids = ids[:, known:]
            if mask is not None:
                options = {name: array[:, known:] for name, array in options.items()}
        logits = self._model(ids, cache=self._cache, last=1, **options)
        return logits.array[:, -1]

    def append(self, token: Array) -> None:
        """Adds a token to each text.

        Args:
            token: The tokens, shape ``(B,)``.
        """
        xp = get_array_module(self.ids)
        self.ids = xp.concatenate([self.ids, token[:, None].astype(self.ids.dtype)], axis=1)
        if self._mask is not None:
            new = xp.ones((len(self.ids), 1), bool)
            self._mask = xp.concatenate([self._mask, new], axis=1)

    def repeat(self, times: int) -> None:
        """Makes several texts of each, one after the other.

        Args:
            times: Number of texts.
        """
        xp = get_array_module(self.ids)
        rows = xp.repeat(xp.arange(len(self.ids)), times)
        count = len(self.ids)
        self.reorder(rows)
        memory, mask = self._memory.get("memory"), self._memory.get("memory_mask")
        if memory is not None:
            # The encoder returns the vectors of all texts one after the other, shape (B * S, C).
            vectors = memory.array.reshape((count, -1, memory.shape[-1]))[rows]
            self._memory["memory"] = type(memory)(vectors.reshape((-1, memory.shape[-1])))
        if mask is not None:
            self._memory["memory_mask"] = mask[rows]

    def reorder(self, rows: Array) -> None:
        """Replaces each text by another one.

        Args:
            rows: Index of the text that each becomes.
        """
        self.ids = self.ids[rows]
        if self._mask is not None:
            self._mask = self._mask[rows]
        if self._cache is not None:
            self._cache.reorder(rows)
            if self._decoder is not None and self._cache.length:
                self._decoder.reorder(rows)
