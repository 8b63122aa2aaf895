"""Loaded chains in training: captured steps, modes, and export with the names of the file."""

from __future__ import annotations

import io
import warnings

import numpy as np
import onnx
import onnx_chainer
import pytest
from models import (
    Generator,
    Inception,
    LanguageModel,
    LeNet,
    ResNet,
    Transformer,
    VGGBlocks,
    images,
    tokens,
)
from running import run

import chainer
import chainer.functions as F
import chainer.links as L

MODELS = {
    "LeNet": (LeNet, images(4, 1, 20, 20)),
    "VGG": (VGGBlocks, images(4, 3, 16, 16)),
    "ResNet": (ResNet, images(4, 3, 10, 10)),
    "Inception": (Inception, images(2, 3, 15, 15)),
    "DCGAN": (Generator, images(4, 5)),
    "LSTM": (LanguageModel, tokens(3, 5)),
    "Transformer": (Transformer, tokens(3, 5)),
    "TransformerEncoderLayer": (lambda: L.TransformerEncoderLayer(8, 2), images(2, 5, 8)),
}


def exported(make, x, **options):
    file = io.BytesIO()
    onnx_chainer.export(make(), x, file, **options)
    return file.getvalue()


def trained(data, x, captures, steps=6):
    """Returns losses, parameters and statistics of a loaded chain after some steps."""
    chainer.utils.seed(0)
    model = onnx_chainer.load(io.BytesIO(data))
    optimizer = chainer.optimizers.MomentumSGD(0.01).setup(model)

    def step(x):
        y = model(x)
        loss = F.mean(y * y)
        model.cleargrads()
        loss.backward()
        optimizer.update()
        return loss

    call = chainer.capture(step, model, optimizer, on_failure="error") if captures else step
    losses = [call(x).array.copy() for _ in range(steps)]
    if captures:
        assert "in use" in str(chainer.explain(call))
    state = chainer.serializers.DictionarySerializer()
    state.save(model)
    return losses, {name: np.array(value) for name, value in state.target.items()}


@pytest.mark.parametrize("name", [name for name in MODELS if name != "VGG"])
def test_a_captured_step_equals_the_step_as_written(name):
    make, x = MODELS[name]
    data = exported(make, x, train=True)
    losses, state = trained(data, x, captures=False)
    captured_losses, captured_state = trained(data, x, captures=True)
    assert captured_losses == losses
    assert len(set(map(float, losses))) > 1
    assert captured_state.keys() == state.keys()
    for key, value in state.items():
        np.testing.assert_array_equal(captured_state[key], value)


def test_a_captured_step_with_dropout():
    # Masks are drawn anew in each call, in the order of the step as written.
    make, x = MODELS["VGG"]
    data = exported(make, x, train=True)
    losses, state = trained(data, x, captures=False)
    captured_losses, captured_state = trained(data, x, captures=True)
    assert captured_losses == losses
    for key, value in state.items():
        np.testing.assert_array_equal(captured_state[key], value)


class Modes(chainer.Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.linear = L.Linear(4, 30)
            self.norm = L.BatchNormalization(30)

    def forward(self, x):
        return F.dropout(self.norm(self.linear(x)), 0.5)


def check_training_mode(loaded, x):
    """Dropout drops, and normalization uses the statistics of the batch."""
    y = loaded(x).array
    # Half of the elements are dropped, the others are doubled.
    assert 0.4 < (y == 0).mean() < 0.6
    kept = np.where(y == 0, np.nan, y / 2)
    np.testing.assert_allclose(np.nanmean(kept), 0, atol=0.2)
    np.testing.assert_allclose(np.nanvar(kept), 1, atol=0.2)


def test_a_file_of_training_mode():
    model, x = Modes(), images(64, 4)
    loaded = onnx_chainer.load(io.BytesIO(exported(lambda: model, x, train=True)))
    check_training_mode(loaded, x)
    # The file asks for training, so that a runtime drops too.
    with chainer.using_config("train", False):
        check_training_mode(loaded, x)


def test_a_file_of_test_mode():
    """Exporters leave Dropout in models of test mode; the mode of Chainer says whether it drops."""
    model, x = Modes(), images(64, 4)
    proto = onnx_chainer.export(model, x, output_names="norm")
    proto.graph.node.append(onnx.helper.make_node("Dropout", ["norm"], ["y"]))
    proto.graph.output[0].name = "y"
    loaded = onnx_chainer.load(proto)
    with chainer.using_config("train", False):
        np.testing.assert_allclose(loaded(x).array, model(x).array, rtol=1e-5, atol=1e-5)
    check_training_mode(loaded, x)
    # The running statistics move as those of the chain do.
    model(x)
    for name in ("avg_mean", "avg_var"):
        found = getattr(loaded, f"param_norm_{name}")
        np.testing.assert_allclose(found, getattr(model.norm, name), rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("by_identity", [True, False])
def test_statistics_that_the_file_shares_with_weights(by_identity):
    """PyTorch's exporter writes equal arrays once: of an untrained model, means and biases."""
    model, x = chainer.Sequential(L.BatchNormalization(3), L.BatchNormalization(3)), images(8, 3)
    proto = onnx_chainer.export(model, x)
    first, second = [n for n in proto.graph.node if n.op_type == "BatchNormalization"]
    weight, bias = first.input[1:3]
    for node in (first, second):
        if by_identity:
            for i, source in ((3, bias), (4, weight)):
                identity = onnx.helper.make_node("Identity", [source], [node.input[i]])
                old = next(t for t in proto.graph.initializer if t.name == node.input[i])
                proto.graph.initializer.remove(old)
                proto.graph.node.insert(0, identity)
        else:
            node.input[3], node.input[4] = bias, weight
    loaded = onnx_chainer.load(proto)
    y = loaded(x)
    np.testing.assert_allclose(y.array, model(x).array, rtol=1e-5, atol=1e-5)
    attribute = loaded.names
    # The running statistics moved, each on its own; the weights did not.
    assert getattr(loaded, attribute[bias]).array.tolist() == [0, 0, 0]
    assert getattr(loaded, attribute[weight]).array.tolist() == [1, 1, 1]
    with chainer.using_config("train", False):
        np.testing.assert_allclose(loaded(x).array, model(x).array, rtol=1e-5, atol=1e-5)
    state = chainer.serializers.DictionarySerializer()
    state.save(loaded)
    assert {bias.replace(".", "_"), weight.replace(".", "_")} <= set(state.target)


@pytest.mark.parametrize("name", MODELS)
def test_a_loaded_model_exports_again(name):
    make, x = MODELS[name]
    data = exported(make, x, input_names="data", output_names="scores")
    model = onnx_chainer.load(io.BytesIO(data))
    proto = onnx_chainer.export(
        model, x, input_names=model.input_names, output_names=model.output_names
    )
    assert [v.name for v in proto.graph.input] == ["data"]
    assert [v.name for v in proto.graph.output] == ["scores"]
    # Initializers have the names of the link's parameters, which come from the file.
    first = {t.name for t in onnx.load_from_string(data).graph.initializer}
    again = {t.name for t in proto.graph.initializer}
    weights = {f"param_{model.names[name]}" for name in first}
    assert {f"param_{n.lstrip('/')}" for n, _ in model.namedparams()} <= again & weights
    (y,), runtime = run(proto, {"data": x})
    assert runtime == "onnxruntime"
    with chainer.using_config("train", False):
        np.testing.assert_allclose(y, model(x).array, rtol=1e-5, atol=1e-5)


def test_a_trained_model_exports_what_it_learned():
    make, x = MODELS["ResNet"]
    model = onnx_chainer.load(io.BytesIO(exported(make, x)))
    before = model(x).array
    optimizer = chainer.optimizers.SGD(0.1).setup(model)
    for _ in range(3):
        loss = F.mean(model(x) ** 2)
        model.cleargrads()
        loss.backward()
        optimizer.update()
    (y,), _ = run(onnx_chainer.export(model, x, input_names="x"), {"x": x})
    with chainer.using_config("train", False):
        np.testing.assert_allclose(y, model(x).array, rtol=1e-5, atol=1e-5)
    assert np.abs(y - before).max() > 1e-3


def test_a_recorded_chain_exports_with_names():
    """chainer.static_graph and chainer.capture do not change what is exported."""

    class Recorded(LeNet):
        @chainer.static_graph
        def forward(self, x):
            return super().forward(x)

    model, x = Recorded(), images(4, 1, 20, 20)
    with chainer.using_config("train", False):
        for _ in range(4):
            y = model(x)
    proto = onnx_chainer.export(model, x, input_names="x", output_names="y")
    expected = onnx_chainer.export(LeNet(), x, input_names="x", output_names="y")
    # The result of a recorded chain is a copy.
    kinds = [n.op_type for n in proto.graph.node if n.op_type != "Identity"]
    assert kinds == [n.op_type for n in expected.graph.node]
    assert [t.name for t in proto.graph.initializer] == [t.name for t in expected.graph.initializer]
    (found,), _ = run(proto, {"x": x})
    np.testing.assert_allclose(found, y.array, rtol=1e-5, atol=1e-5)


def test_a_chain_that_was_captured_exports_with_names():
    model, x = LeNet(), images(4, 1, 20, 20)
    call = chainer.capture(lambda x: model(x), model, on_failure="error")
    with warnings.catch_warnings(), chainer.using_config("train", False):
        warnings.simplefilter("error")
        for _ in range(5):
            y = call(x)
    proto = onnx_chainer.export(model, x, input_names="x")
    assert {t.name for t in proto.graph.initializer} == {
        f"param_{link}_{p}" for link in ("conv1", "conv2", "fc1", "fc2") for p in "Wb"
    }
    (found,), _ = run(proto, {"x": x})
    np.testing.assert_allclose(found, y.array, rtol=1e-5, atol=1e-5)
