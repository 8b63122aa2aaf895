"""The number of threads, and a limit for other pools of threads.

oneDNN computes with GNU OpenMP's pool of threads; NumPy's matrix products use OpenBLAS's own pool.
After each call the threads of a pool spin for a while waiting for more work. When two pools take
turns, each takes processors from the other (see the README for measurements). Inside this package
all matrix products are oneDNN's. For NumPy products in between, :func:`limit_blas_threads` sets
the BLAS library to one thread.
"""

from __future__ import annotations

from typing import Any

from ideep4py._core.runtime import get_num_threads, limit_num_threads, set_num_threads

__all__ = ["get_num_threads", "limit_blas_threads", "limit_num_threads", "set_num_threads"]


def limit_blas_threads(n: int = 1) -> Any:
    """Limits the threads of NumPy's BLAS library.

    Args:
        n: number of threads.

    Returns:
        A context manager that restores the number on exit; the limit holds from the call on, also
        when it is not used as one.

    Raises:
        ImportError: the package threadpoolctl is not installed.
    """
    try:
        from threadpoolctl import threadpool_limits  # pyright: ignore[reportMissingImports]
    except ImportError as error:
        raise ImportError(
            "limit_blas_threads needs the package threadpoolctl: pip install threadpoolctl"
        ) from error
    return threadpool_limits(limits=n, user_api="blas")
