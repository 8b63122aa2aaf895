"""Every converter: the exported function computes what Chainer computes."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from function_cases import CASES, ignore_frozen_labels
from running import OPSETS, check

NAMES = [case[0] for case in CASES]


def test_names_are_unique():
    assert len(set(NAMES)) == len(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_float32(name):
    _, function, inputs, since, tolerance, _ = CASES[NAMES.index(name)]
    # onnxruntime has no MaxRoiPool of opset 22.
    newest = 21 if name == "roi_pooling_2d" else 26
    tested = [opset for opset in (*OPSETS, 26) if since <= opset <= newest]
    for opset in tested:
        with ignore_frozen_labels(name):
            check(function, *inputs, opset=opset, tolerance=tolerance)


@pytest.mark.parametrize("dtype", ["float16", "float64"])
@pytest.mark.parametrize("name", [case[0] for case in CASES if case[5]])
def test_other_dtypes(name, dtype):
    _, function, inputs, _, tolerance, _ = CASES[NAMES.index(name)]
    cast = [x.astype(dtype) if x.dtype.kind == "f" else x for x in inputs]
    with ignore_frozen_labels(name):
        warnings.simplefilter("ignore", RuntimeWarning)  # overflow of NumPy's float16
        check(
            function,
            *cast,
            tolerance=max(tolerance or 0, 2e-2) if dtype == "float16" else tolerance,
        )


@pytest.mark.parametrize("name", NAMES)
def test_too_old_opset(name):
    _, function, inputs, since, _, _ = CASES[NAMES.index(name)]
    if since == 9:
        return
    old = max(opset for opset in range(9, since))
    with pytest.raises(RuntimeError, match=f"opset {old}: it needs opset {since}"):
        check(function, *inputs, opset=old)


def test_inputs_that_are_not_contiguous():
    x = np.arange(24, dtype=np.float32).reshape(4, 6)[:, ::2]
    check(lambda x: x * 2, x)
