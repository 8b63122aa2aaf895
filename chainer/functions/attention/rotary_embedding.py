"""Rotary position embedding."""

# The arrays of inputs are read without the calls of properties.
# pyright: reportPrivateUsage=false

from __future__ import annotations

import numpy

from chainer.backends.compute_dtypes import to_compute_dtype
from chainer.core.arrays.backend import get_array_module, get_device_from_array
from chainer.core.autograd.variable import Variable, as_variable
from chainer.core.config.configuration import threads
from chainer.core.typing import Array, ArrayModule, Arrays, Indexes, VariableLike, Variables
from chainer.core.utils import type_check
from chainer.functions.attention.rotary_tables import RotaryScaling, rotary_tables
from chainer.functions.rules import LinearMap


class RotaryEmbedding(LinearMap):
    """Rotation of pairs of elements by angles.

    Args:
        cos (array): Cosines, shape ``(T, P)`` or broadcasting to ``(..., T, P)``. The first ``2 *
            P`` elements are rotated.
        sin (array): Sines, of the shape of ``cos``.
        interleaved (bool): Whether neighbors are pairs, or halves.
    """

    type_check_key = ()

    def __init__(self, cos: Array, sin: Array, interleaved: bool) -> None:
        self.cos = cos
        self.sin = sin
        self.interleaved = interleaved

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        """Checks dtype and shape."""
        type_check.expect(in_types.size() == 1)
        type_check.expect(in_types[0].dtype.kind == "f", in_types[0].ndim >= 2)
        type_check.expect(in_types[0].shape[-1] % 2 == 0)

    def batched(
        self, inputs: Variables, are_batched: tuple[bool, ...], size: int
    ) -> Variables | None:
        """Rotates all samples: the angles broadcast to them."""
        return self.apply(inputs)

    def forward(self, inputs: Arrays) -> Arrays:
        """Rotates."""
        return (self._rotated(inputs[0], False, self.xp),)

    def backward_arrays(self, target_input_indexes: Indexes, grad_outputs: Arrays) -> Arrays:
        """Rotates the gradient back."""
        return (self._rotated(grad_outputs[0], True, self.xp),)

    def _rotated(self, x: Array, backwards: bool, xp: ArrayModule) -> Array:
        half = self.cos.shape[-1]
        if self.interleaved:
            first, second = slice(0, 2 * half, 2), slice(1, 2 * half, 2)
        else:
            first, second = slice(0, half), slice(half, 2 * half)
        # Like x in memory, so that what undoes a transposition of x copies nothing.
        y = xp.empty_like(x)
        if x.shape[-1] != 2 * half:
            y[..., 2 * half :] = x[..., 2 * half :]
        x = to_compute_dtype(x)
        a, b = x[..., first], x[..., second]
        crossed_a, crossed_b = b * self.sin, a * self.sin
        if backwards:
            y[..., first] = a * self.cos + crossed_a
            y[..., second] = b * self.cos - crossed_b
        else:
            y[..., first] = a * self.cos - crossed_a
            y[..., second] = b * self.cos + crossed_b
        return y


def rotary_embedding(
    x: VariableLike,
    positions: Array | None = None,
    base: float = 10000.0,
    *,
    interleaved: bool = False,
    scaling: RotaryScaling | None = None,
    tables: tuple[Array, Array] | None = None,
) -> Variable:
    """Rotary position embedding.

    Each pair of elements of the vector at position ``p`` is rotated by an angle proportional to
    ``p``, so that dot products of rotated queries and keys depend on the distance of their
    positions. Pair ``i`` of ``D / 2`` is rotated by ``p * base ** (-2 * i / D)``.

    Args:
        x (Variable or array): Queries or keys, shape ``(..., T, D)``, floating point; ``D`` is
            even.
        positions (array): Positions of the vectors, integer or floating point: shape ``(T,)``, or
            ``(B, T)`` for ``x`` of shape ``(B, ..., T, D)`` if rows have positions of their own, as
            in a batch that is padded on the left. ``0`` to ``T - 1`` if None.
        base (float): Base of the wave lengths.
        interleaved (bool): If True, pairs are neighbors, ``(x[0], x[1])``, ``(x[2], x[3])``, ...
            as in the paper. If False, pairs are halves, ``(x[0], x[D / 2])``, ... as in GPT-NeoX
            and Llama.
        scaling (dict): How frequencies are stretched for long texts, see
            :func:`~chainer.functions.rotary_tables`.
        tables (tuple of arrays): Cosines and sines of the angles instead of ``positions``, ``base``
            and ``scaling``, shape ``(T, P)`` or ``(B, T, P)``. The first ``2 * P`` elements of each
            vector are rotated, and the others stay as they are.

    Returns:
        Variable: Output of the shape and dtype of ``x``.

    Raises:
        InvalidType: If ``x`` is not of floating point numbers or ``D`` is odd.
        ValueError: If ``positions`` or ``tables`` have another shape, or ``base`` is not positive.
        TypeError: If ``tables`` are given together with ``positions`` or ``scaling``.

    See: `RoFormer: Enhanced Transformer with Rotary Position Embedding
    <https://arxiv.org/abs/2104.09864>`_

    Example:
        >>> x = np.ones((3, 2), np.float32)
        >>> F.rotary_embedding(x).array.round(3)
        array([[ 1.   ,  1.   ],
               [-0.301,  1.382],
               [-1.325,  0.493]], dtype=float32)
    """
    # A Variable is used without a call: text is decoded by many rotations of few numbers.
    array = (x if type(x) is Variable else as_variable(x)).array
    if not base > 0:
        raise ValueError(f"base must be positive, got {base}")
    length, size = array.shape[-2:] if array.ndim >= 2 else (0, 0)
    # Tables have the dtype of the computation, which is never float16.
    dtype = numpy.dtype(numpy.float64 if array.dtype.itemsize == 8 else numpy.float32)
    if tables is None:
        xp = get_array_module(array)
        with get_device_from_array(array):
            steps = xp.arange(length) if positions is None else positions
            _check_rows("positions", steps.shape, array.shape)
            cos, sin = rotary_tables(steps, size - size % 2, base, scaling, dtype)
    else:
        if positions is not None or scaling is not None:
            raise TypeError("tables replace positions and scaling: give either")
        cos, sin = tables
        # Tables of one shape (T, P) that rotate all elements need no further check.
        shape = array.shape
        if not (cos.shape == sin.shape == (*shape[-2:-1], shape[-1] // 2) and len(shape) > 1):
            _check_tables(cos, sin, shape)
        # Each layer of a decoder rotates by the same tables, which have the dtype then.
        if not cos.dtype == sin.dtype == dtype:
            with get_device_from_array(array):
                cos, sin = (table.astype(dtype, copy=False) for table in (cos, sin))
    if cos.ndim == 3:
        # Rows of a batch: all axes between the batch and the texts, such as heads, share them.
        shape = (cos.shape[0], *(1,) * (array.ndim - 3), *cos.shape[1:])
        cos, sin = cos.reshape(shape), sin.reshape(shape)
    rotation = RotaryEmbedding(cos, sin, interleaved)
    state = threads.state
    if state.needs_no_node() and type(x) is Variable:
        # Text is decoded by many rotations of few numbers, which need no function node.
        usual = type(array) is numpy.ndarray and array.dtype.char in "fd" and array.ndim >= 2
        if usual and size % 2 == 0:
            return Variable._from_array(rotation._rotated(array, False, numpy), x._requires_grad)
    return rotation.apply((x,))[0]


def _check_rows(name: str, shape: tuple[int, ...], x: tuple[int, ...]) -> None:
    """Raises ValueError unless the shape is ``(T,)`` or ``(B, T)``."""
    allowed = {x[-2:-1], (x[0], x[-2]) if len(x) > 2 else x[-2:-1]}
    if len(x) >= 2 and shape not in allowed:
        texts = " or ".join(map(str, sorted(allowed, key=len)))
        raise ValueError(f"{name} must have the shape {texts} for x of shape {x}, got {shape}")


def _check_tables(cos: Array, sin: Array, x: tuple[int, ...]) -> None:
    if cos.shape != sin.shape or cos.ndim < 2:
        raise ValueError(
            f"tables must be two arrays of one shape (..., T, P), got {cos.shape} and {sin.shape}"
        )
    _check_rows("tables without their last axis", cos.shape[:-1], x)
    if len(x) >= 2 and 2 * cos.shape[-1] > x[-1]:
        raise ValueError(
            f"tables must have at most {x[-1] // 2} pairs for x of shape {x}, got {cos.shape[-1]}"
        )
