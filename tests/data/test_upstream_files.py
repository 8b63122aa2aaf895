"""Files that upstream 4.3.1 and 7.8.1 wrote load here and compute the same (upstream/make.py)."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import chainer
import chainer.functions as F
import chainer.links as L
from chainer import serializers, training
from chainer.training import extensions

FOLDER = Path(__file__).parent / "upstream"
pytestmark = pytest.mark.filterwarnings("ignore:.*is experimental:FutureWarning")
RELEASES = ["4.3.1", "7.8.1"]
LINKS = json.loads((FOLDER / "links.json").read_text())
OPTIMIZERS = json.loads((FOLDER / "optimizers.json").read_text())


def read(*names: str) -> dict[str, np.ndarray]:
    with np.load(FOLDER.joinpath(*names)) as file:
        return {name: file[name] for name in file.files}


def cases(table: dict, **conditions: bool) -> list:
    return [
        pytest.param(release, name, id=f"{name}-{release}")
        for name, case in table.items()
        for release in RELEASES
        if release in case.get("releases", RELEASES)
        and all(bool(case.get(key)) == value for key, value in conditions.items())
    ]


def take(specification, arrays):
    """Rebuilds a nested input from the flat sequence of stored arrays."""
    if specification is None:
        return None
    if isinstance(specification, list):
        return [take(item, arrays) for item in specification]
    return next(arrays)


def flat(values) -> list[np.ndarray]:
    if values is None:
        return []
    if isinstance(values, chainer.Variable):
        return [values.array]
    if isinstance(values, np.ndarray):
        return [values]
    return [array for value in values for array in flat(value)]


def close(actual, expected):
    np.testing.assert_allclose(actual, expected, rtol=2e-5, atol=2e-6)


def make_link(case: dict) -> chainer.Link:
    if not hasattr(L, case["link"]):
        pytest.skip(f"chainer.links.{case['link']} does not exist yet")
    return getattr(L, case["link"])(*case.get("args", []), **case.get("kwargs", {}))


@pytest.mark.parametrize(("release", "name"), cases(LINKS, uninitialized=False))
def test_link(release, name):
    case = LINKS[name]
    stored = read(f"v{release}", "links", f"{name}.io.npz")
    np.random.seed(1)
    link = make_link(case)
    serializers.load_npz(FOLDER / f"v{release}" / "links" / f"{name}.npz", link)
    arrays = iter([stored[f"x{n}"] for n in range(sum(key[0] == "x" for key in stored))])
    inputs = [take(item, arrays) for item in case["inputs"]]
    with chainer.using_config("train", False), chainer.no_backprop_mode():
        if case.get("random"):  # upstream had called it before
            link(*inputs)
        for call in range(case.get("calls", 1)):
            outputs = flat(link(*inputs))
            assert len(outputs) == sum(key.startswith(f"y{call}_") for key in stored)
            for n, output in enumerate(outputs):
                close(output, stored[f"y{call}_{n}"])


@pytest.mark.parametrize(("release", "name"), cases(LINKS, uninitialized=False))
def test_link_writes_the_same_names(release, name, tmp_path):
    original = FOLDER / f"v{release}" / "links" / f"{name}.npz"
    link = make_link(LINKS[name])
    serializers.load_npz(original, link)
    serializers.save_npz(tmp_path / "again.npz", link)
    ours, theirs = read(str(tmp_path / "again.npz")), read(str(original))
    assert set(ours) == set(theirs)
    for key, array in theirs.items():
        assert ours[key].dtype == array.dtype
        np.testing.assert_array_equal(ours[key], array)


@pytest.mark.parametrize(("release", "name"), cases(OPTIMIZERS))
def test_optimizer(release, name):
    stored = read(f"v{release}", "optimizers", f"{name}.io.npz")
    model = MLP()
    case = OPTIMIZERS[name]
    optimizer = getattr(chainer.optimizers, case["optimizer"])(**case.get("kwargs", {}))
    optimizer.setup(model)
    serializers.load_npz(FOLDER / f"v{release}" / "optimizers" / f"{name}.model.npz", model)
    serializers.load_npz(FOLDER / f"v{release}" / "optimizers" / f"{name}.npz", optimizer)
    assert optimizer.t == 3
    for step in (3, 4):
        for key, parameter in model.namedparams():
            parameter.grad = stored["gradient" + key][step].copy()
        optimizer.update()
    for key, parameter in model.namedparams():
        close(parameter.array, stored["after" + key])


@pytest.mark.parametrize("release", RELEASES)
def test_trainer_resumes_an_upstream_snapshot(release, tmp_path):
    stored = read(f"v{release}", "trainer.io.npz")
    model = L.Classifier(MLP())
    optimizer = chainer.optimizers.Adam(alpha=0.02)
    optimizer.setup(model)
    optimizer.add_hook(chainer.optimizer_hooks.WeightDecay(0.01))
    data = chainer.datasets.TupleDataset(stored["x"], stored["t"])
    iterator = chainer.iterators.SerialIterator(data, 6, shuffle=False)
    updater = training.StandardUpdater(iterator, optimizer)
    trainer = training.Trainer(updater, (4, "epoch"), out=str(tmp_path))
    test = chainer.iterators.SerialIterator(data, 6, repeat=False, shuffle=False)
    trainer.extend(extensions.Evaluator(test, model))
    trainer.extend(extensions.LogReport())
    trainer.extend(extensions.ExponentialShift("alpha", 0.9), trigger=(1, "epoch"))
    serializers.load_npz(FOLDER / f"v{release}" / "trainer.npz", trainer)
    assert (updater.iteration, updater.epoch) == (7, 2)
    trainer.run()
    for key, parameter in model.namedparams():
        close(parameter.array, stored["after" + key])
    ours, theirs = json.loads((tmp_path / "log").read_text()), json.loads(str(stored["log"]))
    assert len(ours) == len(theirs) == 4
    for our, their in zip(ours, theirs, strict=True):
        assert set(our) == set(their)
        for key in set(their) - {"elapsed_time"}:
            assert our[key] == pytest.approx(their[key], rel=1e-4)


@pytest.mark.parametrize("release", RELEASES)
def test_hdf5(release):
    pytest.importorskip("h5py")
    expected, model = L.Classifier(MLP()), L.Classifier(MLP())
    serializers.load_npz(FOLDER / f"v{release}" / "mlp.npz", expected)
    serializers.load_hdf5(FOLDER / f"v{release}" / "mlp.h5", model)
    for (key, parameter), (_, other) in zip(
        sorted(model.namedparams()), sorted(expected.namedparams()), strict=True
    ):
        np.testing.assert_array_equal(parameter.array, other.array, err_msg=key)


@pytest.mark.parametrize("release", RELEASES)
def test_uninitialized_parameter(release):
    link = L.Linear(None, 2)
    link.b.array[...] = 5
    serializers.load_npz(FOLDER / f"v{release}" / "links" / "Linear_uninitialized.npz", link)
    assert link.W.array is None
    close(link.b.array, [0, 0])


class MLP(chainer.Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.l1 = L.Linear(4, 3)
            self.l2 = L.Linear(3, 2)

    def __call__(self, x):
        return self.l2(F.tanh(self.l1(x)))
