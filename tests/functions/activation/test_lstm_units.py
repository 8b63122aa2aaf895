"""Layout of the sources of LSTM, S-LSTM and TreeLSTM units, against stored numbers.

The numbers were made with Chainer 4.3.1; 7.8.1 gives the same.
"""

import numpy as np
import pytest

import chainer
from chainer import functions as F


def numbers(k, *shape):
    return (np.arange(np.prod(shape)).reshape(shape) * 7 * k % 5 - 2).astype(np.float32) / 2


C1, C2 = numbers(1, 2, 2), numbers(2, 2, 2)
X1, X2 = numbers(3, 2, 8), numbers(4, 2, 8)


def close(actual, expected):
    np.testing.assert_allclose(getattr(actual, "array", actual), expected, rtol=2e-6, atol=1e-7)


def test_slstm_forward():
    c, h = F.slstm(C1, C2, X1, X2)
    close(c, [[-1.6391349, 0.82728356], [1.1220438, -0.703364]])
    close(h, [[-0.75817895, 0.25635567], [0.40413934, -0.07229641]])


@pytest.mark.parametrize("on_arrays", [True, False])
def test_slstm_gradients(on_arrays):
    inputs = [chainer.Variable(x) for x in (C1, C2, X1, X2)]
    c, h = F.slstm(*inputs)
    loss = F.sum(c) + 2 * F.sum(h)
    gc1, gc2, gx1, gx2 = chainer.grad([loss], inputs, enable_double_backprop=not on_arrays)
    close(gc1, [[0.6144761, 0.5311782], [0.36217952, 0.84123677]])
    close(gc2, [[0.46397942, 0.8757647], [0.36217952, 0.57535523]])
    # fmt: off
    close(gx1, [
        [0.19485945, -0.21995473, -0.30723804, -0.27662235,
         0.15891206, 0.21067351, 0, 0.31914195],
        [0.7742626, 0.12235682, 0.26477447, 0.40413934,
         0.7162705, 0, -0.1131217, -0.12735693],
    ])
    close(gx2, [
        [0.32126892, -0.21995473, -0.28880832, -0.27662235,
         0.3783852, 0, 0.3306368, 0.31914195],
        [0.2827867, 0.256407, 0.13238724, 0.40413934,
         0.6615887, -0.10455097, 0, -0.12735693],
    ])
    # fmt: on


def test_tree_lstm_forward():
    c, h = F.tree_lstm(C1, C2, numbers(3, 2, 10))
    close(c, [[-1.3807971, 0.44340944], [0.30797327, -0.53764915]])
    close(h, [[-0.6441574, 0.11200509], [0.21828838, -0.13210574]])


def test_lstm_forward():
    c, h = F.lstm(C1, X1)
    close(c, [[-0.7875328, 0.20482421], [0.6067761, -0.3655293]])
    close(h, [[-0.40896147, 0.10100356], [0.20457183, -0.09414968]])


@pytest.mark.parametrize("used", [(0,), (1,), (0, 1)])
@pytest.mark.parametrize("name", ["slstm", "tree_lstm", "lstm"])
def test_gradients_of_one_output_only(name, used):
    arrays = {
        "slstm": (C1, C2, X1, X2),
        "tree_lstm": (C1, C2, numbers(3, 2, 10)),
        "lstm": (C1, X1),
    }[name]
    inputs = [chainer.Variable(x) for x in arrays]
    outputs = getattr(F, name)(*inputs)
    loss = sum(F.sum(outputs[k] * outputs[k]) for k in used)
    plain = chainer.grad([loss], inputs)
    differentiable = chainer.grad([loss], inputs, enable_double_backprop=True)
    for one, other in zip(plain, differentiable, strict=True):
        close(one, other.array)
