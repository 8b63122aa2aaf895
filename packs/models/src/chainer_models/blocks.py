"""The layer of which Transformers consist: one class for all architectures."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import chainer
import chainer.functions as F
import chainer.links as L
from chainer import Variable
from chainer.typing import Array

from chainer_models.caches import Store
from chainer_models.errors import ModelFileError

#: ``hidden_act`` of ``config.json`` -> function.
ACTIVATIONS: dict[str, Callable[[Variable], Variable]] = {
    "gelu": F.gelu,
    # Three names in transformers for the approximation by tanh.
    "gelu_fast": lambda x: F.gelu(x, approximate=True),
    "gelu_new": lambda x: F.gelu(x, approximate=True),
    "gelu_pytorch_tanh": lambda x: F.gelu(x, approximate=True),
    "quick_gelu": F.quick_gelu,
    "relu": F.relu,
    "silu": F.silu,
    "swish": F.silu,
    "tanh": F.tanh,
}


def activation(name: str) -> Callable[[Variable], Variable]:
    """Returns a function by its name in ``config.json``.

    Args:
        name: The name.

    Raises:
        ModelFileError: If it is not known.
    """
    try:
        return ACTIVATIONS[name]
    except KeyError:
        known = ", ".join(sorted(ACTIVATIONS))
        raise ModelFileError(f"activation {name!r} is not known; known ones: {known}") from None


@dataclass(frozen=True)
class BlockOptions:
    """Differences between the layers of the architectures.

    Attributes:
        size: Size of the hidden states.
        heads: Number of heads of the queries.
        inner: Size of the layer in the middle of the network.
        key_heads: Number of heads of the keys; ``heads`` if None.
        head_size: Size of a head; ``size / heads`` if None.
        key_size: Size of the vectors that cross attention attends to; ``size`` if None.
        norm: ``"layer"`` or ``"rms"``.
        eps: Added to the variance or mean square.
        norm_offset: Added to the factors of an RMS normalization.
        activation: Name of the function of the network.
        gated: Whether the network has a gate.
        bias: Names of the linear functions that have a bias: ``q``, ``k``, ``v``, ``o``, ``mlp``.
        fused: Whether queries, keys and values come from one matrix.
        head_norm: Whether queries and keys of each head are normalized.
        norm_first: Whether inputs are normalized, or the sums of inputs and outputs.
        norm_outputs: Whether outputs are normalized, too, before they are added.
        cross: Whether there is attention to an encoder.
        layer_scale: Whether outputs are multiplied by learned factors.
        causal: Whether a token attends to no later one.
        scale: Factor of the scores; ``1 / sqrt(head_size)`` if None.
        softcap: Cap of the scores, or None.
        window: Number of keys that a token attends to, or None.
        dropout: Dropout ratio of outputs.
        attention_dropout: Dropout ratio of attention weights.
        inner_dropout: Dropout ratio in the middle of the network.
    """

    size: int
    heads: int
    inner: int
    key_heads: int | None = None
    head_size: int | None = None
    key_size: int | None = None
    norm: str = "layer"
    eps: float = 1e-5
    norm_offset: float = 0.0
    activation: str = "gelu"
    gated: bool = False
    bias: frozenset[str] = field(default_factory=lambda: frozenset({"q", "k", "v", "o", "mlp"}))
    fused: bool = False
    head_norm: bool = False
    norm_first: bool = True
    norm_outputs: bool = False
    cross: bool = False
    layer_scale: bool = False
    causal: bool = False
    scale: float | None = None
    softcap: float | None = None
    window: int | None = None
    dropout: float = 0.0
    attention_dropout: float = 0.0
    inner_dropout: float = 0.0

    def __post_init__(self) -> None:
        if self.head_size is None and self.size % self.heads:
            raise ModelFileError(
                f"the number of heads must divide the size of the hidden states, got {self.heads} "
                f"and {self.size}"
            )
        if self.key_heads is not None and self.heads % self.key_heads:
            raise ModelFileError(
                "the number of heads of the keys must divide the number of heads, got "
                f"{self.key_heads} and {self.heads}"
            )
        activation(self.activation)

    @property
    def head(self) -> int:
        """Size of a head."""
        return self.size // self.heads if self.head_size is None else self.head_size

    def make_norm(self, size: int | None = None) -> chainer.Link:
        """Returns a normalization of hidden states.

        Args:
            size: Size of the vectors; :attr:`size` if None.
        """
        size = self.size if size is None else size
        if self.norm == "rms":
            return L.RMSNormalization(size, self.eps, offset=self.norm_offset)
        return L.LayerNormalization(size, self.eps)


@dataclass
class Reading:
    """Values that the layers of a model share while it reads a batch.

    Attributes:
        batch: Number of texts.
        mask: True for tokens that are no padding, shape ``(B, T)``; None if there is no padding.
        bias: Added to the scores, shape ``(H, T, S)``; None if nothing is.
        tables: Cosines and sines of the positions, or None.
        memory: Output of an encoder, shape ``(B * S, C)``, or None.
        memory_mask: True for vectors of ``memory`` that are no padding, shape ``(B, S)``, or None.
        trains: Whether dropout is applied. Reading the configuration in each layer takes longer
            than the sums there, while text is decoded.
    """

    batch: int
    mask: Array | None = None
    bias: Variable | None = None
    tables: tuple[Array, Array] | None = None
    memory: Variable | None = None
    memory_mask: Array | None = None
    trains: bool = field(default_factory=lambda: chainer.config.train)


class Attention(chainer.Chain):
    """Attention of all architectures, to the tokens themselves or to an encoder.

    Args:
        options: Options of the layer.
        cross: Whether it attends to an encoder.
    """

    def __init__(self, options: BlockOptions, cross: bool = False) -> None:
        super().__init__()
        self.options = options
        self.cross = cross
        heads, head = options.heads, options.head
        self.key_heads = options.key_heads or heads
        self.head = head
        size, key_size = options.size, (options.key_size if cross else None) or options.size
        nobias = {name: name not in options.bias for name in "qkvo"}
        with self.init_scope():
            if options.fused:
                total = (heads + 2 * self.key_heads) * head
                self.qkv = L.Linear(size, total, nobias["q"])
            else:
                self.q = L.Linear(size, heads * head, nobias["q"])
                self.k = L.Linear(key_size, self.key_heads * head, nobias["k"])
                self.v = L.Linear(key_size, self.key_heads * head, nobias["v"])
            self.o = L.Linear(heads * head, size, nobias["o"])
            if options.head_norm:
                self.q_norm = options.make_norm(head)
                self.k_norm = options.make_norm(head)

    def forward(
        self,
        h: Variable,
        reading: Reading,
        store: Store | None,
        kept: list[Any] | None = None,
        last: int | None = None,
    ) -> Variable:
        """Attends.

        Args:
            h: Hidden states, shape ``(B * T, C)``.
            reading: Values that the layers share.
            store: Memory of the keys of earlier tokens, or None.
            kept: Place for keys and values of an encoder's output, which stay the same.
            last: If given, the last ``last`` tokens of each text attend; all of them have keys.
        """
        options = self.options
        memory = None
        if self.cross:
            q = self._heads(self.q(h), options.heads, reading)
            k, v = self._memory_keys(reading, kept)
            memory = reading.memory_mask
        else:
            q, k, v = self._queries_keys_values(h, reading)
        if last is not None:
            q = q[:, :, -last:]
        causal, window, mask = options.causal and not self.cross, options.window, reading.mask
        if store is not None and not self.cross:
            k, v, mask, is_ordered = store.add(k.array, v.array, reading.mask)
            # A full ring has its keys in any order, so that a mask by position would be wrong. The
            # single query may see all of them.
            if not is_ordered:
                causal, window = False, None
        if self.cross:
            mask = _mask_of_scores(memory, None)
        elif mask is not None or reading.bias is not None:
            mask = _mask_of_scores(mask, reading.bias)
        y = F.scaled_dot_product_attention(
            q,
            k,
            v,
            mask,
            causal=causal,
            window=None if self.cross else window,
            softcap=options.softcap,
            scale=options.scale,
            dropout=options.attention_dropout if reading.trains else 0.0,
        )
        batch, heads, count, head = y.shape
        if count > 1:
            y = F.transpose(y, (0, 2, 1, 3))
        return self.o(F.reshape(y, (batch * count, heads * head)))

    def _queries_keys_values(self, h: Variable, reading: Reading) -> tuple[Variable, ...]:
        options = self.options
        heads, key_heads = options.heads, self.key_heads
        if options.fused:
            # Heads of all three at once: two functions instead of six for each token of a text.
            x = self._heads(self.qkv(h), heads + 2 * key_heads, reading)
            q, k, v = x[:, :heads], x[:, heads : heads + key_heads], x[:, heads + key_heads :]
        else:
            q = self._heads(self.q(h), heads, reading)
            k = self._heads(self.k(h), key_heads, reading)
            v = self._heads(self.v(h), key_heads, reading)
        # Before the rotations, as Qwen 3 was trained.
        if options.head_norm:
            q, k = self.q_norm(q), self.k_norm(k)
        if reading.tables is not None:
            q = F.rotary_embedding(q, tables=reading.tables)
            k = F.rotary_embedding(k, tables=reading.tables)
        return q, k, v

    def _memory_keys(self, reading: Reading, kept: list[Any] | None) -> tuple[Variable, ...]:
        # The output of the encoder stays the same: its keys are computed for the first token only.
        if kept:
            return tuple([chainer.as_variable(array) for array in kept])
        assert reading.memory is not None
        k, v = (
            self._heads(linear(reading.memory), self.key_heads, reading)
            for linear in (self.k, self.v)
        )
        if kept is not None:
            kept += [k.array, v.array]
        return k, v

    def _heads(self, x: Variable, heads: int, reading: Reading) -> Variable:
        """Returns vectors as ``(B, heads, T, D)``."""
        batch, head = reading.batch, self.head
        # While text is decoded there is one token, which is in the right place already.
        if x.shape[0] == batch:
            return F.reshape(x, (batch, heads, 1, head))
        return F.transpose(F.reshape(x, (batch, -1, heads, head)), (0, 2, 1, 3))


def _mask_of_scores(visible: Array | None, bias: Variable | None) -> Any:
    """Returns the argument ``mask`` of the attention."""
    if visible is None:
        return bias
    # The same keys are hidden from all heads and queries.
    visible = visible[:, None, None, :]
    if bias is None or visible is None:
        return visible
    # Minus infinity excludes keys of padding from scores that something is added to.
    shape = (visible.shape[0], *bias.shape)
    xp = chainer.backend.get_array_module(visible)
    hidden = xp.asarray(-xp.inf, bias.dtype)
    return F.where(xp.broadcast_to(visible, shape), F.broadcast_to(bias, shape), hidden)


class Network(chainer.Chain):
    """The network of a layer: two linear functions, or three with a gate.

    Args:
        options: Options of the layer.
    """

    def __init__(self, options: BlockOptions) -> None:
        super().__init__()
        self.activation = options.activation
        self.dropout = options.inner_dropout
        nobias = "mlp" not in options.bias
        with self.init_scope():
            if options.gated:
                self.gate = L.Linear(options.size, options.inner, nobias)
            self.up = L.Linear(options.size, options.inner, nobias)
            self.down = L.Linear(options.inner, options.size, nobias)
        self.is_gated = options.gated

    def forward(self, h: Variable) -> Variable:
        """Computes the output.

        Args:
            h: Hidden states, shape ``(N, C)``.
        """
        function = ACTIVATIONS[self.activation]
        x = function(self.gate(h)) * self.up(h) if self.is_gated else function(self.up(h))
        return self.down(F.dropout(x, self.dropout) if self.dropout else x)


class Block(chainer.Chain):
    """A layer of a Transformer.

    Args:
        options: Differences between the layers of the architectures.
    """

    def __init__(self, options: BlockOptions) -> None:
        super().__init__()
        self.options = options
        with self.init_scope():
            self.attn = Attention(options)
            self.ln1 = options.make_norm()
            if options.cross:
                self.cross = Attention(options, cross=True)
                self.ln_cross = options.make_norm()
            self.mlp = Network(options)
            self.ln2 = options.make_norm()
            if options.norm_outputs:
                self.post1, self.post2 = options.make_norm(), options.make_norm()
            if options.layer_scale:
                self.ls1, self.ls2 = L.LayerScale(options.size), L.LayerScale(options.size)

    def forward(
        self,
        h: Variable,
        reading: Reading,
        store: Store | None = None,
        kept: list[Any] | None = None,
        last: int | None = None,
    ) -> Variable:
        """Computes the hidden states after the layer.

        Args:
            h: Hidden states, shape ``(B * T, C)``.
            reading: Values that the layers share.
            store: Memory of the keys of earlier tokens, or None.
            kept: Place for keys and values of an encoder's output.
            last: If given, hidden states of the last ``last`` tokens of each text only.
        """
        options = self.options
        first = options.norm_first
        y = self.attn(self.ln1(h) if first else h, reading, store, None, last)
        old = h if last is None else _last_rows(h, reading.batch, last)
        h = self._add(old, y, reading, self.ln1, "1")
        if options.cross:
            y = self.cross(self.ln_cross(h) if first else h, reading, None, kept)
            h = self._add(h, y, reading, self.ln_cross, "")
        return self._add(h, self.mlp(self.ln2(h) if first else h), reading, self.ln2, "2")

    def _add(self, h: Variable, y: Variable, reading: Reading, norm: Any, number: str) -> Variable:
        """Adds the output of a function, with normalizations where the options say.

        Args:
            h: Hidden states that the output is added to.
            y: The output.
            reading: Values that the layers share.
            norm: The normalization.
            number: End of the names of further links.
        """
        options = self.options
        # The function does nothing while testing, and its calls take longer than a look.
        if options.dropout and reading.trains:
            y = F.dropout(y, options.dropout)
        # The number is empty for cross attention, which has neither of these links.
        if options.norm_outputs and number:
            y = getattr(self, f"post{number}")(y)
        if options.layer_scale and number:
            y = getattr(self, f"ls{number}")(y)
        h = h + y
        return h if options.norm_first else norm(h)


def _last_rows(h: Variable, batch: int, last: int) -> Variable:
    """Returns the hidden states of the last tokens of each text."""
    size = h.shape[-1]
    tokens = F.reshape(h, (batch, len(h) // batch, size))[:, -last:]
    return F.reshape(tokens, (batch * tokens.shape[1], size))
