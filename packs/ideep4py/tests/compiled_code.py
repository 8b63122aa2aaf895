"""Runs typical operations and prints the implementations oneDNN chose: started by
test_process.py.
"""

from __future__ import annotations

import numpy as np

from ideep4py import ops
from ideep4py._core import primitive

seen: list[tuple[str, list[str]]] = []
create = primitive.Primitive.__init__


def recorded(self, pd, arguments) -> None:
    create(self, pd, arguments)
    seen.append((self.implementation, [repr(layout) for _, layout in arguments]))


primitive.Primitive.__init__ = recorded
random = np.random.default_rng(0)
row = random.standard_normal(16, dtype=np.float32)
w = random.standard_normal((16, 16, 3, 3), dtype=np.float32)
blocked = ops.convolution(random.standard_normal((2, 16, 8, 8), dtype=np.float32), w, pad=1)
for x in (blocked, ops.dense(blocked)):
    y = ops.convolution(x, w, row, pad=1, relu=True)
    ops.convolution_backward_data(y, w, x.shape, pad=1)
    ops.convolution_backward_weights(x, y, w.shape, pad=1, bias=True)
    out, workspace = ops.pooling(y, "max", 2)
    ops.pooling_backward(out, y, "max", 2, workspace=workspace)
    _, mean, var, workspace = ops.batch_normalization(y, row, row, relu=True)
    ops.batch_normalization_backward(y, y, row, mean, var, workspace=workspace)
    _ = (x + x, x * 2, x / 3, 1 - x, x.axpby(1, 2, x), x.sum((0, 2, 3)), x.sum())
    for name in ("relu", "tanh", "logistic"):
        ops.eltwise_backward(ops.eltwise(x, name), x, name, from_output=True)
    ops.log_softmax_backward(ops.log_softmax(x), x)
    ops.softmax_backward(ops.softmax(x), x)
    ops.deconvolution(x, w, row, pad=1)
    ops.adam_update(x, x.copy(), ops.zeros_like(x), ops.zeros_like(x), 0.1)
print(len(seen))
for name, layouts in seen:
    if name.startswith("ref"):
        print(name, *layouts)
