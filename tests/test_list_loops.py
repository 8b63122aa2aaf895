"""The list of functions without batching rule."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

import chainer

SCRIPT = Path(__file__).resolve().parent.parent / "scripts" / "list_loops.py"


@pytest.fixture(scope="module")
def script():
    spec = importlib.util.spec_from_file_location("list_loops", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_nodes_without_rule_are_listed(script):
    found = script.without_rule("chainer.functions")
    assert "chainer.functions.noise.dropout.Dropout" in found
    # It defines ``batched``, declares ``batch_inputs``, is elementwise, and cannot be applied.
    for name in (
        "math.cumsum.Cumsum",
        "math.inv.BatchInv",
        "activation.tanh.Tanh",
        "loss._pair.PairLoss",
    ):
        assert f"chainer.functions.{name}" not in found


def test_nodes_of_other_authors_are_listed(script):
    class Without(chainer.FunctionNode):
        def forward(self, inputs):
            return inputs

    class Declared(Without):
        batch_inputs = (0,)

    found = script.without_rule(__name__)
    assert [name.rsplit(".", 1)[1] for name in found] == ["Without"]
    assert Declared.__name__ not in found
