"""Captured steps and static chains while iDeep's kernels are in use."""

import numpy as np
import pytest

import chainer
import chainer.functions as F
import chainer.links as L


def test_steps_with_its_arrays_run_as_written():
    model = L.Classifier(chainer.Sequential(L.Linear(6, 5), F.relu, L.Linear(5, 3)))
    optimizer = chainer.optimizers.SGD(0.1).setup(model)

    def step(x, t):
        optimizer.update(model, x, t)
        return model.loss

    x, t = np.random.rand(4, 6).astype("f"), np.zeros(4, "i")
    captured = chainer.capture(step, model, optimizer)
    with chainer.using_config("use_ideep", "auto"):
        with pytest.warns(UserWarning, match="array of backend 'ideep'.*use_ideep = 'never'"):
            losses = [float(captured(x, t).array) for _ in range(5)]
        assert losses[4] < losses[0]
    recorded = chainer.capture(step, model, optimizer)
    for _ in range(5):
        recorded(x, t)
    assert ", in use" in chainer.explain(recorded)
