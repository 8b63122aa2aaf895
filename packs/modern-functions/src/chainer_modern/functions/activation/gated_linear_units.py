"""Gated linear units."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import chainer
import chainer.functions as F
from chainer_modern.functions.activation.gelu import gelu
from chainer_modern.functions.activation.silu import silu


def _gated(x: Any, axis: int, gate: Callable[[Any], chainer.Variable]) -> chainer.Variable:
    x = chainer.as_variable(x)
    if not -x.ndim <= axis < x.ndim:
        raise ValueError(f"axis must be an axis of x, which has {x.ndim}, got {axis}")
    if x.shape[axis] % 2:
        raise ValueError(
            f"the length of x along axis {axis} must be even, got {x.shape[axis]} (shape {x.shape})"
        )
    values, gates = F.split_axis(x, 2, axis)
    return values * gate(gates)


def glu(x: Any, axis: int = 1) -> chainer.Variable:
    """Gated linear unit: the first half of ``x``, times the sigmoid of the second.

    Args:
        x (Variable or array): Input, floating point, whose length along ``axis`` is even.
        axis (int): The axis to halve.

    Returns:
        Variable: Output of half the length along ``axis``.

    Raises:
        ValueError: If there is no such axis or its length is odd.

    See: `Language Modeling with Gated Convolutional Networks <https://arxiv.org/abs/1612.08083>`_

    Example:
        >>> F.glu(np.array([[1, 2, 0, 10]], np.float32)).array.round(2)
        array([[0.5, 2. ]], dtype=float32)
    """
    return _gated(x, axis, F.sigmoid)


def reglu(x: Any, axis: int = 1) -> chainer.Variable:
    """Gated linear unit with relu: the first half of ``x``, times ``relu`` of the second.

    Args:
        x (Variable or array): Input, floating point, whose length along ``axis`` is even.
        axis (int): The axis to halve.

    Returns:
        Variable: Output of half the length along ``axis``.

    Raises:
        ValueError: If there is no such axis or its length is odd.

    See: `GLU Variants Improve Transformer <https://arxiv.org/abs/2002.05202>`_

    Example:
        >>> F.reglu(np.array([[1, 2, -1, 10]], np.float32)).array
        array([[ 0., 20.]], dtype=float32)
    """
    return _gated(x, axis, F.relu)


def geglu(x: Any, axis: int = 1) -> chainer.Variable:
    """Gated linear unit with gelu: the first half of ``x``, times ``gelu`` of the second.

    Args:
        x (Variable or array): Input, floating point, whose length along ``axis`` is even.
        axis (int): The axis to halve.

    Returns:
        Variable: Output of half the length along ``axis``.

    Raises:
        ValueError: If there is no such axis or its length is odd.

    See: `GLU Variants Improve Transformer <https://arxiv.org/abs/2002.05202>`_

    Example:
        >>> F.geglu(np.array([[1, 2, 1, 10]], np.float32)).array.round(4)
        array([[ 0.8413, 20.    ]], dtype=float32)
    """
    return _gated(x, axis, gelu)


def swiglu(x: Any, axis: int = 1) -> chainer.Variable:
    """Gated linear unit with silu: the first half of ``x``, times ``silu`` of the second.

    Args:
        x (Variable or array): Input, floating point, whose length along ``axis`` is even.
        axis (int): The axis to halve.

    Returns:
        Variable: Output of half the length along ``axis``.

    Raises:
        ValueError: If there is no such axis or its length is odd.

    See: `GLU Variants Improve Transformer <https://arxiv.org/abs/2002.05202>`_

    Example:
        >>> F.swiglu(np.array([[1, 2, 1, 10]], np.float32)).array.round(4)
        array([[ 0.7311, 19.9991]], dtype=float32)
    """
    return _gated(x, axis, silu)
