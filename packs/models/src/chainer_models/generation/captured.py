"""Decoding by a captured step: the Python code of a token runs while the step is recorded only.

A step is recorded for arrays of fixed shapes. So the memory of keys and values has a fixed length,
and what grows from token to token, such as the position, is an array that the step changes.
"""

from __future__ import annotations

from typing import Any

import chainer
from chainer import Variable
from chainer.backend import get_array_module
from chainer.typing import Array

from chainer_models.caches import Cache, Kept


class FixedStore:
    """Memory of one layer with a place for each token; a full one is a ring.

    Args:
        arrays: The attributes of the cache.
        layer: Number of the layer.
        size: Number of places.
    """

    def __init__(self, arrays: dict[str, Any], layer: int, size: int) -> None:
        # By name, not the arrays themselves: a recorder puts its own in their place.
        self._arrays = arrays
        self._memories = f"keys_{layer}", f"values_{layer}"
        self._place, self._visible = f"place_{size}", f"visible_{size}"

    def add(self, keys: Array, values: Array, visible: Array | None) -> Kept:
        """Writes the keys and values of one token, and returns the whole memory.

        Args:
            keys: Shape ``(B, H, 1, D)``.
            values: Shape ``(B, H, 1, E)``.
            visible: None: tokens that are decoded are no padding.
        """
        arrays = self._arrays
        place = arrays[self._place]
        k, v = (arrays[name] for name in self._memories)
        k[:, :, place], v[:, :, place] = keys, values
        return Kept(k, v, arrays[self._visible], False)

    def reorder(self, rows: Array) -> None:
        """Replaces each row of the batch by another one.

        Args:
            rows: Index of the row that each row becomes.
        """
        for name in self._memories:
            memory = self._arrays[name]
            memory[...] = memory[rows]


class FixedCache(chainer.Link):
    """Keys and values of all layers in memory of a fixed length, for one token at a time.

    Its arrays are persistent values of a link, so that :func:`chainer.capture` takes them for state
    of the step.

    Args:
        cache: Keys and values of the tokens so far, which are copied.
        length: Number of tokens that there is memory for, the tokens in ``cache`` among them.

    Attributes:
        capacity (int): Number of tokens that there is memory for.
        stores (list): The memory of each layer.
        position (array): Number of tokens so far, shape ``(1,)``.
        padding (array): Number of tokens of padding of each text, shape ``(B, 1)``.
    """

    position: Array
    padding: Array

    def __init__(self, cache: Cache, length: int) -> None:
        super().__init__()
        if not cache.length <= length:
            raise ValueError(f"length must be at least {cache.length}, got {length}")
        contents = [store.contents() for store in cache.stores]
        first = contents[0][0]
        xp = get_array_module(first)
        self.capacity = length
        self.add_persistent("position", xp.zeros(1, "i8"))
        self.add_persistent("padding", xp.zeros((len(first), 1), "i8"))
        #: Layers with windows of one length share their places.
        self._sizes = [store.fixed_length(length) for store in cache.stores]
        for size in sorted(set(self._sizes)):
            self.add_persistent(f"place_{size}", xp.zeros(1, "i8"))
            self.add_persistent(f"visible_{size}", xp.zeros((len(first), size), bool))
        self.stores: list[FixedStore] = []
        for i, (arrays, size) in enumerate(zip(contents, self._sizes, strict=True)):
            for name, array in zip(("keys", "values"), arrays, strict=True):
                batch, heads, _, width = array.shape
                memory = xp.zeros((batch, heads, size, width), array.dtype)
                self.add_persistent(f"{name}_{i}", memory)
            self.stores.append(FixedStore(vars(self), i, size))
        self.fill(cache)

    @property
    def length(self) -> int:
        """Refused: a number would be recorded as it is, and be wrong for all later tokens.

        Raises:
            TypeError: Always.
        """
        raise TypeError(
            "a model that is decoded by a captured step must use cache.positions() and "
            "cache.advance(), not cache.length"
        )

    @length.setter
    def length(self, value: int) -> None:
        raise TypeError(
            "a model that is decoded by a captured step must call cache.advance(), not change "
            "cache.length"
        )

    def takes(self, cache: Cache) -> bool:
        """Returns whether the contents of a cache have the shapes and dtypes of the memory.

        Args:
            cache: Keys and values of some tokens.
        """
        members = vars(self)
        return all(
            array.dtype == memory.dtype
            and (array.shape[:2], array.shape[3]) == (memory.shape[:2], memory.shape[3])
            for i, store in enumerate(cache.stores)
            for array, memory in zip(
                store.contents(), (members[f"keys_{i}"], members[f"values_{i}"]), strict=True
            )
        )

    def fill(self, cache: Cache) -> None:
        """Replaces the contents by the contents of another cache.

        Args:
            cache: Keys and values of the tokens so far.
        """
        members = vars(self)
        self.position[...] = cache.length
        self.padding[...] = 0
        for i, (store, size) in enumerate(zip(cache.stores, self._sizes, strict=True)):
            arrays, visible = store.contents(), members[f"visible_{size}"]
            for name, array in zip(("keys", "values"), arrays, strict=True):
                members[f"{name}_{i}"][:, :, : array.shape[2]] = array
            count = arrays[0].shape[2]
            seen = store.visible()
            visible[...] = False
            visible[:, :count] = True if seen is None else seen[:, :count]
            members[f"place_{size}"][...] = cache.length % size
            # The next token sees itself.
            visible[:, cache.length % size] = True
        if cache.padding is not None:
            self.padding[...] = cache.padding[:, None]

    def positions(self, xp: Any, count: int) -> Array:
        """Returns the positions of the token that is added next, shape ``(B, 1)``.

        Args:
            xp: The array module.
            count: 1.
        """
        if count != 1:
            raise ValueError(f"a fixed cache takes one token at a time, got {count}")
        return self.position - self.padding

    def advance(self, count: int) -> None:
        """Notes that the keys of a token were added to all stores.

        Args:
            count: 1.
        """
        self.position += count
        members = vars(self)
        for size in sorted(set(self._sizes)):
            place = members[f"place_{size}"]
            place[...] = self.position % size
            members[f"visible_{size}"][:, place] = True

    def reorder(self, rows: Array) -> None:
        """Replaces each row of the batch by another one, as beam search does.

        Args:
            rows: Index of the row that each row becomes.
        """
        for store in self.stores:
            store.reorder(rows)
        shared = [f"visible_{size}" for size in sorted(set(self._sizes))]
        for name in ("padding", *shared):
            memory = vars(self)[name]
            memory[...] = memory[rows]


class CapturedDecoder:
    """Computes the scores of one token after the other by a step of :func:`chainer.capture`.

    The first tokens cost more: the step runs as it is written, is recorded, and is compared with
    the record. A decoder can be used for many texts, and is recorded once for each size of a batch.

    Args:
        model (Model): A model that generates text and has no encoder.
        length (int): Number of tokens that there is memory for, with the tokens of the prompt.

    Raises:
        ValueError: If the model has an encoder, or ``length`` is not positive.

    Example:
        >>> import chainer_models as cm
        >>> model = cm.from_config(
        ...     {"model_type": "gpt2", "n_embd": 8, "n_head": 2, "n_layer": 1, "vocab_size": 11},
        ...     initialize=True,
        ... )
        >>> decoder = cm.CapturedDecoder(model, length=64)
        >>> cm.generate(model, np.array([[1, 2, 3]]), max_new_tokens=9, capture=decoder).shape
        (1, 12)
        >>> cm.generate(model, np.array([[4, 5]]), max_new_tokens=9, capture=decoder).shape
        (1, 11)
    """

    def __init__(self, model: Any, length: int) -> None:
        if hasattr(model, "encode"):
            raise ValueError("capture must be False for a model with an encoder")
        if length < 1:
            raise ValueError(f"length must be positive, got {length}")
        self.model = model
        self.length = length
        self._cache: FixedCache | None = None
        self._step: Any = None
        self._known = 0

    def begin(self, cache: Cache) -> None:
        """Starts texts whose prompts were read.

        Args:
            cache: Keys and values of the prompts.

        Raises:
            ValueError: If there are more tokens than the decoder has memory for.
        """
        self._known = cache.length
        if self._cache is not None and self._cache.takes(cache) and cache.length <= self.length:
            self._cache.fill(cache)
            return
        model = self.model
        self._cache = fixed = FixedCache(cache, self.length)

        def decode(ids: Array) -> Variable:
            return model(ids, cache=fixed, last=1)

        self._step = chainer.capture(decode, model, fixed)

    def __call__(self, ids: Array) -> Variable:
        """Computes the logits of the token after the next one.

        Args:
            ids: The next token of each text, shape ``(B, 1)``.

        Returns:
            Variable: Logits, shape ``(B, 1, vocabulary)``.

        Raises:
            ValueError: If the memory is full.
            RuntimeError: If :meth:`begin` was not called.
        """
        if self._step is None:
            raise RuntimeError("call begin() with the keys and values of a prompt first")
        if self._known >= self.length:
            raise ValueError(f"the decoder has memory for {self.length} tokens, which is full")
        self._known += 1
        return self._step(ids)

    def reorder(self, rows: Array) -> None:
        """Replaces each text by another one.

        Args:
            rows: Index of the text that each becomes.
        """
        if self._cache is not None:
            self._cache.reorder(rows)

    def explain(self) -> str:
        """Returns what is recorded, or why the step runs as it is written."""
        return "nothing is recorded yet" if self._step is None else self._step.explain()
