"""Whole models that the package onnx ships with inputs and outputs."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import onnx
import onnx_chainer
import pytest
from node_cases import arrays, check_equal
from onnx.backend.test.loader import load_model_tests

import chainer

# ai.onnx.preview.training.Gradient, a preview that onnx itself has no implementation for.
REFUSED = {"test_gradient_of_add", "test_gradient_of_add_and_mul"}


def tensor(path: Path, kind) -> object:
    data = path.read_bytes()
    if kind.HasField("sequence_type"):
        return onnx.numpy_helper.to_list(onnx.SequenceProto.FromString(data))
    if kind.HasField("optional_type"):
        return onnx.numpy_helper.to_optional(onnx.OptionalProto.FromString(data))
    return onnx.numpy_helper.to_array(onnx.TensorProto.FromString(data))


def run(case) -> str:
    folder = Path(case.model_dir)
    graph = onnx.load(folder / "model.onnx").graph
    try:
        model = onnx_chainer.load(folder / "model.onnx")
    except onnx_chainer.importing.errors.UnsupportedOperatorError:
        return "refused"
    for data in sorted(folder.glob("test_data_set*")):
        files = sorted(data.glob("input_*.pb"), key=lambda p: int(p.stem.split("_")[1]))
        given = {x.name: tensor(path, x.type) for x, path in zip(graph.input, files, strict=False)}
        with chainer.using_config("train", False), np.errstate(all="ignore"):
            y = model(*[given[name] for name in model.input_names])
        found = [y] if len(graph.output) == 1 else list(y)
        for i, (value, output) in enumerate(zip(found, graph.output, strict=True)):
            expected = tensor(data / f"output_{i}.pb", output.type)
            check_equal(arrays(value), expected, case.rtol, case.atol)
    return "passes"


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("kind", "count"), [("pytorch-converted", 82), ("pytorch-operator", 35), ("simple", 21)]
)
def test_models(kind, count):
    results = {case.name: run(case) for case in load_model_tests(kind=kind)}
    assert {name for name, result in results.items() if result == "refused"} <= REFUSED
    assert Counter(results.values())["passes"] >= count
