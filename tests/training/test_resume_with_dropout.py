"""A training with dropout that is resumed equals one that was not stopped, bit for bit."""

import numpy as np
import pytest

import chainer
import chainer.functions as F
import chainer.links as L
from chainer.training import extensions
from tests.training.small_training import make_dataset


class Model(chainer.Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.hidden = L.Linear(3, 8)
            self.out = L.Linear(8, 1)

    def forward(self, x, t):
        h = F.dropout(F.gaussian(self.hidden(x), self.xp.zeros((len(x), 8), np.float32)))
        return F.mean_squared_error(self.out(h)[:, 0], t)


def train(out, stop, seed, device="@numpy", iterator="SerialIterator", **options):
    chainer.utils.seed(seed)
    model = Model()
    model.to_device(device)
    optimizer = chainer.optimizers.Adam().setup(model)
    data = getattr(chainer.iterators, iterator)(make_dataset(), 4)
    updater = chainer.training.StandardUpdater(data, optimizer, device=device)
    trainer = chainer.training.Trainer(updater, (stop, "iteration"), out=str(out))
    snapshot = extensions.snapshot(filename="snapshot", autoload=True, **options)
    trainer.extend(snapshot, trigger=(4, "iteration"))
    trainer.run()
    model.to_device("@numpy")
    return [param.array for param in model.params()]


@pytest.mark.parametrize("device", ["@numpy", "@strict"])
def test_bit_equal(tmp_path, device):
    whole = train(tmp_path / "whole", 12, 0, device)
    train(tmp_path / "parts", 4, 0, device)
    resumed = train(tmp_path / "parts", 12, 1, device)  # another seed: the snapshot decides
    for a, b in zip(whole, resumed, strict=True):
        np.testing.assert_array_equal(a, b)


def test_bit_equal_with_orders_that_were_drawn_ahead(tmp_path):
    options = {"iterator": "MultithreadIterator"}
    whole = train(tmp_path / "whole", 60, 0, **options)
    # At these iterations the next epoch's order is drawn already, or not yet.
    for stop in (4, 8, 20, 36):
        train(tmp_path / str(stop), stop, 0, **options)
        resumed = train(tmp_path / str(stop), 60, 1, **options)
        for a, b in zip(whole, resumed, strict=True):
            np.testing.assert_array_equal(a, b)


def test_without_the_states(tmp_path):
    whole = train(tmp_path / "whole", 12, 0)
    train(tmp_path / "parts", 4, 0, random_states=False)
    with np.load(tmp_path / "parts" / "snapshot") as file:
        assert "random_states" not in file  # as files of earlier releases
    resumed = train(tmp_path / "parts", 12, 1)
    assert any((a != b).any() for a, b in zip(whole, resumed, strict=True))


def test_only_a_run_sets_the_generators(tmp_path):
    train(tmp_path, 4, 0)
    np.random.seed(5)
    expected = np.random.rand()
    np.random.seed(5)
    model = Model()
    optimizer = chainer.optimizers.Adam().setup(model)
    iterator = chainer.iterators.SerialIterator(make_dataset(), 4)
    np.random.seed(5)
    trainer = chainer.training.Trainer(chainer.training.StandardUpdater(iterator, optimizer))
    chainer.serializers.load_npz(tmp_path / "snapshot", trainer, strict=False)
    assert np.random.rand() == expected
