"""Sines and cosines of rotary position embedding, with the scalings of long texts."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import NamedTuple, TypeAlias

import numpy

from chainer.core.arrays.backend import get_array_module, get_device_from_array
from chainer.core.typing import Array, ArrayModule, DTypeLike

#: Values of a scaling, named as in the files ``config.json`` of published models.
RotaryScaling: TypeAlias = Mapping[str, object]


class _Rotation(NamedTuple):
    """Frequencies of the pairs, and the factor of both tables."""

    frequencies: Array
    factor: float = 1.0


def rotary_tables(
    positions: Array,
    size: int,
    base: float = 10000.0,
    scaling: RotaryScaling | None = None,
    dtype: DTypeLike = numpy.float32,
) -> tuple[Array, Array]:
    """Cosines and sines for :func:`~chainer.functions.rotary_embedding`.

    Layers of a model that rotate by the same angles can share them.

    Frequency ``i`` is ``base ** (-2 * i / size)``. A scaling stretches the frequencies, so that a
    model reads longer texts than it was trained with. It is a dict like the entry ``rope_scaling``
    (or ``rope_parameters``) of a file ``config.json``, whose ``rope_type`` is one of:

    ``"default"``
        No scaling.
    ``"linear"``
        Frequencies are divided by ``factor``.
    ``"dynamic"``
        From the length ``original_max_position_embeddings`` on, the base grows with the length of
        the text, which is the largest position and one. Entry ``factor``.
    ``"llama3"``
        Frequencies with long waves are divided by ``factor``, those with short waves are kept, and
        between the two they are mixed. Entries ``low_freq_factor``, ``high_freq_factor`` and
        ``original_max_position_embeddings``.
    ``"yarn"``
        The same with a ramp over the pairs from ``beta_fast`` (32) to ``beta_slow`` (1) turns
        within ``original_max_position_embeddings``. Both tables are multiplied by
        ``attention_factor``, ``0.1 * log(factor) + 1`` by default. Further optional entries are
        ``mscale``, ``mscale_all_dim`` and ``truncate``.

    Args:
        positions (array): Positions, of any shape.
        size (int): Number of elements that are rotated: the size of a head, even. If it is less,
            the other elements are not rotated.
        base (float): Base of the wave lengths.
        scaling (dict): The scaling; None if there is none.
        dtype: Data type of the tables.

    Returns:
        tuple of arrays: Cosines and sines, of the shape of ``positions`` with one more axis of
        length ``size / 2``.

    Raises:
        ValueError: If ``size`` is odd, ``base`` is not positive, the type of the scaling is not
            known, or one of its entries is missing or of a wrong kind.

    See: `RoFormer <https://arxiv.org/abs/2104.09864>`_; `Position Interpolation
    <https://arxiv.org/abs/2306.15595>`_; `YaRN <https://arxiv.org/abs/2309.00071>`_; `The Llama 3
    Herd of Models <https://arxiv.org/abs/2407.21783>`_

    Example:
        >>> cos, sin = F.rotary_tables(np.arange(3), 2)
        >>> x = np.ones((3, 2), np.float32)
        >>> F.rotary_embedding(x, tables=(cos, sin)).array.round(3)
        array([[ 1.   ,  1.   ],
               [-0.301,  1.382],
               [-1.325,  0.493]], dtype=float32)
        >>> cos, sin = F.rotary_tables(
        ...     np.arange(3), 2, scaling={"rope_type": "linear", "factor": 2.0}
        ... )
        >>> sin.round(3)  # of 0, 1/2 and 1
        array([[0.   ],
               [0.479],
               [0.841]], dtype=float32)
    """
    if size < 0 or size % 2:
        raise ValueError(f"size must be even, got {size}")
    if not base > 0:
        raise ValueError(f"base must be positive, got {base}")
    xp = get_array_module(positions)
    with get_device_from_array(positions):
        rotation = _rotation(xp, size, float(base), scaling, positions)
        # Angles of long texts need more digits than float32 has.
        angles = positions.astype(numpy.float64)[..., None] * rotation.frequencies
        cos, sin = xp.cos(angles), xp.sin(angles)
        if rotation.factor != 1.0:
            cos, sin = cos * rotation.factor, sin * rotation.factor
        return cos.astype(dtype), sin.astype(dtype)


def _rotation(
    xp: ArrayModule, size: int, base: float, scaling: RotaryScaling | None, positions: Array
) -> _Rotation:
    """Returns the frequencies of a scaling."""
    if scaling is None:
        return _Rotation(_frequencies(xp, size, base))
    # Older files say "type".
    kind = scaling.get("rope_type", scaling.get("type", "default"))
    if not isinstance(kind, str) or kind not in _SCALINGS:
        raise ValueError(
            f"rope_type of scaling must be one of {', '.join(map(repr, _SCALINGS))}, got {kind!r}"
        )
    return _SCALINGS[kind](xp, size, base, scaling, positions)


def _frequencies(xp: ArrayModule, size: int, base: float) -> Array:
    return base ** (-2.0 / max(size, 1) * xp.arange(size // 2, dtype=numpy.float64))


def _number(scaling: RotaryScaling, name: str, default: float | None = None) -> float:
    """Returns an entry that must be a positive number."""
    value = scaling.get(name)
    value = default if value is None else value
    if isinstance(value, (int, float)) and not isinstance(value, bool) and 0 < value < math.inf:
        return float(value)
    kind = scaling.get("rope_type", scaling.get("type"))
    raise ValueError(
        f"scaling of rope_type {kind!r} needs {name!r}, a positive number, got {value!r}"
    )


def _default(
    xp: ArrayModule, size: int, base: float, scaling: RotaryScaling, positions: Array
) -> _Rotation:
    return _Rotation(_frequencies(xp, size, base))


def _linear(
    xp: ArrayModule, size: int, base: float, scaling: RotaryScaling, positions: Array
) -> _Rotation:
    return _Rotation(_frequencies(xp, size, base) / _number(scaling, "factor"))


def _dynamic(
    xp: ArrayModule, size: int, base: float, scaling: RotaryScaling, positions: Array
) -> _Rotation:
    factor = _number(scaling, "factor")
    original = _number(scaling, "original_max_position_embeddings")
    length = float(positions.max()) + 1 if positions.size else 0.0
    if length > original and size > 2:
        base *= (factor * length / original - (factor - 1)) ** (size / (size - 2))
    return _Rotation(_frequencies(xp, size, base))


def _llama3(
    xp: ArrayModule, size: int, base: float, scaling: RotaryScaling, positions: Array
) -> _Rotation:
    factor = _number(scaling, "factor")
    low, high = _number(scaling, "low_freq_factor"), _number(scaling, "high_freq_factor")
    original = _number(scaling, "original_max_position_embeddings")
    if not low < high:
        raise ValueError(
            f"low_freq_factor of scaling must be below high_freq_factor, got {low} and {high}"
        )
    frequencies = _frequencies(xp, size, base)
    # Turns within the original length: at most low is a long wave, at least high a short one.
    turns = original * frequencies / (2 * math.pi)
    kept = xp.clip((turns - low) / (high - low), 0.0, 1.0)
    return _Rotation(frequencies * (kept + (1 - kept) / factor))


def _yarn(
    xp: ArrayModule, size: int, base: float, scaling: RotaryScaling, positions: Array
) -> _Rotation:
    factor = _number(scaling, "factor")
    original = _number(scaling, "original_max_position_embeddings")

    def pair_of(turns: float) -> float:
        """Returns the index of the pair that makes these turns within the original length."""
        wave = original / (turns * 2 * math.pi)
        return size * math.log(wave) / (2 * math.log(base))

    first = pair_of(_number(scaling, "beta_fast", 32.0))
    last = pair_of(_number(scaling, "beta_slow", 1.0))
    if scaling.get("truncate", True):
        first, last = math.floor(first), math.ceil(last)
    first, last = max(first, 0), min(last, size - 1)
    # A ramp of no length is a step; published models divide by this number.
    width = last - first if last != first else 1e-3
    stretched = xp.clip((xp.arange(size // 2) - first) / width, 0.0, 1.0)
    frequencies = _frequencies(xp, size, base) * (1 - stretched + stretched / factor)
    return _Rotation(frequencies, _yarn_factor(scaling, factor))


def _yarn_factor(scaling: RotaryScaling, factor: float) -> float:
    """Returns the factor of the tables, which makes attention sharper for long texts."""

    def sharpness(weight: float) -> float:
        return 0.1 * weight * math.log(factor) + 1.0 if factor > 1 else 1.0

    if scaling.get("attention_factor") is not None:
        return _number(scaling, "attention_factor")
    if scaling.get("mscale") and scaling.get("mscale_all_dim"):
        weights = _number(scaling, "mscale"), _number(scaling, "mscale_all_dim")
        return sharpness(weights[0]) / sharpness(weights[1])
    return sharpness(1.0)


_Scaling: TypeAlias = Callable[[ArrayModule, int, float, RotaryScaling, Array], _Rotation]

_SCALINGS: dict[str, _Scaling] = {
    "default": _default,
    "linear": _linear,
    "dynamic": _dynamic,
    "llama3": _llama3,
    "yarn": _yarn,
}
