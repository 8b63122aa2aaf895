"""Normalization links: data types, statistics, texts."""

from __future__ import annotations

import numpy as np
import pytest

import chainer
import chainer.functions as F
import chainer.links as L
from tests.links.link_cases import floats

X = floats(5, 3)


class TestDtype:
    @pytest.mark.parametrize(
        ("dtype", "config", "expected"),
        [
            (None, np.float32, np.float32),
            (None, np.float16, np.float16),
            (None, np.float64, np.float64),
            (None, "mixed16", np.float32),
            ("mixed16", np.float32, np.float32),
            (np.float16, "mixed16", np.float16),
        ],
    )
    @pytest.mark.parametrize("kind", [L.BatchNormalization, L.BatchRenormalization])
    def test_of_parameters_and_statistics(self, kind, dtype, config, expected):
        dtype = chainer.mixed16 if dtype == "mixed16" else dtype
        config = chainer.mixed16 if config == "mixed16" else config
        with chainer.using_config("dtype", config):
            link = kind(3, dtype=dtype)
        arrays = (link.gamma, link.beta, link.avg_mean, link.avg_var)
        assert [array.dtype for array in arrays] == [expected] * 4
        assert f"dtype={np.dtype(expected)}" in str(link)

    def test_of_initializers_does_not_count(self):
        one = chainer.initializers.One(dtype=np.float64)
        link = L.BatchNormalization(3, initial_gamma=one, initial_avg_var=one)
        assert link.gamma.dtype == link.avg_var.dtype == np.float32
        assert one.dtype == np.float64

    def test_functions_as_initializers(self):
        def fill(array):
            array[...] = 3

        link = L.BatchNormalization(
            axis=0, dtype=np.float64, initial_gamma=fill, initial_avg_mean=fill
        )
        link(X.astype(np.float64))
        assert link.gamma.dtype == link.avg_mean.dtype == np.float64
        assert link.gamma.array.tolist() == [3, 3, 3]

    def test_half_precision_input(self):
        with chainer.using_config("dtype", chainer.mixed16):
            link = L.BatchNormalization(3)
        assert link(X.astype(np.float16)).dtype == np.float16

    def test_layer_normalization(self):
        with chainer.using_config("dtype", chainer.mixed16):
            assert L.LayerNormalization(3).gamma.dtype == np.float16

    def test_inception(self):
        with chainer.using_config("dtype", chainer.mixed16):
            link = L.InceptionBN(3, 1, 2, 3, 4, 5, "max", 3)
        assert link.proj3n.gamma.dtype == np.float16
        assert L.InceptionBN(3, 1, 2, 3, 4, 5, "max", 3).conv1n.gamma.dtype == np.float32


class TestRecomputation:
    """``F.forget`` calls a link twice; statistics are those of one call."""

    @pytest.mark.parametrize("finetune", [False, True])
    def test_batch_normalization(self, finetune):
        link, twin = L.BatchNormalization(3), L.BatchNormalization(3)
        x = chainer.Variable(X)
        y = F.forget(lambda x: link(x, finetune=finetune), x)
        y.grad = floats(5, 3)
        y.backward()
        z = chainer.Variable(X)
        expected = twin(z, finetune=finetune)
        expected.grad = floats(5, 3)
        expected.backward()
        assert link.N == twin.N == finetune
        np.testing.assert_array_equal(link.avg_mean, twin.avg_mean)
        np.testing.assert_array_equal(link.avg_var, twin.avg_var)
        np.testing.assert_allclose(x.grad, z.grad, rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(link.gamma.grad, twin.gamma.grad, rtol=1e-5)

    def test_batch_renormalization(self):
        link, twin = (L.BatchRenormalization(3, rmax=3, dmax=5) for _ in range(2))
        results = []
        for call in (lambda x: F.forget(link, x), twin):
            x = chainer.Variable(X)
            for _ in range(2):
                y = call(x)
                y.grad = floats(5, 3)
                x.cleargrad()
                y.backward()
            results.append((y.array, x.grad))
        for actual, expected in zip(*results, strict=True):
            np.testing.assert_allclose(actual, expected, rtol=1e-5, atol=1e-6)
        np.testing.assert_array_equal(link.avg_mean, twin.avg_mean)
        np.testing.assert_array_equal(link.avg_var, twin.avg_var)

    def test_configuration(self):
        seen = []

        def f(x):
            seen.append((chainer.config._will_recompute, chainer.config.in_recomputing))
            return x * 2

        y = F.forget(f, chainer.Variable(X))
        y.grad = X
        y.backward()
        assert seen == [(True, False), (False, True)]
        assert (chainer.config._will_recompute, chainer.config.in_recomputing) == (False, False)


class TestBatchRenormalization:
    def test_statistics_are_updated_in_place(self):
        link = L.BatchRenormalization(3, rmax=3, dmax=5)
        mean, var = link.avg_mean, link.avg_var
        link(X)
        assert link.avg_mean is mean and link.avg_var is var
        assert mean.any()

    def test_arguments(self):
        link = L.BatchRenormalization(3, 1, 0, 0.9, 2e-5, None, True, True, None, None, 5, 6)
        assert link.avg_mean.tolist() == [5, 5, 5]
        assert link.avg_var.tolist() == [6, 6, 6]
        assert link.r is None and link.d is None
        frozen = L.BatchRenormalization(3, freeze_running_statistics=True)
        frozen(X)
        assert not frozen.avg_mean.any()


class TestText:
    @pytest.mark.parametrize(
        ("link", "size"),
        [
            (lambda: L.BatchNormalization(3), "3"),
            (lambda: L.BatchNormalization((3, 4)), "(3, 4)"),
            (lambda: L.BatchNormalization(axis=0), "None"),
        ],
    )
    def test_size(self, link, size):
        assert str(link()) == (
            f"BatchNormalization(size={size}, decay=0.9, eps=2e-05, dtype=float32, use_gamma=True, "
            "use_beta=True)"
        )

    def test_omitted_parameters(self):
        assert "use_gamma=False, use_beta=True" in str(L.BatchNormalization(3, use_gamma=False))


def test_sizes():
    for size in (3, np.int64(3), [3], (3,)):
        assert L.BatchNormalization(size).avg_mean.shape == (3,)
    assert L.BatchNormalization(3, axis=[0]).axis == [0]
    assert L.BatchNormalization(3, axis=np.int32(0)).axis == (0,)
    assert hasattr(L.BatchNormalization, "gamma")
