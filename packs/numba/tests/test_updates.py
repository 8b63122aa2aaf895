"""Updates of parameters against the reference."""

from __future__ import annotations

import itertools

import chainer
import numpy as np
import pytest
from chainer.backends.operations.optimizer_updates import AdamScalars, SGDScalars
from chainer.kernel import get_operation

from chainer_numba.optimizer_updates import AdamKernel, SGDKernel

OPTIMIZERS = [
    ("SGD", {}),
    ("MomentumSGD", {}),
    ("CorrectedMomentumSGD", {}),
    ("NesterovAG", {}),
    ("AdaGrad", {}),
    ("AdaDelta", {}),
    ("Adam", {}),
    ("AdamW", {"weight_decay_rate": 0.1, "eta": 0.5}),
    ("AMSGrad", {}),
    ("AdaBound", {}),
    ("AMSBound", {}),
    ("RMSprop", {}),
    ("RMSprop", {"eps_inside_sqrt": True}),
    ("RMSpropGraves", {}),
    ("SMORMS3", {}),
    ("MSVAG", {"weight_decay_rate": 0.1}),
]
#: Long enough for the special treatment of the first elements, short, empty, without dimensions.
SHAPES = [(40, 33), (7,), (0, 3), ()]


def train(kernels, name, arguments, special=False):
    random = np.random.RandomState(0)
    model = chainer.Link()
    with model.init_scope():
        for n, shape in enumerate(SHAPES):
            array = np.asarray(random.randn(*shape), np.float32)
            setattr(model, f"p{n}", chainer.Parameter(array))
    optimizer = getattr(chainer.optimizers, name)(**arguments).setup(model)
    with chainer.using_config("kernels", kernels), np.errstate(all="ignore"):
        for _ in range(3):
            for n, shape in enumerate(SHAPES):
                grad = np.asarray(random.randn(*shape), np.float32)
                if special and n == 0:
                    grad[0, :4] = np.nan, np.inf, -np.inf, 0
                getattr(model, f"p{n}").grad = grad
            optimizer.update()
    states = [p.update_rule.state or {} for p in model.params()]
    return [p.array for p in model.params()] + [a for s in states for a in s.values()]


@pytest.mark.parametrize("special", [False, True])
@pytest.mark.parametrize(("name", "arguments"), OPTIMIZERS)
def test_same_parameters_and_states_as_the_reference(name, arguments, special):
    expected = train((), name, arguments, special)
    actual = train(("numba",), name, arguments, special)
    for a, b in zip(actual, expected):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)


def test_hyperparameters_may_be_integers():
    p, g = np.ones(3, np.float32), np.ones(3, np.float32)
    SGDKernel(None).update_many([(p, g)], SGDScalars(1))
    np.testing.assert_array_equal(p, 0)


@pytest.mark.parametrize("threads", [1, 2])
def test_many_parameters_in_one_call_get_what_each_gets_alone(threads, use_threads):
    use_threads(threads)
    scalars = AdamScalars(0.01, 0.9, 0.999, 1e-8, 1.0, 0.1, None)
    random = np.random.RandomState(0)
    # Views that begin anywhere in a line of the cache.
    memory = random.rand(4, 200_000).astype(np.float32)
    bounds = [0, 5, 5, 90_001, 90_002, 199_999]
    rows = [[*memory[:, a:b], None] for a, b in itertools.pairwise(bounds)]
    alone = [[None if a is None else a.copy() for a in row] for row in rows]
    AdamKernel(None).update_many(rows, scalars)
    reference = get_operation("adam_update").reference_for(chainer.get_device("@numpy").backend)
    for row, copy in zip(rows, alone):
        reference.update_many([copy], scalars)
        for a, b in zip(row[:4], copy[:4]):
            np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)
    AdamKernel(None).update_many([], scalars)


def test_strided_parameters_are_left_to_the_reference(with_numba):
    x = np.zeros((4, 4), np.float32)
    explanation = chainer.explain("sgd_update", x[:, ::2], x[:, ::2])
    assert explanation.chosen.provider == "reference"


@pytest.mark.parametrize(
    "grad",
    [
        np.zeros(3, np.float64),
        np.zeros(4, np.float32),
        np.zeros(6, np.float32)[::2],
    ],
)
def test_arrays_that_are_not_as_promised_are_refused(grad):
    p = np.zeros(3, np.float32)
    with pytest.raises(ValueError, match="must be writable, contiguous, of float32"):
        SGDKernel(None).update_many([(p, grad)], SGDScalars(0.1))


def test_read_only_parameters_are_refused_and_read_only_gradients_are_not():
    p, g = np.zeros(3, np.float32), np.ones(3, np.float32)
    g.flags.writeable = False
    SGDKernel(None).update_many([(p, g)], SGDScalars(1.0))
    np.testing.assert_array_equal(p, -1)
    p.flags.writeable = False
    with pytest.raises(ValueError, match="must be writable"):
        SGDKernel(None).update_many([(p, g)], SGDScalars(1.0))
