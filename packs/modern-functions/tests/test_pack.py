"""What Chainer sees of the distribution."""

import inspect
import subprocess
import sys

import numpy as np
import pytest
from chainer_modern import functions, links, operations, pack
from chainer_modern.kernels.normalizations import RMSNormalizationKernel

import chainer
import chainer.functions as F
import chainer.links as L
from chainer import kernel


def test_names_of_functions():
    # Chainer has group_normalization itself now; the distribution goes on to export it.
    assert set(functions.__all__) == {*pack.FUNCTIONS, "group_normalization"}
    for name in functions.__all__:
        assert getattr(F, name) is getattr(functions, name)
        assert name in dir(F)


def test_names_of_links():
    # Chainer has GroupNormalization itself now; the distribution goes on to export it.
    assert sorted([*pack.LINKS, "GroupNormalization"]) == links.__all__
    for name in links.__all__:
        assert getattr(L, name) is getattr(links, name)
        assert name in dir(L)


def test_names_of_operations():
    for name in pack.OPERATIONS:
        assert kernel.get_operation(f"modern.{name}") is getattr(operations, name)


def test_everything_is_documented():
    for module in (functions, links):
        for name in module.__all__:
            text = inspect.getdoc(getattr(module, name))
            assert text is not None
            assert "Args:" in text and ">>>" in text, name


def test_pack_is_light():
    program = "import sys, chainer, chainer_modern.pack; print(*sorted(sys.modules))"
    output = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    ).stdout
    assert "chainer_modern.pack" in output
    assert "chainer_modern.functions" not in output
    assert "chainer_modern.kernels" not in output


class CountingKernel(RMSNormalizationKernel):
    """A kernel of a third party."""

    calls = 0

    def forward(self, x, gamma, eps):
        CountingKernel.calls += 1
        return super().forward(x, gamma, eps)


class Stranger:
    """Their pack: a kernel for vectors of even size."""

    chainer_api = 1

    def chainer_kernels(self, registry):
        kernel.register_kernel(
            kernel.Kernel(
                "modern.rms_normalization",
                np.ndarray,
                "third_party",
                CountingKernel,
                supports=lambda spec: spec.arrays[0].shape[-1] % 2 == 0 or "odd size",
            ),
            registry,
        )


@pytest.fixture
def third_party():
    plugin = Stranger()
    chainer.plugins.register(plugin)
    CountingKernel.calls = 0
    yield
    chainer.plugins.unregister(plugin)


def test_others_may_register_kernels(third_party):
    x, gamma = np.ones((2, 4), "f"), np.ones(4, "f")
    F.rms_normalization(x, gamma)
    assert CountingKernel.calls == 0  # installing something changes no result
    with chainer.using_config("kernels", ("third_party",)):
        y = F.rms_normalization(x, gamma)
        assert CountingKernel.calls == 1
        F.rms_normalization(x[:, :3], gamma[:3])
        assert CountingKernel.calls == 1
        explanation = str(chainer.explain("modern.rms_normalization", x, gamma, eps=1e-6))
    assert "is served by 'third_party'" in explanation
    np.testing.assert_allclose(y.array, x, rtol=1e-5)
