"""Parameter records of convolution, pooling and local response normalization, under the original's
names.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from ideep4py._vectors import intVector

if TYPE_CHECKING:
    from ideep4py._typing import AnyArray


def _int(value: AnyArray, name: str) -> int:
    if not hasattr(value, "__index__"):
        raise TypeError(f"{name} must be an int, got {type(value).__name__}")
    return value.__index__()


class _Record:
    """Fields with types that are checked when set."""

    __slots__ = ()
    _integers: tuple[str, ...] = ()
    _floats: tuple[str, ...] = ()

    def __init__(self) -> None:
        for name in self._integers:
            setattr(self, name, 0)
        for name in self._floats:
            setattr(self, name, 0.0)
        # The output of a local response normalization has the shape of its input.
        if "out_dims" in type(self).__slots__:
            self.out_dims = ()

    def __setattr__(self, name: str, value: AnyArray) -> None:
        if name in self._integers:
            value = _int(value, name)
        elif name in self._floats:
            value = float(value)
        elif name == "out_dims":
            value = intVector(value)
        object.__setattr__(self, name, value)

    def __repr__(self) -> str:
        fields = ", ".join(f"{n}={getattr(self, n)!r}" for n in type(self).__slots__)
        return f"{type(self).__name__}({fields})"


_WINDOW = ("sy", "sx", "pad_lh", "pad_lw", "pad_rh", "pad_rw")


class conv2DParam(_Record):
    """Parameters of :class:`ideep4py.convolution2D`.

    Attributes:
        out_dims: shape of the result of the call: the output, or the gradient that is computed.
        dilate_y, dilate_x: rows and columns left out between the elements of the filter (0: none).
        sy, sx: stride.
        pad_lh, pad_lw, pad_rh, pad_rw: padding above, left, below, right.
        kh, kw: not used.
    """

    out_dims: Any
    dilate_y: int
    dilate_x: int
    sy: int
    sx: int
    pad_lh: int
    pad_lw: int
    pad_rh: int
    pad_rw: int
    kh: int
    kw: int

    _integers = ("dilate_y", "dilate_x", *_WINDOW, "kh", "kw")
    __slots__ = ("out_dims", *_integers)


class pol2DParam(_Record):
    """Parameters of :class:`ideep4py.pooling2D`.

    Attributes:
        out_dims: shape of the result of the call: the output, or the gradient of the input.
        kh, kw: size of the window.
        sy, sx: stride.
        pad_lh, pad_lw, pad_rh, pad_rw: padding above, left, below, right.
        algo_kind: ``pooling_max``, ``pooling_avg_include_padding``,
            ``pooling_avg_exclude_padding``, or ``pooling_avg`` (which excludes padding).
    """

    pooling_max = 0
    pooling_avg = 1
    pooling_avg_include_padding = 2
    pooling_avg_exclude_padding = 3

    out_dims: Any
    kh: int
    kw: int
    sy: int
    sx: int
    pad_lh: int
    pad_lw: int
    pad_rh: int
    pad_rw: int
    algo_kind: int

    _integers = ("kh", "kw", *_WINDOW, "algo_kind")
    __slots__ = ("out_dims", *_integers)


class lrnParam(_Record):
    """Parameters of :class:`ideep4py.localResponseNormalization`.

    Attributes:
        n: size of the window.
        k, alpha, beta: ``x / (k + alpha / n * sum(x ** 2)) ** beta``.
        algo_kind: ``lrn_across_channels`` or ``lrn_within_channel``.
    """

    lrn_across_channels = 0
    lrn_within_channel = 1

    n: int
    k: float
    alpha: float
    beta: float
    algo_kind: int

    _integers = ("n", "algo_kind")
    _floats = ("k", "alpha", "beta")
    __slots__ = (*_integers, *_floats)


# Programs know the records by the name of the package, as in the original.
for _class in (conv2DParam, pol2DParam, lrnParam):
    _class.__module__ = "ideep4py"


def _fill_window(record: Any, sy: int, sx: int, ph: int, pw: int, pd: int, pr: int) -> None:
    record.sy, record.sx = sy, sx
    record.pad_lh, record.pad_lw, record.pad_rh, record.pad_rw = ph, pw, pd, pr


def convolution2DParam(
    out_dims: Iterable[int],
    dy: int,
    dx: int,
    sy: int,
    sx: int,
    ph: int,
    pw: int,
    pd: int,
    pr: int,
) -> conv2DParam:
    """Parameters of a convolution.

    Args:
        out_dims: shape of the result: the output for ``Forward``, the input for ``BackwardData``,
            the filters for ``BackwardWeights`` and ``BackwardWeightsBias``.
        dy, dx: dilation; 1 means none.
        sy, sx: stride.
        ph, pw, pd, pr: padding above, left, below, right.
    """
    record = conv2DParam()
    record.out_dims = out_dims
    # oneDNN counts the elements that are left out, the argument counts the distance of two
    # elements.
    record.dilate_y = _int(dy, "dy") - 1
    record.dilate_x = _int(dx, "dx") - 1
    _fill_window(record, sy, sx, ph, pw, pd, pr)
    return record


def pooling2DParam(
    out_dims: Iterable[int],
    kh: int,
    kw: int,
    sy: int,
    sx: int,
    ph: int,
    pw: int,
    pd: int,
    pr: int,
    algo: int,
) -> pol2DParam:
    """Parameters of a pooling.

    Args:
        out_dims: shape of the result: the output for ``Forward``, the input for ``Backward``.
        kh, kw: size of the window.
        sy, sx: stride.
        ph, pw, pd, pr: padding above, left, below, right.
        algo: one of the constants of :class:`pol2DParam`.
    """
    record = pol2DParam()
    record.out_dims = out_dims
    record.kh, record.kw = kh, kw
    _fill_window(record, sy, sx, ph, pw, pd, pr)
    record.algo_kind = algo
    return record


# The original's constants are attributes of this function's namesake class.
for _name in ("max", "avg", "avg_include_padding", "avg_exclude_padding"):
    setattr(pooling2DParam, f"pooling_{_name}", getattr(pol2DParam, f"pooling_{_name}"))


def localResponseNormalizationParam(
    n: int, k: float, alpha: float, beta: float, algo: int
) -> lrnParam:
    """Parameters of a local response normalization.

    Args:
        n: size of the window.
        k, alpha, beta: ``x / (k + alpha / n * sum(x ** 2)) ** beta``.
        algo: one of the constants of :class:`lrnParam`.
    """
    record = lrnParam()
    record.n, record.k, record.alpha, record.beta, record.algo_kind = n, k, alpha, beta, algo
    return record


for _name in ("across_channels", "within_channel"):
    setattr(localResponseNormalizationParam, f"lrn_{_name}", getattr(lrnParam, f"lrn_{_name}"))
