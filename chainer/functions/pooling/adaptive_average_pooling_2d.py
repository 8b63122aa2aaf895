"""Average pooling to a given size."""

from __future__ import annotations

import numpy

from chainer.core.arrays.backend import get_array_module
from chainer.core.autograd.variable import Variable, as_variable
from chainer.core.typing import Array, VariableLike
from chainer.functions.math.matmul import matmul
from chainer.functions.pooling.average_pooling_2d import average_pooling_2d


def adaptive_average_pooling_2d(x: VariableLike, output_size: int | tuple[int, int]) -> Variable:
    """Average pooling to images of a given size, whatever the size of the input.

    Pixel ``i`` of ``n`` is the mean of the pixels ``floor(i * H / n)`` to ``ceil((i + 1) * H / n) -
    1`` of the input, and likewise for the columns.

    Args:
        x (Variable or array): Images, shape ``(N, C, H, W)``, floating point.
        output_size (int or pair of ints): Height and width of the output; an int for squares.

    Returns:
        Variable: Images of shape ``(N, C, *output_size)``.

    Raises:
        ValueError: If ``x`` does not have four axes or has no pixels, or ``output_size`` is not
            positive.

    See: `Network In Network <https://arxiv.org/abs/1312.4400>`_ (with size 1)

    Example:
        >>> x = np.arange(12, dtype=np.float32).reshape(1, 1, 3, 4)
        >>> F.adaptive_average_pooling_2d(x, (1, 2)).array
        array([[[[4.5, 6.5]]]], dtype=float32)
    """
    x = as_variable(x)
    if x.ndim != 4 or 0 in x.shape[2:]:
        raise ValueError(f"x must have the shape (N, C, H, W), with pixels, got {x.shape}")
    pair = (output_size, output_size) if isinstance(output_size, int) else tuple(output_size)
    if len(pair) != 2 or min(pair) < 1:
        raise ValueError(f"output_size must be one or two positive integers, got {output_size!r}")
    height, width = x.shape[2:]
    rows, columns = pair
    if height % rows == 0 and width % columns == 0:
        return average_pooling_2d(x, (height // rows, width // columns))
    with x.device:
        down = _averages(height, rows, x)
        across = _averages(width, columns, x)
    # The means down and across are independent: two products with matrices of weights.
    return matmul(down, matmul(x, across, transb=True))


def _averages(length: int, count: int, x: Variable) -> Array:
    """Returns the weights of the input's pixels, shape ``(count, length)``."""
    xp = get_array_module(x)
    starts = xp.arange(count) * length // count
    ends = -(-(xp.arange(count) + 1) * length // count)
    pixels = xp.arange(length)
    inside = (pixels >= starts[:, None]) & (pixels < ends[:, None])
    weights = inside / (ends - starts)[:, None].astype(numpy.float64)
    return weights.astype(x.dtype)
