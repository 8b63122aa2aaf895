"""Models of ONNX as links: out and in again, other exporters' operators, bad files."""

from __future__ import annotations

import io

import numpy as np
import onnx
import onnx_chainer
import pytest
from function_cases import BY_NAME
from models import (
    Generator,
    Inception,
    LanguageModel,
    LeNet,
    NStepLanguageModel,
    ResNet,
    Transformer,
    VGGBlocks,
    images,
    tokens,
)
from onnx import TensorProto, helper
from onnx_chainer.importing.load import ONNXFormatError, UnsupportedOperatorError
from running import Apply, arrays_of, run

import chainer
import chainer.functions as F
import chainer.links as L

MODELS = {
    "LeNet": (LeNet, [images(2, 1, 20, 20)]),
    "VGG": (VGGBlocks, [images(2, 3, 16, 16)]),
    "ResNet": (ResNet, [images(2, 3, 10, 10)]),
    "Inception": (Inception, [images(2, 3, 15, 15)]),
    "DCGAN": (Generator, [images(2, 5)]),
    "LSTM": (LanguageModel, [tokens(3, 5)]),
    "NStepLSTM": (NStepLanguageModel, [tokens(3), tokens(5), tokens(4)]),
    "NStepBiGRU": (lambda: NStepLanguageModel(cls=L.NStepBiGRU), [tokens(3), tokens(3)]),
    "NStepRNNReLU": (lambda: NStepLanguageModel(cls=L.NStepRNNReLU), [tokens(3), tokens(2)]),
    "Transformer": (Transformer, [tokens(3, 5)]),
    "TransformerEncoderLayer": (lambda: L.TransformerEncoderLayer(8, 2), [images(2, 5, 8)]),
}


def there_and_back(model, args, **options):
    file = io.BytesIO()
    onnx_chainer.export(model, args, file, **options)
    file.seek(0)
    return onnx_chainer.load(file)


@pytest.mark.parametrize("opset", [9, 13, 21])
@pytest.mark.parametrize("name", MODELS)
def test_models(name, opset):
    make, args = MODELS[name]
    model = make()
    loaded = there_and_back(model, args, opset_version=opset)
    with chainer.using_config("train", False):
        expected, found = arrays_of(model(*args)), arrays_of(loaded(*args))
    for y, z in zip(expected, found, strict=True):
        np.testing.assert_allclose(z, y, rtol=1e-5, atol=1e-5)
    # And out again.
    proto = onnx_chainer.export(loaded, args, opset_version=opset)
    results, _ = run(proto, dict(zip([x.name for x in proto.graph.input], args, strict=True)))
    for y, z in zip(expected, results, strict=True):
        np.testing.assert_allclose(z, y, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("name", BY_NAME)
def test_functions(name):
    case = BY_NAME[name]
    function, inputs = case.function, case.inputs
    proto = onnx_chainer.export(Apply(function), inputs, opset_version=max(case.since, 17))
    model = onnx_chainer.load(proto)
    # Both branches of what selects are computed, also where one is infinite.
    with chainer.using_config("train", False), np.errstate(all="ignore"):
        expected = arrays_of(function(*[chainer.Variable(x) for x in inputs]))
        found = arrays_of(model(*[chainer.Variable(x) for x in inputs]))
    for y, z in zip(expected, found, strict=True):
        assert z.dtype == y.dtype
        tol = case.tolerance or 1e-5
        np.testing.assert_allclose(z, y, rtol=tol, atol=tol)


def test_training():
    model = there_and_back(ResNet(), images(4, 3, 10, 10))
    assert {name for name, _ in model.namedparams()} >= {"/param_fc_W", "/param_block1_bn1_gamma"}
    mean = model.param_block1_bn1_avg_mean.copy()
    optimizer = chainer.optimizers.SGD().setup(model)
    losses = []
    for _ in range(3):
        loss = F.softmax_cross_entropy(model(images(4, 3, 10, 10)), np.array([0, 1, 2, 0], "i"))
        model.cleargrads()
        loss.backward()
        optimizer.update()
        losses.append(float(loss.array))
    assert losses[-1] < losses[0]
    assert (model.param_block1_bn1_avg_mean != mean).any()


def test_snapshot(tmp_path):
    model = there_and_back(LeNet(), images(2, 1, 20, 20))
    chainer.serializers.save_npz(tmp_path / "m.npz", model)
    other = there_and_back(LeNet(), images(2, 1, 20, 20))
    chainer.serializers.load_npz(tmp_path / "m.npz", other)
    x = images(2, 1, 20, 20)
    with chainer.using_config("train", False):
        np.testing.assert_array_equal(model(x).array, other(x).array)


def make_model(nodes, inputs, initializers=(), opset=17):
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info(n, TensorProto.FLOAT, x.shape) for n, x in inputs.items()],
        [helper.make_tensor_value_info(nodes[-1].output[0], TensorProto.FLOAT, None)],
        [onnx.numpy_helper.from_array(x, n) for n, x in initializers],
    )
    proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)
    # The checker wants the shape of the output.
    return onnx.shape_inference.infer_shapes(proto)


IMAGE = images(2, 4, 7, 6)
W = images(3, 4, 3, 3)


@pytest.mark.parametrize(
    ("operator", "attributes", "weights"),
    [
        ("Conv", {"auto_pad": "SAME_UPPER", "strides": [2, 2]}, [W]),
        ("Conv", {"auto_pad": "SAME_LOWER", "strides": [2, 2]}, [W]),
        ("Conv", {"auto_pad": "VALID"}, [W, images(3)]),
        ("Conv", {"pads": [0, 1, 2, 1]}, [W]),
        ("ConvTranspose", {"strides": [2, 2], "output_padding": [1, 0]}, [images(4, 2, 3, 3)]),
        ("ConvTranspose", {"pads": [0, 1, 1, 0], "group": 2}, [images(4, 2, 3, 3), images(4)]),
        ("MaxPool", {"kernel_shape": [2, 3], "auto_pad": "SAME_UPPER"}, []),
        ("MaxPool", {"kernel_shape": [2, 2], "strides": [2, 2], "ceil_mode": 1}, []),
        ("AveragePool", {"kernel_shape": [3, 3], "pads": [1, 0, 0, 1]}, []),
        (
            "AveragePool",
            {"kernel_shape": [3, 3], "pads": [1, 0, 0, 1], "count_include_pad": 1},
            [],
        ),
        ("GlobalAveragePool", {}, []),
        ("GlobalMaxPool", {}, []),
        ("InstanceNormalization", {}, [images(4), images(4)]),
        ("LayerNormalization", {"axis": -2}, [images(7, 6), images(7, 6)]),
        ("Flatten", {"axis": 2}, []),
        ("Gemm-like", {}, []),
        ("HardSwish", {}, []),
        ("Selu", {}, []),
        ("DepthToSpace", {"blocksize": 2, "mode": "CRD"}, []),
    ],
)
def test_operators_of_other_exporters(operator, attributes, weights):
    names = [f"w/{i}.x" for i in range(len(weights))]
    x = IMAGE
    if operator == "Gemm-like":
        operator, x, attributes = "Gemm", images(4, 3), {"transA": 1, "alpha": 0.5, "beta": 2.0}
        weights, names = [images(4, 2), images(3, 1)], ["w", "c"]
    proto = make_model(
        [helper.make_node(operator, ["x", *names], ["y"], **attributes)],
        {"x": x},
        list(zip(names, weights, strict=True)),
    )
    model = onnx_chainer.load(proto)
    with chainer.using_config("train", False):
        y = model(x)
    np.testing.assert_allclose(y.array, run(proto, {"x": x})[0][0], rtol=1e-5, atol=1e-5)


def test_inputs():
    proto = onnx_chainer.export(Apply(lambda a, b: a - b), (IMAGE, IMAGE), input_names=["a", "b"])
    model = onnx_chainer.load(proto)
    assert (model.input_names, model.output_names) == (["a", "b"], ["Sub_0"])
    np.testing.assert_array_equal(model(b=IMAGE * 2, a=IMAGE).array, -IMAGE)
    for args, kwargs in (((IMAGE,), {}), ((IMAGE,) * 3, {}), ((IMAGE,), {"c": IMAGE})):
        with pytest.raises(TypeError, match="takes the inputs"):
            model(*args, **kwargs)


def test_unknown_operators_are_all_named():
    proto = make_model([helper.make_node("Relu", ["x"], ["y"])], {"x": IMAGE})
    proto.opset_import.add(domain="mine", version=1)
    names = [("Strange", "x", "a"), ("Odd", "a", "b"), ("Strange", "b", "y")]
    nodes = [helper.make_node(name, [i], [o], domain="mine") for name, i, o in names]
    del proto.graph.node[:]
    proto.graph.node.extend(nodes)
    with pytest.raises(UnsupportedOperatorError, match=r"mine\.Strange, mine\.Odd;") as caught:
        onnx_chainer.load(proto)
    assert caught.value.names == ["mine.Strange", "mine.Odd"]


class TestBadFiles:
    def write(self, tmp_path, data):
        path = tmp_path / "bad.onnx"
        path.write_bytes(data)
        return path

    def test_missing(self, tmp_path):
        with pytest.raises(FileNotFoundError):
            onnx_chainer.load(tmp_path / "none.onnx")

    @pytest.mark.parametrize("data", [b"", b"PK\x03\x04", b"\xff" * 100])
    def test_other_files(self, tmp_path, data):
        with pytest.raises(ONNXFormatError):
            onnx_chainer.load(self.write(tmp_path, data))

    def test_cycle(self):
        nodes = [
            helper.make_node("Add", ["x", "b"], ["a"]),
            helper.make_node("Relu", ["a"], ["b"]),
        ]
        with pytest.raises(ONNXFormatError):
            onnx_chainer.load(make_model(nodes, {"x": IMAGE}))

    @pytest.mark.parametrize("dims", [[2**40], [2**20, 2**20, 2**20], [-1, 4]])
    def test_huge_sizes(self, dims):
        proto = make_model(
            [helper.make_node("Add", ["x", "w"], ["y"])], {"x": IMAGE}, [("w", images(4))]
        )
        proto.graph.initializer[0].dims[:] = dims
        with pytest.raises(ONNXFormatError, match="declares|negative"):
            onnx_chainer.load(proto)

    def test_wrong_types(self):
        proto = make_model(
            [helper.make_node("Add", ["x", "w"], ["y"])], {"x": IMAGE}, [("w", images(4))]
        )
        proto.graph.initializer[0].data_type = 99
        with pytest.raises(ONNXFormatError):
            onnx_chainer.load(proto)
