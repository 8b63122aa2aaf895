"""Pretrained networks: structure and numbers of release 7.8.1, features, images, weights."""

from __future__ import annotations

import hashlib
import json
import zlib

import numpy as np
import pytest

import chainer
import chainer.functions as F
import chainer.links as L
from chainer.links.caffe import _schema, _wire
from chainer.links.model.vision import _pretrained, googlenet, resnet, vgg

IMAGE = np.random.RandomState(0).randint(0, 255, (20, 30, 3)).astype(np.uint8)

# Number of parameters, and the SHA-256 sum of the JSON text of the sorted list of [path, shape],
# made with release 7.8.1.
STRUCTURE = {
    "VGG16Layers": (32, "2594f87882e146e700b409caaddd0788d402987d6559ea167d875ba5ee6b2869"),
    "GoogLeNet": (128, "f62edc3b869fd2c41dba9f41d7d1af5393b9c9cb1184ce2ab95df447efa38774"),
    "ResNet50Layers": (162, "5f3fc597dc9df3cee6ba971fc98d26abb70995bbc1b1bc11d60c41e3f8ec0682"),
    "ResNet101Layers": (315, "fdf131532d07bd86d8a5f9aea8bd9a7999aea2930076d9083f53db11e9ae97fa"),
    "ResNet152Layers": (468, "752c6beba58bf12200c4b42ac16b770e45c02ca5613e3e7e9e1bbd02ffff913e"),
}

# Mean of the absolute values and sum of each seventh value of features; release 7.8.1.
GOOGLENET = {
    "conv1": (0.2663719654083252, 30013.537109375),
    "pool1": (0.984668493270874, 28003.16796875),
    "conv2": (0.33269956707954407, 28448.09765625),
    "inception_3b": (0.2203747034072876, 11725.8857421875),
    "inception_4e": (0.06896654516458511, 1574.2620849609375),
    "pool5": (0.05322779715061188, 8.22991943359375),
    "prob": (0.0009999999310821295, 0.14318054914474487),
    "loss1_fc2": (0.2482730746269226, -8.83820915222168),
    "loss2_fc2": (0.10706303268671036, -1.9426026344299316),
}
RESNET50 = {
    "conv1": (0.19384777545928955, 1861.5992431640625),
    "pool1": (0.7191944718360901, 1679.413818359375),
    "res2": (0.37531599402427673, 3485.202392578125),
    "res5": (0.10194941610097885, 117.67945861816406),
    "pool5": (0.10194941610097885, 28.961257934570312),
    "fc6": (0.14250335097312927, 1.455418586730957),
}


@pytest.fixture
def without_values(monkeypatch):
    """Leaves large weights as they come: only shapes matter."""

    def untouched(*args, **kwargs):
        return lambda array: None

    for module, name in ((vgg, "Normal"), (googlenet, "LeCunUniform"), (resnet, "HeNormal")):
        monkeypatch.setattr(module, name, untouched)


def filled(model):
    """Gives each parameter values that depend on its path only."""
    for path, param in model.namedparams():
        random = np.random.RandomState(zlib.crc32(path.encode()))
        if path.endswith("gamma"):
            param.array[...] = random.uniform(0.5, 1.0, param.shape)
        elif param.ndim == 1:
            param.array[...] = random.uniform(-0.1, 0.1, param.shape)
        else:
            bound = np.sqrt(4 * param.shape[0] / param.size)
            param.array[...] = random.uniform(-1, 1, param.shape) * bound
    return model


def images(size):
    return np.random.RandomState(1).uniform(-1, 1, (1, 3, size, size)).astype(np.float32)


def assert_features(features, expected):
    for name, (mean, total) in expected.items():
        array = features[name].array
        np.testing.assert_allclose(np.abs(array).mean(), mean, rtol=1e-4, err_msg=name)
        actual = array.ravel()[::7].sum(dtype=float)
        np.testing.assert_allclose(actual, total, rtol=1e-3, err_msg=name)


@pytest.mark.parametrize("name", STRUCTURE)
def test_structure_is_that_of_upstream(name, without_values):
    model = getattr(L, name)(pretrained_model=None)
    shapes = sorted([path, list(param.shape)] for path, param in model.namedparams())
    digest = hashlib.sha256(json.dumps(shapes).encode()).hexdigest()
    assert (len(shapes), digest) == STRUCTURE[name]


@pytest.mark.parametrize(
    ("name", "count"),
    [("ResNet50Layers", 25557096), ("ResNet101Layers", 44549224), ("ResNet152Layers", 60192872)],
)
def test_documented_numbers_of_parameters(name, count, without_values):
    assert getattr(L, name)(None).count_params() == count


def test_googlenet_computes_what_upstream_does():
    model = filled(L.GoogLeNet(pretrained_model=None))
    with chainer.using_config("train", False), chainer.no_backprop_mode():
        assert_features(model(images(224), layers=list(GOOGLENET)), GOOGLENET)
        feature = model.extract([IMAGE])["pool5"]
    assert feature.shape == (1, 1024, 1, 1)
    np.testing.assert_allclose(feature.array.sum(), 1984.538330078125, rtol=1e-4)
    y = model.predict([IMAGE, IMAGE[::-1]])
    assert y.shape == (2, 1000) and y.creator is None
    expected = [8.419343799914714e-08, 7.757400943830817e-09, 4.703249487647554e-06]  # 7.8.1
    np.testing.assert_allclose(y.array[0, :3], expected, rtol=1e-3)


def test_resnet_computes_what_upstream_does():
    model = filled(L.ResNet50Layers(pretrained_model=None))
    x = images(64)
    with chainer.no_backprop_mode():
        model(x, layers=["prob"])  # in training mode: statistics are updated
    with chainer.using_config("train", False), chainer.no_backprop_mode():
        assert_features(model(x, layers=model.available_layers), RESNET50)
        feature = model.extract([IMAGE], size=(224, 256))["pool5"]
    np.testing.assert_allclose(feature.array.sum(), 23937.44140625, rtol=1e-4)


def test_vgg_is_convolutions_and_linear_layers(without_values):
    model = L.VGG16Layers(pretrained_model=None)
    for name in ("conv1_1", "conv1_2", "conv2_1"):
        filled(model[name])
    x = images(32)
    features = model(x, layers=["conv1_2", "pool1", "conv2_1"])
    h = F.relu(model.conv1_2(F.relu(model.conv1_1(x))))
    np.testing.assert_array_equal(features["conv1_2"].array, h.array)
    h = F.max_pooling_2d(h, 2, 2)
    np.testing.assert_array_equal(features["pool1"].array, h.array)
    np.testing.assert_array_equal(features["conv2_1"].array, F.relu(model.conv2_1(h)).array)
    assert model.functions["fc7"][0] is model.fc7
    assert model.available_layers[-5:] == ["pool5", "fc6", "fc7", "fc8", "prob"]


def test_gradients_reach_the_first_convolution():
    model = filled(L.GoogLeNet(pretrained_model=None))
    model.cleargrads()
    F.sum(model(images(64), layers=["inception_3a"])["inception_3a"]).backward()
    assert np.abs(model.conv1.W.grad).max() > 0
    assert model.inc3b.conv1.W.grad is None


@pytest.mark.parametrize(("make", "removed"), [(L.GoogLeNet, "train"), (L.ResNet50Layers, "test")])
def test_wrong_arguments(make, removed, without_values):
    model = make(pretrained_model=None)
    with pytest.raises(ValueError, match="layers must be among .*'nothing'"):
        model(images(64), layers=["nothing"])
    with pytest.raises(TypeError, match="list of layer names"):
        model(images(64), layers="prob")
    for call in (lambda **kw: model(images(64), **kw), lambda **kw: model.extract([IMAGE], **kw)):
        with pytest.raises(ValueError, match=f"{removed} argument is not supported anymore"):
            call(**{removed: True})
        with pytest.raises(TypeError, match="unexpected keyword"):
            call(other=1)
    with pytest.raises(ValueError, match="volatile argument"):
        model.extract([IMAGE], volatile=True)
    with pytest.raises(ValueError, match="images must not be empty"):
        model.predict([])
    with pytest.raises(ValueError, match="same size"):
        model.extract([IMAGE, IMAGE[:5]], size=None)


def test_resnet_of_other_depth():
    with pytest.raises(ValueError, match="either 50, 101, or 152, but 34 was given"):
        resnet.ResNetLayers(None, 34)


def test_resnet_says_where_the_weights_belong(tmp_path, monkeypatch, without_values):
    monkeypatch.setenv("CHAINER_DATASET_ROOT", str(tmp_path))
    path = tmp_path / "pfnet/chainer/models/ResNet-101-model.caffemodel"
    with pytest.raises(FileNotFoundError) as error:
        L.ResNet101Layers()
    assert str(path) in str(error.value) and "github.com/KaimingHe" in str(error.value)


def test_googlenet_says_what_to_do_without_connection(tmp_path, monkeypatch, without_values):
    pytest.importorskip("pooch")
    monkeypatch.setenv("CHAINER_DATASET_ROOT", str(tmp_path))
    monkeypatch.setattr(googlenet, "_URL", (tmp_path / "nothing.caffemodel").as_uri())
    with pytest.raises(OSError, match="nothing.caffemodel") as error:
        L.GoogLeNet()
    assert str(tmp_path / "pfnet/chainer/models/bvlc_googlenet.npz") in str(error.value)


def googlenet_file(path, model):
    """Writes the parameters of a GoogLeNet as the layers of a caffemodel."""
    links = {caffe: model[name] for name, caffe in googlenet._CAFFE_NAMES.items()}
    for name in googlenet._INCEPTIONS:
        for part, caffe in googlenet._CAFFE_PATHS.items():
            links[f"inception_{name}/{caffe}"] = getattr(model[f"inc{name}"], part)
    layers = []
    for name, link in links.items():
        layer = {"name": name, "bottom": ["x"], "top": [name]}
        if isinstance(link, L.Linear):
            layer |= {"type": "InnerProduct", "inner_product_param": {"num_output": link.b.size}}
        else:
            size = {"num_output": link.b.size, "kernel_size": [link.W.shape[2]]}
            layer |= {"type": "Convolution", "convolution_param": size}
        layer["blobs"] = [
            {"shape": {"dim": p.shape}, "data": p.array.ravel()} for p in (link.W, link.b)
        ]
        layers.append(layer)
    path.write_bytes(_wire.write_message(_schema.NET, {"name": "GoogLeNet", "layer": layers}))


def test_caffemodel_is_downloaded_verified_and_converted_once(
    tmp_path, monkeypatch, without_values
):
    pytest.importorskip("pooch")
    monkeypatch.setenv("CHAINER_DATASET_ROOT", str(tmp_path))
    source = tmp_path / "googlenet.caffemodel"
    model = filled(L.GoogLeNet(pretrained_model=None))
    googlenet_file(source, model)
    monkeypatch.setattr(googlenet, "_URL", source.as_uri())
    with pytest.raises(OSError, match="SHA-1"):
        L.GoogLeNet()
    monkeypatch.setattr(googlenet, "_SHA1", hashlib.sha1(source.read_bytes()).hexdigest())
    first = L.GoogLeNet()
    assert _pretrained.model_file("bvlc_googlenet.npz").startswith(str(tmp_path))
    source.unlink()
    monkeypatch.setattr(googlenet, "_URL", "file:///nowhere")
    second = L.GoogLeNet()
    for (path, param), a, b in zip(model.namedparams(), first.params(), second.params()):
        np.testing.assert_array_equal(param.array, a.array, err_msg=path)
        np.testing.assert_array_equal(param.array, b.array, err_msg=path)
    third = L.GoogLeNet(_pretrained.model_file("bvlc_googlenet.npz"))
    np.testing.assert_array_equal(third.conv2.W.array, model.conv2.W.array)


def test_a_file_of_another_network_is_refused(tmp_path, without_values):
    layer = {"name": "conv1_1", "type": "ReLU", "bottom": ["x"], "top": ["y"]}
    path = tmp_path / "other.caffemodel"
    path.write_bytes(_wire.write_message(_schema.NET, {"layer": [layer]}))
    for model in (L.GoogLeNet, L.ResNet50Layers, L.VGG16Layers):
        with pytest.raises(ValueError, match="the caffemodel has no layer 'conv1"):
            model.convert_caffemodel_to_npz(path, tmp_path / "x.npz")
    assert not (tmp_path / "x.npz").exists()


@pytest.mark.parametrize("module", [vgg, googlenet, resnet])
def test_prepare(module):
    Image = pytest.importorskip("PIL.Image")
    mean = module.prepare(np.zeros((4, 6), np.uint8), size=None)[:, 0, 0]
    # Release 7.8.1:
    expected = {
        vgg: [-103.939, -116.779, -123.68],
        googlenet: [-104, -117, -123],
        resnet: [-103.063, -115.903, -123.152],
    }
    np.testing.assert_allclose(mean, expected[module], rtol=1e-6)
    y = module.prepare(IMAGE, size=None)
    assert y.dtype == np.float32 and y.shape == (3, 20, 30)
    np.testing.assert_allclose(
        y - mean[:, None, None], IMAGE[..., ::-1].transpose(2, 0, 1), atol=1e-4
    )
    for same in (IMAGE.transpose(2, 0, 1), Image.fromarray(IMAGE)):
        np.testing.assert_array_equal(module.prepare(same, size=None), y)
    assert module.prepare(IMAGE).shape == (3, 224, 224)
    assert module.prepare(IMAGE, (8, 5)).shape == (3, 5, 8)
    assert module.prepare(IMAGE[:, :, :1], None).shape == (3, 20, 30)
    with pytest.raises(ValueError, match="image must have shape"):
        module.prepare(np.zeros(5))
    with pytest.raises(TypeError, match=r"PIL.Image or numpy.ndarray, got str"):
        module.prepare("image.png")
