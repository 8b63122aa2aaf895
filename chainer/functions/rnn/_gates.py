"""Helpers of gated units by the names of release 7; programs with own units import them."""

from __future__ import annotations

from typing import Any

import numpy

from chainer.core.typing import Array


def _extract_gates(x: Array) -> list[Array]:  # pyright: ignore[reportUnusedFunction]
    """Returns views of the four gates of an LSTM.

    Args:
        x: Array of shape ``(batch, 4 * units, ...)``; the gates of a unit are beside each other.

    Returns:
        list: Four arrays of shape ``(batch, units, ...)``.
    """
    gates = x.reshape((len(x), x.shape[1] // 4, 4, *x.shape[2:]))
    return [gates[:, :, i] for i in range(4)]


def _sigmoid(x: Array, xp: Any = numpy) -> Array:  # pyright: ignore[reportUnusedFunction]
    """Returns the logistic function, computed from ``tanh``, which does not overflow."""
    half = x.dtype.type(0.5)
    return xp.tanh(x * half) * half + half


def _grad_sigmoid(x: Array) -> Array:  # pyright: ignore[reportUnusedFunction]
    """Returns the derivative of the logistic function at the place where its value is ``x``."""
    return x * (1 - x)


def _grad_tanh(x: Array) -> Array:  # pyright: ignore[reportUnusedFunction]
    """Returns the derivative of ``tanh`` at the place where its value is ``x``."""
    return 1 - x * x
