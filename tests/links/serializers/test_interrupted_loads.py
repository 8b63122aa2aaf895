"""A load that Ctrl-C interrupts leaves all values as they were, or has loaded all of them."""

import numpy as np
import pytest

from chainer import links as L
from chainer import serializers
from chainer.links.serializers import rollback
from tests.core.test_interrupts import run


def model(value):
    link = L.BatchNormalization(70)
    for array in arrays_of(link):
        array[...] = value
    link.N = value
    return link


def arrays_of(link):
    return [*[p.array for p in link.params()], link.avg_mean, link.avg_var]


def values_of(link):
    return {float(v) for array in arrays_of(link) for v in array.ravel()} | {float(link.N)}


@pytest.mark.parametrize("step", [41, pytest.param(1, marks=pytest.mark.slow)])
# A file that was just opened when the interrupt came is closed by its destructor, which warns.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("name", ["npz", "hdf5"])
def test_interrupted_loads(name, step, tmp_path, monkeypatch):
    if name == "hdf5":
        pytest.importorskip("h5py")
    # Several windows in each array.
    monkeypatch.setattr(rollback, "_EXCHANGED_AT_ONCE", 16)
    path = tmp_path / "model"
    getattr(serializers, f"save_{name}")(path, model(2))
    load = getattr(serializers, f"load_{name}")
    load(path, model(1))
    count, _ = run(lambda: load(path, model(1)))
    assert count > 100
    for number in range(1, count + 1, step):
        link = model(1)
        run(lambda link=link: load(path, link), number)
        assert values_of(link) in ({1.0}, {2.0}), number


def test_error_in_the_middle(monkeypatch):
    monkeypatch.setattr(rollback, "_EXCHANGED_AT_ONCE", 2)
    ours, theirs = np.arange(5.0), np.arange(5.0, 10)
    exchange = rollback._Exchange(ours, theirs)
    exchange.run()
    np.testing.assert_array_equal(ours, np.arange(5.0, 10))
    exchange.undo()
    np.testing.assert_array_equal(ours, np.arange(5.0))
