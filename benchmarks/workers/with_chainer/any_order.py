"""Training steps that differentiate gradients, and derivatives of orders 0 to 5"""

from __future__ import annotations

import any_order_data as data
import any_order_steps as steps
import chainer
from bench_case import Case, Missing

UNIT = "us"
PEERS = ["ours", "ours-fast", "ours-numba", "torch", "jax"]
THREADS = [1, 2]
COMPARES_FRAMEWORKS = True
BUDGETS = {
    "torch": {
        "eager: PINN": 1 / 1.15,
        "eager: ODE": 1 / 1.15,
        "eager: MAML": 1 / 1.15,
        "eager: forces": 1 / 0.9,
        "eager: HVP": 1 / 0.9,
        "eager: WGAN-GP": 1 / 0.9,
        "order": 1 / 1.1,
    },
    # With the one switch, oneDNN computes convolutions.
    "ours-fast/torch": {"eager: WGAN-GP": 1 / 0.9},
}
# The growth from one order to the next.
ROW_BUDGETS = [["order {}".format(n + 1), "order {}".format(n), 2.6] for n in data.ORDERS[:-1]]

#: Calls until a step is recorded, compared and in use.
_CALLS_TO_CAPTURE = 6


def _case(name, captures, device=None):
    def prepare():
        if captures and not hasattr(chainer, "capture"):
            raise Missing("this release has no chainer.capture")
        if device:
            try:
                chainer.get_device(device)
            except (ImportError, RuntimeError, ValueError) as error:
                raise Missing("chainer-jax is not installed") from error
        training = steps.training(name, device)
        if captures:
            training.capture()
            for _ in range(_CALLS_TO_CAPTURE):
                training()
        return Case([("", training)], training.result)

    return prepare


def _order(n):
    def prepare():
        order = steps.Order(n)
        return Case([("", order.step)], order.result)

    return prepare


CASES = {}
for _name in data.WORKLOADS:
    CASES["eager: " + _name] = _case(_name, False)
for _n in data.ORDERS:
    CASES["order {}".format(_n)] = _order(_n)
for _name in data.WORKLOADS:
    CASES["captured: " + _name] = _case(_name, True)
for _name in data.WORKLOADS:
    CASES["captured on JAX: " + _name] = _case(_name, True, "@jax:0")
