"""Files written on either side load on the other."""

from __future__ import annotations

import numpy as np
import pytest

import chainer
import chainer.links as L
from chainer import optimizers, serializers
from tests.gpu import place

FORMATS = {
    "npz": (serializers.save_npz, serializers.load_npz),
    "h5": (serializers.save_hdf5, serializers.load_hdf5),
}


def model(seed):
    np.random.seed(seed)
    return chainer.Sequential(L.Linear(3, 4), L.BatchNormalization(4), L.Convolution2D(1, 2, 2))


def trained(seed, device):
    """A model and its optimizer after two steps."""
    made = model(seed).to_device(device)
    optimizer = optimizers.Adam().setup(made)
    for i in range(2):
        for param in made.params():
            grad = np.random.RandomState(i).uniform(-1, 1, param.shape).astype(np.float32)
            param.grad = device.send(grad)
        optimizer.update()
    return made, optimizer


def state(obj):
    target = {}
    serializers.DictionarySerializer(target).save(obj)
    return {key: np.array(value) for key, value in target.items()}


@pytest.mark.parametrize("sides", ["device-host", "host-device", "device-device"])
@pytest.mark.parametrize("suffix", FORMATS)
def test_files(suffix, sides, device, tmp_path):
    if suffix == "h5":
        pytest.importorskip("h5py")
    save, load = FORMATS[suffix]
    source, target = (device if name == "device" else place.HOST for name in sides.split("-"))
    written, optimizer = trained(0, source)
    save(str(tmp_path / "model"), written)
    save(str(tmp_path / "optimizer"), optimizer)
    read, other = trained(1, target)
    load(str(tmp_path / "model"), read)
    load(str(tmp_path / "optimizer"), other)
    for param in read.params():
        assert param.device == target
    for one, two in ((written, read), (optimizer, other)):
        expected, actual = state(one), state(two)
        assert expected.keys() == actual.keys()
        for key, value in expected.items():
            np.testing.assert_array_equal(actual[key], value, err_msg=key)


@pytest.mark.parametrize("suffix", FORMATS)
def test_lazy_parameters_are_made_on_the_device(suffix, device, tmp_path):
    if suffix == "h5":
        pytest.importorskip("h5py")
    save, load = FORMATS[suffix]
    save(str(tmp_path / "model"), L.Linear(3, 2))
    link = L.Linear(None, 2).to_device(device)
    load(str(tmp_path / "model"), link)
    assert link.W.shape == (2, 3)
    assert link.W.device == device
