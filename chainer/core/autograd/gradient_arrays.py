"""Checks whether an array can be the gradient of another array."""

from __future__ import annotations

from typing import Any

from chainer.core.arrays.backend import find_backend, not_an_array_message

#: Advice in errors about arrays of several devices in one call.
ONE_DEVICE = (
    "Bring them to one device first: to_device(), to_gpu() and to_cpu() move links and variables, "
    "chainer.dataset.to_device() arrays, the argument 'device' of updaters and evaluators batches."
)


def check_gradient(array: Any, grad: Any, what: str = "") -> None:
    """Raises unless ``grad`` can be the gradient of ``array``.

    Args:
        array: Array of the variable, or anything with its shape and dtype.
        grad: Gradient array.
        what: Text put before the message.

    Raises:
        TypeError: If type or dtype do not match.
        ValueError: If the shape does not match.
    """
    backend = find_backend(grad.__class__)
    if backend is None:
        raise TypeError(what + not_an_array_message(grad))
    own = find_backend(array.__class__)
    if own is not None and own.family != backend.family:
        raise TypeError(
            f"{what}Type of data and grad mismatch\ngrad: {type(grad)} != data: {type(array)}\n"
            f"{ONE_DEVICE}"
        )
    if grad.dtype != array.dtype:
        raise TypeError(
            f"{what}Dtype of data and grad mismatch\ngrad: {grad.dtype} != data: {array.dtype}"
        )
    if grad.shape != array.shape:
        raise ValueError(
            f"{what}Shape of data and grad mismatch\ngrad: {grad.shape} != data: {array.shape}"
        )
