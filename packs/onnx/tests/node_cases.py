"""The tests of operators that the package onnx ships, run on loaded models."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import onnx
import onnx_chainer
from onnx.backend.test.loader import load_node_model_tests

import chainer


def cases() -> list[Any]:
    """Returns all cases of the installed release of onnx."""
    with warnings.catch_warnings():
        # onnx 1.23 sets the shape of an array, which NumPy 2.5 deprecates.
        warnings.filterwarnings("ignore", "Setting the shape", DeprecationWarning)
        return load_node_model_tests()


def plain(value: Any) -> Any:
    """Returns arrays for the tensors of a case."""
    if isinstance(value, onnx.TensorProto):
        return onnx.numpy_helper.to_array(value)
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    return value


def arrays(value: Any) -> Any:
    """Returns arrays for the Variables of a result."""
    if isinstance(value, (list, tuple)):
        return [arrays(v) for v in value]
    return value.array if isinstance(value, chainer.Variable) else value


def check_equal(found: Any, expected: Any, rtol: float, atol: float) -> None:
    """Raises AssertionError if a result differs from what a case expects."""
    if isinstance(expected, list):
        assert isinstance(found, list)
        assert len(found) == len(expected)
        for a, b in zip(found, expected, strict=True):
            check_equal(a, b, rtol, atol)
        return
    if expected is None:
        assert found is None
        return
    found, expected = np.asarray(found), np.asarray(expected)
    if expected.dtype.kind in "OSU":
        assert found.shape == expected.shape
        assert (found.astype(str) == expected.astype(str)).all()
        return
    assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
    if expected.dtype.kind == "V":  # types of ml_dtypes
        found, expected = found.astype(np.float32), expected.astype(np.float32)
    np.testing.assert_allclose(found, expected, rtol=rtol, atol=atol)


def result_of(case: Any) -> str:
    """Returns ``'passes'``, or what happens instead: ``'refused'``, ``'fails'``, ``'differs'``."""
    try:
        model = onnx_chainer.load(case.model)
    except ValueError:
        return "refused"
    for inputs, outputs in case.data_sets:
        try:
            with chainer.using_config("train", False), np.errstate(all="ignore"):
                y = model(*[plain(x) for x in inputs])
        except Exception:
            return "fails"
        found = [y] if len(outputs) == 1 else list(y)
        try:
            for a, b in zip(found, outputs, strict=True):
                check_equal(arrays(a), plain(b), case.rtol, case.atol)
        except AssertionError:
            return "differs"
    return "passes"
