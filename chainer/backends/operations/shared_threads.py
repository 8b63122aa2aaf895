"""Threads that kernels share with oneDNN."""

from __future__ import annotations

from chainer.core.arrays.kernel import Operation


class SharedThreads(Operation):
    """Use of the threads of oneDNN by other kernels.

    Threads that wait for the next call keep a processor busy for a while. Where libraries with
    a pool each take turns, every call begins with processors that another pool keeps busy. iDeep
    calls this operation once, before its own first call.

    ``select(x)``: ``x`` any NumPy array.

    Methods:
        ``share() -> bool``: makes the kernels of the provider use the threads of GNU OpenMP, which
        are oneDNN's, for the rest of the process. False if that is not possible; then nothing has
        changed. Results keep their bits.
    """

    name = "shared_threads"
    methods = ("share",)
    reference = "chainer.backends.numpy.kernels.shared_threads:NoSharedThreads"


shared_threads = SharedThreads()
