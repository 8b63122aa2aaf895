"""``OptimizerTestCase`` accepts what is right and finds every fault it is there to find."""

import numpy as np
import pytest

import chainer
from chainer import optimizers, testing
from tests.testing.cases import outcomes

ALL = {
    "test_update",
    "test_missing_gradients",
    "test_serialization",
    "test_to_device",
    "test_convergence",
}


class AdamCase(testing.OptimizerTestCase):
    def create_optimizer(self):
        return optimizers.Adam(alpha=0.01)

    def update_expected(self, param, grad, state, t):
        state["m"] = m = 0.9 * state.get("m", 0) + 0.1 * grad
        state["v"] = v = 0.999 * state.get("v", 0) + 0.001 * grad**2
        return param - 0.01 * (m / (1 - 0.9**t)) / (np.sqrt(v / (1 - 0.999**t)) + 1e-8)


class SGDCase(testing.OptimizerTestCase):
    def create_optimizer(self):
        return optimizers.SGD(lr=0.1)

    def update_expected(self, param, grad, state, t):
        return param - 0.1 * grad


class _MomentumRule(chainer.UpdateRule):
    """A rule with places where faults can be put."""

    fault = ""

    def init_state(self, param):
        if self.fault == "host state":
            self.state["v"] = np.zeros(param.shape, param.dtype)
        else:
            self.state["v"] = param.xp.zeros_like(param.array)

    def update_core(self, param):
        if param.grad is None:
            return
        if self.fault == "forgets":
            self.hidden = getattr(self, "hidden", 0) * 0.5 + param.grad
            param.array -= self.hidden * 0.1
            return
        v = self.state["v"]
        v *= 0.5
        v += param.grad
        param.array -= 0.1 * v
        if self.fault == "modifies":
            param.grad[...] = 0
        if self.fault == "climbs":
            param.array += 0.3 * v


def momentum(fault=""):
    rule = type("Rule", (_MomentumRule,), {"fault": fault})

    class Optimizer(chainer.GradientMethod):
        def create_update_rule(self):
            return rule()

    class Case(testing.OptimizerTestCase):
        def create_optimizer(self):
            return Optimizer()

        def update_expected(self, param, grad, state, t):
            state["v"] = 0.5 * state.get("v", 0) + grad
            return param - 0.1 * state["v"]

    return Case


def problems(case):
    return {name: text for name, text in outcomes(case).items() if text != "passed"}


@pytest.mark.parametrize("case", [AdamCase, SGDCase, momentum()])
def test_right_optimizers_pass(case):
    assert outcomes(case) == dict.fromkeys(ALL, "passed")


def test_variants():
    class Case(SGDCase):
        dtypes = ("float16", "float32", "float64")
        layouts = ("contiguous", "strided")
        devices = ("@numpy", "@strict:1")

    texts = outcomes(Case)
    assert len(texts) == 5 * 12
    assert set(texts.values()) == {"passed"}
    on_strict = type("Case", (AdamCase,), {"devices": ("@strict",), "dtypes": ("float64",)})
    assert set(outcomes(on_strict).values()) == {"passed"}


class TestFaults:
    def test_formula(self):
        class Case(AdamCase):
            def update_expected(self, param, grad, state, t):
                return param - 0.01 * grad

        text = problems(Case)["test_update"]
        assert "OptimizerTestError: Outputs do not match the expected values." in text
        assert "Update 1; outputs are the parameters after it" in text

    def test_formula_that_is_wrong_later(self):
        class Case(AdamCase):
            def update_expected(self, param, grad, state, t):
                return super().update_expected(param, grad, state, min(t, 2))

        assert "Update 3; " in problems(Case)["test_update"]

    def test_state_that_is_not_saved(self):
        found = problems(momentum("forgets"))
        assert set(found) == {"test_serialization"}
        assert "goes on differently after it was saved and loaded" in found["test_serialization"]

    def test_state_on_the_host(self):
        case = momentum("host state")
        assert problems(case) == {}
        case = type("Case", (case,), {"devices": ("@strict",)})
        assert "TypeError" in problems(case)["test_update__strict"]

    def test_modified_gradients(self):
        assert "Gradients have been modified." in problems(momentum("modifies"))["test_update"]

    def test_climbs(self):
        text = problems(momentum("climbs"))["test_convergence"]
        assert "The sum of squares of the parameters does not fall" in text


def test_one_optimizer_for_all():
    one = optimizers.SGD()
    case = type("Case", (SGDCase,), {"create_optimizer": lambda self: one})
    assert "must return a new optimizer" in problems(case)["test_update"]


def test_skips_and_options():
    class Case(AdamCase):
        skip_convergence_test = True
        check_update_options = {"atol": 1, "rtol": 1}

        def update_expected(self, param, grad, state, t):
            return param

    assert problems(Case) == {"test_convergence": "skip_convergence_test is set"}


def test_nothing_defined():
    for text in outcomes(testing.OptimizerTestCase).values():
        assert "create_optimizer() is not implemented" in text
