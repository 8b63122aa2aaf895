"""Files written by earlier releases load here. ``data/make_upstream_files.py`` made them."""

import pathlib

import numpy as np
import pytest

import chainer
from chainer import iterators, serializers
from chainer.links.chain import Chain

DATA = pathlib.Path(__file__).parent / "data"


@pytest.fixture(params=["4.3.1", "7.8.1"])
def directory(request):
    return DATA / f"upstream-{request.param}"


class Layer(Chain):
    def __init__(self, **shapes):
        super().__init__()
        with self.init_scope():
            for name, shape in shapes.items():
                setattr(self, name, chainer.Parameter(shape=shape))


class MLP(Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.l1 = Layer(W=None, b=3)
            self.bn = Layer(gamma=3, beta=3)
            self.l2 = Layer(W=(2, 3), b=2)
        self.bn.add_persistent("avg_mean", np.zeros(3, np.float32))
        self.bn.add_persistent("avg_var", np.zeros(3, np.float32))
        self.bn.add_persistent("N", 1)
        self.add_persistent("note", None)
        self.add_persistent("nothing", None)
        self.add_persistent("scale", 0.0)


def forward(model, x):
    h = x @ model.l1.W.array.T + model.l1.b.array
    h = (h - model.bn.avg_mean) / np.sqrt(model.bn.avg_var + 2e-5)
    h = np.maximum(h * model.bn.gamma.array + model.bn.beta.array, 0)
    return h @ model.l2.W.array.T + model.l2.b.array


@pytest.mark.parametrize(
    ("name", "path"), [("model.npz", ""), ("trainer.npz", "updater/model:main/predictor/")]
)
def test_model(directory, name, path):
    model = MLP()
    serializers.load_npz(directory / name, model, path=path)
    with np.load(directory / "expected.npz") as expected:
        y = forward(model, expected["x"])
        np.testing.assert_allclose(y, expected["y"], rtol=1e-4, atol=1e-6)
    assert model.note == "remember"
    assert model.nothing is None
    assert model.scale == 2.5
    assert model.bn.N == 0


@pytest.mark.parametrize("suffix", ["npz", "h5"])
def test_lazily_initialized_model(directory, suffix):
    model = MLP()
    if suffix == "h5":
        pytest.importorskip("h5py")
        serializers.load_hdf5(directory / "lazy_model.h5", model)
    else:
        serializers.load_npz(directory / "lazy_model.npz", model)
    assert not model.l1.W.is_initialized
    np.testing.assert_array_equal(model.bn.gamma.array, 1)


def test_state_of_an_optimizer_is_as_saved(directory):
    class Rule:
        def serialize(self, serializer):
            for name in ("t", "epoch"):
                setattr(self, name, serializer(name, 0))
            self.m = serializer["predictor/l1/W"]("m", None)

    rule = Rule()
    serializers.load_npz(directory / "adam.npz", rule)
    assert rule.t == 8
    assert rule.m.shape == (3, 4)


@pytest.mark.parametrize("make", [iterators.SerialIterator, iterators.MultiprocessIterator])
def test_serial_iterator_goes_on_where_it_was(directory, make):
    dataset = np.arange(10) % 2
    iterator = make(dataset, 3)
    serializers.load_npz(directory / "serial_iterator.npz", iterator)
    assert (iterator.epoch, iterator.current_position, iterator.is_new_epoch) == (2, 4, False)
    assert iterator.previous_epoch_detail == 2.1
    with np.load(directory / "expected.npz") as expected:
        assert [int(t) for t in iterator.next()] == expected["next"].tolist()
    iterator.finalize()


@pytest.mark.parametrize("make", [iterators.MultithreadIterator, iterators.SerialIterator])
def test_multithread_iterator(directory, make):
    iterator = make(np.arange(10), 3)
    serializers.load_npz(directory / "multithread_iterator.npz", iterator)
    assert (iterator.epoch, iterator.current_position) == (1, 5)
    with np.load(directory / "multithread_iterator.npz") as npz:
        assert [int(i) for i in iterator.next()] == npz["_order"][5:8].tolist()
    iterator.finalize()
