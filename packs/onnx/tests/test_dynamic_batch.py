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
from running import Apply, check, compare, run

import chainer
import chainer.functions as F
from chainer.utils.type_check import InvalidType

BATCH_SIZES = (1, 3, 5)

_INDEX = "the index selects among the samples, of which there may be too few"
_SUMMED = "the first axis is summed over"

# Cases of which the batch cannot have any size -> the reason.
FIXED = {
    "lstm shorter batch": "the batch of the input is to be shorter than that of the states",
    "as_strided": "strides are those of the array in memory",
    "broadcast_to": "the shape is a constant",
    "relative_position_bias": "the first axis has the classes of distances",
    "det": "it takes one matrix",
    "diagonal": "the first axis is one of the two that the diagonal is taken from",
    "discriminative_margin_based_clustering_loss": "the labels are an array of the model",
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
    **dict.fromkeys(
        [
            "sparse_matmul",
            "sparse_matmul transposed",
            "sparse_matmul right",
            "sparse_matmul repeated",
            "sparse_matmul batch",
        ],
        "the places of the elements of the sparse matrix are constants",
    ),
    "tensordot": _SUMMED,
}

# Converters that no case with a batch of any size uses -> the reason.
WITHOUT_BATCH = {
    "AsStrided": FIXED["as_strided"],
    "CooMatMul": FIXED["sparse_matmul"],
    "BaseNStepRNN": "the batch is the number of inputs",
    "DifferentiableComposition": "the node of a gradient",
    "DropPath": "random: see test_dropped_samples",
    "Dropout": "random: see test_dropout",
    "Gaussian": "random: see test_gaussian",
    "PadSequence": FIXED["pad_sequence"],
    "Rsqrt": "a name of the function in earlier releases",
    "RsqrtGPU": "a name of the function in earlier releases",
    "Shape": "for nodes of third parties; Chainer has none",
    "TransposeSequence": FIXED["transpose_sequence"],
    "Upsampling2D": "see test_upsampling.py",
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


def results_of_training(function, *args):
    """The outputs of an exported function of training for a batch that is not the sample's."""
    shapes = [("batch", *x.shape[1:]) for x in args]
    proto = onnx_chainer.export(Apply(function), args, train=True, input_shapes=shapes)
    longer = [np.concatenate([x, x, x]) for x in args]
    names = [x.name for x in proto.graph.input]
    (result,), _ = run(proto, dict(zip(names, longer, strict=True)))
    return result


def test_dropout():
    y = results_of_training(lambda x: F.dropout(x, 0.25), np.ones((2, 1000), np.float32))
    assert y.shape == (6, 1000)
    np.testing.assert_allclose(np.unique(y), [0, 4 / 3], rtol=1e-6)
    assert 0.2 < (y == 0).mean() < 0.3


def test_dropped_samples():
    y = results_of_training(lambda x: F.drop_path(x, 0.25), np.ones((400, 2, 3), np.float32))
    assert y.shape == (1200, 2, 3)
    np.testing.assert_allclose(np.unique(y), [0, 4 / 3], rtol=1e-6)
    assert (y == y[:, :1, :1]).all()
    assert 0.15 < (y == 0).mean() < 0.35


def test_chosen_samples():
    mask = np.array([0, 2], np.float32)
    x = np.ones((2, 3), np.float32)
    proto = onnx_chainer.export(Apply(lambda x: F.drop_path(x, 0.5, mask=mask)), x, train=True)
    np.testing.assert_array_equal(run(proto, {"Input_0": x})[0][0], mask[:, None] * x)


def test_gaussian():
    mean = np.full((2, 1000), 3, np.float32)
    y = results_of_training(F.gaussian, mean, np.full((2, 1000), np.log(4), np.float32))
    assert y.shape == (6, 1000)
    assert abs(y.mean() - 3) < 0.2
    assert abs(y.std() - 2) < 0.2


def other_shapes(case):
    """Inputs of a case in which axes of one length are longer, where the function takes them."""
    rng = np.random.RandomState(zlib.crc32(case.name.encode()))
    for length in sorted({n for x in case.inputs for n in x.shape}, reverse=True):
        for factor in (2, 3):
            inputs = []
            for x in case.inputs:
                shape = [n * factor if n == length else n for n in x.shape]
                values = np.resize(x, shape)
                inputs.append(
                    values if case.rows else rng.permutation(values.reshape(-1)).reshape(shape)
                )
            try:
                with np.errstate(all="ignore"):
                    case.function(*[chainer.Variable(x) for x in inputs])
            except Exception:
                continue
            yield inputs
            break


# Cases of which the function takes no other shapes -> the reason.
ONE_SHAPE = {
    "lstm shorter batch": "four times the units, and states longer than the batch",
    "broadcast_to": "the shape is a constant",
    "discriminative_margin_based_clustering_loss": "the labels are an array of the model",
    "hstack 0": "the inputs have no axes",
    "where constant": "the condition is a constant",
}


@pytest.mark.parametrize("name", [name for name in BY_NAME if name not in ONE_SHAPE])
def test_other_shapes(name):
    case = BY_NAME[name]
    opset = 21 if name == "roi_pooling_2d" else 22
    tested = [
        check(case.function, *inputs, opset=opset, tolerance=case.tolerance)
        for inputs in other_shapes(case)
    ]
    assert tested


@pytest.mark.parametrize("name", ONE_SHAPE)
def test_list_of_single_shapes_is_exact(name):
    assert not list(other_shapes(BY_NAME[name]))
