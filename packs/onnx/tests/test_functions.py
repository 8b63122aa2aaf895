"""Every converter: the exported function computes what Chainer computes."""

from __future__ import annotations

import re
import warnings
from pathlib import Path

import function_cases
import numpy as np
import pytest
from function_cases import BY_NAME, CASES
from running import OPSETS, check

import chainer.functions as F


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


_RANDOM = "draws random numbers"
_LABELS = "labels are indexes of arrays; the exporter warns"
_NO_OPERATOR = "no operators of ONNX compute it"
_COUNTS = "an evaluation, which counts labels; it has no operators"
_SEQUENCES = "its arguments are lists; see test_models.py"

# Functions without a case -> the reason.
WITHOUT_CASE = {
    "argmax_crf1d": "returns an array, which is not part of a graph",
    "batch_inv": _NO_OPERATOR,
    "batch_renormalization": "training has statistics of the sample; test mode is exported",
    "black_out": _RANDOM,
    "cholesky": _NO_OPERATOR,
    "classification_summary": _COUNTS,
    "connectionist_temporal_classification": _NO_OPERATOR,
    "crf1d": _LABELS,
    "decorrelated_batch_normalization": "eigenvalues of training; test mode is exported",
    "dropout": "random: see test_dynamic_batch.py",
    "drop_path": "random: see test_dynamic_batch.py",
    "f1_score": _COUNTS,
    "fixed_batch_renormalization": "deprecated: it is fixed_batch_normalization",
    "gaussian": "random: see test_dynamic_batch.py",
    "gumbel_softmax": _RANDOM,
    "inv": _NO_OPERATOR,
    "lazy_module": "not a function of arrays",
    "max_pooling_nd": "see test_exports_of_7_8_1.py",
    "n_step_bigru": _SEQUENCES,
    "n_step_bilstm": _SEQUENCES,
    "n_step_birnn": _SEQUENCES,
    "n_step_gru": _SEQUENCES,
    "n_step_lstm": _SEQUENCES,
    "n_step_rnn": _SEQUENCES,
    "negative_sampling": _RANDOM,
    "polygamma": _NO_OPERATOR,
    "positional_encoding": "an array without inputs",
    "precision": _COUNTS,
    "r2_score": _COUNTS,
    "recall": _COUNTS,
    "roi_average_pooling_2d": _NO_OPERATOR,
    "roi_max_align_2d": _NO_OPERATOR,
    "roi_max_pooling_2d": _NO_OPERATOR,
    "simplified_dropconnect": _RANDOM,
    "upsampling_2d": "see test_upsampling.py",
    "zeta": _NO_OPERATOR,
    "zoneout": _RANDOM,
}


def test_each_function_is_tested():
    text = Path(function_cases.__file__).read_text()
    used = set(re.findall(r"\bF\.(\w+)", text))
    functions = {
        name
        for name in dir(F)
        if callable(getattr(F, name))
        and not isinstance(getattr(F, name), type)
        and not name.startswith("_")
    }
    assert sorted(functions - used) == sorted(WITHOUT_CASE)
