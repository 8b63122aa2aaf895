"""Sinusoidal positional encoding."""

from __future__ import annotations

import numpy

from chainer.core.arrays.backend import get_array_module
from chainer.core.autograd.variable import Variable, as_variable
from chainer.core.typing import VariableLike


def positional_encoding(x: VariableLike, offset: int = 0, base: float = 10000.0) -> Variable:
    """Adds the sinusoidal encoding of their positions to vectors.

    Element ``2 * i`` of the vector at position ``p`` gets ``sin(p * base ** (-2 * i / D))`` added,
    element ``2 * i + 1`` the cosine.

    Args:
        x (Variable or array): Vectors, shape ``(..., T, D)``, floating point.
        offset (int): Position of the first vector.
        base (float): Base of the wave lengths.

    Returns:
        Variable: Output of the shape and dtype of ``x``.

    Raises:
        ValueError: If ``x`` has less than two axes, or ``base`` is not positive.

    See: `Attention Is All You Need <https://arxiv.org/abs/1706.03762>`_

    Example:
        >>> F.positional_encoding(np.zeros((3, 2), np.float32)).array.round(3)
        array([[ 0.   ,  1.   ],
               [ 0.841,  0.54 ],
               [ 0.909, -0.416]], dtype=float32)
    """
    x = as_variable(x)
    if x.ndim < 2:
        raise ValueError(f"x must have the shape (..., T, D), got {x.shape}")
    if not base > 0:
        raise ValueError(f"base must be positive, got {base}")
    xp = get_array_module(x)
    length, size = x.shape[-2:]
    pairs = (size + 1) // 2
    with x.device:
        frequencies = base ** (-2.0 / max(size, 1) * xp.arange(pairs, dtype=numpy.float64))
        angles = (offset + xp.arange(length, dtype=numpy.float64))[:, None] * frequencies
        waves = xp.empty((length, 2 * pairs), numpy.float64)
        waves[:, ::2] = xp.sin(angles)
        waves[:, 1::2] = xp.cos(angles)
        encoding = xp.broadcast_to(waves[:, :size].astype(x.dtype), x.shape)
    return x + encoding
