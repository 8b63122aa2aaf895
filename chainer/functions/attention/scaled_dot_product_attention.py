"""Scaled dot-product attention."""

# The arrays of inputs are read without the calls of properties.
# pyright: reportPrivateUsage=false

from __future__ import annotations

import copy

import numpy

from chainer.backends.operations.attentions import AttentionOptions
from chainer.backends.operations.attentions import scaled_dot_product_attention as operation
from chainer.core.autograd.variable import Variable, as_variable
from chainer.core.config.configuration import config, threads
from chainer.core.typing import Array, Arrays, Indexes, VariableLike, Variables
from chainer.core.utils import type_check
from chainer.functions.activation.softmax import softmax
from chainer.functions.activation.tanh import tanh
from chainer.functions.array.repeat import repeat
from chainer.functions.array.where import where
from chainer.functions.math.matmul import matmul
from chainer.functions.rules import ComposedFunction
from chainer.functions.rules.batching import with_rank, with_samples

#: Types of inputs that are used as they are.
_USUAL: tuple[type, ...] = (Variable, numpy.ndarray)


class ScaledDotProductAttention(ComposedFunction):
    """Scaled dot-product attention.

    Args:
        options (AttentionOptions): What the queries may attend to, scale, and dropout ratio.
        keep (array): True for weights that dropout keeps; drawn at random if None and the ratio is
            not 0.

    Attributes:
        keep: True for weights that dropout kept, or None.
    """

    type_check_key = ()

    def __init__(self, options: AttentionOptions, keep: Array | None = None) -> None:
        self.options = options
        self.keep = keep

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        """Checks dtypes and shapes."""
        type_check.expect(in_types.size() >= 3, in_types.size() <= 4)
        q, k, v = in_types[:3]
        type_check.expect(
            q.dtype.kind == "f",
            k.dtype == q.dtype,
            v.dtype == q.dtype,
            q.ndim >= 2,
            k.ndim == q.ndim,
            v.ndim == q.ndim,
        )
        if type_check.eval(q.ndim) >= 4 and type_check.eval(k.shape[-3]):
            # Several heads of the queries may share one of the keys.
            type_check.expect(
                k.shape[:-3] == q.shape[:-3],
                q.shape[-3] % k.shape[-3] == 0,
                v.shape[:-2] == k.shape[:-2],
            )
        else:
            type_check.expect(k.shape[:-2] == q.shape[:-2], v.shape[:-2] == q.shape[:-2])
        type_check.expect(k.shape[-1] == q.shape[-1], v.shape[-2] == k.shape[-2])
        if type_check.eval(in_types.size()) == 4 and type_check.eval(in_types[3].dtype.kind) != "b":
            type_check.expect(in_types[3].dtype == q.dtype)

    def batched(
        self, inputs: Variables, are_batched: tuple[bool, ...], size: int
    ) -> Variables | None:
        """Applies the function, which takes any number of axes in front, to all samples."""
        node = copy.copy(self)
        if self.options.ratio:
            if self.keep is None:
                return None  # each sample draws its own
            node.keep = self.xp.broadcast_to(self.keep, (size, *self.keep.shape))
        qkv = with_samples(inputs[:3], are_batched[:3], size)
        rank = qkv[0].ndim - 1
        masks = [with_rank(m, b, rank) for m, b in zip(inputs[3:], are_batched[3:], strict=True)]
        return node.apply((*qkv, *masks))

    def forward(self, inputs: Arrays) -> Arrays:
        """Computes the output."""
        q, k, v = inputs[:3]
        mask = inputs[3] if len(inputs) == 4 else None
        options = self.options
        if self.keep is None and options.ratio:
            scores = (*q.shape[:-1], k.shape[-2])
            self.keep = self.xp.random.rand(*scores) >= options.ratio
        self._kernel = operation.select(q, k, v, mask, self.keep, options=options)
        save = threads.state.enable_backprop
        if save:
            self.retain_inputs(range(len(inputs)))
            self.retain_outputs((0,))
        y, self._residual = self._kernel.forward(q, k, v, mask, self.keep, options, save)
        return (y,)

    def backward_arrays(self, target_input_indexes: Indexes, grad_outputs: Arrays) -> Arrays:
        """Computes the gradients on arrays."""
        q, k, v, *rest = self.retained_input_arrays
        (y,) = self.retained_output_arrays
        mask = rest[0] if rest else None
        mask_gradient = 3 in target_input_indexes and rest[0].dtype.kind == "f"
        inputs = (q, k, v, mask)
        gradients = self._kernel.backward(
            inputs, self.keep, y, grad_outputs[0], self._residual, self.options, mask_gradient
        )
        return tuple([gradients[i] for i in target_input_indexes])

    def compose(self, *inputs: Variable) -> Variables:
        """Computes the output with differentiable functions."""
        q, k, v, *rest = inputs
        xp, dtype, options = self.xp, q.dtype, self.options
        if q.shape[:-2] != k.shape[:-2]:
            group = q.shape[-3] // k.shape[-3]
            k, v = (repeat(array, group, array.ndim - 3) for array in (k, v))
        scores = matmul(q, k, transb=True) * options.scale
        if options.softcap is not None:
            scores = tanh(scores / options.softcap) * options.softcap
        shape = scores.shape
        visible = xp.ones(shape, bool)
        distance = xp.arange(shape[-2])[:, None] + options.offset - xp.arange(shape[-1])
        if options.causal:
            visible &= distance >= 0
        if options.window is not None:
            visible &= abs(distance) < options.window
        for mask in rest:
            if mask.dtype.kind == "b":
                visible &= mask.array
            else:
                finite = mask.array > -numpy.inf
                visible &= finite
                mask = where(finite, mask, xp.zeros_like(mask.array))
                scores = scores + mask
        # A finite number: if a query can attend to no key, a softmax over infinities is NaN.
        low = xp.full(shape, float(numpy.finfo(dtype).min) / 4, dtype)
        weights = where(visible, scores, low)
        if shape[-1]:
            weights = softmax(weights, axis=-1) * visible.astype(dtype)
        if self.keep is not None:
            kept = self.keep.astype(dtype) * dtype.type(1 / (1 - options.ratio))
            weights = weights * kept
        return (matmul(weights, v),)


def scaled_dot_product_attention(
    q: VariableLike,
    k: VariableLike,
    v: VariableLike,
    mask: VariableLike | None = None,
    *,
    causal: bool = False,
    dropout: float = 0.0,
    scale: float | None = None,
    dropout_mask: Array | None = None,
    offset: int | None = None,
    window: int | None = None,
    softcap: float | None = None,
) -> Variable:
    """Scaled dot-product attention.

    .. math:: y = \\mathrm{softmax}(s Q K^T + \\mathrm{mask}) V

    Each query gets the mean of the values, weighted by the softmax of its dot products with the
    keys. The scores are computed block by block and never exist all at once. For the gradient at
    most 64 MiB (of float32) of them are kept; if there are more, backward computes them again. Only
    dropout needs memory for each score: one byte.

    Queries and keys have positions: query ``i`` is at position ``i + offset`` of the keys. With a
    cache of keys, the queries are the last ones, which is the default. Only ``causal`` and
    ``window`` depend on positions.

    Args:
        q (Variable or array): Queries, shape ``(..., H, M, D)`` or ``(..., M, D)``, floating point.
            The leading axes, such as batch and heads, are the same for all three.
        k (Variable or array): Keys, shape ``(..., H, N, D)``. With four axes or more it may have
            fewer heads, ``H / G`` for a whole number ``G``: head ``h`` of the queries then uses
            head ``h // G`` of the keys (grouped-query attention).
        v (Variable or array): Values, shape ``(..., H, N, E)``, with the heads of ``k``.
        mask (Variable or array): Broadcasts to ``(..., H, M, N)``. Of bool: True where the query
            may attend to the key. Of the dtype of ``q``: added to the scores; minus infinity
            excludes a key, and a Variable that requires a gradient gets one.
        causal (bool): If True, a query attends to no key after its own position.
        dropout (float): Ratio of the weights set to zero, in training mode
            (``chainer.config.train``) only; the others are multiplied by ``1 / (1 - dropout)``.
        scale (float): Factor of the scores; ``1 / sqrt(D)`` by default.
        dropout_mask (array): True for weights that dropout keeps, bool of shape ``(..., H, M,
            N)``; drawn at random by default.
        offset (int): Position of the first query among the keys. By default ``N - M``: the last
            query is at the position of the last key. It is 0 if there are more queries than keys.
        window (int): If given, a query attends only to keys at a distance below ``window``: with
            ``causal`` these are its own position and the ``window - 1`` before it.
        softcap (float): If given, scores become ``softcap * tanh(score / softcap)`` before the mask
            is applied.

    Returns:
        Variable: Weighted means, shape ``(..., M, E)``. Zero for a query that may attend to no
            key.

    Raises:
        InvalidType: If dtypes or shapes do not fit.
        ValueError: If ``mask`` cannot be broadcast, ``dropout_mask`` has another shape,
            ``dropout`` is out of range, or ``window`` or ``softcap`` is not positive.
        TypeError: If ``offset`` or ``window`` is not an integer.

    See: `Attention Is All You Need <https://arxiv.org/abs/1706.03762>`_; for the blocks,
    `FlashAttention <https://arxiv.org/abs/2205.14135>`_; for shared keys, `GQA
    <https://arxiv.org/abs/2305.13245>`_; for the window, `Mistral 7B
    <https://arxiv.org/abs/2310.06825>`_; for the cap, `Gemma 2
    <https://arxiv.org/abs/2408.00118>`_

    Example:
        >>> q = np.array([[1, 0], [0, 1]], np.float32)
        >>> v = np.array([[1], [3]], np.float32)
        >>> F.scaled_dot_product_attention(q, q, v, scale=10.0).array.round(3)
        array([[1.],
               [3.]], dtype=float32)
        >>> F.scaled_dot_product_attention(q, q, v, scale=0.0).array
        array([[2.],
               [2.]], dtype=float32)
        >>> F.scaled_dot_product_attention(q, q, v, scale=0.0, causal=True).array
        array([[1.],
               [2.]], dtype=float32)
        >>> F.scaled_dot_product_attention(q[1:], q, v, scale=0.0, causal=True).array  # the last
        array([[2.]], dtype=float32)
    """
    if not 0.0 <= dropout < 1.0:
        raise ValueError(f"dropout must be in the range [0, 1), got {dropout}")
    # Variables and arrays have what is read here: text is decoded by many attentions of few
    # numbers, and a cache of keys and values has arrays.
    q = q if type(q) in _USUAL else as_variable(q)
    k = k if type(k) in _USUAL else as_variable(k)
    v = v if type(v) in _USUAL else as_variable(v)
    factor = max(q.shape[-1], 1) ** -0.5 if scale is None else float(scale)
    inputs = (q, k, v)
    if mask is not None:
        _check_mask(mask.shape, _shape_of_scores(q, k))
        inputs = (q, k, v, mask)
    if not dropout or not config.train:
        dropout, dropout_mask = 0.0, None
    if dropout_mask is not None and (
        dropout_mask.shape != _shape_of_scores(q, k) or dropout_mask.dtype.kind != "b"
    ):
        raise ValueError(
            f"dropout_mask must be of bool and of shape {_shape_of_scores(q, k)}, "
            f"got {dropout_mask.dtype} and {dropout_mask.shape}"
        )
    offset = _offset(offset, q, k)
    if window is not None or softcap is not None:
        _check_limits(window, softcap)
    options = AttentionOptions(causal, factor, dropout, offset, window, softcap)
    state = threads.state
    if state.needs_no_node() and len(inputs) == 3:
        # Text is decoded by many attentions of few numbers, with another number of keys for each
        # token: these calls need no function node, and remember no check of their shapes.
        arrays = [x._array if type(x) is Variable else x for x in inputs]
        if not dropout and _are_heads(*arrays):
            kernel = operation.select(*arrays, None, None, options=options)
            y, _ = kernel.forward(*arrays, None, None, options, False)
            return Variable._from_array(
                y, any([getattr(x, "requires_grad", False) for x in inputs])
            )
    return ScaledDotProductAttention(options, dropout_mask).apply(inputs)[0]


def _are_heads(q: Array, k: Array, v: Array) -> bool:
    """Returns whether arrays of NumPy are heads of queries, keys and values of single precision."""
    if not type(q) is type(k) is type(v) is numpy.ndarray:
        return False
    if not q.dtype == k.dtype == v.dtype == numpy.float32:
        return False
    if not q.ndim == k.ndim == v.ndim == 4:
        return False
    batch, heads, _, size = q.shape
    others, key_heads, _, key_size = k.shape
    return (
        batch == others
        and size == key_size
        and v.shape[:3] == k.shape[:3]
        and (heads == key_heads or (key_heads > 0 and heads % key_heads == 0))
    )


def _shape_of_scores(q: Array, k: Array) -> tuple[int, ...]:
    return (*q.shape[:-1], *k.shape[-2:-1])


def _offset(offset: int | None, q: Array, k: Array) -> int:
    """Returns the position of the first query; of a cache of keys, the queries are the last."""
    if offset is None:
        # Inputs of too few axes are refused by the type check.
        queries, keys = q.shape[-2:], k.shape[-2:]
        return max(keys[0] - queries[0], 0) if len(queries) == len(keys) == 2 else 0
    if isinstance(offset, bool) or not isinstance(offset, (int, numpy.integer)):
        raise TypeError(f"offset must be an integer, got {offset!r}")
    return int(offset)


def _check_limits(window: int | None, softcap: float | None) -> None:
    if window is not None:
        if isinstance(window, bool) or not isinstance(window, (int, numpy.integer)):
            raise TypeError(f"window must be an integer or None, got {window!r}")
        if window < 1:
            raise ValueError(f"window must be positive, got {window}")
    if softcap is not None and not softcap > 0:
        raise ValueError(f"softcap must be positive, got {softcap}")


def _check_mask(shape: tuple[int, ...], scores: tuple[int, ...]) -> None:
    aligned = (1,) * (len(scores) - len(shape)) + tuple(shape)
    if len(aligned) != len(scores) or any(
        n not in (1, m) for n, m in zip(aligned, scores, strict=True)
    ):
        raise ValueError(f"mask must broadcast to the shape of the scores, {scores}, got {shape}")
