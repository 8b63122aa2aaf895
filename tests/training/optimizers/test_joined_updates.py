"""Small parameters that one call updates: bits, errors and hooks as if they were alone."""

from __future__ import annotations

from unittest import mock

import numpy as np
import pytest

import chainer
from chainer.backends.numpy.kernels import optimizer_updates as kernels

COUNT = kernels.FEWEST_JOINED + 2


def model_of(count, device="@numpy"):
    random = np.random.RandomState(0)
    model = chainer.Link()
    with model.init_scope():
        for i in range(count):
            shape = ((3, 4), (5,), (1,), (2, 0))[i % 4]
            setattr(model, f"p{i}", chainer.Parameter(random.standard_normal(shape).astype("f")))
    model.to_device(device)
    return model


def updated(name, fewest, prepare=lambda optimizer: None, device="@numpy", **options):
    """Returns the parameters after three updates, and the number of arrays that were joined."""
    joined = []
    concatenate = np.concatenate

    def counting(arrays, *args, **kwargs):
        joined.append(len(arrays))
        return concatenate(arrays, *args, **kwargs)

    model = model_of(COUNT, device)
    optimizer = getattr(chainer.optimizers, name)(**options).setup(model)
    prepare(model)
    with (
        mock.patch.object(kernels, "FEWEST_JOINED", fewest),
        mock.patch.object(kernels.numpy, "concatenate", counting),
    ):
        for i in range(3):
            for p in model.params():
                p.grad = (p.array * p.array - np.float32(i)).astype(np.float32)
            optimizer.update()
    host = chainer.get_device("@numpy")
    return [host.send(p.array).tobytes() for p in model.params()], max(joined, default=0)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("SGD", {}),
        ("MomentumSGD", {}),
        ("NesterovAG", {}),
        ("AdaGrad", {}),
        ("AdaDelta", {}),
        ("RMSprop", {}),
        ("Adam", {"amsgrad": True, "weight_decay_rate": 0.1}),
        ("AdaBound", {}),
        ("MSVAG", {}),
    ],
)
def test_bits(name, options):
    together, joined = updated(name, kernels.FEWEST_JOINED, **options)
    alone, none = updated(name, 1000, **options)
    assert (joined, none) == (COUNT, 0)
    assert together == alone


def test_hooks_of_a_rule_and_a_frozen_parameter():
    def prepare(model):
        model.p1.update_rule.add_hook(chainer.optimizer_hooks.WeightDecay(0.5))
        model.p4.update_rule.enabled = False
        model.p5.update_rule.hyperparam.alpha = 0.5

    together, joined = updated("Adam", kernels.FEWEST_JOINED, prepare)
    assert joined == COUNT - 2  # without the frozen one and the one with a rate of its own
    assert together == updated("Adam", 1000, prepare)[0]
    assert together != updated("Adam", 1000)[0]


def test_a_parameter_that_is_there_twice():
    def prepare(model):
        model.p0.array = model.p4.array  # of one shape: the same array for two parameters

    together, joined = updated("SGD", kernels.FEWEST_JOINED, prepare)
    assert joined == 0
    assert together == updated("SGD", 1000, prepare)[0]


def test_arrays_of_other_backends_are_not_joined():
    found, joined = updated("Adam", kernels.FEWEST_JOINED, device="@strict:0")
    assert joined == 0
    assert found == updated("Adam", 1000)[0]


def test_errors_are_those_of_one_parameter():
    texts = []
    for count in (1, COUNT):
        model = model_of(count)
        optimizer = chainer.optimizers.Adam(eps=1e-60).setup(model)
        for p in model.params():
            p.grad = p.array
        before = [p.array.copy() for p in model.params()]
        with pytest.raises(ValueError) as caught:
            optimizer.update()
        texts.append(str(caught.value))
        for p, value in zip(model.params(), before, strict=True):
            np.testing.assert_array_equal(p.array, value)
    assert texts[0] == texts[1]
    assert "eps" in texts[0]
