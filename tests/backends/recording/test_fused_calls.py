"""Calls that the kernel of a third party computes as one in captured steps."""

import numpy as np
import pytest

import chainer
import chainer.functions as F
from chainer.kernel import FusedCall, Fusion, Kernel, get_operation, register_kernel

pytestmark = pytest.mark.usefixtures("provider")

made = []
PATTERN = (FusedCall("softplus.forward"), FusedCall("elu.forward"))


class SoftplusKernel:
    """Computes elu in the same pass."""

    fusions = (Fusion(PATTERN, "both", supports="fits", exact=True),)
    answer, factor = True, 1

    def __init__(self, backend):
        reference = get_operation("softplus").reference_for(backend)
        self.forward, self.backward = reference.forward, reference.backward

    def fits(self, softplus, elu):
        assert softplus[0].shape == (3, 4)
        assert elu[0] is None
        return self.answer

    def both(self, softplus, elu):
        made.append(elu)
        y = self.forward(*softplus)
        return None, np.where(y >= 0, y, elu[1] * np.expm1(y)) * np.float32(self.factor)


class Plugin:
    def chainer_kernels(self, registry):
        register_kernel(Kernel("softplus", np.ndarray, "tiles", SoftplusKernel), registry)


def captured(step, calls=5):
    run = chainer.capture(step, on_failure="error")
    rng = np.random.default_rng(0)
    for _ in range(calls):
        x = rng.standard_normal((3, 4), "f")
        found, expected = run(x), step(x)
        if isinstance(found, chainer.Variable):
            found, expected = (found,), (expected,)
        for a, b in zip(found, expected, strict=True):
            np.testing.assert_array_equal(a.array, b.array)
    return chainer.explain(run)


def test_two_calls_become_one():
    text = captured(lambda x: F.elu(F.softplus(x), 0.25))
    assert "1 of them fused" in text
    assert made
    assert made[-1][1] == 0.25


def test_gradients_are_those_of_the_step_as_written():
    def step(x):
        x = chainer.Variable(x)
        F.sum(F.elu(F.softplus(x), 0.25)).backward()
        return x.grad_var

    assert "1 of them fused" in captured(step)


@pytest.mark.parametrize("returns", [True, False])
def test_not_where_something_else_reads_the_result_between(returns):
    def step(x):
        y = F.softplus(x)
        z = F.elu(y, 0.25)
        return (y, z) if returns else (z, y * 2)

    assert "fused" not in captured(step)
    assert not made


def test_not_where_the_kernel_does_not_support_it(monkeypatch):
    monkeypatch.setattr(SoftplusKernel, "answer", False)
    assert "fused" not in captured(lambda x: F.elu(F.softplus(x), 0.25))
    assert not made


def test_not_with_kernels_of_other_providers():
    with chainer.using_config("kernels", ()):
        assert "fused" not in captured(lambda x: F.elu(F.softplus(x), 0.25))


def test_a_wrong_result_is_found(monkeypatch):
    monkeypatch.setattr(SoftplusKernel, "factor", 1.5)
    with pytest.raises(RuntimeError, match="differ"):
        captured(lambda x: F.elu(F.softplus(x), 0.25))


@pytest.mark.parametrize("exact", [True, False])
def test_roundings_have_to_be_declared(monkeypatch, exact):
    # A run with other roundings passes the comparison where the kernel says that it may.
    monkeypatch.setattr(SoftplusKernel, "factor", 1 + 2**-23)
    monkeypatch.setattr(SoftplusKernel, "fusions", (Fusion(PATTERN, "both", exact=exact),))
    run = chainer.capture(lambda x: F.elu(F.softplus(x), 0.25), on_failure="error")
    x = np.random.default_rng(0).standard_normal((3, 4), "f")
    if exact:
        with pytest.raises(RuntimeError, match="differ"):
            for _ in range(4):
                run(x)
    else:
        for _ in range(4):
            run(x)
        assert "in use" in chainer.explain(run)


def test_declarations_are_checked():
    for calls in ("softplus.forward", ("softplus.forward", "elu.forward")):
        with pytest.raises(TypeError, match="calls of a Fusion must be FusedCall objects, got 's"):
            Fusion(calls, "both")
    with pytest.raises(ValueError, match="two or more, got 1"):
        Fusion((FusedCall("relu.forward"),), "one")
    with pytest.raises(ValueError, match="'relu.forward', got 'relu'"):
        Fusion((FusedCall("linear.forward"), FusedCall("relu")), "both")
