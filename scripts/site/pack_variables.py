"""The environment variables that the packs read, for the reference of the site.

A test compares the names with the sources of the packs.
"""

from __future__ import annotations

from chainer.core.config.variables import EnvironmentVariable

#: Distribution -> its variables, by name.
PACK_VARIABLES = {
    "chainermn": (
        EnvironmentVariable(
            "CHAINERMN_CHECK_CALLS",
            "0 or 1",
            "0",
            "1: each collective method compares the calls of all processes first, and raises an "
            "error that names those that differ, where they would wait for each other forever. All "
            "processes need the same value.",
        ),
        EnvironmentVariable(
            "CHAINERMN_FORCE_ABORT_ON_EXCEPTION",
            "0 or 1",
            "1 as soon as a communicator of several processes is made",
            "Whether an exception in one process ends all processes. 1: from `import chainermn` "
            "on; 0: never. `CHAINERMN_FORCE_ABORT_ON_EXCEPTIONS` is another name.",
        ),
    ),
    "chainer-numba": (
        EnvironmentVariable(
            "CHAINER_NUMBA_ANY_SIZE",
            "0 or 1",
            "0",
            "1: kernels serve small arrays, too, so that `chainer certify` tests all of them.",
        ),
    ),
    "ideep4py": (
        EnvironmentVariable(
            "IDEEP4PY_CACHE_BYTES",
            "a number of bytes",
            "1073741824",
            "Freed memory that is kept for new arrays, at most.",
        ),
        EnvironmentVariable(
            "IDEEP4PY_LIBRARY",
            "a file",
            "the library that the wheel of oneDNN has, or that of the system",
            "The library of oneDNN that is loaded.",
        ),
        EnvironmentVariable(
            "IDEEP4PY_WINOGRAD",
            "0 or 1",
            "1",
            "Whether convolutions may use Winograd's algorithm, which is faster for 3x3 filters "
            "and rounds a little more.",
        ),
    ),
}
