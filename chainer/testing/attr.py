"""Markers of tests that need hardware or a library, or that take long.

``pytest -m 'not cudnn and not slow'`` leaves the marked tests out. Tests that need GPUs are also
skipped where there are fewer: ``CHAINER_TEST_GPU_LIMIT`` is the number of GPUs that may be used; by
default it is the number which the ``cupy`` backend finds.

The module can be imported without pytest; using a marker then raises RuntimeError.
"""

from __future__ import annotations

import functools
import os
import unittest
from collections.abc import Callable
from typing import Any, TypeVar

from chainer.core.installation import install_command

try:
    import pytest

    _error: ImportError | None = None
except ImportError as error:
    _error = error

T = TypeVar("T", bound=Callable[..., Any])


def is_available() -> bool:
    """Returns whether pytest is installed, which the markers need."""
    return _error is None


def check_available(what: str = "markers of tests") -> None:
    """Raises RuntimeError if pytest is not installed.

    Args:
        what (str): Name of the function that needs pytest, for the message.
    """
    if _error is not None:
        raise RuntimeError(
            f"{what} need pytest: {install_command('chainer[test]')}\n"
            f"Reason: {type(_error).__name__}: {_error}"
        ) from _error


def get_error() -> ImportError | None:
    """Returns the error of importing pytest, or None."""
    return _error


class _MissingMark:
    """A marker where pytest is not installed: refuses to be used."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        check_available()


#: The marker of a project that needs none where pytest is not installed.
_dummy_callable = _MissingMark("dummy")


def _mark(name: str) -> Any:
    return getattr(pytest.mark, name) if is_available() else _MissingMark(name)


#: Marks a test that needs ChainerX, which is not a part of this Chainer.
chainerx = _mark("chainerx")

#: Marks a test that needs cuDNN.
cudnn = _mark("cudnn")

#: Marks a test that needs iDeep.
ideep = _mark("ideep")

#: Marks a test that takes long.
slow = _mark("slow")


def gpu_limit() -> int:
    """Returns how many GPUs tests may use.

    Raises:
        ValueError: If ``CHAINER_TEST_GPU_LIMIT`` is not an integer.
    """
    text = os.environ.get("CHAINER_TEST_GPU_LIMIT")
    if text is None:
        return _available_gpus()
    try:
        return int(text)
    except ValueError:
        raise ValueError(f"CHAINER_TEST_GPU_LIMIT must be an integer, got {text!r}") from None


@functools.cache
def _available_gpus() -> int:
    from chainer.core.arrays.backend import get_backend

    try:
        backend = get_backend("cupy")
    except LookupError:
        return 0
    return 0 if backend.unavailable_reason() else len(backend.devices())


def multi_gpu(gpu_num: int) -> Callable[[Any], Any]:
    """Returns a decorator for tests that need several GPUs.

    The tests get the marks ``gpu``, by which projects deselect tests, and ``multi_gpu``.

    Args:
        gpu_num (int): Number of required GPUs.
    """
    check_available()
    limit = gpu_limit()
    # unittest's own skip, which pytest understands, too.
    skip = unittest.skipIf(
        gpu_num > limit, f"needs {gpu_num} GPUs, CHAINER_TEST_GPU_LIMIT is {limit}"
    )

    def decorate(test: T) -> T:
        return pytest.mark.gpu(pytest.mark.multi_gpu(gpu_num)(skip(test)))

    return decorate


def gpu_or_skip(test: T) -> T:
    """Marks a test of this package that needs a GPU; without pytest it is skipped.

    Args:
        test: Test function.
    """
    return gpu(test) if is_available() else unittest.skip("needs a GPU and pytest")(test)


def gpu(f: T) -> T:
    """Decorator for tests that need a GPU.

    Args:
        f: Test function or class.
    """
    check_available()
    limit = gpu_limit()
    skip = unittest.skipIf(limit < 1, f"needs a GPU, CHAINER_TEST_GPU_LIMIT is {limit}")
    return pytest.mark.gpu(skip(f))
