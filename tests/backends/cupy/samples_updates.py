"""Calls of the kernels of optimizers."""

from __future__ import annotations

import numpy as np

from chainer.backends.operations.optimizer_updates import (
    AdaDeltaScalars,
    AdamScalars,
    MSVAGScalars,
    NormalizedScalars,
    RMSpropGravesScalars,
    RMSpropScalars,
    SGDScalars,
    VelocityScalars,
)
from tests.backends.cupy.sample_table import rand, sample

GRAVES = RMSpropGravesScalars(lr=0.1, alpha=0.9, momentum=0.9, eps=1e-1)
MSVAG = MSVAGScalars(lr=0.1, beta=0.9, eta=0.5, weight_decay_rate=0.1, correction=0.3, rho=0.7)
#: Number of the states, and the scalars.
UPDATES = {
    "sgd": (0, SGDScalars(0.1)),
    "momentum_sgd": (1, VelocityScalars(0.1, 0.9)),
    "corrected_momentum_sgd": (1, VelocityScalars(0.1, 0.9)),
    "nesterov_ag": (1, VelocityScalars(0.1, 0.9)),
    "ada_grad": (1, NormalizedScalars(0.1, 1e-3)),
    "ada_delta": (2, AdaDeltaScalars(0.95, 1e-3)),
    "rmsprop": (1, RMSpropScalars(0.1, 0.9, 1e-3, False)),
    "rmsprop_graves": (0, GRAVES),
    "smorms3": (3, NormalizedScalars(0.1, 1e-3)),
    "msvag": (2, MSVAG),
}
ADAM = AdamScalars(
    alpha_t=0.1, beta1=0.9, beta2=0.99, eps=1e-3, eta=0.7, weight_decay_rate=0.0, bounds=None
)


def changed(k, arrays, scalars):
    k.update_many([arrays], scalars)
    return [array for i, array in enumerate(arrays) if i != 1 and array is not None]


@sample(*["sgd_update"], ("sgd", (3, 4)), ("sgd", (2500,)), ("sgd", (0,)))
def plain_update(k, a, dtype, name, shape):
    return changed(k, [a(rand(*shape)), a(rand(*shape))], UPDATES[name][1])


def _update(name, shape=(3, 5), **others):
    states, scalars = UPDATES[name]

    def update(k, a, dtype):
        arrays = [a(rand(*shape)), a(rand(*shape))]
        arrays += [a(np.random.random_sample(shape) + 0.1) for _ in range(states)]
        return changed(k, arrays, scalars._replace(**others))

    return update


for _name in UPDATES:
    if _name not in ("sgd", "rmsprop_graves"):
        sample(f"{_name}_update")(_update(_name))
sample("rmsprop_update")(lambda k, a, dtype: _update("rmsprop", eps_inside_sqrt=True)(k, a, dtype))


@sample("rmsprop_graves_update")
def graves(k, a, dtype):
    n, g = a(np.random.random_sample(7) + 1), a(np.random.random_sample(7) / 4)
    return changed(k, [a(rand(7)), a(rand(7)), n, g, a(rand(7))], UPDATES["rmsprop_graves"][1])


@sample("msvag_update")
def first_msvag(k, a, dtype):
    scalars = MSVAG._replace(rho=1.0, correction=0.1, weight_decay_rate=0.0)
    gradient = np.array([0.0, 1.0, -2.0])
    arrays = [a(rand(3)), a(gradient), a(np.zeros(3)), a(np.zeros(3))]
    return changed(k, arrays, scalars)


@sample(
    "adam_update",
    (False, {}),
    (True, {}),
    (False, {"weight_decay_rate": 0.1}),
    (True, {"bounds": (0.05, 0.2)}),
)
def adam(k, a, dtype, amsgrad, others):
    p, g, m = (a(rand(4, 300)) for _ in range(3))
    v, vhat = (a(np.random.random_sample((4, 300))) for _ in range(2))
    return changed(k, [p, g, m, v, vhat if amsgrad else None], ADAM._replace(**others))


@sample("gradient_hooks", ((3, 5), None), ((2500,), None), ((7,), 64.0))
def changes(k, a, dtype, shape, scale):
    shapes = [shape, (4,), (0,)]
    params = [a(rand(*s)) for s in shapes]
    params[1][0] = 0
    results = []
    for name in ("weight_decay", "lasso"):
        grads = [a(rand(*s)) for s in shapes]
        getattr(k, name)(list(zip(params, grads, [scale] * 3, strict=True)), 0.3)
        results += grads
    k.clip(grads, -0.25, 0.5)
    clipped = [grad + 0 for grad in grads]
    wide = "d" if dtype == "d" else "f"
    k.scale(grads, a(np.array(0.75), wide))
    return (*results, *clipped, k.sum_of_squares(grads).astype("d"))


@sample("gradient_hooks", dtypes="f")
def half_gradients(k, a, dtype):
    params, grads = [a(rand(6)), a(rand(2000))], [a(rand(6), "e"), a(rand(2000), "e")]
    k.weight_decay([(p, g, 8.0) for p, g in zip(params, grads, strict=True)], 0.5)
    return (*[g.astype("f") / 100 for g in grads], k.sum_of_squares(grads).astype("d"))
