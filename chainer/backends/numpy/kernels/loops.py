"""Reference of native loops: there are none, so that NumPy makes each call."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chainer.core.arrays.kernel import ReferenceKernel

if TYPE_CHECKING:
    from chainer.backends.operations.loops import Loop, Sum


class NoNativeLoops(ReferenceKernel):
    """Kernel of ``native_loops`` where no provider compiles."""

    def compile(self, parts: tuple[Loop | Sum, ...]) -> int | None:
        """Returns None: recorded steps make the calls of NumPy."""
        return None
