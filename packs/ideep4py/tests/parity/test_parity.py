"""Ours against what the original ideep4py 2.0.0.post3 (MKL-DNN 0.14, Python 3.7) returned for the
same calls.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import ideep4py
from parity import cases

REFERENCE = np.load(Path(__file__).with_name("original_2_0_0.npz"))
TYPES = dict(line.split("=") for line in REFERENCE["types"].tolist())

# Here the original's tanh is off by up to 2e-7.
TOLERANCE = {"rtol": 2e-5, "atol": 2e-5}


@pytest.mark.parametrize("name", sorted(cases.CASES))
def test_same_results_as_the_original(name: str) -> None:
    arrays = cases.Arrays(ideep4py, cases.inputs())
    results = cases.CASES[name](ideep4py, arrays)
    recorded = [k for k in REFERENCE.files if k.rpartition(".")[0] == name]
    assert len(results) == len(recorded)
    for k, value in enumerate(results):
        expected = REFERENCE[f"{name}.{k}"]
        array = np.asarray(value)
        assert array.shape == expected.shape
        assert array.dtype == expected.dtype
        assert type(value).__name__.rstrip("_") == TYPES[f"{name}.{k}"].rstrip("_")
        np.testing.assert_allclose(array, expected, **TOLERANCE)


def test_every_case_was_recorded() -> None:
    assert {k.rpartition(".")[0] for k in REFERENCE.files} - {""} == set(cases.CASES)
