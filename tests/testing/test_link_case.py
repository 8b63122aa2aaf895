"""``LinkTestCase`` and ``LinkInitializersTestCase`` find every fault they are there to find."""

import numpy as np
import pytest

import chainer
import chainer.functions as F
import chainer.links as L
from chainer import testing
from tests.testing.cases import outcomes, run

ALL = {"test_forward", "test_backward", "test_double_backward", "test_serialization"}


class LinearCase(testing.LinkTestCase):
    param_names = ("W", "b")
    skip_double_backward_test = skip_serialization_test = False

    def generate_params(self):
        return np.random.uniform(-1, 1, (3, 2)).astype("f"), np.random.uniform(-1, 1, 3).astype("f")

    def create_link(self, initializers):
        W, b = initializers
        return L.Linear(2, 3, initialW=W, initial_bias=b)

    def generate_inputs(self):
        return (np.random.uniform(-1, 1, (4, 2)).astype("f"),)

    def forward_expected(self, link, inputs):
        return (inputs[0].dot(link.W.array.T) + link.b.array,)


class CubicCase(LinearCase):
    def forward(self, link, inputs, device):
        return (link(inputs[0]) ** 3,)

    def forward_expected(self, link, inputs):
        (y,) = super().forward_expected(link, inputs)
        return (y**3,)


def problem(case, name):
    text = outcomes(case)[name]
    assert text != "passed"
    return text


@pytest.mark.parametrize("case", [LinearCase, CubicCase])
def test_right_links_pass(case):
    assert outcomes(case) == dict.fromkeys(ALL, "passed")


def test_variants():
    class Case(CubicCase):
        dtypes = ("float16", "float32", "float64")
        layouts = ("contiguous", "strided")
        devices = ("@numpy", "@strict:1")

        def forward(self, link, inputs, device):
            assert link.device == inputs[0].device == device
            assert link.W.array.flags.c_contiguous == (self.contiguous == "C")
            assert link.W.dtype == inputs[0].dtype
            return super().forward(link, inputs, device)

        def create_link(self, initializers):
            assert {i.dtype for i in initializers} == {self._dtype}
            return super().create_link(initializers)

    class NumericalTypesToo(Case):
        # Finite differences are computed with contiguous float64 arrays.
        skip_backward_test = skip_double_backward_test = True
        skip_serialization_test = True

    texts = outcomes(NumericalTypesToo)
    assert [text for text in texts.values() if text == "passed"] == ["passed"] * 12
    texts = outcomes(type("All", (CubicCase,), {"devices": ("@strict:1",), "dtypes": ("float16",)}))
    assert set(texts.values()) == {"passed"}
    assert "test_serialization__float16_strict_1" in texts


def test_children_and_sizes_found_out_later():
    class Case(testing.LinkTestCase):
        param_names = ("0/W", "0/b", "1/W")
        dodge_nondifferentiable = True
        skip_double_backward_test = skip_serialization_test = False

        def generate_params(self):
            return (np.random.uniform(-1, 1, (3, 2)).astype("f"),)

        def create_link(self, initializers):
            return chainer.Sequential(
                L.Linear(None, 3, initialW=initializers[0]), F.relu, L.Linear(2)
            )

        def generate_inputs(self):
            return (np.random.uniform(-1, 1, (4, 2)).astype("f"),)

        def forward_expected(self, link, inputs):
            h = np.maximum(inputs[0] @ link[0].W.array.T + link[0].b.array, 0)
            return (h @ link[2].W.array.T + link[2].b.array,)

    assert outcomes(Case) == dict.fromkeys(ALL, "passed")


def test_links_with_persistent_values():
    class Case(testing.LinkTestCase):
        param_names = ("gamma", "beta")
        skip_double_backward_test = skip_serialization_test = False
        check_backward_options = {"atol": 1e-3, "rtol": 1e-2}
        check_double_backward_options = {"atol": 1e-2, "rtol": 1e-2}

        def generate_params(self):
            return tuple(np.random.uniform(0.5, 1, 3).astype("f") for _ in range(2))

        def create_link(self, initializers):
            gamma, beta = initializers
            return L.BatchNormalization(3, initial_gamma=gamma, initial_beta=beta)

        def generate_inputs(self):
            return (np.random.uniform(-1, 1, (5, 3)).astype("f"),)

        def forward_expected(self, link, inputs):
            (x,) = inputs
            # The link after the forward computation, which updated the statistics.
            np.testing.assert_allclose(link.avg_mean, 0.1 * x.mean(0), rtol=1e-4)
            y = (x - x.mean(0)) / np.sqrt(x.var(0) + link.eps)
            return ((y * link.gamma.array + link.beta.array).astype("f"),)

    assert outcomes(Case) == dict.fromkeys(ALL, "passed")


class TestFaults:
    def test_values(self):
        class Case(LinearCase):
            def forward_expected(self, link, inputs):
                return (inputs[0].dot(link.W.array.T),)

        text = problem(Case, "test_forward")
        assert "LinkTestError: Outputs do not match the expected values." in text

    def test_gradient_of_a_parameter(self):
        class Cut(L.Linear):
            def forward(self, x):
                return F.linear(x, self.W, self.b.array)

        class Case(CubicCase):
            def create_link(self, initializers):
                return Cut(2, 3, initialW=initializers[0], initial_bias=initializers[1])

        texts = outcomes(Case)
        assert texts["test_forward"] == "passed"
        assert "LinkTestError: backward is not implemented correctly" in texts["test_backward"]
        Case.param_names = ("W",)
        assert outcomes(Case)["test_backward"] == "passed"

    def test_modified_parameters(self):
        class Case(LinearCase):
            def forward(self, link, inputs, device):
                (y,) = super().forward(link, inputs, device)
                link.W.array[0, 0] += 1
                return (y,)

        assert "Parameters have been modified during forward.\nIndices: 0" in problem(
            Case, "test_forward"
        )

    def test_values_that_are_not_saved(self):
        class Scaled(L.Linear):
            def __init__(self, *args, **kwargs):
                super().__init__(*args, **kwargs)
                self.factor = np.random.uniform(1, 2)

            def forward(self, x):
                return super().forward(x) * self.factor

        class Case(LinearCase):
            def create_link(self, initializers):
                return Scaled(2, 3, initialW=initializers[0], initial_bias=initializers[1])

            def forward_expected(self, link, inputs):
                (y,) = super().forward_expected(link, inputs)
                return ((y * link.factor).astype("f"),)

        texts = outcomes(Case)
        assert texts["test_forward"] == "passed"
        assert (
            "A link that was saved and loaded computes something else."
            in (texts["test_serialization"])
        )

    def test_parameters_that_stay_behind(self):
        class Case(LinearCase):
            devices = ("@strict",)

            def create_link(self, initializers):
                link = super().create_link(initializers)
                link.constant = np.ones(3, "f")
                return link

            def forward(self, link, inputs, device):
                return (link(inputs[0]) + link.constant,)

        assert "TypeError" in problem(Case, "test_forward__strict")


class TestMistakesOfAuthors:
    def test_no_such_parameter(self):
        case = type("Case", (LinearCase,), {"param_names": ("W", "nope")})
        text = problem(case, "test_backward")
        assert "Link does not have a parameter named 'nope'. It has: W, b" in text

    def test_no_link(self):
        case = type("Case", (LinearCase,), {"create_link": lambda *_: None})
        assert "`create_link` must return a chainer.Link" in problem(case, "test_forward")

    def test_bad_initializers(self):
        for params, text in (
            ((None, 0), "element 0 of `generate_params()` must not be None"),
            (([1], 0), "must be an initializer, an array or a number, got <class 'list'>"),
            (0, "`generate_params()` must return a tuple or list"),
        ):
            case = type("Case", (LinearCase,), {"generate_params": lambda self, p=params: p})
            assert text in problem(case, "test_forward")

    def test_nothing_defined(self):
        for text in outcomes(testing.LinkTestCase).values():
            assert "is not implemented" in text


class InitializersCase(testing.LinkInitializersTestCase):
    param_names = ["W", "b"]
    generate_params = LinearCase.generate_params
    generate_inputs = LinearCase.generate_inputs
    create_link = LinearCase.create_link

    def get_initializers(self):
        return [chainer.initializers.Constant(1), 2, np.eye(3, 2, dtype="f")], [
            chainer.initializers.One(),
            3,
            testing.InitializerArgument(None, 0),
        ]


class TestInitializers:
    def test_right_ones_pass(self):
        assert outcomes(InitializersCase) == {"test_initializers": "passed"}

    def test_on_devices(self):
        case = type(
            "Case", (InitializersCase,), {"devices": ("@strict:1",), "dtypes": ("float16",)}
        )
        assert outcomes(case) == {"test_initializers__float16_strict_1": "passed"}

    def test_size_found_out_later(self):
        class Case(InitializersCase):
            def create_link(self, initializers):
                W, b = initializers
                return L.Linear(None, 3, initialW=W, initial_bias=b)

        assert run(Case).wasSuccessful()

    def test_wrong_value(self):
        class Case(InitializersCase):
            def get_initializers(self):
                return [1], [testing.InitializerArgument(None, 1)]

        text = problem(Case, "test_initializers")
        assert "LinkTestError: Outputs do not match the expected values." in text
        assert "Parameter 'b', initializer InitializerArgument(None, 1)" in text

    def test_ignored_initializer(self):
        class Case(InitializersCase):
            def create_link(self, initializers):
                return L.Linear(2, 3, initialW=initializers[0])

        assert "Parameter 'b'" in problem(Case, "test_initializers")

    @pytest.mark.parametrize("lists", [([1], [2], [3])])
    def test_number_of_lists(self, lists):
        case = type("Case", (InitializersCase,), {"get_initializers": lambda self: lists})
        assert f"got {len(lists)} lists, 2 names and 2 initializers" in problem(
            case, "test_initializers"
        )
