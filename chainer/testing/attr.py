"""Markers of tests that need hardware, a library or patience.

``pytest -m 'not cudnn and not slow'`` leaves the marked tests out. Tests that need GPUs are also
skipped when there are fewer: ``CHAINER_TEST_GPU_LIMIT`` says how many may be used; by default it is
as many as the ``cupy`` backend finds.
"""

from __future__ import annotations

import functools
import os
import unittest
from collections.abc import Callable
from typing import Any

try:
    import pytest
except ImportError as error:  # pragma: no cover
    raise ImportError('chainer.testing.attr needs pytest: pip install "chainer[test]"') from error

#: Marks a test that needs cuDNN.
cudnn = pytest.mark.cudnn

#: Marks a test that needs iDeep.
ideep = pytest.mark.ideep

#: Marks a test that takes long.
slow = pytest.mark.slow


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

    Args:
        gpu_num (int): Number of required GPUs.
    """
    limit = gpu_limit()
    # unittest's own skip, which both runners honour.
    skip = unittest.skipIf(
        gpu_num > limit, f"needs {gpu_num} GPUs, CHAINER_TEST_GPU_LIMIT is {limit}"
    )

    def decorate(test: Any) -> Any:
        return pytest.mark.multi_gpu(gpu_num)(skip(test))

    return decorate


def gpu(f: Any) -> Any:
    """Decorator for tests that need a GPU.

    Args:
        f: Test function or class.
    """
    limit = gpu_limit()
    skip = unittest.skipIf(limit < 1, f"needs a GPU, CHAINER_TEST_GPU_LIMIT is {limit}")
    return pytest.mark.gpu(skip(f))
