"""Writes and reads the state of every optimizer; runs under this and under earlier releases.

``python exchange_optimizers.py write FOLDER`` trains two steps with each optimizer, saves model and
optimizer with ``save_npz``, trains two more and writes the parameters to ``FOLDER/expected.npz``.
``python exchange_optimizers.py read FOLDER`` loads these files, trains the last two steps, compares
the parameters, and prints the number of optimizers that agree.
"""

import os
import sys
import warnings

import numpy as np

import chainer
from chainer import optimizers, serializers

OPTIMIZERS = {
    "AdaDelta": lambda: optimizers.AdaDelta(),
    "AdaGrad": lambda: optimizers.AdaGrad(0.1),
    "Adam": lambda: optimizers.Adam(0.01, weight_decay_rate=0.1),
    "AMSGrad": lambda: optimizers.Adam(0.01, amsgrad=True),
    "MomentumSGD": lambda: optimizers.MomentumSGD(0.1),
    "NesterovAG": lambda: optimizers.NesterovAG(0.1),
    "RMSprop": lambda: optimizers.RMSprop(0.01),
    "RMSpropGraves": lambda: optimizers.RMSpropGraves(0.01),
    "SGD": lambda: optimizers.SGD(0.1),
    "SMORMS3": lambda: optimizers.SMORMS3(0.01),
}
if chainer.__version__ >= "7":
    OPTIMIZERS.update(
        {
            "AdaBound": lambda: optimizers.AdaBound(0.01),
            "AdamW": lambda: optimizers.AdamW(0.01, weight_decay_rate=0.1),
            "AMSBound": lambda: optimizers.AMSBound(0.01),
            "CorrectedMomentumSGD": lambda: optimizers.CorrectedMomentumSGD(0.1),
            "RMSprop-inside": lambda: optimizers.RMSprop(0.01, eps_inside_sqrt=True),
        }
    )


def make(name):
    model = chainer.Link()
    with model.init_scope():
        model.W = chainer.Parameter(np.linspace(-1, 1, 6, dtype=np.float32).reshape(2, 3))
        model.b = chainer.Parameter(np.ones(2, np.float32))
    return model, OPTIMIZERS[name]().setup(model)


def train(model, optimizer, steps):
    for step in steps:
        for index, param in enumerate((model.W, model.b)):
            gradients = np.random.RandomState(10 * step + index).randn(*param.shape)
            param.grad = gradients.astype(np.float32)
        optimizer.update()


def write(folder):
    expected = {}
    for name in OPTIMIZERS:
        model, optimizer = make(name)
        train(model, optimizer, (0, 1))
        serializers.save_npz(os.path.join(folder, name + "-model.npz"), model)
        serializers.save_npz(os.path.join(folder, name + "-optimizer.npz"), optimizer)
        train(model, optimizer, (2, 3))
        expected.update({name + "/W": model.W.array, name + "/b": model.b.array})
    np.savez(os.path.join(folder, "expected.npz"), **expected)


def read(folder):
    expected = np.load(os.path.join(folder, "expected.npz"))
    names = sorted({key.split("/")[0] for key in expected.files} & set(OPTIMIZERS))
    for name in names:
        model, optimizer = make(name)
        serializers.load_npz(os.path.join(folder, name + "-model.npz"), model)
        serializers.load_npz(os.path.join(folder, name + "-optimizer.npz"), optimizer)
        assert optimizer.t == 2, name
        train(model, optimizer, (2, 3))
        for key, param in (("/W", model.W), ("/b", model.b)):
            np.testing.assert_allclose(param.array, expected[name + key], 1e-5, 1e-6, err_msg=name)
    print(f"{len(names)} optimizers agree")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    {"write": write, "read": read}[sys.argv[1]](sys.argv[2])
