"""Weights of torchvision's networks.

The names, the shapes and the outputs in data/torchvision.json are those of torchvision 0.29.2 with
the weights that ``weights_of`` makes.
"""

from __future__ import annotations

import json
import zlib
from pathlib import Path

import numpy as np
import pytest

import chainer
import chainer.links as L
from chainer.links.model.vision.torchvision import (
    TorchvisionResNetLayers,
    load_torchvision,
    prepare,
    torchvision_names,
)
from chainer.links.serializers.safetensors_archive import write_safetensors

REFERENCE = json.loads((Path(__file__).parent / "data" / "torchvision.json").read_text())


def weights_of(name, shape):
    """Numbers that depend on the name only, so that the other program could make them, too."""
    rng = np.random.RandomState(zlib.crc32(name.encode()) % 2**32)
    if name.endswith("num_batches_tracked"):
        return np.array(1000)
    if name.endswith("running_var"):
        return rng.uniform(0.5, 1.5, shape).astype("f")
    if len(shape) > 1:
        return (rng.standard_normal(shape) * np.sqrt(2 / np.prod(shape[1:]))).astype("f")
    if name.endswith("weight"):
        return rng.uniform(0.5, 1.0, shape).astype("f")
    return (0.1 * rng.standard_normal(shape)).astype("f")


def make(network):
    if network.startswith("resnet"):
        return TorchvisionResNetLayers(None, int(network.removeprefix("resnet")))
    return {"vgg16": L.VGG16Layers, "vgg19": L.VGG19Layers}[network](None)


@pytest.fixture
def saved(tmp_path):
    def save(network):
        shapes = REFERENCE[network]["shapes"]
        path = tmp_path / "weights.safetensors"
        write_safetensors(path, {name: weights_of(name, shapes[name]) for name in shapes}, {})
        return path

    return save


NETWORKS = [
    "resnet50",
    *[pytest.param(name, marks=pytest.mark.slow) for name in REFERENCE if name != "resnet50"],
]


@pytest.mark.parametrize("network", NETWORKS)
def test_every_array_has_a_place(network):
    model = make(network)
    names = torchvision_names(model)
    assert set(names.values()) == set(REFERENCE[network]["shapes"])
    own = {path[1:]: p.shape for path, p in model.namedparams()}
    assert {names[name]: list(shape) for name, shape in own.items()} == {
        name: shape
        for name, shape in REFERENCE[network]["shapes"].items()
        if name in {names[n] for n in own}
    }


@pytest.mark.parametrize("network", NETWORKS)
def test_outputs_of_torchvision(network, saved):
    reference = REFERENCE[network]
    model = make(network)
    load_torchvision(saved(network), model)
    size = reference["size"]
    x = np.random.RandomState(0).standard_normal((1, 3, size, size)).astype("f")
    layer = "fc8" if network.startswith("vgg") else "fc6"
    with chainer.using_config("train", False), chainer.no_backprop_mode():
        y = model(x, layers=[layer])[layer].array[0, :20]
    expected = np.array(reference["outputs"])
    np.testing.assert_allclose(y, expected, rtol=0, atol=1e-5 * np.abs(expected).max())


def test_weights_are_the_first_argument(saved):
    path = saved("resnet50")
    model = TorchvisionResNetLayers(path)
    np.testing.assert_array_equal(
        model.res2.a.conv4.W.array, weights_of("layer1.0.downsample.0.weight", (256, 64, 1, 1))
    )
    assert model.bn1.N == 1000
    assert model.res5.b2.bn3.eps == 1e-5


def test_missing_weights(tmp_path):
    path = tmp_path / "weights.safetensors"
    write_safetensors(path, {"fc.weight": np.zeros((1000, 2048), "f")}, {})
    with pytest.raises(KeyError, match="bn1"):
        TorchvisionResNetLayers(path)


def test_other_links():
    with pytest.raises(TypeError, match="TorchvisionResNetLayers, got ResNet50Layers"):
        torchvision_names(L.ResNet50Layers(None))


def test_prepare():
    pytest.importorskip("PIL")
    image = np.random.RandomState(0).randint(0, 256, (6, 5, 3), np.uint8)
    # transforms.ToTensor and transforms.Normalize of torchvision, by their definitions.
    expected = (image / 255 - [0.485, 0.456, 0.406]) / [0.229, 0.224, 0.225]
    np.testing.assert_allclose(prepare(image, None), expected.transpose(2, 0, 1), atol=1e-5)
    assert prepare(image).shape == (3, 224, 224)
