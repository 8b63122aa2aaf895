"""Numbers of bfloat16 in 12 bits, without loss.

Weights of a row have few exponents. So the exponent of a number counts from the largest one of its
row, and 4 bits are enough: the largest number has the exponent 15, those with the exponent 0 are
subnormal, as in IEEE 754. A row of codes has the lower eight bits of each number (the last bit of
the exponent, and the mantissa of seven bits), and behind them four more bits of each (the sign, and
the rest of the exponent). Blocks of 64 columns share 32 bytes there: column ``t`` has the lower
half of byte ``t``, column ``32 + t`` the upper half.

Numbers below 2 ** -14 of the largest one have subnormal codes, which lose bits. What is lost are
the remainders: each is kept beside the codes, with its place. Few numbers have one: about one of
ten thousand, if they are normally distributed.
"""

from __future__ import annotations

from typing import Any

from chainer.typing import Array

#: Columns of a block; rows are filled up to whole ones.
BLOCK = 64

#: The bits of a code in float32 are a number that is smaller by this factor.
_FACTOR = 2.0**112

#: Numbers that are widened at once: they stay in the cache of the processor.
_AT_ONCE = 1 << 16


def _upper_half(xp: Any, numbers: Array) -> Array:
    """Returns the upper 16 bits of float32, rounded to the nearest even ones, as uint32."""
    bits = numbers.view(xp.uint32)
    return (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16


def rounded(xp: Any, weight: Array) -> Array:
    """Returns the bits of the nearest numbers of bfloat16, as uint16.

    Args:
        xp: The array module.
        weight: Finite numbers, float32.
    """
    half = _upper_half(xp, weight)
    # Numbers near the largest one of float32 would be rounded to infinity.
    return xp.where(half & 0x7FFF == 0x7F80, half - 1, half).astype(xp.uint16)


def packed(xp: Any, half: Array) -> dict[str, Array]:
    """Returns the arrays of a packed matrix: codes, scales, and places and values of remainders.

    Args:
        xp: The array module.
        half: The bits of finite numbers of bfloat16, as uint16.
    """
    numbers = (half.astype(xp.uint32) << 16).view(xp.float32)
    largest = abs(numbers).max(axis=1, initial=0) if half.size else xp.zeros(len(half), "f")
    # A fraction from 1/2 to 1, and its exponent. Smaller powers of two are no normal numbers.
    exponents = xp.maximum(xp.frexp(largest)[1] - 1, -126)
    scales = xp.where(largest > 0, xp.ldexp(xp.float32(1), exponents), 1).astype(xp.float32)
    # Numbers below the least exponent are rounded here as subnormal ones are.
    codes = _upper_half(xp, numbers / scales[:, None] * xp.float32(1 / _FACTOR))
    codes = xp.pad(codes, ((0, 0), (0, -half.shape[1] % BLOCK)))
    rows, wide = codes.shape
    upper = ((codes >> 8 & 7) | (codes >> 12 & 8)).reshape(rows, wide // BLOCK, 2, BLOCK // 2)
    both = (upper[:, :, 0] | upper[:, :, 1] << 4).reshape(rows, wide // 2)
    codes = xp.concatenate([codes & 0xFF, both], axis=1).astype(xp.uint8)
    rest = (numbers - widened(xp, codes, scales, half.shape[1])).reshape(-1)
    found = xp.flatnonzero(rest)
    row, column = found // max(half.shape[1], 1), found % max(half.shape[1], 1)
    number = xp.arange(found.size) - xp.searchsorted(row, row)  # in its row
    most = int(number.max()) + 1 if found.size else 0
    # Rows with fewer remainders are filled up by zeros.
    places, remainders = xp.zeros((rows, most), xp.int32), xp.zeros((rows, most), xp.float32)
    places[row, number], remainders[row, number] = column, rest[found]
    return {"codes": codes, "scales": scales, "places": places, "remainders": remainders}


def add_remainders(xp: Any, weight: Array, places: Array, remainders: Array) -> None:
    """Adds the remainders to rows of a matrix whose codes are widened.

    Args:
        xp: The array module.
        weight: The rows, which are changed.
        places: Columns of the remainders of each row.
        remainders: The remainders.
    """
    rows = xp.arange(len(weight))
    for k in range(places.shape[1]):
        weight[rows, places[:, k]] += remainders[:, k]


def widened(xp: Any, codes: Array, scales: Array, columns: int) -> Array:
    """Returns rows of a packed matrix in float32, without the remainders.

    Args:
        xp: The array module.
        codes: The codes.
        scales: The scales of the rows.
        columns: Number of columns.
    """
    rows, wide = len(codes), codes.shape[1] // 3 * 2
    step = max(_AT_ONCE // max(wide, 1), 1)
    if rows <= step:
        return _few_rows(xp, codes, scales)[:, :columns]
    numbers = xp.empty((rows, wide), xp.float32)
    for start in range(0, rows, step):
        some = slice(start, start + step)
        numbers[some] = _few_rows(xp, codes[some], scales[some])
    return numbers[:, :columns]


def _few_rows(xp: Any, codes: Array, scales: Array) -> Array:
    rows, wide = len(codes), codes.shape[1] // 3 * 2
    bits = codes[:, :wide].astype(xp.uint32) << 16
    both = codes[:, wide:].astype(xp.uint32).reshape(rows, wide // BLOCK, BLOCK // 2)
    halves = (both & 7) << 24 | (both & 8) << 28, (both & 0x70) << 20 | (both & 0x80) << 24
    bits |= xp.stack(halves, axis=2).reshape(rows, wide)
    # By one factor after the other: both together may be infinite.
    numbers = bits.view(xp.float32) * xp.float32(_FACTOR)
    numbers *= scales[:, None]
    return numbers
