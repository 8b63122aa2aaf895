"""Every function with a converter takes batches of any size, or is listed with the reason."""

from __future__ import annotations

import zlib

import numpy as np
import onnx_chainer
import pytest
from function_cases import BY_NAME
from onnx_chainer import converter_registry
from onnx_chainer.converter_registry import registry
from onnx_chainer.pack import CONVERTERS
from running import Apply, compare

from chainer.utils.type_check import InvalidType

BATCH_SIZES = (1, 3, 5)

_INDEX = "the index selects among the samples, of which there may be too few"
_SUMMED = "the first axis is summed over"

# Cases of which the batch cannot have any size -> the reason.
FIXED = {
    "lstm shorter batch": "the batch of the input is to be shorter than that of the states",
    "as_strided": "strides are those of the array in memory",
    "broadcast_to": "the shape is a constant",
    "diagonal": "the first axis is one of the two that the diagonal is taken from",
    "hstack 0": "the inputs have no axes",
    "pad_sequence": "the first axis is that of time; the batch is the number of inputs",
    "permutate": "the index is a permutation of the samples",
    "permutate inv": "the index is a permutation of the samples",
    "reshape empty": "the shape is a constant",
    "scatter_add": "the index selects among the samples",
    "squeeze": "the sample has length 1, so that the first axis is removed",
    "transpose_sequence": "the first axis is that of time; the batch is the number of inputs",
    "where constant": "the condition is a constant for each sample",
    "get_item int": _INDEX,
    "get_item new axis": _INDEX,
    "get_item list": _INDEX,
    "get_item array": _INDEX,
    "get_item two lists": _INDEX,
    "get_item two lists apart": _INDEX,
    "get_item list and new axis": _INDEX,
    "get_item list, new axis behind": _INDEX,
    "get_item mask": "the mask is a constant for each sample",
    "get_item mask of two axes": "the mask is a constant for each sample",
    "matmul trans": _SUMMED,
    "tensordot": _SUMMED,
}

# Converters that no case with a batch of any size uses -> the reason.
WITHOUT_BATCH = {
    "AsStrided": FIXED["as_strided"],
}


def batch_of(case, size):
    """Inputs of a case with another batch size and other values."""
    rng = np.random.RandomState(zlib.crc32(case.name.encode()) + size)
    rows = rng.randint(case.inputs[case.batch[0]].shape[0], size=size)
    inputs = list(case.inputs)
    for i in case.batch:
        x = inputs[i][rows]
        inputs[i] = x if case.rows else rng.permutation(x.reshape(-1)).reshape(x.shape)
    return inputs


def run_batches(case):
    """Exports a case with a dynamic batch axis, and runs it with several sizes."""
    model = Apply(case.function)
    shapes = [
        ("batch", *x.shape[1:]) if i in case.batch else x.shape for i, x in enumerate(case.inputs)
    ]
    proto = onnx_chainer.export(model, case.inputs, input_shapes=shapes)
    used = {name for node in proto.graph.node for name in node.input}
    assert {x.name for x in proto.graph.input} <= used
    for size in BATCH_SIZES:
        compare(model, batch_of(case, size), proto, case.tolerance)


@pytest.mark.filterwarnings("ignore:A batch with no more than one sample")
@pytest.mark.parametrize("name", [name for name in BY_NAME if name not in FIXED])
def test_any_batch_size(name):
    run_batches(BY_NAME[name])


@pytest.mark.parametrize("name", FIXED)
def test_list_of_fixed_batches_is_exact(name):
    # Chainer or the exporter refuses it, or the exporter warns, which is an error in tests.
    with pytest.raises((ValueError, IndexError, InvalidType, UserWarning, AssertionError)):
        run_batches(BY_NAME[name])


def test_each_converter_is_tested(monkeypatch):
    used = set()

    def note(name):
        if name in registry:
            used.add(name)
            return registry.get(name)
        return None

    monkeypatch.setattr(converter_registry, "_registered", note)
    for name, case in BY_NAME.items():
        if name not in FIXED:
            opset = max(case.since, 21)
            onnx_chainer.export(Apply(case.function), case.inputs, opset_version=opset)
    ours = {name for names in CONVERTERS.values() for name in names.split()}
    assert sorted(ours - used) == sorted(WITHOUT_BATCH)
