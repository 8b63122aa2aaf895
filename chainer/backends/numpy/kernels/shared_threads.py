"""Reference of shared threads: NumPy has no loops that run on several threads."""

from __future__ import annotations

from chainer.core.arrays.kernel import ReferenceKernel


class NoSharedThreads(ReferenceKernel):
    """Kernel of ``shared_threads`` where no provider shares them."""

    def share(self) -> bool:
        """Returns False: nothing is shared."""
        return False
