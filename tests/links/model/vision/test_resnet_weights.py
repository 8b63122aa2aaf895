"""Weights of ResNet out of caffemodels, whose layers have the names of the published files."""

from __future__ import annotations

import numpy as np
import pytest

from chainer.links.caffe import _schema
from chainer.links.caffe._wire import write_message
from chainer.links.model.vision import resnet


def blob(values):
    return {"shape": {"dim": values.shape}, "data": np.ravel(values)}


class Writer:
    """Collects layers with random values."""

    def __init__(self):
        self.random = np.random.RandomState(0)
        self.layers = []

    def values(self, *shape):
        # One number for each first index, so that large weights are quickly made.
        column = self.random.rand(shape[0], *[1] * (len(shape) - 1)).astype(np.float32)
        return np.broadcast_to(column, shape)

    def add(self, name, kind, *blobs, **fields):
        layer = {"name": name, "type": kind, "bottom": ["x"], "top": [name], **fields}
        self.layers.append({**layer, "blobs": [blob(values) for values in blobs]})

    def convolution(self, name, normalization, n_out, n_in, ksize, bias=False):
        param = {"num_output": n_out, "kernel_size": [ksize], "bias_term": bias}
        blobs = [self.values(n_out, n_in, ksize, ksize), *([self.values(n_out)] if bias else [])]
        self.add(name, "Convolution", *blobs, convolution_param=param)
        factor = np.float32([4])
        statistics = self.values(n_out), self.values(n_out), factor
        self.add(f"bn{normalization}", "BatchNorm", *statistics)
        scale = self.values(n_out), self.values(n_out)
        self.add(f"scale{normalization}", "Scale", *scale, scale_param={"bias_term": True})

    def __getitem__(self, name):
        (found,) = [layer["blobs"] for layer in self.layers if layer["name"] == name]
        return [np.reshape(b["data"], b["shape"]["dim"]) for b in found]


def resnet_file(path, blocks, bias):
    """Writes a file; ``blocks`` are the names of the bottlenecks by stage."""
    writer = Writer()
    writer.convolution("conv1", "_conv1", 64, 3, 7, bias)
    n_in = 64
    for stage, names in blocks.items():
        mid = 64 * 2 ** (stage - 2)
        for name in names:
            place = f"{stage}{name}"
            if name == "a":
                writer.convolution(f"res{place}_branch1", f"{place}_branch1", 4 * mid, n_in, 1)
            shapes = {"a": (mid, n_in, 1), "b": (mid, mid, 3), "c": (4 * mid, mid, 1)}
            for letter, shape in shapes.items():
                branch = f"{place}_branch2{letter}"
                writer.convolution(f"res{branch}", branch, *shape)
            n_in = 4 * mid
    product = {"inner_product_param": {"num_output": 1000}}
    writer.add("fc1000", "InnerProduct", writer.values(1000, 2048), writer.values(1000), **product)
    path.write_bytes(write_message(_schema.NET, {"layer": writer.layers}))
    return writer


LETTERS = {2: "abc", 3: "abcd", 4: "abcdef", 5: "abc"}
NUMBERS = {
    2: "abc",
    3: ["a", *(f"b{i}" for i in range(1, 4))],
    4: ["a", *(f"b{i}" for i in range(1, 23))],
    5: "abc",
}


@pytest.mark.parametrize(
    ("n_layers", "blocks", "third"), [(50, LETTERS, "4d"), (101, NUMBERS, "4b3")]
)
def test_caffemodel_becomes_npz(n_layers, blocks, third, tmp_path, monkeypatch):
    monkeypatch.setattr(resnet, "HeNormal", lambda scale: lambda array: None)
    writer = resnet_file(tmp_path / "m.caffemodel", blocks, bias=n_layers == 50)
    npz = tmp_path / "m.npz"
    resnet.ResNetLayers.convert_caffemodel_to_npz(tmp_path / "m.caffemodel", npz, n_layers)
    model = resnet.ResNetLayers(str(npz), n_layers)
    np.testing.assert_array_equal(model.conv1.W.array, writer["conv1"][0])
    np.testing.assert_array_equal(
        model.conv1.b.array, writer["conv1"][1] if n_layers == 50 else np.zeros(64)
    )
    np.testing.assert_array_equal(model.bn1.gamma.array, writer["scale_conv1"][0])
    np.testing.assert_array_equal(model.fc6.W.array, writer["fc1000"][0])
    np.testing.assert_array_equal(model.res3.a.conv4.W.array, writer["res3a_branch1"][0])
    np.testing.assert_array_equal(model.res3.a.bn4.beta.array, writer["scale3a_branch1"][1])
    block = model.res4.b3
    np.testing.assert_array_equal(block.conv2.W.array, writer[f"res{third}_branch2b"][0])
    np.testing.assert_array_equal(block.bn3.gamma.array, writer[f"scale{third}_branch2c"][0])
    mean, variance, _ = writer[f"bn{third}_branch2a"]
    np.testing.assert_allclose(block.bn1.avg_mean, mean / 4, rtol=1e-6)
    np.testing.assert_allclose(block.bn1.avg_var, variance / 4, rtol=1e-6)


def test_a_file_of_fewer_layers_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(resnet, "HeNormal", lambda scale: lambda array: None)
    resnet_file(tmp_path / "m.caffemodel", LETTERS, bias=True)
    with pytest.raises(ValueError, match="the caffemodel has no layer 'res4g_branch2a'"):
        resnet.ResNetLayers.convert_caffemodel_to_npz(
            tmp_path / "m.caffemodel", tmp_path / "m.npz", 101
        )
