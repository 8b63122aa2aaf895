"""Debug mode: finds arrays that were changed between the forward and the backward computation."""

# The graph is one data structure in several modules, which reach into each other.
# pyright: reportPrivateUsage=false

# The types in annotations are checked again at run time, because users write these functions.
# pyright: reportUnnecessaryIsInstance=false

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

from chainer.core.arrays.backend import find_backend

if TYPE_CHECKING:
    from chainer.core.autograd.function_node import FunctionNode
    from chainer.core.typing import Array, Arrays


def remember_checksums(function: FunctionNode, inputs: Arrays, outputs: Arrays) -> None:
    """Stores checksums of the arrays that a function retains.

    Args:
        function: The function, after ``forward``.
        inputs: Its inputs.
        outputs: Its outputs.
    """
    if not isinstance(outputs, tuple):  # raises an error later
        return
    kept = [(f"input {i}", inputs[i]) for i in function._retained_inputs]
    kept += [(f"output {i}", outputs[i]) for i in function._retained_outputs]
    function.__dict__["_retained_checksums"] = [
        (what, array, _checksum(array)) for what, array in kept if array is not None
    ]


def compare_checksums(function: FunctionNode) -> None:
    """Raises if an array that a function retains was changed.

    Args:
        function: The function, before ``backward``.

    Raises:
        RuntimeError: If the contents differ; the message names the function and the array.
    """
    for what, array, checksum in function.__dict__.get("_retained_checksums", ()):
        if _checksum(array) != checksum:
            raise RuntimeError(
                f"{what} of {function.label} ({array.dtype}, shape {array.shape}) was changed in "
                "place between forward and backward, so that the gradient would be wrong; "
                "work on a copy, or change it after backward()"
            )


def _checksum(array: Array) -> int:
    backend = find_backend(array.__class__)
    host: Any = array if backend is None else backend.to_host(array)
    contiguous: Any = numpy.ascontiguousarray(host)
    import zlib  # at the first use: only debug mode needs it

    return zlib.crc32(contiguous.reshape(-1).view(numpy.uint8))
