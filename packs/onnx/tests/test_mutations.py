"""A sample of random changes of models; ``mutations.py --count 20000`` makes many."""

from __future__ import annotations

import mutations
import pytest
from onnx_chainer.importing import limits


@pytest.mark.filterwarnings("ignore")
def test_changed_models_give_results_or_one_class_of_errors(monkeypatch):
    monkeypatch.setattr(limits, "MAX_ITERATIONS", 100)
    monkeypatch.setattr(limits, "MAX_ELEMENTS", 2**20)
    monkeypatch.setattr(limits, "MAX_LIVE_ELEMENTS", 2**22)
    results, _ = mutations.results_of(300, seed=7)
    assert [name for name in results if name.startswith("WRONG")] == []
    assert results["computed"] > 30
    assert results["load: ONNXFormatError"] > 100
