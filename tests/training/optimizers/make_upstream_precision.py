"""Makes upstream_precision.json: float16 parameters after 20 updates by release 7.8.1.

Run in an environment of that release: ``python make_upstream_precision.py``. The tests run it, too.
"""

import json
import warnings

import numpy as np

import chainer

NAMES = (
    "AdaBound", "AdaDelta", "AdaGrad", "Adam", "AdamW", "AMSBound", "AMSGrad",
    "CorrectedMomentumSGD", "MomentumSGD", "MSVAG", "NesterovAG", "RMSprop", "RMSpropGraves", "SGD",
    "SMORMS3",
)  # fmt: skip
#: The optimizers that compute float16 in float32 anyway. (Of AdamW the release rounds the decay to
#: float16 first.)
ADAMS = ("AdaBound", "Adam", "AMSBound", "AMSGrad")


def train(name, in_float32, loss_scale):
    """Returns the parameter after 20 updates."""
    arguments = {"weight_decay_rate": 0.01} if name in ("AdamW", "MSVAG") else {}
    link = chainer.Link()
    with link.init_scope():
        link.p = chainer.Parameter(np.array([[1, -2, 3], [0.5, 0, -1]], np.float16))
    optimizer = getattr(chainer.optimizers, name)(**arguments)
    if in_float32:
        optimizer.use_fp32_update()
    optimizer.setup(link)
    random = np.random.RandomState(7)
    gradients = random.standard_normal((20, 2, 3)) * np.array([1, 0.1, 10])
    for t, gradient in enumerate(gradients):
        link.p.grad = (gradient * loss_scale).astype(np.float16)
        link.p._loss_scale = loss_scale
        if t == 10 and hasattr(optimizer, "alpha"):
            optimizer.alpha *= 0.5  # the bounds of AdaBound follow
        optimizer.update()
    return link.p.array


def main():
    numbers = {}
    for name in NAMES:
        numbers[name + " in float32"] = train(name, True, 8.0).tolist()
        if name in ADAMS:
            numbers[name] = train(name, False, 1.0).tolist()
    lines = [f"{json.dumps(name)}: {json.dumps(numbers[name])}" for name in sorted(numbers)]
    print("{\n" + ",\n".join(lines) + "\n}")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
