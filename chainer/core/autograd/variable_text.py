"""Texts of variables: ``repr``, ``str`` and :meth:`chainer.Variable.debug_print`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy

from chainer.core.arrays.backend import backend_of

if TYPE_CHECKING:
    from chainer.core.autograd.variable import Variable
    from chainer.core.typing import Array


def array_text(variable: Variable, for_repr: bool) -> str:
    """Returns the name and the elements of a variable: ``variable x([1., 2.])``.

    Args:
        variable: The variable.
        for_repr: Whether elements are separated by commas and the shape of an empty array is shown.
    """
    prefix = f"variable {variable.name}" if variable.name else "variable"
    if variable.layout is not None:
        # Its elements are in an order of their own.
        return f"{prefix}(shape={variable.shape}, layout={variable.layout!r})"
    array = variable.array
    if array is None:
        return f"{prefix}(None)"
    host = backend_of(array).to_host(array)
    if not host.size:
        # The same text as for arrays in NumPy up to version 2.0, which shows no one-dimensional
        # shape.
        shape = f", shape={host.shape}" if for_repr and host.ndim > 1 else ""
        return f"{prefix}([]{shape})"
    separator = ", " if for_repr else " "
    text = numpy.array2string(host, prefix=prefix + "(", separator=separator)
    # Elements are left out, so the text does not show the shape. Add it, as NumPy does.
    if for_repr and host.size > numpy.get_printoptions()["threshold"]:
        text += f", shape={host.shape}"
    return f"{prefix}({text})"


def debug_text(variable: Variable) -> str:
    """Returns a description of a variable, one property per line.

    Programs match the lines with regular expressions: they are the same in all releases.
    """
    array = variable.array
    device = backend_name = shape = dtype = statistics = grad = "None"
    if array is not None:
        backend = backend_of(array)
        device = "CPU" if backend.name == "numpy" else str(backend.device_of(array))
        backend_name, shape, dtype = f"{type(array)}", f"{variable.shape}", f"{variable.dtype}"
        statistics, grad = _statistics(array), _statistics(variable.grad, is_gradient=True)
    return "\n".join(
        (
            variable.summary(),
            f"- device: {device}",
            f"- backend: {backend_name}",
            f"- shape: {shape}",
            f"- dtype: {dtype}",
            f"- statistics: {statistics}",
            f"- grad: {grad}",
        )
    )


def _statistics(array: Array | None, is_gradient: bool = False) -> str:
    if array is None:
        return "None"
    if array.size == 0:
        return "empty"
    host = backend_of(array).to_host(array)
    if is_gradient and not host.any():
        return "0"
    return f"mean={float(host.mean()):.8f}, std={float(host.std()):.8f}"
