"""Peak memory of two training steps of a 20-layer MLP (512 units, batch 1024, SGD)"""

from __future__ import annotations

import os
import sys

sys.path.insert(
    0, os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
)  # run as a script, too

from bench_memory import cases, growth  # noqa: E402  (needs the line above)

UNIT = "MB"
MEASURED = True
BUDGETS = {"upstream": 1.0}
CASES = cases(os.path.abspath(__file__))


def train(layers, units, batch, ideep):
    import chainer
    import chainer.functions as F
    import chainer.links as L
    import numpy as np

    class MLP(chainer.ChainList):
        def __call__(self, x, t):
            for layer in list(self.children())[:-1]:
                x = F.relu(layer(x))
            return F.softmax_cross_entropy(list(self.children())[-1](x), t)

    model = MLP(*(L.Linear(units, units) for _ in range(layers)))
    if ideep:
        chainer.global_config.use_ideep = "auto"
        model.to_intel64()
    optimizer = chainer.optimizers.SGD()
    optimizer.setup(model)
    x = np.random.RandomState(0).rand(batch, units).astype(np.float32)
    t = np.zeros(batch, np.int32)
    for _ in range(2):
        loss = model(x, t)
        model.cleargrads()
        loss.backward()
        optimizer.update()


if __name__ == "__main__":
    ideep = sys.argv[2] == "ideep"
    train(2, 8, 4, ideep)  # loads all code first: only arrays are left to count
    print(growth(sys.argv[1], lambda: train(20, 512, 1024, ideep)))
