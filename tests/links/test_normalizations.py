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


class TestGroupNormalization:
    def test_formula(self):
        x = floats(2, 6, 3, 4)
        link = L.GroupNormalization(2, eps=1e-3, initial_gamma=2, initial_beta=np.arange(6))
        y = link(x)
        rows = x.reshape(2, 2, -1).astype(float)
        rows = rows - rows.mean(axis=2, keepdims=True)
        rows /= np.sqrt(rows.var(axis=2, keepdims=True) + 1e-3)
        expected = 2 * rows.reshape(x.shape) + np.arange(6)[:, None, None]
        np.testing.assert_allclose(y.array, expected, rtol=1e-4, atol=1e-5)
        assert link.gamma.shape == link.beta.shape == (6,)
        with chainer.using_config("train", False):
            np.testing.assert_array_equal(link(x).array, y.array)
        assert not link._persistent

    @pytest.mark.parametrize(
        ("config", "expected"), [(np.float16, np.float16), ("mixed16", np.float32)]
    )
    def test_dtype(self, config, expected):
        config = chainer.mixed16 if config == "mixed16" else config
        with chainer.using_config("dtype", config):
            link = L.GroupNormalization(2, 4, initial_gamma=chainer.initializers.One(np.float64))
            lazy = L.GroupNormalization(2)
        lazy(floats(2, 4))
        assert link.gamma.dtype == link.beta.dtype == lazy.gamma.dtype == expected

    def test_errors(self):
        with pytest.raises(ValueError, match="Input dimension must be at least 2"):
            L.GroupNormalization(2)(floats(4))
        with pytest.raises(ValueError, match="not divisible by 'groups' argument 3"):
            L.GroupNormalization(3)(floats(2, 4))
        with pytest.raises(TypeError, match="Argument: 'groups' type must be"):
            L.GroupNormalization(2.0, 4)(floats(2, 4))
        assert str(L.GroupNormalization(2, 4)) == "GroupNormalization(groups=2, size=4, eps=1e-05)"


def whitened(x, groups, eps):
    """ZCA whitening of groups of channels, the means and the projections."""
    batch, channels = x.shape[:2]
    rows = np.moveaxis(x.reshape(batch, groups, channels // groups, -1), 0, 2)
    rows = rows.reshape(groups, channels // groups, -1).astype(float)
    mean = rows.mean(axis=2)
    centered = rows - mean[:, :, None]
    m = rows.shape[2]
    cov = centered @ centered.transpose(0, 2, 1) / m + eps * np.eye(channels // groups)
    values, vectors = np.linalg.eigh(cov)
    projection = vectors * values[:, None] ** -0.5 @ vectors.transpose(0, 2, 1)
    y = (projection @ centered).reshape(groups, channels // groups, batch, -1)
    return np.moveaxis(y, 2, 0).reshape(x.shape), mean, projection * m / max(m - 1, 1)


class TestDecorrelatedBatchNormalization:
    def make(self):
        return L.DecorrelatedBatchNormalization(6, groups=2, decay=0.75, eps=0.01)

    def test_training(self):
        x = floats(5, 6, 4)
        link = self.make()
        mean, projection = link.avg_mean, link.avg_projection
        assert (mean.shape, projection.shape) == ((2, 3), (2, 3, 3))
        y, batch_mean, batch_projection = whitened(x, 2, 0.01)
        np.testing.assert_allclose(link(x).array, y, rtol=1e-3, atol=1e-4)
        assert link.avg_mean is mean and link.avg_projection is projection
        np.testing.assert_allclose(mean, 0.25 * batch_mean, rtol=1e-3, atol=1e-5)
        np.testing.assert_allclose(
            projection, 0.75 * np.eye(3) + 0.25 * batch_projection, rtol=1e-3, atol=1e-4
        )

    def test_finetuning_and_test_mode(self):
        link = self.make()
        batches = [floats(5, 6, 4), floats(5, 6, 4)[::-1] * 2]
        for x in batches:
            link(x, finetune=True)
        assert link.N == 2
        mean = np.mean([whitened(x, 2, 0.01)[1] for x in batches], axis=0)
        np.testing.assert_allclose(link.avg_mean, mean, rtol=1e-3, atol=1e-5)
        with chainer.using_config("train", False):
            y = link(batches[0])
        expected = F.fixed_decorrelated_batch_normalization(
            batches[0], link.avg_mean, link.avg_projection, 2
        )
        np.testing.assert_array_equal(y.array, expected.array)
        link.start_finetuning()
        assert link.N == 0

    def test_recomputation(self):
        link, twin = self.make(), self.make()
        x, z = chainer.Variable(floats(5, 6, 4)), chainer.Variable(floats(5, 6, 4))
        for y in (F.forget(link, x), twin(z)):
            y.grad = floats(5, 6, 4)
            y.backward()
        np.testing.assert_array_equal(link.avg_mean, twin.avg_mean)
        np.testing.assert_allclose(x.grad, z.grad, rtol=1e-4, atol=1e-5)

    @pytest.mark.parametrize("suffix", ["npz", "h5"])
    @pytest.mark.parametrize("groups", [1, 2])
    def test_files_of_releases_before_7(self, suffix, groups, tmp_path):
        old = {"avg_mean": np.arange(3.0), "avg_projection": 2 * np.eye(3), "N": np.array(3)}
        path = tmp_path / "old"
        if suffix == "npz":
            with open(path, "wb") as file:
                np.savez(file, **old)
            load = chainer.serializers.load_npz
        else:
            h5py = pytest.importorskip("h5py")
            with h5py.File(path, "w") as file:
                for name, value in old.items():
                    file[name] = value
            load = chainer.serializers.load_hdf5
        link = L.DecorrelatedBatchNormalization(3 * groups, groups)
        mean = link.avg_mean
        if groups == 1:
            load(path, link)
        else:
            with pytest.warns(UserWarning, match="Found moving statistics of old") as record:
                load(path, link)
            assert len(record) == 2
        assert link.avg_mean is mean and link.N == 3
        np.testing.assert_array_equal(mean, [[0, 1, 2]] * groups)
        np.testing.assert_array_equal(link.avg_projection, [2 * np.eye(3)] * groups)

    def test_files_of_wrong_shapes(self, tmp_path):
        wrong = {"avg_mean": np.zeros((1, 2, 3)), "avg_projection": np.eye(3), "N": np.array(3)}
        np.savez(tmp_path / "wrong.npz", **wrong)
        with pytest.raises(ValueError, match="unexpected shape of avg_mean"):
            chainer.serializers.load_npz(tmp_path / "wrong.npz", self.make())

    def test_arguments(self):
        link = L.DecorrelatedBatchNormalization(16, dtype=np.float64)
        assert link.groups == 16 and link.avg_mean.dtype == np.float64
        assert list(link._persistent) == ["N", "avg_mean", "avg_projection"]
        with pytest.raises(TypeError, match="unexpected keyword"):
            link(floats(2, 16), foo=1)
        with pytest.raises(chainer.utils.type_check.InvalidType):
            L.DecorrelatedBatchNormalization(6, 4)(floats(3, 6))
