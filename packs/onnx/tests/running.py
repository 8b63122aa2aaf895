"""Exports functions and models, runs them, and compares the outputs with Chainer's."""

from __future__ import annotations

import numpy as np
import onnx
import onnx.reference
import onnx_chainer
import onnxruntime

import chainer

OPSETS = (9, 11, 13, 17, 21)
TOLERANCES = {"float16": 2e-2, "float32": 1e-5, "float64": 1e-5}


class Apply(chainer.Chain):
    """A model that applies one function."""

    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, *xs):
        return self.function(*xs)


def run(proto, inputs):
    """Runs a model in onnxruntime, or where that has no kernel for a dtype, in ONNX's reference."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    options.intra_op_num_threads = 1
    try:
        session = onnxruntime.InferenceSession(
            proto.SerializeToString(), options, providers=["CPUExecutionProvider"]
        )
        return session.run(None, inputs), "onnxruntime"
    except onnxruntime.capi.onnxruntime_pybind11_state.NotImplemented:
        evaluator = onnx.reference.ReferenceEvaluator(proto)
        return evaluator.run(None, inputs), "reference"


def arrays_of(outputs):
    """The arrays of what a model returned."""
    if isinstance(outputs, chainer.Variable):
        return [outputs.array]
    if isinstance(outputs, dict):
        return [y.array for y in outputs.values()]
    return [y.array for y in outputs]


def compare(model, args, proto, tolerance=None):
    """Compares the outputs of the exported model with Chainer's in test mode."""
    names = [x.name for x in proto.graph.input]
    with chainer.using_config("train", False):
        expected = arrays_of(model(*[chainer.Variable(x) for x in args]))
    results, runtime = run(proto, dict(zip(names, args, strict=True)))
    assert len(results) == len(expected)
    for y, result in zip(expected, results, strict=True):
        assert result.shape == y.shape
        assert result.dtype == y.dtype
        tol = tolerance or TOLERANCES.get(y.dtype.name, 0)
        np.testing.assert_allclose(
            result.astype("d"), y.astype("d"), rtol=tol, atol=tol, err_msg=runtime
        )


def check(model, *args, opset=None, tolerance=None, **options):
    """Exports a model or a function, checks it, runs it and compares.

    Returns:
        The exported model.
    """
    if not isinstance(model, chainer.Link):
        model = Apply(model)
    proto = onnx_chainer.export(model, args, opset_version=opset, **options)
    onnx.checker.check_model(proto, full_check=True)
    compare(model, args, proto, tolerance)
    return proto


def operators(proto):
    """The operators of a model, without constants."""
    return [node.op_type for node in proto.graph.node if node.op_type != "Constant"]
