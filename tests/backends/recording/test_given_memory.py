"""Kernels of a third party that write their results to the planned memory of captured steps."""

import numpy as np
import pytest

import chainer
import chainer.functions as F
from chainer.kernel import Kernel, get_operation, register_kernel

pytestmark = pytest.mark.usefixtures("provider")

made = []


class SoftplusKernel:
    """Writes to memory that it gets; its gradient does not know of it."""

    ignores = False

    def __init__(self, backend):
        self._reference = get_operation("softplus").reference_for(backend)
        self.backward = self._reference.backward

    def forward(self, x, beta, out=None):
        y = self._reference.forward(x, beta)
        made.append((x, out))
        if out is None or self.ignores:
            return y
        out[...] = y
        return out


class Plugin:
    def chainer_kernels(self, registry):
        register_kernel(Kernel("softplus", np.ndarray, "tiles", SoftplusKernel), registry)


def step(x):
    x = chainer.Variable(x)
    y = F.softplus(F.softplus(x) * 2)
    F.sum(y * F.softplus(y + 1)).backward()
    gradient = x.grad_var
    assert gradient is not None
    return y * 3, gradient


def check():
    run = chainer.capture(step, on_failure="error")
    rng = np.random.default_rng(0)
    for _ in range(6):
        x = rng.standard_normal((3, 4), "f")
        before = len(made)
        found = run(x)
        memory = made[before:]
        for a, b in zip(found, step(x), strict=True):
            np.testing.assert_array_equal(a.array, b.array)
    return memory


def test_results_are_written_where_the_step_needs_them():
    memory = check()
    assert len(memory) == 3
    for x, out in memory:
        assert out.flags.carray
        assert out.shape == x.shape
        assert out.dtype == x.dtype
        assert not np.may_share_memory(x, out)


def test_a_kernel_may_return_another_array(monkeypatch):
    monkeypatch.setattr(SoftplusKernel, "ignores", True)
    assert len(check()) == 3


def test_the_step_as_written_gets_new_arrays():
    step(np.ones((3, 4), "f"))
    assert [out for _, out in made] == [None] * 3


def test_transposed_results_are_copied():
    def transposed(x):
        return F.softplus(x) * 2

    run = chainer.capture(transposed, on_failure="error")
    for i in range(5):
        x = np.asfortranarray(np.arange(12, dtype="f").reshape(3, 4) - i)
        np.testing.assert_array_equal(run(x).array, transposed(x).array)
