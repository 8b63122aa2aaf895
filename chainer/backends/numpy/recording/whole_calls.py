"""Kernels whose calls are recorded as they are."""

from __future__ import annotations

from functools import partial
from typing import Any

from chainer.backends.numpy.recording.tape import record_whole


class WholeCalls:
    """A kernel whose calls are put on the tape as they are.

    Args:
        kernel: Kernel for plain arrays.
        methods: Names of its methods.
    """

    def __init__(self, kernel: Any, methods: tuple[str, ...]) -> None:
        self._kernel = kernel
        for name in methods:
            method = getattr(kernel, name)
            setattr(self, name, partial(record_whole, method))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._kernel, name)
