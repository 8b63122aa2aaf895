"""The import of ideep4py at first use, with the reason where it fails."""

from __future__ import annotations

import importlib
import os
import warnings
from functools import cache
from types import ModuleType

import numpy

from chainer.backends.operations.shared_threads import shared_threads
from chainer.backends.optional_modules import Found, usable
from chainer.core.config.blas_threads import add_pool, lower_blas_threads
from chainer.core.installation import install_command
from chainer.core.utils import installed


@cache
def find() -> Found:
    """Imports ideep4py.

    Returns:
        tuple: ``(ideep4py, None)``, or ``(None, reason)`` where it cannot be used.
    """
    if not installed.is_installed("ideep4py"):
        return None, (
            f"No module named 'ideep4py'; install it with {install_command('chainer[ideep]')}"
        )
    try:
        return importlib.import_module("ideep4py"), None
    except Exception as error:  # a missing shared library may raise ImportError or OSError
        return (
            None,
            f"ideep4py is installed but cannot be imported: {type(error).__name__}: {error}",
        )


def require() -> ModuleType:
    """Returns ideep4py, or raises RuntimeError with what is missing."""
    return usable(find(), "iDeep is not available.\nReason: ")


def missing() -> str | None:
    """Returns None where ideep4py works, else what is missing."""
    return find()[1]


@cache
def operations() -> ModuleType:
    """Returns ``ideep4py.ops``, ready for use.

    See :func:`arrange_threads` and :func:`choose_precision`.
    """
    ideep4py = require()
    arrange_threads(ideep4py)
    choose_precision(ideep4py)
    return ideep4py.ops


class OneDNNThreads:
    """Threads of oneDNN: one while other programs use the cores.

    They wait for each other spinning, several times in a call, so that a call takes many times as
    long if one of them does not run.

    Args:
        ideep4py: The library.
    """

    def __init__(self, ideep4py: ModuleType) -> None:
        self._ideep4py = ideep4py

    def give_way(self) -> None:
        """Gives each call of oneDNN one thread."""
        self._ideep4py.limit_num_threads(1)

    def take_back(self) -> None:
        """Gives calls of oneDNN as many threads as usual."""
        self._ideep4py.limit_num_threads(None)


def arrange_threads(ideep4py: ModuleType) -> None:
    """Keeps other pools of threads from taking processors from oneDNN's, if it has several threads.

    The threads of a pool spin for a while after their work, waiting for more. Where products by
    NumPy or loops of another provider and kernels of iDeep alternate, all of them then run many
    times slower than alone. A provider that takes part uses oneDNN's threads
    (:class:`~chainer.backends.operations.shared_threads.SharedThreads`). The BLAS library behind
    NumPy is limited to one thread, unless the environment variable ``CHAINER_IDEEP_LIMIT_BLAS``
    is 0.
    """
    if ideep4py.get_num_threads() == 1:
        return
    add_pool(OneDNNThreads(ideep4py))
    shared_threads.select(numpy.empty(0, numpy.float32)).share()
    if os.environ.get("CHAINER_IDEEP_LIMIT_BLAS", "1") == "0":
        return
    try:
        lower_blas_threads(ideep4py.limit_blas_threads, 1)
    except ImportError as error:
        warnings.warn(
            "iDeep and the BLAS library of NumPy each have a pool of threads, which slow each "
            f"other down: {error}, or set OPENBLAS_NUM_THREADS=1",
            RuntimeWarning,
            stacklevel=2,
        )


def choose_precision(ideep4py: ModuleType) -> None:
    """Lets convolutions multiply in bfloat16 where ``CHAINER_IDEEP_BFLOAT16=1`` is set.

    Arrays stay float32. A CPU without instructions for bfloat16 causes a warning.
    """
    if os.environ.get("CHAINER_IDEEP_BFLOAT16", "0") != "1":
        return
    try:
        ideep4py.set_math_mode("bfloat16")
    except RuntimeError as error:
        warnings.warn(
            f"CHAINER_IDEEP_BFLOAT16=1 changes nothing: {error}", RuntimeWarning, stacklevel=2
        )
