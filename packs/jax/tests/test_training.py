"""Updaters and evaluators on the device."""

from __future__ import annotations

import chainer
import chainer.functions as F
import chainer.links as L
import numpy as np
import pytest
from chainer import training


class Regression(chainer.Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.l = L.Linear(3, 2)

    def forward(self, x, t):
        loss = F.mean_squared_error(self.l(x), t)
        chainer.report({"loss": loss}, self)
        return loss


def send(batch, device):
    """A converter as programs of release 4 write it: a function of a batch and a device."""
    xs, ts = zip(*batch, strict=True)
    return tuple(chainer.dataset.to_device(device, np.stack(x)) for x in (xs, ts))


@pytest.mark.parametrize("converter", [send, chainer.dataset.concat_examples])
@pytest.mark.parametrize("capture", [False, True])
def test_converters(converter, capture):
    device = chainer.get_device("@jax:0")
    chainer.utils.seed(0)
    examples = [(np.random.rand(3).astype("f"), np.random.rand(2).astype("f")) for _ in range(12)]
    observed = []
    for place in ("@numpy", "@jax:0"):
        model = Regression()
        model.l.W.array[...] = np.arange(6).reshape(2, 3) / 10
        model.to_device(place)
        optimizer = chainer.optimizers.SGD(0.1).setup(model)
        iterator = chainer.iterators.SerialIterator(examples, 4, shuffle=False)
        updater = training.StandardUpdater(
            iterator, optimizer, converter, device=place, capture=capture
        )
        for _ in range(6):
            updater.update()
        test = chainer.iterators.SerialIterator(examples, 4, repeat=False, shuffle=False)
        evaluator = training.extensions.Evaluator(test, model, converter, device=place)
        observed.append(float(evaluator()["main/loss"]))
    assert model.l.device == device
    np.testing.assert_allclose(*observed, rtol=1e-5)
