"""``chainer.config.accelerate``: which provider serves a call, and what is said about it."""

from __future__ import annotations

import numpy as np
import pytest

import chainer
import chainer.functions as F
from chainer.backends import intel64
from chainer.core.arrays import acceleration
from chainer.core.registry import registries
from chainer.kernel import ArraySpec, CallSpec, KernelDeclaration, ReferenceKernel, SpeedupBySize

LARGE = np.random.RandomState(0).randn(64, 64).astype("f")


class NegatingKernel(ReferenceKernel):
    """A softplus that is recognized by its result."""

    def forward(self, x, beta):
        return -x

    def backward(self, *args):
        raise AssertionError("not called")


class HalvingKernel(NegatingKernel):
    def forward(self, x, beta):
        return x / 2


def by_rows(spec):
    return 5.0 if spec.arrays[0].shape[0] > 10 else 1.0


def declare(provider, **kwargs):
    load = kwargs.pop("load", NegatingKernel)
    kernel = KernelDeclaration("softplus", np.ndarray, provider, load, **kwargs)
    registries.kernels.register(kernel.key, kernel)
    return kernel


@pytest.fixture(autouse=True)
def only_the_kernels_of_the_test(monkeypatch):
    """Other providers do not serve ``softplus``, and what a test registers is removed."""
    registry = registries.kernels
    registry.load_all()
    entries = {k: v for k, v in registry._entries.items() if not k.startswith("softplus/")}
    operation = chainer.kernel.get_operation("softplus")
    with monkeypatch.context() as patch:
        patch.setattr(registry, "_entries", entries)
        operation._forget()
        yield
    operation._forget()


def served_by(x=LARGE):
    return chainer.explain("softplus", x, beta=1.0).chosen.provider


class TestWhoServes:
    def test_off_by_default_and_nothing_changes(self):
        declare("other", speedup=3.0)
        assert chainer.config.accelerate == "never"
        assert served_by() == "reference"
        assert (F.softplus(LARGE).array > 0).all()

    def test_a_provider_takes_part_by_what_it_declares(self):
        declare("other", speedup=3.0)
        with chainer.using_config("accelerate", "auto"):
            assert served_by() == "other"
            np.testing.assert_array_equal(F.softplus(LARGE).array, -LARGE)
        assert (F.softplus(LARGE).array > 0).all()

    def test_without_a_speedup_it_does_not_take_part(self):
        declare("other")
        with chainer.using_config("accelerate", "auto"):
            assert served_by() == "reference"

    def test_the_fastest_serves(self):
        declare("a", speedup=2.0)
        declare("b", speedup=by_rows, load=HalvingKernel)
        with chainer.using_config("accelerate", "auto"):
            assert served_by() == "b"
            np.testing.assert_array_equal(F.softplus(LARGE).array, LARGE / 2)
            assert served_by(LARGE[:4]) == "a"
            np.testing.assert_array_equal(F.softplus(LARGE[:4]).array, -LARGE[:4])

    @pytest.mark.parametrize("ratio", [1.0, 0.5])
    def test_the_reference_serves_what_nobody_serves_faster(self, ratio):
        declare("other", speedup=ratio)
        with chainer.using_config("accelerate", "auto"):
            assert served_by() == "reference"
            text = str(chainer.explain("softplus", LARGE, beta=1.0))
        assert "other (priority 0): the reference is as fast here" in text

    def test_supports_is_asked_first(self):
        declare("other", speedup=3.0, supports=lambda spec: "not today")
        with chainer.using_config("accelerate", "auto"):
            assert served_by() == "reference"

    def test_a_provider_that_the_program_names_comes_first(self):
        declare("a", speedup=9.0)
        declare("b", load=HalvingKernel)
        with chainer.using_config("accelerate", "auto"), chainer.using_config("kernels", ("b",)):
            assert served_by() == "b"
            text = str(chainer.explain("softplus", LARGE, beta=1.0))
        assert "a (priority 0): 'b' comes first" in text

    def test_a_provider_that_does_not_work_here(self):
        declare("other", speedup=3.0, unavailable=lambda: "libother is missing")
        with chainer.using_config("accelerate", "auto"):
            text = str(chainer.explain("softplus", LARGE, beta=1.0))
        assert "served by 'reference'" in text
        assert "libother is missing" in text


class TestExplanations:
    def test_what_it_gains(self):
        declare("other", speedup=3.0)
        with chainer.using_config("accelerate", "auto"):
            text = str(chainer.explain("softplus", LARGE, beta=1.0))
        assert "kernel of 'other': 3 times as fast as the reference" in text

    def test_what_it_would_gain(self):
        declare("other", speedup=3.0)
        text = str(chainer.explain("softplus", LARGE, beta=1.0))
        assert "chainer.config.accelerate = 'auto' would use 'other': 3 times" in text

    def test_why_another_one_does_not_serve(self):
        declare("a", speedup=2.0)
        declare("b", speedup=4.0)
        with chainer.using_config("accelerate", "auto"):
            text = str(chainer.explain("softplus", LARGE, beta=1.0))
        assert "a (priority 0): 2 times as fast as the reference, a faster kernel 4 times" in text

    def test_advice_names_the_providers(self):
        declare("other", speedup=2.0)
        declare("broken", speedup=2.0, unavailable=lambda: "libbroken is missing")
        off = acceleration.advice(chainer.core.config.configuration.threads.state.policy)
        assert off.startswith("off; chainer.config.accelerate = 'auto' or CHAINER_ACCELERATE=auto")
        assert "other (1 operation, up to 2 times as fast)" in off
        assert "broken (not available: libbroken is missing)" in off


class TestMistakes:
    @pytest.mark.parametrize("value", ["fast", True, None, "always"])
    def test_wrong_values_are_refused_with_the_accepted_ones(self, value):
        for config in (chainer.config, chainer.global_config):
            with pytest.raises(ValueError, match=r"accelerate must be 'auto' or 'never', got"):
                config.accelerate = value
        assert chainer.config.accelerate == "never"

    @pytest.mark.parametrize("answer", [None, True, "fast", [2.0]])
    def test_a_speedup_that_is_no_number(self, answer):
        declare("other", speedup=lambda spec: answer)
        message = "'speedup' of the kernel 'softplus/other"
        with chainer.using_config("accelerate", "auto"), pytest.raises(TypeError, match=message):
            F.softplus(LARGE)

    def test_an_error_in_a_speedup_names_the_kernel(self):
        def broken(spec):
            raise KeyError("axis")

        declare("other", speedup=broken)
        with chainer.using_config("accelerate", "auto"), pytest.raises(KeyError) as caught:
            F.softplus(LARGE)
        assert "softplus/other" in "".join(caught.value.__notes__)


def test_speedup_by_size():
    speedup = SpeedupBySize(((10, 1.5), (100, 2.0)))

    def of(*shape):
        return speedup(CallSpec((ArraySpec(shape, np.dtype("f"), True),)))

    assert [of(3, 3), of(2, 5), of(99), of(10, 10), of(1000)] == [1.0, 1.5, 1.5, 2.0, 2.0]


@pytest.mark.ideep
@pytest.mark.skipif(not intel64.is_ideep_available(), reason="ideep4py is not available")
class TestWithIdeep:
    def test_nothing_is_moved_and_plain_results_are_numpy(self):
        x, W = np.ones((300, 1000), "f"), np.ones((2000, 1000), "f")
        with chainer.using_config("accelerate", "auto"):
            assert chainer.explain("linear", x, W, None).chosen.provider == "ideep"
            assert type(F.linear(x, W).array) is np.ndarray

    def test_layouts_are_kept_between_kernels_of_ideep(self):
        x, W = chainer.Variable(np.ones((2, 8, 8, 8), "f")), np.ones((8, 8, 3, 3), "f")
        with chainer.using_config("accelerate", "auto"):
            y = F.relu(F.convolution_2d(x, W))
            assert type(y.array) is intel64.mdarray
            F.sum(y).backward()
            assert type(x.grad) is np.ndarray
            # A function that iDeep does not serve goes to the provider of NumPy arrays.
            declare("other", speedup=3.0)
            np.testing.assert_array_equal(F.softplus(y).array, -np.asarray(y.array))


def test_the_profiler_says_what_it_would_gain():
    declare("other", speedup=2.0)
    with chainer.profiler.profile() as result:
        F.softplus(LARGE)
    assert "other (1 operation, up to 2 times as fast)" in str(result).splitlines()[-1]
    with chainer.using_config("accelerate", "auto"):
        assert "accelerate" not in str(result)
