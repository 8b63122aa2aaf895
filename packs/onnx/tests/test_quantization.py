"""Models of 8 bits: accuracy on digits, per channel, forms, wrong arguments."""

from __future__ import annotations

import runpy
from pathlib import Path

import numpy as np
import onnx
import onnx_chainer
import pytest
from models import Generator, ResNet, Transformer, images, tokens
from running import Apply, run

import chainer
import chainer.functions as F
import chainer.links as L

EXAMPLE = Path(__file__).parent.parent / "examples" / "export_digits.py"


def initializers(proto):
    return {t.name: onnx.numpy_helper.to_array(t) for t in proto.graph.initializer}


def kinds(proto):
    return [node.op_type for node in proto.graph.node]


def test_accuracy_on_digits_is_within_one_percent(tmp_path):
    pytest.importorskip("sklearn")
    program = runpy.run_path(str(EXAMPLE))
    training, held_out = program["get_digits"]()
    model = program["ConvNet"]()
    program["train"](model, training, 4)
    x, t = chainer.dataset.concat_examples(held_out)
    calibration = [chainer.dataset.concat_examples(training[i : i + 50])[0] for i in (0, 50, 100)]
    path = tmp_path / "digits.onnx"
    proto = onnx_chainer.export_quantized(
        model, calibration, path, input_names="images", input_shapes=("n", 1, 8, 8)
    )
    with chainer.using_config("train", False):
        expected = model(x).array
    (scores,), runtime = run(onnx.load(path), {"images": x})
    assert runtime == "onnxruntime"
    accuracy = (expected.argmax(1) == t).mean()
    assert accuracy > 0.9
    assert abs((scores.argmax(1) == t).mean() - accuracy) <= 0.01
    assert 0 < np.abs(scores - expected).max() < 0.1 * np.abs(expected).max()
    # All weights are integers, with a scale for each channel.
    assert kinds(proto).count("Conv") == 2
    assert "BatchNormalization" not in kinds(proto)
    weights = initializers(proto)
    quantized = [
        name for name, array in weights.items() if array.dtype == np.int8 and array.ndim > 1
    ]
    assert len(quantized) == 3
    for name in quantized:
        scales = weights[name.replace("_quantized", "_scale")]
        assert scales.shape == (weights[name].shape[0],)
        assert (np.abs(weights[name]).reshape(len(scales), -1).max(1) == 64).all()
    assert path.stat().st_size < 30_000


MODELS = {
    "ResNet": (ResNet, [images(4, 3, 10, 10)], 0.05),
    "DCGAN": (Generator, [images(4, 5)], 0.05),
    "Transformer": (Transformer, [tokens(3, 5)], 0.05),
    "groups": (lambda: L.Convolution2D(4, 6, 3, groups=2), [images(2, 4, 6, 6)], 0.05),
    "Deconvolution of groups": (
        lambda: L.Deconvolution2D(4, 6, 3, groups=2),
        [images(2, 4, 6, 6)],
        0.05,
    ),
}


@pytest.mark.parametrize("opset", [13, 21])
@pytest.mark.parametrize("name", MODELS)
def test_results_are_near(name, opset):
    make, args, tolerance = MODELS[name]
    model = make()
    with chainer.using_config("train", False):
        y = model(*args)
    proto = onnx_chainer.export_quantized(model, [args], opset_version=opset)
    onnx.checker.check_model(proto, full_check=True)
    names = [x.name for x in proto.graph.input]
    found, runtime = run(proto, dict(zip(names, args, strict=True)))
    assert runtime == "onnxruntime"
    assert np.abs(found[0] - y.array).max() <= tolerance * np.ptp(y.array)
    # The loaded file is the same model.
    assert "BatchNormalization" not in kinds(proto)
    with chainer.using_config("train", False):
        loaded = onnx_chainer.load(proto)(*args)
    assert np.abs(loaded.array - y.array).max() <= tolerance * np.ptp(y.array)


def test_all_bits_are_used_on_request():
    model, args = Transformer(), [tokens(3, 5)]
    safe = onnx_chainer.export_quantized(model, args)
    full = onnx_chainer.export_quantized(model, args, reduce_range=False)
    # Products of two activations, as in attention, are integers then.
    assert kinds(full).count("QuantizeLinear") > kinds(safe).count("QuantizeLinear")
    for proto, largest in ((safe, 64), (full, 127)):
        weights = [a for a in initializers(proto).values() if a.dtype == np.int8 and a.ndim > 1]
        assert {int(np.abs(a).max()) for a in weights} == {largest}
        loaded = onnx_chainer.load(proto)  # computes exactly
        with chainer.using_config("train", False):
            y, z = model(*args).array, loaded(*args).array
        assert np.abs(z - y).max() <= 0.05 * np.ptp(y)


def test_ranges_are_those_of_all_batches():
    x = np.zeros((2, 3), np.float32)
    low, high = x - 1.0, x + 3.0
    proto = onnx_chainer.export_quantized(L.Linear(3, 2), [x, low, high], input_names="x")
    weights = initializers(proto)
    np.testing.assert_allclose(weights["x_scale"], 4 / 255)
    assert weights["x_zero_point"] == -64
    assert weights["x_zero_point"].dtype == np.int8


def test_names_of_the_model_stay():
    model = chainer.Sequential(L.Linear(3, 2), F.relu)
    x = images(2, 3)
    proto = onnx_chainer.export_quantized(model, [x], input_names="a", output_names="b")
    assert [v.name for v in (*proto.graph.input, *proto.graph.output)] == ["a", "b"]
    assert {"param_0_W_quantized", "param_0_b_quantized"} <= set(initializers(proto))
    assert initializers(proto)["param_0_b_quantized"].dtype == np.int32


def test_an_activation_is_quantized_once():
    class Two(chainer.Chain):
        def __init__(self):
            super().__init__()
            with self.init_scope():
                self.a, self.b = L.Linear(3, 2), L.Linear(3, 2)

        def forward(self, x):
            return self.a(x) + self.b(x)

    proto = onnx_chainer.export_quantized(Two(), [images(2, 3)])
    assert kinds(proto).count("QuantizeLinear") == 1


def test_further_operators():
    model = Apply(lambda a, b: a + b)
    args = [images(2, 3), images(2, 3)]
    with pytest.raises(ValueError, match=r"no operator that can be quantized.*has \['Add'\]"):
        onnx_chainer.export_quantized(model, [args])
    proto = onnx_chainer.export_quantized(model, [args], operators=["Add"])
    assert kinds(proto).count("QuantizeLinear") == 2


def test_channels_of_zeros_and_tiny_weights():
    model = L.Linear(3, 3, initial_bias=np.array([1.0, -2.0, 0.5], np.float32))
    model.W.array[1] = 0
    model.W.array[2] = 1e-12
    x = images(5, 3)
    proto = onnx_chainer.export_quantized(model, [x])
    (y,), _ = run(proto, {"Input_0": x})
    np.testing.assert_allclose(y, model(x).array, atol=0.05)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"calibration": []}, "calibration must have at least one batch"),
        ({"opset_version": 12}, "opset_version must be at least 13.*got 12"),
        ({"calibration": [images(1, 3), np.full((1, 3), np.inf, "f")]}, "'Input_0' is not finite"),
        ({"operators": ["Conv"]}, "no operator that can be quantized"),
    ],
)
def test_wrong_arguments(options, text):
    with pytest.raises(ValueError, match=text):
        onnx_chainer.export_quantized(L.Linear(3, 2), **{"calibration": [images(1, 3)], **options})


def test_arguments_of_export_that_do_not_fit():
    with pytest.raises(TypeError, match="no argument 'train'"):
        onnx_chainer.export_quantized(L.Linear(3, 2), [images(1, 3)], train=True)
    with pytest.raises(TypeError, match="reduce_range must be True or False, got 'no'"):
        onnx_chainer.export_quantized(L.Linear(3, 2), [images(1, 3)], reduce_range="no")
    text = r"export_quantized\(\) has no argument 'inputs'; further arguments are graph_name, "
    with pytest.raises(TypeError, match=text):
        onnx_chainer.export_quantized(L.Linear(3, 2), [images(1, 3)], inputs=["x"])


def test_other_dtypes_are_refused():
    x = images(1, 3).astype("d")
    with chainer.using_config("dtype", np.float64):
        model = L.Linear(3, 2)
        with pytest.raises(ValueError, match="must have the dtype float32"):
            onnx_chainer.export_quantized(model, [x])
