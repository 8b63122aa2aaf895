"""Runs exported models in onnxruntime and compares the outputs with Chainer's."""

from __future__ import annotations

import glob
import os
from collections.abc import Sequence
from typing import Any

import numpy

from onnx_chainer.optional import require


def load_test_data(
    data_dir: str, input_names: Sequence[str], output_names: Sequence[str]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Reads the inputs and outputs of a test.

    Args:
        data_dir (str): Directory with ``input_<i>.pb`` and ``output_<i>.pb``.
        input_names (list of str): Names of the inputs.
        output_names (list of str): Names of the outputs.

    Returns:
        tuple of dict: Arrays of the inputs, and of the outputs, by their names.
    """
    inputs = [_read(os.path.join(data_dir, f"input_{i}.pb")) for i in range(len(input_names))]
    outputs = [_read(os.path.join(data_dir, f"output_{i}.pb")) for i in range(len(output_names))]
    return dict(inputs), dict(outputs)


def _read(path: str) -> tuple[str, Any]:
    onnx = require("onnx")
    with open(path, "rb") as file:
        tensor = onnx.TensorProto.FromString(file.read())
    return tensor.name, onnx.numpy_helper.to_array(tensor)


def check_model_expect(
    test_path: str,
    input_names: Sequence[str] | None = None,
    rtol: float = 1e-5,
    atol: float = 1e-5,
) -> None:
    """Runs a test that :func:`onnx_chainer.export_testcase` wrote, with all its data.

    Args:
        test_path (str): Directory of the test.
        input_names (list of str): The names that the inputs should have; None: any.
        rtol (float): Relative tolerance.
        atol (float): Absolute tolerance.

    Raises:
        AssertionError: If the names or the outputs differ.
        ImportError: If onnxruntime is not installed.
    """
    runtime = require("onnxruntime", "onnxruntime")
    session = runtime.InferenceSession(
        os.path.join(test_path, "model.onnx"), providers=["CPUExecutionProvider"]
    )
    found = [x.name for x in session.get_inputs()]
    if input_names is not None:
        assert sorted(found) == sorted(input_names), f"{found} != {list(input_names)}"
    names = [y.name for y in session.get_outputs()]
    folders = sorted(glob.glob(os.path.join(test_path, "test_data_set_*")))
    assert folders, f"no test_data_set_* in {test_path}"
    for folder in folders:
        inputs, outputs = load_test_data(folder, found, names)
        results = session.run(names, inputs)
        for name, result in zip(names, results, strict=True):
            numpy.testing.assert_allclose(result, outputs[name], rtol=rtol, atol=atol)


# Pytest collects functions by their names from modules that tests import.
check_model_expect.__test__ = False  # pyright: ignore[reportFunctionMemberAccess]
