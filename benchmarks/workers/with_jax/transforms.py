"""Transforms of functions, written by hand for ``jax.jit``"""

from __future__ import annotations

import jax
import jax.numpy as jnp
import transforms_data as data
from bench_case import Case

UNIT = "us"
COMPARES_FRAMEWORKS = True


def perceptron(params, x):
    for n in range(0, len(params) - 2, 2):
        x = jnp.tanh(x @ params[n].T + params[n + 1])
    return x @ params[-2].T + params[-1]


def _case(name):
    def prepare():
        params = [jnp.asarray(w) for w in data.weights(data.SIZES)]
        arguments = [jnp.asarray(array) for array in data.points()]
        network = lambda x: perceptron(params, x)
        gradient = jax.grad(lambda x: (network(x) ** 2).sum())
        differentiated = network if name == "jvp" else gradient
        function = jax.jit(lambda x, v: jax.jvp(differentiated, (x,), (v,))[1])

        def result():
            return [float((function(*arguments).astype("d") ** 2).sum())]

        return Case([("", lambda: function(*arguments).block_until_ready())], result)

    return prepare


CASES = {"captured: " + _name: _case(_name) for _name in ("jvp", "hvp")}
