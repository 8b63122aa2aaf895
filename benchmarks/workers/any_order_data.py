"""Numbers of the benchmark of gradients of any order, the same for every framework.

Python 3.7 compatible. Each workload has a fixed batch, because the work does not depend on values.
"""

from __future__ import annotations

import math

import numpy as np

#: Rows of the table. The names are the cases of all programs.
WORKLOADS = (
    "PINN, 2nd order",
    "ODE, 3rd order",
    "WGAN-GP",
    "forces",
    "MAML",
    "HVP",
)

#: Orders of the derivative in the second table.
ORDERS = tuple(range(6))

#: Losses of the first steps, which all frameworks must agree on.
LOSSES = 5

LEARNING_RATE = 1e-3
INNER_RATE = 0.05  # of the steps inside MAML
PENALTY = 10.0  # factor of the gradient penalty
SLOPE = 0.2  # of leaky ReLU
SIZES = {
    "PINN, 2nd order": (1, 32, 32, 1),
    "ODE, 3rd order": (1, 32, 32, 1),
    "forces": (16, 32, 1),
    "MAML": (1, 32, 32, 1),
    "HVP": (10, 32, 32, 6),
    "orders": (1, 32, 32, 1),
}


def _random(seed, *shape):
    return np.random.RandomState(seed).randn(*shape).astype(np.float32)


def weights(sizes):
    """Returns weight, bias, weight, bias, ... of a multilayer perceptron."""
    found = []
    for n, (inputs, outputs) in enumerate(zip(sizes[:-1], sizes[1:])):
        found.append(_random(n, outputs, inputs) / np.float32(math.sqrt(inputs)))
        found.append(np.zeros(outputs, np.float32))
    return found


def filters():
    """Returns the parameters of the critic of WGAN-GP: two convolutions and a linear layer."""
    return [
        _random(1, 16, 3, 4, 4) / np.float32(7),
        np.zeros(16, np.float32),
        _random(2, 32, 16, 4, 4) / np.float32(16),
        np.zeros(32, np.float32),
        _random(3, 1, 32 * 6 * 6) / np.float32(34),
        np.zeros(1, np.float32),
    ]


def points(count):
    """Returns points of the interval from -1 to 1, of shape (count, 1)."""
    return np.linspace(-1, 1, count, dtype=np.float32).reshape(count, 1)


def source(xs):
    """Returns the right side of u'' = f whose solution is sin(pi x)."""
    return (-(np.pi**2) * np.sin(np.pi * xs)).astype(np.float32)


def images():
    """Returns real images, generated images and what mixes them, for the gradient penalty."""
    mix = np.random.RandomState(3).rand(16, 1, 1, 1).astype(np.float32)
    real, fake = _random(4, 16, 3, 24, 24), _random(5, 16, 3, 24, 24)
    return real, fake, mix * real + (1 - mix) * fake


def molecule():
    """Returns positions of 24 atoms, their forces, and centers of 16 radial functions."""
    centers = np.linspace(0.5, 4, 16, dtype=np.float32)
    return 2 * _random(6, 24, 3), _random(7, 24, 3), centers


def tasks():
    """Returns inputs and targets of the inner steps and of the loss of MAML."""
    inner, outer = 3 * _random(8, 10, 1), 3 * _random(9, 10, 1)
    return inner, np.sin(inner), outer, np.sin(outer)


def regression():
    """Returns a batch, its targets, and a first direction for each parameter."""
    directions = [_random(20 + n, *w.shape) for n, w in enumerate(weights(SIZES["HVP"]))]
    return _random(10, 64, 10), _random(11, 64, 6), directions
