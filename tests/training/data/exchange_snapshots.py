"""Snapshots of trainers that releases exchange; runs under this release and under release 7.8.1.

``python exchange_snapshots.py write FOLDER [NAME ...]`` trains each combination, saves it half-way
as ``FOLDER/NAME`` and what it comes to as ``FOLDER/NAME.json``. ``python exchange_snapshots.py
resume FOLDER [NAME ...]`` loads these snapshots, trains the other half, compares, and prints the
number of combinations that agree.
"""

import itertools
import json
import os
import shutil
import sys
import tempfile
import warnings

import numpy as np

import chainer
import chainer.functions as F
import chainer.links as L
from chainer import iterators, optimizer_hooks, optimizers, serializers, training
from chainer.training import extensions as E
from chainer.training import triggers

OPTIMIZERS = {
    "momentum": lambda: optimizers.MomentumSGD(0.05),
    "amsgrad": lambda: optimizers.Adam(0.02, amsgrad=True, weight_decay_rate=0.01),
    "graves": lambda: optimizers.RMSpropGraves(0.01),
    "delta": lambda: optimizers.AdaDelta(0.9),
}


def next_order(order, position):
    """Orders of epochs that are not random: releases draw random ones differently."""
    return np.arange(18) if order is None else np.roll(order[::-1], 5)


ITERATORS = {
    "serial": lambda data: iterators.SerialIterator(data, 4, order_sampler=next_order),
    "threads": lambda data: iterators.MultithreadIterator(
        data, 4, n_threads=2, order_sampler=next_order
    ),
}
UPDATERS = ("one", "two")
FORMATS = {
    "npz": (serializers.save_npz, serializers.load_npz),
    "h5": (serializers.save_hdf5, serializers.load_hdf5),
}
COMBINATIONS = ["-".join(c) for c in itertools.product(OPTIMIZERS, ITERATORS, UPDATERS, FORMATS)]
HALF, WHOLE = 6, 13


class Net(chainer.Chain):
    """Two layers with statistics between them."""

    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.a = L.Linear(3, 4, nobias=True)
            self.norm = L.BatchNormalization(4)
            self.b = L.Linear(None, 1)

    def __call__(self, x, t):
        y = self.b(F.tanh(self.norm(self.a(x))))
        loss = F.mean_squared_error(y[:, 0], t)
        chainer.report({"loss": loss}, self)
        return loss


class TwoUpdater(training.StandardUpdater):
    """Updates two models, one after the other."""

    def update_core(self):
        x, t = self.converter(self.get_iterator("main").next(), self.device)
        for name in ("first", "second"):
            optimizer = self.get_optimizer(name)
            optimizer.update(optimizer.target, x, t)


def make_trainer(name, out):
    """Makes the training of a combination."""
    optimizer_name, iterator_name, updater_name, _ = name.split("-")
    random = np.random.RandomState(0)
    x = random.rand(18, 3).astype(np.float32)
    data = chainer.datasets.TupleDataset(x, x.dot(np.array([1, -2, 0.5], np.float32)))
    np.random.seed(0)
    iterator = ITERATORS[iterator_name](data)
    made = {}
    for key in ("first", "second"):
        made[key] = OPTIMIZERS[optimizer_name]().setup(Net())
        made[key].add_hook(optimizer_hooks.GradientClipping(1.0))
    if updater_name == "one":
        updater = training.StandardUpdater(iterator, made["first"])
        model = updater.get_optimizer("main").target
        attribute, shifted, reported = "eps", None, "main/loss"
    else:
        updater = TwoUpdater(iterator, made)
        model = made["first"].target
        attribute, shifted, reported = "eps", made["second"], "first/loss"
    if optimizer_name == "momentum":
        attribute = "lr"
    trainer = training.Trainer(updater, (WHOLE, "iteration"), out=out)
    validation = iterators.SerialIterator(data, 4, repeat=False, shuffle=False)
    trainer.extend(E.Evaluator(validation, model))
    # Release 7 cannot write texts and None to HDF5 files.
    if not name.endswith("h5"):
        trainer.extend(E.LogReport(trigger=(2, "iteration")))
        best = triggers.MinValueTrigger(reported)
        trainer.extend(lambda t: None, name="best", trigger=best)
    shift = E.ExponentialShift(attribute, 0.5, optimizer=shifted)
    trainer.extend(shift, trigger=(1, "epoch"))
    return trainer


def result(name, trainer):
    """Returns what a training has come to."""
    state = {}
    for key, optimizer in sorted(trainer.updater.get_all_optimizers().items()):
        for path, param in sorted(optimizer.target.namedparams()):
            state[key + path] = param.array.ravel().tolist()
        state[key + "/var"] = optimizer.target.norm.avg_var.tolist()
    log = None if name.endswith("h5") else trainer.get_extension("LogReport").log
    return {"log": log, "state": state}


def write(name, folder):
    out = tempfile.mkdtemp()
    try:
        trainer = make_trainer(name, out)
        save, _ = FORMATS[name.split("-")[-1]]

        @training.make_extension(trigger=(HALF, "iteration"), priority=-1000)
        def half(trainer):
            if trainer.updater.iteration == HALF:
                save(os.path.join(folder, name), trainer)

        trainer.extend(half, name="half")
        trainer.run()
    finally:
        shutil.rmtree(out)
    with open(os.path.join(folder, name + ".json"), "w") as file:
        json.dump(result(name, trainer), file)


def close(one, other, where=""):
    """Compares nested lists and dictionaries of numbers."""
    assert type(one) is type(other) or not isinstance(one, (dict, list)), (one, other)
    if isinstance(one, dict):
        assert set(one) == set(other), (sorted(one), sorted(other))
        for key in set(one) - {"elapsed_time"}:
            close(one[key], other[key], where + " " + key)
    elif isinstance(one, list):
        assert len(one) == len(other)
        for i, (a, b) in enumerate(zip(one, other)):
            close(a, b, f"{where} [{i}]")
    elif one is not None:
        np.testing.assert_allclose(one, other, rtol=2e-4, atol=1e-5, err_msg=where)


def resume(name, folder):
    out = tempfile.mkdtemp()
    try:
        trainer = make_trainer(name, out)
        # The extension that saved; without a state.
        trainer.extend(lambda trainer: None, name="half", trigger=(HALF, "iteration"))
        _, load = FORMATS[name.split("-")[-1]]
        load(os.path.join(folder, name), trainer)
        assert trainer.updater.iteration == HALF
        trainer.run()
    finally:
        shutil.rmtree(out)
    with open(os.path.join(folder, name + ".json")) as file:
        close(result(name, trainer), json.load(file))


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    action, folder = sys.argv[1:3]
    names = sys.argv[3:] or COMBINATIONS
    failed = 0
    for name in names:
        try:
            {"write": write, "resume": resume}[action](name, folder)
        except Exception as error:
            failed += 1
            sys.stderr.write(f"{name}: {' '.join(str(error).split())}\n")
    print(f"{len(names) - failed} agree")
    sys.exit(failed)
