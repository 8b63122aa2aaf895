"""What holds for every link, of the pretrained networks; and that no link is left out."""

from __future__ import annotations

import inspect
import pathlib
import pickle
import sys

import numpy as np
import pytest

import chainer
import chainer.links as L
from chainer import serializers
from tests.earlier_releases import RELEASE_7, needs_release_7, run
from tests.links.data import large_links
from tests.links.link_cases import CASES

PROGRAM = pathlib.Path(large_links.__file__)

#: Links of packs, which test them, and links that are functions without parameters of their own.
ELSEWHERE = {
    "InstanceNormalization": "tests/links/",
    "LayerScale": "tests/links/",
    "MultiHeadAttention": "tests/links/",
    "RMSNormalization": "tests/links/",
    "SqueezeExcitation": "tests/links/",
    "TransformerDecoderLayer": "tests/links/",
    "TransformerEncoderLayer": "tests/links/",
    "TheanoFunction": "tests/links/theano/",
}

# The others have the same parts; they take long.
every_network = pytest.mark.parametrize(
    "name",
    [
        name
        if name in ("GoogLeNet", "ResNet50Layers")
        else pytest.param(name, marks=pytest.mark.slow)
        for name in large_links.INPUT_SIZES
    ],
)


def test_no_link_is_left_out():
    classes = {
        name
        for name in dir(L)
        if inspect.isclass(getattr(L, name)) and issubclass(getattr(L, name), chainer.Link)
    }
    tested = {case.name.split("-")[0] for case in CASES} | set(large_links.INPUT_SIZES)
    assert classes == tested | set(ELSEWHERE) & classes
    assert not tested & set(ELSEWHERE)


@pytest.fixture(scope="module")
def models():
    """Networks by name, of which one is kept."""
    kept = {}

    def model(name):
        if name not in kept:
            kept.clear()
            kept[name] = large_links.filled(name)
        return kept[name]

    return model


def state(link):
    return {path: param.array for path, param in link.namedparams()}


def assert_equal_states(ones, others):
    assert ones.keys() == others.keys()
    for path, array in ones.items():
        np.testing.assert_array_equal(array, others[path], err_msg=path)


@every_network
def test_files(name, models, tmp_path):
    model = models(name)
    # No size waits for a first call.
    assert all(param.is_initialized for param in model.params())
    other = getattr(L, name)(pretrained_model=None)
    serializers.save_npz(tmp_path / "npz", model, compression=False)
    serializers.load_npz(tmp_path / "npz", other)
    assert_equal_states(state(other), state(model))
    pytest.importorskip("h5py")
    for param in other.params():
        param.array[...] = 0
    serializers.save_hdf5(tmp_path / "h5", model, compression=0)
    serializers.load_hdf5(tmp_path / "h5", other)
    assert_equal_states(state(other), state(model))
    np.testing.assert_array_equal(large_links.output(other), large_links.output(model))


@every_network
def test_copies_and_texts(name, models):
    model = models(name)
    arrays = state(model)
    shared, copied, fresh = (model.copy(mode) for mode in ("share", "copy", "init"))
    for path, array in state(shared).items():
        assert array is arrays[path]
    assert_equal_states(state(copied), arrays)
    for path, array in [*state(copied).items(), *state(fresh).items()]:
        assert not np.shares_memory(array, arrays[path])
    del copied
    assert {p: a.shape for p, a in state(fresh).items()} == {p: a.shape for p, a in arrays.items()}
    assert not all(np.array_equal(array, arrays[path]) for path, array in state(fresh).items())
    np.testing.assert_array_equal(large_links.output(shared), large_links.output(model))
    assert repr(model).startswith((f"{name}(", f"<{name}"))
    assert str(model).startswith(f"{name}(\n  (")
    for path in ("conv1", "conv1_1"):
        assert hasattr(model, path) == (f"  ({path}): Convolution2D(" in str(model))
    assert_equal_states(state(pickle.loads(pickle.dumps(model))), arrays)


@every_network
def test_device(name, models):
    pytest.importorskip("chainer_strict_backend")
    from chainer_strict_backend import count_transfers

    model = models(name).copy("copy")
    expected = large_links.output(model)
    strict = chainer.get_device("@strict:1")
    assert model.to_device(strict) is model
    x = strict.send(large_links.image(name))
    with (
        chainer.using_config("train", False),
        chainer.no_backprop_mode(),
        count_transfers() as transfers,
    ):
        y = large_links.call(model, x)
    assert transfers.to_host == transfers.between_devices == 0
    assert chainer.backend.get_device_from_array(y.array) == strict
    np.testing.assert_allclose(strict.backend.to_host(y.array), expected, rtol=1e-3, atol=1e-6)
    model.to_device("@numpy")
    np.testing.assert_array_equal(large_links.output(model), expected)


@pytest.mark.slow
@needs_release_7
@pytest.mark.parametrize("name", large_links.INPUT_SIZES)
def test_files_are_exchanged_with_release_7(name, tmp_path):
    for writer, reader in ((RELEASE_7, sys.executable), (sys.executable, RELEASE_7)):
        run(writer, PROGRAM, "write", name, str(tmp_path))
        assert run(reader, PROGRAM, "read", name, str(tmp_path)) == f"{name} agrees\n"
