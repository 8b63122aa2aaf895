"""Biases of attention scores that depend on the distance of query and key."""

from __future__ import annotations

import math

import numpy

from chainer.core.arrays.backend import get_array_module
from chainer.core.autograd.variable import Variable, as_variable
from chainer.core.typing import Array, ArrayModule, VariableLike
from chainer.functions.array.broadcast import broadcast_to
from chainer.functions.array.reshape import reshape
from chainer.functions.array.transpose import transpose
from chainer.functions.connection.embed_id import embed_id


def alibi_bias(
    slopes: VariableLike | int, n_queries: int, n_keys: int, offset: int | None = None
) -> Variable:
    """Linear biases of attention (ALiBi), to be added to the scores.

    The score of a query at position ``t`` and a key at position ``s`` gets ``-slope * |t - s|``
    added: the farther away a key is, the less it counts.

    Args:
        slopes (Variable, array or int): Slope of each head, shape ``(H,)``, floating point. A
            number of heads means the slopes of the paper, of dtype float32: ``2 ** (-8 * h / H)``
            for heads ``h = 1`` to ``H`` if ``H`` is a power of two. Otherwise the next smaller
            power of two ``P`` has these slopes, and the others get every second slope of ``2 * P``
            heads.
        n_queries (int): Number of queries ``M``.
        n_keys (int): Number of keys ``N``.
        offset (int): Position of the first query among the keys; ``N - M`` by default, or 0 if
            there are more queries than keys, as in
            :func:`~chainer.functions.scaled_dot_product_attention`.

    Returns:
        Variable: Biases, shape ``(H, M, N)``, for the argument ``mask`` of the attention.

    Raises:
        ValueError: If ``slopes`` is not a vector, or a number of heads below 1.

    See: `Train Short, Test Long <https://arxiv.org/abs/2108.12409>`_

    Example:
        >>> F.alibi_bias(2, 2, 2).array
        array([[[-0.        , -0.0625    ],
                [-0.0625    , -0.        ]],
        <BLANKLINE>
               [[-0.        , -0.00390625],
                [-0.00390625, -0.        ]]], dtype=float32)
    """
    if isinstance(slopes, (int, numpy.integer)):
        slopes = _slopes(int(slopes))
    slopes = as_variable(slopes)
    if slopes.ndim != 1:
        raise ValueError(f"slopes must have the shape (H,), got {slopes.shape}")
    shape = (slopes.shape[0], n_queries, n_keys)
    with slopes.device:
        distance = abs(_distances(get_array_module(slopes), n_queries, n_keys, offset))
        distance = -distance.astype(slopes.dtype)
    return broadcast_to(reshape(slopes, (-1, 1, 1)), shape) * distance


def relative_position_bias(
    table: VariableLike,
    n_queries: int,
    n_keys: int,
    offset: int | None = None,
    *,
    bidirectional: bool = True,
    max_distance: int = 128,
) -> Variable:
    """Learned biases of attention by distance (T5), to be added to the scores.

    Distances fall into buckets. The first half of the buckets of a direction have one distance
    each. The other half grow like a logarithm up to ``max_distance``, and the last one has all
    larger distances.

    Args:
        table (Variable or array): Bias of each bucket and head, shape ``(K, H)``, floating point.
        n_queries (int): Number of queries ``M``.
        n_keys (int): Number of keys ``N``.
        offset (int): Position of the first query among the keys; ``N - M`` by default, or 0 if
            there are more queries than keys.
        bidirectional (bool): If True, one half of the buckets is for keys before the query and the
            other for keys after it. If False, all buckets are for keys before the query, and later
            keys are at distance 0: for causal attention.
        max_distance (int): Distance from which on all are in one bucket.

    Returns:
        Variable: Biases, shape ``(H, M, N)``, for the argument ``mask`` of
        :func:`~chainer.functions.scaled_dot_product_attention`.

    Raises:
        ValueError: If ``table`` is not a matrix of at least 2 buckets (4 in two directions), or
            ``max_distance`` is not above half of the buckets of a direction.

    See: `Exploring the Limits of Transfer Learning with a Unified Text-to-Text Transformer
    <https://arxiv.org/abs/1910.10683>`_

    Example:
        >>> table = np.arange(4, dtype=np.float32)[:, None]  # four buckets, one head
        >>> F.relative_position_bias(table, 3, 3, bidirectional=False).array
        array([[[0., 0., 0.],
                [1., 0., 0.],
                [2., 1., 0.]]], dtype=float32)
    """
    table = as_variable(table)
    if table.ndim != 2:
        raise ValueError(f"table must have the shape (buckets, heads), got {table.shape}")
    buckets = table.shape[0] // 2 if bidirectional else table.shape[0]
    if buckets < 2:
        raise ValueError(
            f"table must have at least {4 if bidirectional else 2} buckets, got {table.shape[0]}"
        )
    if max_distance <= buckets // 2:
        raise ValueError(f"max_distance must be more than {buckets // 2}, got {max_distance}")
    xp = get_array_module(table)
    with table.device:
        distance = _distances(xp, n_queries, n_keys, offset)
        bucket = _buckets(xp, distance, buckets, bidirectional, max_distance)
    return transpose(embed_id(bucket, table), (2, 0, 1))


def _distances(xp: ArrayModule, n_queries: int, n_keys: int, offset: int | None) -> Array:
    """Returns position of the key less position of the query, shape ``(M, N)``."""
    if min(n_queries, n_keys) < 0:
        raise ValueError(f"n_queries and n_keys must not be negative, got {n_queries} and {n_keys}")
    first = max(n_keys - n_queries, 0) if offset is None else offset
    return xp.arange(n_keys) - xp.arange(first, first + n_queries)[:, None]


def _buckets(
    xp: ArrayModule, distance: Array, buckets: int, bidirectional: bool, max_distance: int
) -> Array:
    """Returns the bucket of each distance."""
    size = abs(distance) if bidirectional else xp.maximum(-distance, 0)
    exact = buckets // 2
    # Below the exact distances the logarithm is not used; 1 keeps it finite.
    # float32 as in published models: other digits would put distances at the border of two buckets
    # into the other one.
    ratio = xp.log(xp.maximum(size, 1).astype(numpy.float32) / numpy.float32(exact))
    steps = ratio / numpy.float32(math.log(max_distance / exact)) * numpy.float32(buckets - exact)
    logarithmic = xp.minimum(exact + steps.astype(numpy.int64), buckets - 1)
    bucket = xp.where(size < exact, size, logarithmic)
    return bucket + xp.where(distance > 0, buckets, 0) if bidirectional else bucket


def _slopes(heads: int) -> Array:
    if heads < 1:
        raise ValueError(f"slopes must be a positive number of heads or a vector, got {heads}")
    power = 1 << (heads.bit_length() - 1)
    slopes = [2.0 ** (-8.0 * h / power) for h in range(1, power + 1)]
    slopes += [2.0 ** (-8.0 * h / (2 * power)) for h in range(1, 2 * power, 2)]
    return numpy.array(slopes[:heads], numpy.float32)
