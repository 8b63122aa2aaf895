"""Exports equal the exports of Chainer 7.8.1, or the difference is listed with its reason."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import onnx
import onnx_chainer
import onnxruntime
import pytest
from earlier_release import CASES, Apply, describe

EARLIER = json.loads(Path(__file__).with_name("exports_of_7_8_1.json").read_text())

_BIAS = "7.8.1 adds a bias of zeros, which Gemm has not needed since opset 11"
_ONE_CONSTANT = "equal constants are one, and steps of 1 are left out"
_MOMENTUM = "7.8.1 writes momentum 0, with which a model that is loaded could not be trained"
_NO_OUTPUT_SHAPE = "the size is not fixed by output_shape; dilations are written"
_NODE_NAME = "Chainer 8 has a class MaxPooling2D; in 7.8.1 it is MaxPoolingND"
_REFUSED = "7.8.1 cannot export it"

# Difference -> the reason.
DIFFERENT = {
    "clipped_relu": "the constants are called x_min and x_max, as those of clip",
    "transpose": "perm is written although it is the default",
    "separate": "the sizes of the parts are written",
    "transpose_sequence": "Gather serves sequences of different lengths too",
    "get_item int": _ONE_CONSTANT,
    "get_item slice": _ONE_CONSTANT,
    "get_item ellipsis": _ONE_CONSTANT,
    "get_item two lists": "Gather serves all opsets and all places of the lists, GatherND does not",
    "permutate": _REFUSED,
    "repeat": "Gather; Upsample is deprecated, and Resize computes in floating point",
    "resize_images": "the corners are aligned, as Chainer does it; 7.8.1 warns of other results",
    "select_item": "the name of the labels is stable",
    "where": _REFUSED,
    "convolution_nd": "7.8.1 does not write dilations",
    "deconvolution_2d": _NO_OUTPUT_SHAPE,
    "deconvolution_nd": _NO_OUTPUT_SHAPE,
    "linear no bias": _BIAS,
    "softmax_cross_entropy": "labels to ignore are ignored",
    "add three": _REFUSED,
    "sign": "7.8.1 freezes the result; it patches the function while it exports links that use it",
    "dropout": "an output is not an input at the same time",
    "batch normalization": _MOMENTUM,
    "batch normalization of a child": _MOMENTUM,
    "group normalization": "InstanceNormalization takes 8 operators instead of 22",
    "normalize": "ReduceL2, Add, Div take any eps and axes, LpNormalization does not",
    "layer normalization": _REFUSED,
    "max_pooling_2d": _NODE_NAME,
    "max_pooling_2d cover_all": _NODE_NAME,
    "roi_pooling_2d": _REFUSED,
    "unpooling_2d": "ConvTranspose serves strides, padding and sizes; Resize has wrong values",
    "mlp": _BIAS,
}


def without_defaults(description):
    """A description in which attributes that have their default value are left out."""
    for node in description["nodes"]:
        operator, _, attributes = node
        schema = onnx.defs.get_schema(operator, 11)
        defaults = {
            name: onnx.helper.get_attribute_value(a.default_value)
            for name, a in schema.attributes.items()
            if a.default_value.name
        }
        node[2] = {k: v for k, v in attributes.items() if k not in defaults or v != defaults[k]}
    return description


def same(name):
    if isinstance(EARLIER[name], str):
        return False
    return without_defaults(describe(name)) == without_defaults(EARLIER[name])


def test_all_cases_were_exported():
    assert set(EARLIER) == set(CASES)


@pytest.mark.parametrize("name", [name for name in CASES if name not in DIFFERENT])
def test_same(name):
    assert without_defaults(describe(name)) == without_defaults(EARLIER[name])


@pytest.mark.parametrize("name", DIFFERENT)
def test_list_of_differences_is_exact(name):
    assert not same(name)


@pytest.mark.filterwarnings("ignore:opset_version:UserWarning")
@pytest.mark.parametrize("opset", [7, 8, 9, 10, 11])
@pytest.mark.parametrize("name", ["select_item", "softmax_cross_entropy", "relu", "concat"])
def test_old_operator_sets_run(name, opset):
    """ONNX Runtime has no OneHot for indices of int32; models of 7.8.1 run there."""
    if opset < 9 and name in ("select_item", "softmax_cross_entropy"):
        pytest.skip("the operator was added in opset 9")
    model, *inputs = CASES[name]
    proto = onnx_chainer.export(Apply(model), inputs, opset_version=opset)
    session = onnxruntime.InferenceSession(
        proto.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    names = [x.name for x in session.get_inputs()]
    (y,) = session.run(None, dict(zip(names, inputs, strict=False)))
    np.testing.assert_allclose(y, model(*inputs).array, rtol=1e-5)
