"""Functions that move elements and compute nothing, for ``ArrayAPIBackend.moved``.

Each takes a namespace, native arrays of it, and numbers. NumPy's namespace has the standard's
functions, too, so that a backend may move small arrays in the memory of the host.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from chainer.typing import Array, ArrayModule


def reshape(nx: ArrayModule, x: Array, shape: tuple[int, ...]) -> Array:
    """Returns an array of another shape."""
    return nx.reshape(x, shape)


def permute(nx: ArrayModule, x: Array, axes: tuple[int, ...]) -> Array:
    """Returns an array with its axes in another order."""
    return nx.permute_dims(x, axes)


def broadcast(nx: ArrayModule, x: Array, shape: tuple[int, ...]) -> Array:
    """Returns an array that repeats along axes of length 1."""
    return nx.broadcast_to(x, shape)


def join(nx: ArrayModule, *arrays_and_axis: Array) -> Array:
    """Returns arrays one behind the other along the axis, which is the last argument."""
    *arrays, axis = arrays_and_axis
    return nx.concat(arrays, axis=axis)


def choose(nx: ArrayModule, condition: Array, x: Array, y: Array) -> Array:
    """Returns elements of ``x`` where the condition is true, and of ``y`` elsewhere."""
    return nx.where(condition, x, y)


def flip(nx: ArrayModule, x: Array, axes: tuple[int, ...]) -> Array:
    """Returns an array whose elements come in reverse along axes."""
    return nx.flip(x, axis=axes)


def repeat(nx: ArrayModule, x: Array, count: int, axis: int) -> Array:
    """Returns an array with each element as often as ``count``."""
    return nx.repeat(x, count, axis=axis)


def tile(nx: ArrayModule, x: Array, counts: tuple[int, ...]) -> Array:
    """Returns an array that has another one as often as ``counts`` along its axes."""
    return nx.tile(x, counts)
