"""Optimizer updates over 1.8 million parameters (784-1000-1000-10), gradients given"""

from __future__ import annotations

import chainer
import chainer.links as L
import numpy as np
from bench_case import Case, Missing
from bench_chainer import fill

UNIT = "ms"


def update_with(name, **arguments):
    def prepare():
        try:
            optimizer = getattr(chainer.optimizers, name)(**arguments)
        except AttributeError as error:
            raise Missing(str(error)) from error
        model = fill(
            chainer.ChainList(L.Linear(784, 1000), L.Linear(1000, 1000), L.Linear(1000, 10))
        )
        optimizer.setup(model)
        gradients = np.random.RandomState(1)
        for parameter in model.params():
            parameter.grad = (gradients.randn(*parameter.shape) * 0.01).astype(np.float32)
        return Case(
            [("", optimizer.update)], lambda: [float(abs(p.array).mean()) for p in model.params()]
        )

    return prepare


CASES = {
    "SGD": update_with("SGD"),
    "MomentumSGD": update_with("MomentumSGD"),
    "NesterovAG": update_with("NesterovAG"),
    "AdaGrad": update_with("AdaGrad"),
    "AdaDelta": update_with("AdaDelta"),
    "Adam": update_with("Adam"),
    "AMSGrad": update_with("Adam", amsgrad=True),
    "AdamW": update_with("Adam", weight_decay_rate=0.01),
    "RMSprop": update_with("RMSprop"),
    "RMSpropGraves": update_with("RMSpropGraves"),
    "SMORMS3": update_with("SMORMS3"),
}
# The same updates, against the best setting of PyTorch.
for _name in ("SGD", "MomentumSGD", "NesterovAG", "AdaGrad", "Adam", "AMSGrad", "AdamW"):
    CASES[_name + " fused"] = CASES[_name]
