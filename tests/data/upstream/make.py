"""Makes the reference files of this folder with an upstream release of Chainer, run as a black box.

Usage, with the interpreter of an environment that has that release (Python 3.7; see
scripts/setup_peers.py)::

    .peers/chainer7/bin/python tests/data/upstream/make.py
    .peers/chainer4/bin/python tests/data/upstream/make.py

Writes ``v<release>/links/<case>.npz`` (save_npz of a link of links.json) and ``<case>.io.npz``
(inputs ``x0``, ... and, for each call n, outputs ``y<n>_0``, ...; evaluation mode);
``optimizers/<case>.npz`` (state after three updates), ``<case>.model.npz`` (the parameters then)
and ``<case>.io.npz`` (parameters before, the gradients, and the parameters after two more updates);
``trainer.npz`` (snapshot after two epochs) and ``trainer.io.npz`` (data; parameters and log after a
resumed run to epoch four); ``mlp.h5`` and ``mlp.npz`` (one model, both formats). Arrays of links
that hold None are pickled objects. A case with ``releases`` fails in the others (4.3.1 cannot call
its StatefulZoneoutLSTM).
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile

import chainer
import chainer.functions as F
import chainer.links as L
import numpy as np
from chainer import serializers, training
from chainer.training import extensions

HERE = os.path.dirname(os.path.abspath(__file__))
FOLDER = os.path.join(HERE, "v" + chainer.__version__)


def main():
    shutil.rmtree(FOLDER, ignore_errors=True)
    os.makedirs(os.path.join(FOLDER, "links"))
    os.makedirs(os.path.join(FOLDER, "optimizers"))
    with open(os.path.join(HERE, "links.json")) as file:
        links = json.load(file)
    for name, case in links.items():
        if chainer.__version__ in case.get("releases", [chainer.__version__]):
            make_link(name, case)
    with open(os.path.join(HERE, "optimizers.json")) as file:
        optimizers = json.load(file)
    for name, case in optimizers.items():
        make_optimizer(name, case)
    make_trainer()
    make_hdf5()


def path(*names):
    return os.path.join(FOLDER, *names)


def make_inputs(specification, state):
    """An input is ``{"shape": [...]}``, with ``"below": n`` for integers, or a list of inputs."""
    if isinstance(specification, list):
        return [make_inputs(item, state) for item in specification]
    if specification is None:
        return None
    if "below" in specification:
        return state.randint(0, specification["below"], specification["shape"]).astype(np.int32)
    return state.randn(*specification["shape"]).astype(np.float32)


def flat(values):
    """Arrays of nested lists, tuples and Variables, in order; None left out."""
    if values is None:
        return []
    if isinstance(values, chainer.Variable):
        return [values.array]
    if isinstance(values, np.ndarray):
        return [values]
    return [array for value in values for array in flat(value)]


def fill(link, state):
    for name, parameter in sorted(link.namedparams()):
        array = parameter.array
        array[...] = state.randn(*array.shape) * 0.3 + (1 if name.endswith("gamma") else 0)


def make_link(name, case):
    state = np.random.RandomState(1)
    np.random.seed(1)
    link = getattr(L, case["link"])(*case.get("args", []), **case.get("kwargs", {}))
    inputs = [make_inputs(item, state) for item in case["inputs"]]
    if case.get("uninitialized"):  # saved before it ever saw an input
        serializers.save_npz(path("links", name + ".npz"), link)
        return
    with chainer.using_config("train", False), chainer.no_backprop_mode():
        link(*inputs)  # sets the sizes that depend on the input
    fill(link, state)
    for _ in range(case.get("train_calls", 0)):  # moves running statistics
        with chainer.no_backprop_mode():
            link(*inputs)
    if hasattr(link, "reset_state"):
        link.reset_state()
    serializers.save_npz(path("links", name + ".npz"), link)
    arrays = {"x{}".format(n): array for n, array in enumerate(flat(inputs))}
    with chainer.using_config("train", False), chainer.no_backprop_mode():
        for call in range(case.get("calls", 1)):
            for n, array in enumerate(flat(link(*inputs))):
                arrays["y{}_{}".format(call, n)] = array
    np.savez_compressed(path("links", name + ".io.npz"), **arrays)


class MLP(chainer.Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.l1 = L.Linear(4, 3)
            self.l2 = L.Linear(3, 2)

    def __call__(self, x):
        return self.l2(F.tanh(self.l1(x)))


def make_optimizer(name, case):
    state = np.random.RandomState(2)
    model = MLP()
    fill(model, state)
    optimizer = getattr(chainer.optimizers, case["optimizer"])(**case.get("kwargs", {}))
    optimizer.setup(model)
    arrays = {"before" + key: p.array.copy() for key, p in sorted(model.namedparams())}
    gradients = {}
    for key, p in sorted(model.namedparams()):
        gradients[key] = state.randn(5, *p.shape).astype(np.float32)
    for key, gradient in gradients.items():
        arrays["gradient" + key] = gradient
    for step in range(5):
        if step == 3:
            serializers.save_npz(path("optimizers", name + ".npz"), optimizer)
            serializers.save_npz(path("optimizers", name + ".model.npz"), model)
        for key, parameter in model.namedparams():
            parameter.grad = gradients[key][step].copy()
        optimizer.update()
    for key, parameter in model.namedparams():
        arrays["after" + key] = parameter.array
    np.savez_compressed(path("optimizers", name + ".io.npz"), **arrays)


def build_trainer(x, t, epochs, out):
    model = L.Classifier(MLP())
    fill(model, np.random.RandomState(3))
    optimizer = chainer.optimizers.Adam(alpha=0.02)
    optimizer.setup(model)
    optimizer.add_hook(chainer.optimizer_hooks.WeightDecay(0.01))
    data = chainer.datasets.TupleDataset(x, t)
    iterator = chainer.iterators.SerialIterator(data, 6, shuffle=False)
    updater = training.StandardUpdater(iterator, optimizer)
    trainer = training.Trainer(updater, (epochs, "epoch"), out=out)
    test = chainer.iterators.SerialIterator(data, 6, repeat=False, shuffle=False)
    trainer.extend(extensions.Evaluator(test, model))
    trainer.extend(extensions.LogReport())
    trainer.extend(extensions.ExponentialShift("alpha", 0.9), trigger=(1, "epoch"))
    return trainer, model


def make_trainer():
    """Twenty samples in batches of six, in order: epochs do not end with a batch."""
    x = np.random.RandomState(3).randn(20, 4).astype(np.float32)
    t = (x.sum(axis=1) > 0).astype(np.int32)
    out = tempfile.mkdtemp()
    trainer, _ = build_trainer(x, t, 2, out)
    trainer.run()
    serializers.save_npz(path("trainer.npz"), trainer)
    resumed, model = build_trainer(x, t, 4, out)
    serializers.load_npz(path("trainer.npz"), resumed)
    resumed.run()
    arrays = {"x": x, "t": t}
    for key, parameter in sorted(model.namedparams()):
        arrays["after" + key] = parameter.array
    with open(os.path.join(out, "log")) as file:
        arrays["log"] = np.array(file.read())
    np.savez_compressed(path("trainer.io.npz"), **arrays)
    shutil.rmtree(out)


def make_hdf5():
    model = L.Classifier(MLP())
    fill(model, np.random.RandomState(4))
    serializers.save_hdf5(path("mlp.h5"), model)
    serializers.save_npz(path("mlp.npz"), model)


if __name__ == "__main__":
    main()
