"""The functions of ``xp`` compute what NumPy's do, with the same dtypes."""

from __future__ import annotations

import numpy as np
import pytest

from chainer_array_api import count_fallbacks

X = np.random.RandomState(0).uniform(-2, 2, (2, 3, 4))
P = np.abs(X) + 0.5
SQUARE = np.random.RandomState(1).uniform(-1, 1, (2, 3, 3)) + 3 * np.eye(3)
I = np.arange(-6, 6).reshape(3, 4)  # noqa: E741
B = I % 3 == 0
F = X.astype(np.float32)

#: Calls by text: what they are made of is looked up in ``xp`` or in NumPy.
CALLS = """
xp.exp(I); xp.sqrt(P); xp.log1p(P); xp.tanh(F); xp.sign(X); xp.trunc(X); xp.rint(X); xp.isnan(X)
xp.arctan2(X, P); xp.hypot(X, P); xp.fmod(X, 0.7); xp.remainder(X, 0.7); xp.fmax(X, 0)
xp.exp2(X); xp.maximum(F, 0); xp.minimum(I, 2.5); xp.logaddexp(X, P); xp.copysign(X, -P)
xp.cbrt(X); xp.add(B, B); xp.multiply(B, True); xp.less(B, True); xp.logical_not(X)
xp.logical_and(I, B); xp.heaviside(X, 0.5); xp.degrees(X); xp.power(P, 2); xp.square(I)
xp.left_shift(abs(I), 2); F + 1; F + 1.5; F + np.float64(1); I + 1; I + 1.5; I / 2; I // 2
I % 4; 2 - X; 1 / P; P ** 0.5; 2 ** F; F * X; I.astype('i1') + I; B + 1; B | B; ~B; -X; abs(X)
X > 0; X == X; I != 2; B ^ B; X @ X.swapaxes(1, 2); xp.clip(X, -1, 1); xp.clip(X, None, 0.5)
xp.where(B, I, 0.5); xp.where(X > 0, F, 0); xp.where(B)[1]; xp.nan_to_num(X / xp.floor(X))
xp.isclose(X, X + 1e-9); xp.round(X, 2); xp.real(X); xp.imag(X + 1j); xp.sum(X)
xp.sum(I, axis=0); xp.sum(B); xp.sum(F, (0, 2), keepdims=True); xp.prod(X, axis=-1); X.mean()
xp.mean(I, axis=1); xp.var(X, axis=(0, 1)); xp.std(F, axis=1, ddof=1); xp.max(X, 1)
xp.min(B, axis=0); xp.argmax(X, axis=1); xp.argmin(X); xp.any(B, axis=0); xp.all(I)
xp.cumsum(I); xp.cumprod(F, axis=1); xp.count_nonzero(I, axis=0); xp.ptp(X, axis=2)
xp.diff(X, axis=1); xp.average(X, axis=0); xp.add.reduce(X); xp.maximum.reduce(X, axis=None)
xp.add.accumulate(I); xp.subtract.outer(X[0, 0], X[0, 1]); xp.zeros((2, 3), 'f'); xp.ones(3)
xp.full((2,), 5); xp.full((2,), 0.5, 'f'); xp.arange(5); xp.arange(2, 3, 0.25); xp.eye(3, 4, 1)
xp.identity(3); xp.tri(3); xp.tril(X, -1); xp.triu(X[0]); xp.linspace(0, 1, 7); xp.zeros_like(I)
xp.full_like(F, 2); xp.ones_like(B, dtype='i'); xp.indices((2, 3))
xp.meshgrid(X[0, 0], P[0, 1])[1]; xp.meshgrid(X[0, 0], P[0, 1], indexing='ij')[0]
xp.asarray([1, 2.5]); xp.array([[True]]); xp.array(3, 'f'); xp.reshape(X, (6, -1))
X.reshape(4, 6, order='F'); X.ravel(); X.T; X.transpose(1, 2, 0); xp.swapaxes(X, 0, 2)
xp.moveaxis(X, (0, 1), (-1, 0)); xp.rollaxis(X, 2); xp.rollaxis(X, 0, 3)
xp.expand_dims(X, (0, 3)); xp.squeeze(X[:1]); xp.flip(X, 1); xp.fliplr(X); xp.roll(X, 1, axis=2)
xp.repeat(X, 2, axis=1); xp.repeat(I, 3); xp.tile(I, (2, 1, 2)); xp.repeat(X, [1, 0, 2], axis=1)
xp.broadcast_to(X[0], (2, 3, 4)); xp.broadcast_arrays(X, I)[1]; xp.concatenate([X, F], axis=2)
xp.concatenate((I, B)); xp.stack([X, X], axis=-1); xp.hstack([I, I]); xp.vstack([I, B])
xp.dstack([I, I]); xp.column_stack([X[0, 0], X[0, 1]]); xp.array_split(X, 3, axis=2)[0]
xp.split(X, [1, 2], axis=1)[1]; xp.pad(X, 1); xp.pad(I, ((0, 1), (2, 0)), constant_values=3)
xp.pad(X, 1, mode='edge'); xp.pad(X, ((0, 2), (1, 1), (0, 0)), 'reflect'); xp.pad(X, 1, 'mean')
xp.pad(I, ((1, 2), (2, 1)), constant_values=((1, 2), (3, 4))); xp.diagonal(X, 1, 1, 2)
xp.diagonal(X, -1); xp.diag(X[0]); xp.diag(X[0, 0], -1); xp.trace(X, axis1=1, axis2=2)
xp.atleast_2d(X[0, 0]); xp.take(X, I[2] % 3, axis=1); xp.take(X, [[0, -1]])
xp.take(X, [5], axis=1, mode='clip'); xp.take_along_axis(X, xp.argsort(X, 1), 1)
xp.unravel_index(xp.arange(4), (2, 2))[1]; xp.compress([True, False], X, axis=0)
xp.bincount(xp.asarray([0, 3, 3]))
xp.bincount(xp.asarray([0, 1, 1]), weights=xp.asarray([0.5, 1, 2]), minlength=4)
xp.nonzero(X > 1)[2]; xp.argwhere(I > 2); xp.flatnonzero(I); xp.sort(X, axis=1)
xp.sort(I, None); xp.argsort(X); xp.searchsorted(xp.arange(5), X, 'right'); xp.unique(I % 4)
xp.unique(I % 4, return_counts=True)[1]; xp.isin(I, [1, 2]); xp.matmul(X, P.swapaxes(1, 2))
xp.dot(X, X[0].T); xp.dot(I, 2); X[0].dot(X[1, 0]); xp.vdot(X, P); xp.inner(X[0], X[1])
xp.outer(X[0, 0], I); xp.tensordot(X, P, ((1, 2), (1, 2))); xp.tensordot(X, X.T, 1)
xp.einsum('ijk,ijk->ij', X, P); xp.einsum('ij,jk,kl', X[0], X[1].T, X[0])
xp.einsum('i...,i...', X, P); xp.einsum('bii->bi', SQUARE)
xp.einsum('no,ni,noi->oi', I, X[1], X.transpose(1, 2, 0)[:, :, :1] + xp.zeros(4))
xp.einsum('ijk->k', X); xp.einsum('ij,kl->iljk', X[0], I); xp.linalg.inv(SQUARE)
xp.linalg.det(SQUARE); xp.linalg.solve(SQUARE, SQUARE)
xp.linalg.cholesky(SQUARE @ SQUARE.swapaxes(1, 2)); xp.linalg.svd(X[0])[1]; xp.linalg.norm(X)
xp.linalg.slogdet(SQUARE)[1]; xp.fft.fft(X, axis=1).imag; xp.fft.ifft(F).real
xp.fft.fft(I, 6).real; xp.fft.fftn(X).real; xp.fft.rfft(X).real; xp.percentile(X, 30)
xp.median(X, axis=1); xp.histogram(X, 4)[0]; xp.allclose(X, X); xp.array_equal(X, P)
X.astype('f'); X.astype('i'); I.astype('?'); X.flatten(); X.copy()
X.size + X.ndim + len(X) + X.nbytes
xp.astype(X, xp.float32); xp.astype(F, xp.float32, copy=False); xp.unstack(X, axis=1)[2]
xp.sort(xp.unique_values(I % 4)); xp.unique_all(I % 4).inverse_indices; xp.unique_all(I % 4)[3]
xp.unique_counts(I % 4).counts; xp.unique_inverse(X).inverse_indices; xp.vecdot(X, P)
xp.vecdot(X, P, axis=1); xp.vecdot(X + 2j, P * 1j).imag; xp.vecdot(I, I, axis=0)
xp.var(X, axis=1, correction=1); xp.std(F, correction=1.5)
xp.matrix_transpose(X); X.mT; xp.bitwise_left_shift(abs(I), 1); xp.bitwise_invert(I)
xp.can_cast(I, 'f4'); xp.result_type(F, 1.0) == 'f4'; xp.result_type(F, I) == 'f8'
xp.result_type(F, xp.float32) == 'f4'; xp.can_cast(X, xp.float32)
xp.arange(0, step=5); xp.arange(5, step=2); (X * 1j).astype(bool); xp.all(P * 1j)
xp.diff(X, prepend=0); xp.diff(X, 2, 1, X[:, :1], 5.0); xp.linalg.vecdot(X, P)
xp.linalg.cross(I[:, :3], I[:, 1:]); xp.linalg.svd(X[0])[1]; xp.fft.fftfreq(5, 0.5)
"""
NAMES = {"X": X, "P": P, "SQUARE": SQUARE, "I": I, "B": B, "F": F}
CALLS = [call.strip() for call in CALLS.replace("\n", ";").split(";") if call.strip()]


@pytest.mark.parametrize("call", CALLS)
def test_as_in_numpy(device, xp, call):
    arrays = {name: device.send(x) for name, x in NAMES.items()}
    with np.errstate(all="ignore"):
        expected = eval(call, {**NAMES, "xp": np, "np": np})
        actual = eval(call, {**arrays, "xp": xp, "np": np})
    if isinstance(expected, (bool, int)):
        assert actual == expected
        return
    assert isinstance(actual, device.backend.array_class)
    assert actual.dtype == expected.dtype
    assert actual.shape == expected.shape
    host = device.backend.to_host(actual)
    rtol = 1e-5 if expected.dtype == np.float32 else 1e-9
    np.testing.assert_allclose(host, expected, rtol=rtol, atol=1e-12)


def test_in_place(device, xp):
    x, y = device.send(X), device.send(P)
    host = X.copy()
    same = x
    x += y
    x *= 2
    x -= 0.5
    x /= y
    host = ((host + P) * 2 - 0.5) / P
    assert x is same
    np.testing.assert_allclose(device.backend.to_host(x), host)
    assert xp.multiply(x, y, out=x) is x
    np.testing.assert_allclose(device.backend.to_host(x), host * P)
    out = xp.empty((3, 4), "f")
    xp.sum(x, axis=0, dtype="f", out=out)
    np.testing.assert_allclose(device.backend.to_host(out), (host * P).sum(axis=0), rtol=1e-5)


def test_out_of_another_dtype(device, xp):
    whole = xp.arange(3)
    with pytest.raises(TypeError, match="same_kind"):
        whole += 0.5
    single = xp.zeros(3, "f")
    xp.exp(xp.zeros(3), out=single)
    assert single.tolist() == [1, 1, 1]
    with pytest.raises(ValueError, match="shape"):
        xp.add(single, 1, out=xp.zeros((2, 3), "f"))


def test_in_place_methods(device, xp):
    x = device.send(X.copy())
    host = X.copy()
    x.sort(axis=1)
    host.sort(axis=1)
    xp.fill_diagonal(x[0], 3)
    np.fill_diagonal(host[0], 3)
    xp.put_along_axis(x, device.send(np.zeros((2, 1, 4), int)), 9, axis=1)
    np.put_along_axis(host, np.zeros((2, 1, 4), int), 9, axis=1)
    x.put([0, -1], [5, 6])
    host.put([0, -1], [5, 6])
    xp.copyto(x, -1, where=x > 8)
    np.copyto(host, -1, where=host > 8)
    np.testing.assert_array_equal(device.backend.to_host(x), host)
    x.fill(2)
    assert float(x.min()) == float(x.max()) == 2


@pytest.mark.parametrize(
    ("call", "error"),
    [
        ("xp.max(xp.zeros((0, 2)))", ValueError),
        ("xp.argmax(xp.zeros((0,)))", ValueError),
        ("xp.zeros((2, 3)).reshape(4, -1)", ValueError),
        ("xp.zeros((2, 3)) + xp.zeros((4,))", (ValueError, RuntimeError)),
        ("xp.matmul(xp.zeros((2, 3)), xp.zeros((2, 3)))", ValueError),
        ("xp.concatenate([xp.zeros((2, 3)), xp.zeros((2, 2))])", ValueError),
        ("xp.sum(xp.zeros(3), axis=1)", ValueError),
        ("xp.linalg.inv(xp.zeros((2, 2)))", np.linalg.LinAlgError),
        ("xp.linalg.det(xp.zeros((2, 3)))", np.linalg.LinAlgError),
        ("xp.zeros(3) + np.zeros(3)", TypeError),
        ("np.zeros(3) + xp.zeros(3)", TypeError),
        ("np.asarray(xp.zeros(3))", TypeError),
        ("xp.exp(np.zeros(3))", TypeError),
        ("xp.frompyfunc", AttributeError),
        ("xp.linalg.nonsense", AttributeError),
        ("xp.exp.at(xp.zeros(3), 0)", TypeError),
    ],
)
def test_refusals(xp, call, error):
    with pytest.raises(error):
        eval(call, {"xp": xp, "np": np})


def test_nothing_is_computed_by_numpy_but_what_is_declared(device, xp):
    with count_fallbacks() as counts, np.errstate(all="ignore"):
        for call in CALLS:
            eval(call, {**{n: device.send(x) for n, x in NAMES.items()}, "xp": xp, "np": np})
    declared = {"norm", "percentile", "median", "histogram", "pad", "unique"}
    assert set(counts) <= declared | {"unique_all", "unique_counts", "unique_inverse"}


def test_dir_is_true(xp):
    missing = [name for name in dir(xp) if not hasattr(xp, name)]
    assert missing == []


def test_the_standard_is_found_by_arrays(device, xp):
    x = device.send(X)
    assert x.__array_namespace__() is xp
    assert x.__array_namespace__(api_version="2023.12") is xp
    with pytest.raises(ValueError, match=r"api_version must be one of .* got '1999'"):
        x.__array_namespace__(api_version="1999")
    info = xp.__array_namespace_info__()
    assert x.device in info.devices()
    assert info.dtypes(kind="bool") == {"bool": np.dtype(bool)}
    assert info.default_dtypes()["real floating"] == np.dtype(float)
    assert info.capabilities()["boolean indexing"]
    assert info.default_device() in info.devices()
    assert x.to_device(x.device) is x
    with pytest.raises(ValueError, match="device must be one of"):
        x.to_device("nowhere")


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda xp, x: xp.vecdot(x, x[:, :2]), r"the same length of axis -1"),
        (lambda xp, x: xp.unstack(xp.asarray(1.0)), "at least one axis"),
        (lambda xp, x: xp.matrix_transpose(x[0]), "at least two axes"),
        (lambda xp, x: xp.var(x, ddof=1, correction=1), "two names of one argument"),
    ],
)
def test_what_the_functions_of_the_standard_refuse(device, xp, call, text):
    with pytest.raises(ValueError, match=text):
        call(xp, device.send(X[0]))
