"""Base class of the kernels on oneDNN."""

from __future__ import annotations

from typing import Any

from chainer.backends.ideep import library
from chainer.core.arrays.backend import Backend


class IdeepKernel:
    """A kernel on the functions of ``ideep4py.ops``.

    Args:
        backend: Backend of the arrays, either NumPy arrays or mdarrays.

    Attributes:
        ops: The module ``ideep4py.ops``.
    """

    def __init__(self, backend: Backend) -> None:
        self.ops: Any = library.operations()
