"""Symbolic functions as links."""

from __future__ import annotations

import re
import sys

import numpy as np
import pytest

import chainer
import chainer.functions as F
import chainer.links as L
from chainer import gradient_check
from chainer.utils import install_command

pytestmark = pytest.mark.filterwarnings("ignore:.*is experimental:FutureWarning")


class TestWithPyTensor:
    @pytest.fixture(autouse=True)
    def pt(self):
        pytest.importorskip("pytensor", reason="PyTensor is not installed (chainer[theano])")
        import pytensor.tensor

        return pytensor.tensor

    def test_documented_example(self, pt):
        x, y = pt.fvector(), pt.fvector()
        f = L.TheanoFunction(inputs=[x, y], outputs=[x + y, x - y])
        a = chainer.Variable(np.array([1, 2], dtype=np.float32))
        b = chainer.Variable(np.array([2, 3], dtype=np.float32))
        c, d = f(a, b)
        np.testing.assert_array_equal(c.array, np.array([3, 5], np.float32))
        assert c.dtype == np.float32
        np.testing.assert_array_equal(d.array, [-1, -1])
        (F.sum(c) + 3 * F.sum(d)).backward()
        assert a.grad.tolist() == [4, 4]
        assert b.grad.tolist() == [-2, -2]
        assert c.creator.label == "TheanoFunction"

    def test_gradients(self, pt):
        x, y = pt.dmatrix(), pt.dvector()
        f = L.TheanoFunction((x, y), (pt.tanh(x * y) ** 2, (x * x).sum(axis=1)))
        state = np.random.RandomState(0)
        xs = state.uniform(-1, 1, (3, 2)), state.uniform(-1, 1, 2)
        gys = state.uniform(-1, 1, (3, 2)), state.uniform(-1, 1, 3)
        gradient_check.check_backward(f, xs, gys, dtype=np.float64)
        ggxs = state.uniform(-1, 1, (3, 2)), state.uniform(-1, 1, 2)
        gradient_check.check_double_backward(f, xs, gys, ggxs, dtype=np.float64)

    def test_one_output_and_unused_input(self, pt):
        x, y = pt.fvector(), pt.fvector()
        f = L.TheanoFunction([x, y], [2 * x])
        a, b = (chainer.Variable(np.ones(2, np.float32)) for _ in range(2))
        z = f(a, b)
        F.sum(z).backward()
        assert a.grad.tolist() == [2, 2]
        assert b.grad is None or not b.grad.any()

    def test_integers(self, pt):
        x, i = pt.fvector(), pt.ivector()
        f = L.TheanoFunction([x, i], [x[i], i + 1])
        a = chainer.Variable(np.arange(3, dtype=np.float32))
        y, j = f(a, np.array([2, 2], np.int32))
        F.sum(y).backward()
        assert y.array.tolist() == [2, 2]
        assert j.array.tolist() == [3, 3]
        assert a.grad.tolist() == [0, 0, 2]

    def test_output_that_is_an_input(self, pt):
        x = pt.fvector()
        f = L.TheanoFunction([x], [x])
        a = np.zeros(2, np.float32)
        f(a).array[...] = 1
        assert a.tolist() == [0, 0]

    @pytest.mark.parametrize(
        "arguments",
        [
            (np.zeros(2),),
            (np.zeros((2, 2), np.float32),),
            (np.zeros(2, np.float32), np.zeros(2, np.float32)),
        ],
    )
    def test_wrong_arguments(self, pt, arguments):
        x = pt.fvector()
        with pytest.raises(chainer.utils.type_check.InvalidType):
            L.TheanoFunction([x], [x + 1])(*arguments)

    def test_wrong_symbols(self, pt):
        x = pt.fvector()
        with pytest.raises(TypeError, match=r"outputs must be symbolic variables.*ndarray"):
            L.TheanoFunction([x], [np.zeros(2)])
        with pytest.raises(TypeError, match="inputs must be a tuple of symbolic variables"):
            L.TheanoFunction(x, [x])

    def test_device(self, pt):
        pytest.importorskip("chainer_strict_backend")
        device = chainer.get_device("@strict:1")
        x = pt.fvector()
        a = chainer.Variable(device.send(np.ones(2, np.float32)))
        y = L.TheanoFunction([x], [x * x])(a)
        F.sum(y).backward()
        assert chainer.backend.get_device_from_array(a.grad) == device
        assert device.backend.to_host(a.grad).tolist() == [2, 2]

    def test_printed_form(self, pt):
        x = pt.fvector()
        assert repr(L.TheanoFunction([x], [x])).startswith("TheanoFunction(inputs=")


def test_without_pytensor(monkeypatch):
    monkeypatch.setitem(sys.modules, "pytensor", None)
    for name in [name for name in sys.modules if name.startswith("pytensor.")]:
        monkeypatch.delitem(sys.modules, name)
    # Earlier releases raise RuntimeError.
    with pytest.raises(RuntimeError, match=re.escape(install_command("chainer[theano]"))) as raised:
        L.TheanoFunction([], [])
    assert isinstance(raised.value, ImportError)
