"""Gated linear units."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from chainer.core.autograd.variable import Variable, as_variable
from chainer.core.typing import VariableLike
from chainer.core.utils.argument import explained_keywords
from chainer.core.utils.documentation import SharedSections
from chainer.functions.activation.gelu import gelu
from chainer.functions.activation.relu import relu
from chainer.functions.activation.sigmoid import sigmoid
from chainer.functions.activation.silu import silu
from chainer.functions.array.split_axis import split_axis

_sections = SharedSections(
    """
    Args:
        x (Variable or array): Input, floating point, whose length along ``axis`` is even.
        axis (int): The axis to halve.

    Returns:
        Variable: Output of half the length along ``axis``.

    Raises:
        ValueError: If there is no such axis or its length is odd.

    See: $paper
    """,
    paper="`GLU Variants Improve Transformer <https://arxiv.org/abs/2002.05202>`_",
)


def _gated(x: VariableLike, axis: int, gate: Callable[[Any], Variable]) -> Variable:
    x = as_variable(x)
    if not -x.ndim <= axis < x.ndim:
        raise ValueError(f"axis must be an axis of x, which has {x.ndim}, got {axis}")
    if x.shape[axis] % 2:
        raise ValueError(
            f"the length of x along axis {axis} must be even, got {x.shape[axis]} (shape {x.shape})"
        )
    values, gates = split_axis(x, 2, axis)
    return values * gate(gates)


@_sections(
    paper="`Language Modeling with Gated Convolutional Networks "
    "<https://arxiv.org/abs/1612.08083>`_"
)
@explained_keywords
def glu(x: VariableLike, axis: int = 1) -> Variable:
    """Gated linear unit: the first half of ``x``, times the sigmoid of the second.

    Example:
        >>> F.glu(np.array([[1, 2, 0, 10]], np.float32)).array.round(2)
        array([[0.5, 2. ]], dtype=float32)
    """
    return _gated(x, axis, sigmoid)


@_sections()
@explained_keywords
def reglu(x: VariableLike, axis: int = 1) -> Variable:
    """Gated linear unit with relu: the first half of ``x``, times ``relu`` of the second.

    Example:
        >>> F.reglu(np.array([[1, 2, -1, 10]], np.float32)).array
        array([[ 0., 20.]], dtype=float32)
    """
    return _gated(x, axis, relu)


@_sections()
@explained_keywords
def geglu(x: VariableLike, axis: int = 1) -> Variable:
    """Gated linear unit with gelu: the first half of ``x``, times ``gelu`` of the second.

    Example:
        >>> F.geglu(np.array([[1, 2, 1, 10]], np.float32)).array.round(4)
        array([[ 0.8413, 20.    ]], dtype=float32)
    """
    return _gated(x, axis, gelu)


@_sections()
@explained_keywords
def swiglu(x: VariableLike, axis: int = 1) -> Variable:
    """Gated linear unit with silu: the first half of ``x``, times ``silu`` of the second.

    Example:
        >>> F.swiglu(np.array([[1, 2, 1, 10]], np.float32)).array.round(4)
        array([[ 0.7311, 19.9991]], dtype=float32)
    """
    return _gated(x, axis, silu)
