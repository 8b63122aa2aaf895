"""Rotary position embedding."""

from __future__ import annotations

import numpy

from chainer.backends.compute_dtypes import to_compute_dtype
from chainer.core.arrays.backend import get_array_module, get_device_from_array
from chainer.core.autograd.variable import Variable, as_variable
from chainer.core.typing import Array, Arrays, Indexes, VariableLike
from chainer.core.utils import type_check
from chainer.functions.rules import LinearMap


class RotaryEmbedding(LinearMap):
    """Rotation of pairs of elements by angles.

    Args:
        cos (array): Cosines, shape ``(T, D / 2)``.
        sin (array): Sines, shape ``(T, D / 2)``.
        interleaved (bool): Whether neighbors are pairs, or halves.
    """

    def __init__(self, cos: Array, sin: Array, interleaved: bool) -> None:
        self.cos = cos
        self.sin = sin
        self.interleaved = interleaved

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        """Checks dtype and shape."""
        type_check.expect(in_types.size() == 1)
        type_check.expect(in_types[0].dtype.kind == "f", in_types[0].ndim >= 2)
        type_check.expect(in_types[0].shape[-1] % 2 == 0)

    def forward(self, inputs: Arrays) -> Arrays:
        """Rotates."""
        return (self._rotated(inputs[0], backwards=False),)

    def backward_arrays(self, target_input_indexes: Indexes, grad_outputs: Arrays) -> Arrays:
        """Rotates the gradient back."""
        return (self._rotated(grad_outputs[0], backwards=True),)

    def _rotated(self, x: Array, backwards: bool) -> Array:
        half = x.shape[-1] // 2
        if self.interleaved:
            first, second = slice(0, None, 2), slice(1, None, 2)
        else:
            first, second = slice(0, half), slice(half, None)
        # Like x in memory, so that what undoes a transposition of x copies nothing.
        y = self.xp.empty_like(x)
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
) -> Variable:
    """Rotary position embedding.

    Each pair of elements of the vector at position ``p`` is rotated by an angle proportional to
    ``p``, so that dot products of rotated queries and keys depend on the distance of their
    positions. Pair ``i`` of ``D / 2`` is rotated by ``p * base ** (-2 * i / D)``.

    Args:
        x (Variable or array): Queries or keys, shape ``(..., T, D)``, floating point; ``D`` is
            even.
        positions (array): Positions of the vectors, shape ``(T,)``, integer or floating point;
            ``0`` to ``T - 1`` if None.
        base (float): Base of the wave lengths.
        interleaved (bool): If True, pairs are neighbors, ``(x[0], x[1])``, ``(x[2], x[3])``, ...
            as in the paper. If False, pairs are halves, ``(x[0], x[D / 2])``, ... as in GPT-NeoX
            and Llama.

    Returns:
        Variable: Output of the shape and dtype of ``x``.

    Raises:
        InvalidType: If ``x`` is not of floating point numbers or ``D`` is odd.
        ValueError: If ``positions`` does not have the shape ``(T,)``, or ``base`` is not positive.

    See: `RoFormer: Enhanced Transformer with Rotary Position Embedding
    <https://arxiv.org/abs/2104.09864>`_

    Example:
        >>> x = np.ones((3, 2), np.float32)
        >>> F.rotary_embedding(x).array.round(3)
        array([[ 1.   ,  1.   ],
               [-0.301,  1.382],
               [-1.325,  0.493]], dtype=float32)
    """
    array = as_variable(x).array
    if not base > 0:
        raise ValueError(f"base must be positive, got {base}")
    length, size = array.shape[-2:] if array.ndim >= 2 else (0, 0)
    if positions is not None and positions.shape != (length,):
        raise ValueError(
            f"positions must have the shape {(length,)} for x of shape {array.shape}, "
            f"got {positions.shape}"
        )
    xp = get_array_module(array)
    dtype = numpy.dtype(numpy.float64 if array.dtype.itemsize == 8 else numpy.float32)
    with get_device_from_array(array):
        # Angles of long texts need more digits than float32 has.
        frequencies = base ** (-2.0 / max(size, 1) * xp.arange(size // 2, dtype=numpy.float64))
        steps = xp.arange(length) if positions is None else positions
        angles = steps.astype(numpy.float64)[:, None] * frequencies
        cos, sin = xp.cos(angles).astype(dtype), xp.sin(angles).astype(dtype)
    return RotaryEmbedding(cos, sin, interleaved).apply((x,))[0]
