"""Tests that need a GPU: ``pytest -m gpu``.

The folder says again, on CuPy arrays, what other tests say on NumPy's: the same functions, links,
optimizers and trainings must give the same numbers. Without a GPU all are skipped; to try the tests
themselves, see ``place``.

A run takes some minutes, most of them for compiling kernels. ``CHAINER_GPU_TESTS=all`` adds those
rows of the conformance suite that differ from others by dtype or layout alone.
"""

from __future__ import annotations

import os

import pytest

from chainer.testing.conformance.conftest import (  # noqa: F401
    _provider,
    array,
    backend,
    xp,
)
from chainer.testing.conformance.conftest import (
    pytest_generate_tests as generate_tests,
)
from tests.gpu import place

#: Warnings about CuPy's code, and about the threads of CUDA when an iterator starts processes.
_NOT_OURS = ("::cupy", ".*use of fork:DeprecationWarning")

ALL = os.environ.get("CHAINER_GPU_TESTS") == "all"


def pytest_generate_tests(metafunc):
    """Makes a test of each row, dtype and layout; of one row where all would be skipped."""
    if place.reason_to_skip() is None:
        generate_tests(metafunc)
    elif "spec" in metafunc.fixturenames:
        names = [n for n in ("spec", "dtype", "layout") if n in metafunc.fixturenames]
        metafunc.parametrize(names, [(None,) * len(names)], ids=["no-gpu"])


def pytest_collection_modifyitems(config, items):
    here = [item for item in items if "tests/gpu" in item.path.as_posix()]
    reason = place.reason_to_skip() if here else None
    for item in here:
        item.add_marker(pytest.mark.gpu)
        for warning in _NOT_OURS:
            item.add_marker(pytest.mark.filterwarnings(f"ignore:{warning}"))
        if reason is not None:
            item.add_marker(pytest.mark.skip(reason=reason))
    left_out = [item for item in here if _nothing_for_cudnn(item)]
    if not ALL:
        left_out += [item for item in here if _repeats_another(item)]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        excluded = set(left_out)
        items[:] = [item for item in items if item not in excluded]


def _nothing_for_cudnn(item):
    spec = getattr(getattr(item, "callspec", None), "params", {}).get("spec")
    if item.path.name != "test_conformance_cudnn.py" or spec is None:
        return False
    return "conv" not in spec.name


def _repeats_another(item):
    """Tells whether a test of the conformance suite compiles kernels for little more insight.

    float32 is tested in every layout and to second order, other dtypes in one layout and to first
    order.
    """
    parameters = getattr(getattr(item, "callspec", None), "params", {})
    if "spec" not in parameters or "dtype" not in parameters:
        return False
    return parameters["dtype"] != "float32" and (
        parameters["layout"] != "contiguous" or "double_backward" in item.name
    )


@pytest.fixture(scope="module")
def device():
    return place.device()


@pytest.fixture(autouse=True)
def on_device(request):
    """Makes the device under test the current one."""
    if place.reason_to_skip() is not None:
        yield
    else:
        with place.device():
            yield
