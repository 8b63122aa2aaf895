"""Runs typical operations and prints the implementations oneDNN chose: started by
test_process.py.
"""

from __future__ import annotations

import numpy as np

from ideep4py import ops
from ideep4py._core import primitive, runtime
from ideep4py.ops._winograd import choice

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
choice._GAIN = 1e9  # Winograd's algorithm for all that it can do
runtime.drop_plans()
for size, x in ((8, blocked), (7, ops.dense(blocked)[..., :7, :7])):
    y = ops.convolution(x, w, row, pad=1, relu=True)
    assert y.shape[2:] == (size, size)
    ops.convolution_backward_data(y, w, x.shape, pad=1)
    ops.convolution_backward_weights(x, y, w.shape, pad=1, bias=True)
print(len(seen))
for name, layouts in seen:
    if name.startswith(("ref", "simple")):
        print(name, *layouts)
