"""Which kernels served the calls of a test."""

# pyright: basic
from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from chainer.core.arrays.kernel import KernelDeclaration, Operation, get_operation
from chainer.core.arrays.kernel_selection import KernelSelector
from chainer.core.registry import registries

_served: dict[int, Any] = {}


@contextmanager
def observed() -> Iterator[None]:
    """Notes the kernels that are chosen meanwhile, for :func:`kernels`."""
    originals = Operation.select, Operation.entry, KernelSelector.choose

    def noting(original: Any) -> Any:
        def method(*args: Any, **kwargs: Any) -> Any:
            chosen = original(*args, **kwargs)
            _served[id(chosen)] = chosen
            return chosen

        return method

    _served.clear()
    # Class attributes, because functions keep operations, and operations have no other observers.
    Operation.select, Operation.entry, KernelSelector.choose = map(noting, originals)
    try:
        yield
    finally:
        Operation.select, Operation.entry, KernelSelector.choose = originals


def kernels() -> list[KernelDeclaration]:
    """Returns the declared kernels that were chosen since the test began; no reference kernels."""
    found: list[KernelDeclaration] = []
    for name in registries.operations.names():
        loaded = get_operation(name)._loaded  # pyright: ignore[reportPrivateUsage]
        for (declaration, *_), implementation in loaded.items():
            if declaration is not None and id(implementation) in _served:
                found.append(declaration)
    return found
