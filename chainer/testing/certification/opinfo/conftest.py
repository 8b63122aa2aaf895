"""Parameters of the tests, and the fixtures of the conformance suite."""

# pyright: basic
from __future__ import annotations

import os
from functools import cache
from pathlib import Path

import pytest

from chainer.testing.certification.opinfo import samples
from chainer.testing.certification.opinfo.rows import ROWS
from chainer.testing.conformance import options
from chainer.testing.conformance.conftest import (
    _provider,  # noqa: F401 (a fixture)
    _served,  # noqa: F401 (a fixture)
    device,  # noqa: F401 (a fixture)
)
from chainer.testing.conformance.refusals import DECLARED, expect

_HERE = Path(__file__).parent


@cache
def samples_of(op: str, dtype: str) -> list[samples.Sample]:
    """Returns the samples of an OpInfo."""
    return samples.read(Path(os.environ[samples.FOLDER]), op, dtype)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Makes a test of each function and dtype, and one of each difference."""
    if "row" not in metafunc.fixturenames:
        return
    parameters = []
    for row in ROWS:
        for dtype in ("float32",) if options.quick(metafunc.config) else ("float32", "float64"):
            chosen = {row.difference(s.arguments) for s in samples_of(row.op, dtype)}
            if metafunc.function.__name__ == "test_samples":
                if None in chosen:
                    parameters.append(pytest.param(row, dtype, None, id=f"{row.function}-{dtype}"))
                continue
            for i in sorted(number for number in chosen if number is not None):
                reason = DECLARED + row.differences[i].reason
                mark = pytest.mark.xfail(reason=reason, strict=True, raises=AssertionError)
                name = f"{row.function}-{dtype}-difference {i + 1}"
                parameters.append(pytest.param(row, dtype, i, id=name, marks=mark))
    metafunc.parametrize(("row", "dtype", "difference"), parameters)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Marks what the backend declares."""
    options.check_provider(config)
    ours = [item for item in items if item.path.parent == _HERE]
    agreeing = [item for item in ours if item.name.startswith("test_samples")]
    if agreeing:
        expect(agreeing, options.device(config).backend)
