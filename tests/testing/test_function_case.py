"""``FunctionTestCase`` accepts what is right and finds every fault it is there to find."""

import unittest

import numpy as np
import pytest

import chainer
import chainer.functions as F
from chainer import testing
from tests.testing.cases import outcomes, run

ALL = {"test_forward", "test_backward", "test_double_backward"}


class Tanh(chainer.FunctionNode):
    """Hyperbolic tangent, with places where faults can be put."""

    def forward(self, inputs):
        y = self.xp.tanh(inputs[0])
        self.retain_outputs((0,))
        return (y,)

    def backward(self, target_input_indexes, grad_outputs):
        (y,) = self.get_retained_outputs()
        return (grad_outputs[0] * (1 - y * y),)


class TanhCase(testing.FunctionTestCase):
    node = Tanh

    def generate_inputs(self):
        return (np.random.uniform(-1, 1, (2, 3)).astype("f"),)

    def forward(self, inputs, device):
        return self.node().apply(inputs)

    def forward_expected(self, inputs):
        return (np.tanh(inputs[0]),)


class CubeCase(TanhCase):
    """A sum of products, with an input of integers, and two outputs."""

    def generate_inputs(self):
        x, y = (np.random.uniform(-1, 1, (2, 3)).astype("f") for _ in range(2))
        return x, y, np.array([2, 0], "i")

    def forward(self, inputs, device):
        x, y, t = inputs
        return F.select_item(x * x * y, t), x * y

    def forward_expected(self, inputs):
        x, y, t = inputs
        return (x * x * y)[np.arange(2), t], x * y


def problem(case, name):
    text = outcomes(case)[name]
    assert text != "passed"
    return text


@pytest.mark.parametrize("case", [TanhCase, CubeCase])
def test_right_functions_pass(case):
    assert outcomes(case) == dict.fromkeys(ALL, "passed")


def test_the_base_class_tests_nothing_by_itself():
    texts = outcomes(testing.FunctionTestCase)
    assert set(texts) == ALL
    for text in texts.values():
        assert "NotImplementedError: generate_inputs() is not implemented." in text


class TestFaults:
    def test_values(self):
        class Case(CubeCase):
            def forward_expected(self, inputs):
                y0, y1 = super().forward_expected(inputs)
                return y0, y1 + [[0, 0, 0], [0, 1e-3, 0]]

        text = problem(Case, "test_forward")
        assert "FunctionTestError: Shapes and/or dtypes do not match" in text
        assert "Expected shapes and dtypes: (2,):float32, (2, 3):float64" in text
        assert "Actual shapes and dtypes:   (2,):float32, (2, 3):float32" in text

        class Values(Case):
            def forward_expected(self, inputs):
                return tuple(y.astype("f") for y in super().forward_expected(inputs))

        text = problem(Values, "test_forward")
        assert "Outputs do not match the expected values." in text
        assert "Indices of outputs that do not match: 1" in text
        assert "i: (1, 1)" in text
        assert outcomes(Values)["test_backward"] == "passed"

    def test_number_of_outputs(self):
        class Case(TanhCase):
            def forward_expected(self, inputs):
                return super().forward_expected(inputs) * 2

        text = problem(Case, "test_forward")
        assert "FunctionTestError: Number of outputs (1, 2) does not match" in text

    def test_gradient(self):
        class Wrong(Tanh):
            def forward(self, inputs):
                self.retain_inputs((0,))
                return (self.xp.tanh(inputs[0]),)

            def backward(self, target_input_indexes, grad_outputs):
                return (grad_outputs[0] * self.get_retained_inputs()[0],)

        class Case(TanhCase):
            node = Wrong

        texts = outcomes(Case)
        assert texts["test_forward"] == "passed"
        assert "FunctionTestError: backward is not implemented correctly" in texts["test_backward"]
        assert "gradients (numeric):" in texts["test_backward"]
        # The gradient of the wrong gradient is right.
        assert texts["test_double_backward"] == "passed"

    def test_gradient_of_gradient(self):
        class Constant(Tanh):
            def backward(self, target_input_indexes, grad_outputs):
                y = self.get_retained_outputs()[0].array
                return (grad_outputs[0] * (1 - y * y),)

        class Case(TanhCase):
            node = Constant

        texts = outcomes(Case)
        assert texts["test_backward"] == "passed"
        assert "double backward is not implemented correctly" in texts["test_double_backward"]

    @pytest.mark.parametrize("where", ["forward", "backward"])
    def test_modified_inputs(self, where):
        class Modifying(Tanh):
            def forward(self, inputs):
                self.kept = inputs[0]
                outputs = super().forward(inputs)
                if where == "forward":
                    self.kept[0, 1] = 5
                return outputs

            def backward(self, target_input_indexes, grad_outputs):
                self.kept[0, 1] = 5
                return super().backward(target_input_indexes, grad_outputs)

        class Case(TanhCase):
            node = Modifying

        text = problem(Case, f"test_{where}")
        assert f"Input arrays have been modified during {where}.\nIndices: 0" in text
        assert "Original:" in text

    def test_modified_output_gradients(self):
        class Modifying(Tanh):
            def backward_arrays(self, target_input_indexes, grad_outputs):
                (y,) = self.retained_output_arrays
                gx = grad_outputs[0] * (1 - y * y)
                grad_outputs[0][...] = 0
                return (gx,)

        class Case(TanhCase):
            node = Modifying

        assert "Output gradients have been modified during backward." in problem(
            Case, "test_backward"
        )

    def test_arrays_assumed_contiguous(self):
        class Flat(Tanh):
            def forward(self, inputs):
                assert inputs[0].flags.c_contiguous, "not contiguous"
                return super().forward(inputs)

        class Case(TanhCase):
            node = Flat
            layouts = ("contiguous", "strided")

        for name, text in outcomes(Case).items():
            assert (text == "passed") == name.endswith("__contiguous"), name

        class OnlyContiguous(TanhCase):
            node = Flat
            contiguous = "C"

        assert run(OnlyContiguous).wasSuccessful()

    def test_dtype(self):
        class Wide(Tanh):
            def forward(self, inputs):
                y = self.xp.tanh(inputs[0].astype("d"))
                self.retain_outputs((0,))
                return (y.astype("f"),)

        class Case(TanhCase):
            node = Wide
            dtypes = ("float16", "float32", "float64")

        texts = outcomes(Case)
        assert texts["test_forward__float32"] == "passed"
        for dtype in ("float16", "float64"):
            text = texts[f"test_forward__{dtype}"]
            assert f"Expected shapes and dtypes: (2, 3):{dtype}" in text
            assert f"test_forward with dtype {dtype}" in text

    def test_device(self):
        class ToHost(TanhCase):
            devices = ("@numpy", "@strict:1")

            def forward(self, inputs, device):
                (y,) = super().forward(inputs, device)
                return (F.copy(y, -1),)

        texts = outcomes(ToHost)
        assert texts["test_forward__numpy"] == "passed"
        text = texts["test_forward__strict_1"]
        assert "Output [0] is not on the device of the inputs." in text
        assert "Expected: @strict:1\nActual:   @numpy" in text

    def test_host_arrays_mixed_in(self):
        class Mixing(Tanh):
            def forward(self, inputs):
                self.retain_outputs((0,))
                return (np.tanh(inputs[0]),)

        class Case(TanhCase):
            node = Mixing
            devices = ("@strict",)

        assert "TypeError" in problem(Case, "test_forward__strict")

    def test_not_differentiable_in_the_neighbourhood(self):
        class Case(TanhCase):
            dodge_nondifferentiable = True

            def generate_inputs(self):
                return (np.full((1,), 1e-4, "f"),)

            def forward(self, inputs, device):
                return (F.absolute(inputs[0]),)

        assert "not differentiable at any of the inputs that 100 draws gave" in problem(
            Case, "test_backward"
        )


class TestMistakesOfAuthors:
    @pytest.mark.parametrize("method", ["generate_inputs", "forward_expected"])
    def test_no_tuple(self, method):
        case = type("Case", (TanhCase,), {method: lambda *_: np.zeros(3, "f")})
        text = problem(case, "test_forward")
        assert f"TypeError: `{method}()` must return a tuple, not <class 'numpy.ndarray'>." in text

    def test_forward_returns_no_tuple(self):
        class Case(TanhCase):
            def forward(self, inputs, device):
                return F.tanh(inputs[0])

        assert "`forward()` must return a tuple, not" in problem(Case, "test_forward")

    def test_forward_returns_arrays(self):
        class Case(TanhCase):
            def forward(self, inputs, device):
                return (inputs[0].array,)

        assert "forward() must return a tuple of Variables.\nActual: <class 'numpy.ndarray'>" in (
            problem(Case, "test_forward")
        )

    def test_no_arrays(self):
        class Case(TanhCase):
            def generate_inputs(self):
                return np.zeros(3, "f"), 2.0

        assert "but element 1 is <class 'float'>" in problem(Case, "test_forward")

    def test_gradients_that_do_not_fit(self):
        class Case(TanhCase):
            def generate_grad_outputs(self, outputs_template):
                return (np.zeros((2, 3)),)

            def generate_grad_grad_inputs(self, inputs_template):
                return ()

        texts = outcomes(Case)
        assert (
            "Shapes and/or dtypes of outputs and output gradients do not match."
            in (texts["test_backward"])
        )

    def test_unknown_layout(self):
        with pytest.raises(ValueError, match="layouts are among"):
            type("Case", (TanhCase,), {"layouts": ("diagonal",)})

    def test_unknown_contiguity(self):
        case = type("Case", (TanhCase,), {"contiguous": "F"})
        assert "contiguous must be None or 'C', got 'F'" in problem(case, "test_forward")

    def test_devices_and_injected_backends(self):
        case = type("Case", (TanhCase,), {"devices": ("@numpy",)})
        bundle = testing.inject_backend_tests(None, [{}])(case)
        for text in outcomes(bundle).values():
            assert "give either `devices` or inject_backend_tests, not both" in text

    def test_errors_of_the_function_pass_through(self):
        class Case(TanhCase):
            def forward(self, inputs, device):
                raise KeyError("mine")

        for text in outcomes(Case).values():
            assert "KeyError: 'mine'" in text


class TestAttributes:
    def test_variants(self):
        class Case(TanhCase):
            dtypes = ("float16", "float32")
            layouts = ("contiguous", "strided")
            devices = ("@numpy", "@strict:0")

        texts = outcomes(Case)
        assert len(texts) == 3 * 8
        assert texts["test_double_backward__float16_strided_strict_0"] == "passed"
        assert set(texts.values()) == {"passed"}

    def test_subclasses_choose_again(self):
        class Case(TanhCase):
            dtypes = ("float16", "float32")

        class Other(Case):
            dtypes = ("float64",)

        class Inherited(Other):
            pass

        class Plain(Other):
            dtypes = None

        assert set(outcomes(Other)) == {f"{name}__float64" for name in ALL}
        assert set(outcomes(Inherited)) == {f"{name}__float64" for name in ALL}
        assert len(outcomes(Plain)) == 3

    def test_devices_that_are_not_there(self):
        class Case(TanhCase):
            devices = ("@numpy", "@nonsense", "@strict:9")

        texts = outcomes(Case)
        assert "backend 'nonsense' is not installed" in texts["test_forward__nonsense"]
        assert "there is no device '@strict:9'" in texts["test_forward__strict_9"]
        assert texts["test_forward__numpy"] == "passed"
        assert run(Case).wasSuccessful()

    def test_skips(self):
        class Case(TanhCase):
            skip_forward_test = True
            skip_double_backward_test = True

            def before_test(self, test_name):
                assert test_name == self.test_name
                if test_name == "test_backward":
                    raise unittest.SkipTest(f"no device {self.backend_config.device}")

        assert outcomes(Case) == {
            "test_forward": "skip_forward_test is set",
            "test_backward": "no device @numpy",
            "test_double_backward": "skip_double_backward_test is set",
        }

    def test_options(self):
        seen = {}

        class Case(TanhCase):
            check_forward_options = {"atol": 1, "rtol": 0}
            check_backward_options = {"atol": 10, "eps": 0.5}
            check_double_backward_options = {"atol": 10}

            def forward_expected(self, inputs):
                return (np.tanh(inputs[0]) + np.float32(0.9),)

            def check_forward_outputs(self, outputs, expected_outputs):
                seen["types"] = {type(a) for a in outputs + expected_outputs}
                super().check_forward_outputs(outputs, expected_outputs)

        assert run(Case).wasSuccessful()
        assert seen["types"] == {np.ndarray}
        case = type("Case", (Case,), {"check_forward_options": {"atol": 0.8}})
        assert "absolute tolerance: 0.8" in problem(case, "test_forward")

    def test_dodges(self):
        draws = []

        class Case(TanhCase):
            dodge_nondifferentiable = True

            def generate_inputs(self):
                draws.append(1e-4 if len(draws) < 4 else 0.5)
                return (np.full((1,), draws[-1], "f"),)

            def forward(self, inputs, device):
                return (F.absolute(inputs[0]),)

        Case("test_backward").test_backward()
        assert draws == [1e-4] * 4 + [0.5]

    def test_empty(self):
        class Case(TanhCase):
            devices = ("@numpy", "@strict")

            def generate_empty_inputs(self):
                return (np.zeros((0, 3), "f"),)

        texts = outcomes(Case)
        assert texts["test_empty__numpy"] == texts["test_empty__strict"] == "passed"

        class Broken(Case):
            devices = None

            def forward(self, inputs, device):
                return (inputs[0] / F.broadcast_to(F.max(inputs[0]), inputs[0].shape),)

        assert "ValueError" in problem(Broken, "test_empty")

        class NotEmpty(TanhCase):
            def generate_empty_inputs(self):
                return self.generate_inputs()

        assert "must return an array without elements" in problem(NotEmpty, "test_empty")

    def test_random_numbers_are_repeatable(self):
        drawn = []

        class Case(TanhCase):
            def generate_inputs(self):
                drawn.append(np.random.uniform())
                return super().generate_inputs()

        state = np.random.get_state()[1].copy()
        run(Case)
        run(Case)
        assert drawn[:3] == drawn[3:]
        assert len(set(drawn)) == 3
        np.testing.assert_array_equal(np.random.get_state()[1], state)


def test_inputs_are_as_upstream_makes_them():
    seen = []

    class Case(TanhCase):
        def forward(self, inputs, device):
            (x,) = inputs
            seen.append((type(inputs), type(x), x.dtype, x.array.flags.c_contiguous, str(device)))
            return super().forward(inputs, device)

    Case("test_forward").test_forward()
    assert seen == [(tuple, chainer.Variable, np.float32, False, "@numpy")]


def test_combines_with_parameters():
    @testing.parameterize({"shape": (2, 3)}, {"shape": ()}, {"shape": (0, 2)})
    class Case(TanhCase):
        dtypes = ("float32", "float64")

        def generate_inputs(self):
            return (np.random.uniform(-1, 1, self.shape).astype("f"),)

    result = run(Case)
    assert result.testsRun == 18
    assert not result.failures
    # Nothing to differentiate: said, not passed over.
    assert all("shape': (0, 2)" in str(test) or "(0, 2)" in text for test, text in result.errors)
