"""Reference of shared threads: each library keeps its own."""

from __future__ import annotations

from chainer.core.arrays.kernel import ReferenceKernel


class NoSharedThreads(ReferenceKernel):
    """Kernel of ``shared_threads`` where no provider shares them."""

    def share(self) -> bool:
        """Returns False: nothing is shared."""
        return False
