"""One pool of threads for all libraries of a process."""

from __future__ import annotations

from chainer.core.arrays.kernel import Operation


class SharedThreads(Operation):
    """Use of one pool of threads by kernels and by NumPy's BLAS library.

    Threads that wait for the next call keep a processor busy for a while. Where libraries with
    a pool each take turns, every call begins with processors that another pool keeps busy. iDeep
    asks for this operation before its first call.

    ``select(x)``: ``x`` any NumPy array.

    Methods:
        ``share() -> bool``: makes NumPy's matrix products and the provider's own kernels use the
        threads of GNU OpenMP, which oneDNN uses, for the rest of the process. The number of threads
        of each library stays as it is. False if that is not possible; then nothing has changed.
    """

    name = "shared_threads"
    methods = ("share",)
    reference = "chainer.backends.numpy.kernels.shared_threads:NoSharedThreads"


shared_threads = SharedThreads()
