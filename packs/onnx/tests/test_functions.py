"""Every converter: the exported function computes what Chainer computes."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from function_cases import BY_NAME, CASES
from running import OPSETS, check



def test_names_are_unique():
    assert len(BY_NAME) == len(CASES)


@pytest.mark.parametrize("name", BY_NAME)
def test_float32(name):
    case = BY_NAME[name]
    # onnxruntime has no MaxRoiPool of opset 22.
    newest = 21 if name == "roi_pooling_2d" else 26
    tested = [opset for opset in (*OPSETS, 26) if case.since <= opset <= newest]
    for opset in tested:
        check(case.function, *case.inputs, opset=opset, tolerance=case.tolerance)


@pytest.mark.parametrize("dtype", ["float16", "float64"])
@pytest.mark.parametrize("name", [case.name for case in CASES if case.floats])
def test_other_dtypes(name, dtype):
    case = BY_NAME[name]
    cast = [x.astype(dtype) if x.dtype.kind == "f" else x for x in case.inputs]
    tolerance = max(case.tolerance or 0, 2e-2) if dtype == "float16" else case.tolerance
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # overflow of NumPy's float16
        check(case.function, *cast, tolerance=tolerance)


@pytest.mark.parametrize("name", [case.name for case in CASES if case.since > 9])
def test_too_old_opset(name):
    case = BY_NAME[name]
    with pytest.raises(RuntimeError, match=f"opset {case.since - 1}: it needs opset {case.since}"):
        check(case.function, *case.inputs, opset=case.since - 1)


def test_inputs_that_are_not_contiguous():
    x = np.arange(24, dtype=np.float32).reshape(4, 6)[:, ::2]
    check(lambda x: x * 2, x)
