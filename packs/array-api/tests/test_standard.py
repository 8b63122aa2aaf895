"""The namespaces of backends and ``array_api_strict``: every function, signatures, dtypes, values.

``array_api_strict`` takes no call that the array API standard does not define. So each call that it
takes must give the same here: an array of the same shape and dtype with the same values. It is the
oracle also for what is in the standard: a function without a call below fails the test.
"""

from __future__ import annotations

import importlib.util
import inspect
from typing import Any

import chainer
import numpy as np
import pytest
from numpy.exceptions import ComplexWarning

strict = pytest.importorskip("array_api_strict")

#: Backend -> the library that it needs.
BACKENDS = {"array_api_strict": "array_api_strict", "jax": "chainer_jax", "torch": "torch"}

DTYPES = ("bool", "int32", "int64", "uint8", "float32", "float64", "complex64", "complex128")

#: Not functions of the standard.
_OF_THE_LIBRARY = {"get", "set", "reset"}

_UNARY = """
abs acos acosh asin asinh atan atanh bitwise_invert ceil conj cos cosh exp expm1 floor imag isfinite
isinf isnan log log10 log1p log2 logical_not negative positive real reciprocal round sign signbit
sin sinh sqrt square tan tanh trunc nonzero
"""
_BINARY = """
add atan2 bitwise_and bitwise_left_shift bitwise_or bitwise_right_shift bitwise_xor copysign divide
equal floor_divide greater greater_equal hypot less less_equal logaddexp logical_and logical_or
logical_xor maximum minimum multiply nextafter not_equal pow remainder subtract
"""
#: Calls of each function that takes other arguments than one or two arrays.
_CALLS = """
all(x) all(x, axis=0) any(x, axis=(0,1), keepdims=True) any(x, axis=-1)
arange(5) arange(0, step=5) arange(2, 9, 3, dtype=xp.float32) arange(1.0, 2.0, 0.25)
arange(5, device=d) argmax(x) argmax(x, axis=1, keepdims=True) argmin(x, axis=0) argmin(x)
argsort(x) argsort(x, axis=0, descending=True, stable=True)
asarray([1, 2]) asarray(x, dtype=xp.float64, copy=True) asarray(2.5) asarray([[True]], device=d)
asarray(x, copy=False) astype(x, xp.float32) astype(x, xp.int64, copy=False) astype(x, xp.bool)
astype(x, xp.complex64) broadcast_arrays(x, x[0, ...]) broadcast_shapes((2, 1), (3,))
broadcast_to(x[0, ...], x.shape) can_cast(x, x.dtype) can_cast(xp.int32, xp.int64)
clip(x, 0, 1) clip(x, min=1) clip(x, max=xp.ones_like(x)) concat([x, x]) concat([x, x], axis=-1)
concat([x, y], axis=None) count_nonzero(x) count_nonzero(x, axis=1, keepdims=True)
cumulative_prod(x, axis=0) cumulative_prod(x, axis=1, include_initial=True)
cumulative_sum(x, axis=1) cumulative_sum(x, axis=0, include_initial=True)
cumulative_sum(x, axis=0, dtype=xp.float64) diff(x) diff(x, axis=0, n=2)
diff(x, axis=1, prepend=x[:, :1], append=x) empty((2, 3)).shape empty_like(x).dtype
empty((2,), dtype=xp.int32, device=d).dtype empty_like(x, dtype=xp.int32, device=d).dtype
expand_dims(x, axis=1) eye(3) eye(2, 3, k=1, dtype=xp.float32) eye(2, device=d)
finfo(x.dtype) finfo(x) iinfo(x.dtype) iinfo(xp.int32) flip(x) flip(x, axis=0) flip(x, axis=(0, 1))
from_dlpack(x) from_dlpack(x, copy=True) full((2,), 3) full((2, 2), 1.5, dtype=xp.float32)
full((2,), True) full(2, 1j) full((2,), 3, device=d) full_like(x, 1)
full_like(x, 1, dtype=xp.float64, device=d) isdtype(x.dtype, "integral")
isdtype(x.dtype, ("real floating", "complex floating")) isdtype(x.dtype, xp.float32)
isin(x, x[0, ...]) linspace(0, 1, 5)
linspace(0.0, 2.0, num=4, endpoint=False, dtype=xp.float32) linspace(0, 1, 3, device=d)
matmul(x, m) matmul(x[0, ...], m) matmul(s, s) matrix_transpose(s) max(x) max(x, axis=0) min(x)
max(x, axis=(0, 1), keepdims=True) min(x, axis=-1, keepdims=True) mean(x) mean(x, axis=0)
mean(x, axis=(0, 1), keepdims=True) meshgrid(x[0, ...], x[:, 0])[0]
meshgrid(x[0, ...], x[:, 0], indexing="ij")[1] moveaxis(s, 0, 2) moveaxis(s, (0, 1), (1, 0))
ones((2, 3)) ones(2, dtype=xp.int32) ones((2,), device=d) ones_like(x)
ones_like(x, dtype=xp.float32, device=d) permute_dims(s, (2, 0, 1)) prod(x) prod(x, axis=1)
prod(x, axis=0, keepdims=True, dtype=xp.float64) repeat(x, 2) repeat(x, 2, axis=1)
repeat(x, xp.asarray([1, 2, 0]), axis=0) reshape(x, (-1,)) reshape(x, (4, 3), copy=True)
result_type(x, y) result_type(xp.float32, xp.float64) result_type(x, 1) roll(x, 1)
roll(x, -1, axis=1) roll(x, (1, 2), axis=(0, 1)) searchsorted(xp.sort(x[0, ...]), x[1, ...])
searchsorted(xp.sort(x[0, ...]), x[1, ...], side="right")
searchsorted(x[0, ...], x[1, ...], sorter=xp.argsort(x[0, ...])) sort(x)
sort(x, axis=0, descending=True) sort(x, stable=True) squeeze(x[:1, ...], axis=0)
squeeze(x[:1, :1], axis=(0, 1)) stack([x, x]) stack([x, y], axis=-1) std(x) std(x, axis=0)
std(x, axis=(0, 1), correction=1, keepdims=True) var(x) var(x, axis=1, correction=1.0)
var(x, axis=(0, 1), correction=1, keepdims=True) sum(x) sum(x, axis=0) sum(x, dtype=xp.float64)
sum(x, axis=(0, 1), keepdims=True) take(x, i, axis=0) take(x[0, ...], i) take_along_axis(x, j)
take_along_axis(x, j, axis=1) tensordot(x, m, axes=1) tensordot(x, x, axes=((0, 1), (0, 1)))
tensordot(x, x, axes=0) tile(x, (2,)) tile(x, (2, 1, 3)) tril(s) tril(s, k=-1) triu(s) triu(x, k=1)
unique_all(x)[0] unique_all(x).counts unique_all(x).inverse_indices unique_counts(x).values
unique_counts(x)[1] unique_inverse(x).values unique_inverse(x).inverse_indices unique_values(x)
unstack(x) unstack(x, axis=1) vecdot(x, y) vecdot(x, y, axis=0) where(x == y, x, y)
where(x == y, x, 1) zeros((2, 3)) zeros(3, dtype=xp.bool) zeros((2,), device=d) zeros_like(x)
zeros_like(x, dtype=xp.complex64, device=d) nonzero(x[0, ...]) add(x, 1) multiply(2, x) equal(x, 1)
linalg.cholesky(p) linalg.cholesky(p, upper=True) linalg.cross(x[:, :3], y[:, :3])
linalg.cross(s, s, axis=1) linalg.det(s) linalg.diagonal(s) linalg.diagonal(s, offset=1)
linalg.eigh(p)[0] linalg.eigh(p).eigenvalues linalg.eigvalsh(p) linalg.inv(p) linalg.matmul(x, m)
linalg.matrix_norm(s) linalg.matrix_norm(s, ord=1, keepdims=True) linalg.matrix_power(s, 2)
linalg.matrix_rank(p) linalg.matrix_rank(p, rtol=0.1) linalg.matrix_transpose(s)
linalg.outer(x[0, ...], x[1, ...]) linalg.pinv(p) linalg.pinv(p, rtol=0.001) linalg.qr(p)[0].shape
linalg.qr(x, mode="complete").Q.shape linalg.qr(x).R.dtype linalg.slogdet(p).logabsdet
linalg.slogdet(p).sign linalg.solve(p, s) linalg.solve(p, x[0, :3]) linalg.svd(x)[1]
linalg.svd(x, full_matrices=False).U.shape linalg.svd(x).Vh.dtype linalg.svdvals(x)
linalg.tensordot(x, m, axes=1) linalg.trace(s) linalg.trace(s, offset=1, dtype=xp.float64)
linalg.vecdot(x, y) linalg.vector_norm(x) linalg.vector_norm(x, axis=0, keepdims=True, ord=1)
fft.fft(x) fft.fft(x, n=3, axis=0, norm="ortho") fft.fftfreq(5) fft.fftfreq(4, d=2.0, device=d)
fft.fftn(x) fft.fftn(x, s=(2, 2), axes=(0, 1)) fft.fftshift(x) fft.fftshift(x, axes=0) fft.hfft(x)
fft.hfft(x, n=4, axis=1) fft.ifft(x) fft.ifftn(x) fft.ifftshift(x, axes=(0, 1)) fft.ihfft(x)
fft.irfft(x) fft.irfft(x, n=4) fft.irfftn(x) fft.rfft(x) fft.rfft(x, axis=0, norm="forward")
fft.rfftfreq(5) fft.rfftfreq(4, d=2.0, device=d) fft.rfftn(x) fft.rfftn(x, axes=(0,))
"""


def calls() -> dict[str, list[str]]:
    """Returns the calls of each function."""
    found: dict[str, list[str]] = {name: [f"{name}(x)"] for name in _UNARY.split()}
    found.update((name, [f"{name}(x, y)"]) for name in _BINARY.split())
    text, depth = "", 0
    for char in " ".join(_CALLS.split()) + " ":
        depth += (char in "([") - (char in ")]")
        if char == " " and not depth:
            found.setdefault(text[: text.index("(")], []).append(text)
            text = ""
        else:
            text += char
    return found


CALLS = calls()


def functions() -> list[str]:
    """Returns the functions of the standard."""
    found: list[str] = []
    for prefix, module, names in (
        ("", strict, dir(strict)),
        ("linalg.", strict.linalg, strict.linalg.__all__),
        ("fft.", strict.fft, strict.fft.__all__),
    ):
        for name in names:
            value = getattr(module, name)
            if name[0] == "_" or isinstance(value, type) or not callable(value):
                continue
            if name.partition("_")[0] not in _OF_THE_LIBRARY:
                found.append(prefix + name)
    return found


def find(xp: Any, name: str) -> Any:
    for part in name.split("."):
        xp = getattr(xp, part)
    return xp


#: JAX compiles a program for each call, which takes minutes.
PARAMETERS = [
    pytest.param(name, marks=pytest.mark.slow if name == "jax" else ()) for name in sorted(BACKENDS)
]


@pytest.fixture(params=PARAMETERS)
def device(request):
    if importlib.util.find_spec(BACKENDS[request.param]) is None:
        pytest.skip(f"{BACKENDS[request.param]} is not installed")
    return chainer.get_device(f"@{request.param}")


def test_every_function_has_calls():
    assert set(functions()) == set(CALLS)


def test_signatures(device):
    """Arguments that the standard passes by name may be passed by name."""
    missing: list[str] = []
    for name in functions():
        try:
            have = inspect.signature(find(device.xp, name)).parameters
        except ValueError:
            continue
        if any([p.kind is p.VAR_KEYWORD for p in have.values()]):
            continue  # the calls below pass them
        for key, wanted in inspect.signature(find(strict, name)).parameters.items():
            if wanted.kind is wanted.KEYWORD_ONLY and key not in have:
                missing.append(f"{name}({key}=)")
    assert missing == []


def inputs(dtype: str, seed: int) -> dict[str, np.ndarray[Any, Any]]:
    """Returns the arrays of a call: matrices x and y, a stack s, a definite one p, indexes."""
    rng = np.random.default_rng(seed)

    def draw(*shape: int) -> np.ndarray[Any, Any]:
        values = rng.integers(0, 5, shape) if seed % 2 else rng.uniform(-3, 3, shape)
        if dtype in ("uint8", "bool"):
            values = abs(values)
        if dtype.startswith("complex"):
            values = values + 1j * rng.integers(0, 4, shape)
        return values.astype(dtype)

    square = draw(2, 3, 3)
    definite = square.swapaxes(1, 2).conj() @ square + 4 * np.eye(3).astype(dtype)
    # Of integers, the quotient by zero is not defined.
    divisor = draw(3, 4)
    divisor[divisor == 0] = 1
    return {
        **{"x": draw(3, 4), "y": divisor, "m": draw(4, 2), "s": square},
        **{"p": definite.astype(dtype)},
        **{"i": np.array([2, 0]), "j": np.array([[1, 0, 2, 1], [0, 0, 1, 2], [2, 1, 0, 0]])},
    }


def plain(value: Any, to_host: Any) -> Any:
    """Returns a result in a form that can be compared."""
    if isinstance(value, (tuple, list)) and not isinstance(value, str):
        return [plain(part, to_host) for part in value]
    if hasattr(value, "smallest_normal"):
        return [float(getattr(value, key)) for key in ("bits", "eps", "max", "smallest_normal")]
    if hasattr(value, "bits"):
        return [int(value.bits), int(value.min), int(value.max)]
    if hasattr(value, "shape") and hasattr(value, "__dlpack__"):
        return to_host(value)
    if value is None or isinstance(value, (bool, int, np.bool_)):
        return value
    return str(value).rpartition(".")[2]  # a dtype


def same(value: Any, expected: Any) -> bool:
    """Compares results: shapes, dtypes and values."""
    if isinstance(expected, list):
        return len(value) == len(expected) and all(map(same, value, expected))
    if not isinstance(expected, np.ndarray):
        return value == expected
    if value.dtype != expected.dtype or value.shape != expected.shape:
        return False
    single = expected.dtype.itemsize <= (8 if expected.dtype.kind == "c" else 4)
    tolerance = 1e-3 if single else 1e-9
    return np.allclose(value, expected, tolerance, tolerance, equal_nan=True)


@pytest.mark.parametrize("name", sorted(CALLS))
def test_calls(device, name):
    xp, backend = device.xp, device.backend
    there = strict.__array_namespace_info__().default_device()
    here = xp.__array_namespace_info__().default_device()
    taken, wrong = 0, []
    for text in CALLS[name]:
        # Without an array in the call all of them would be the same.
        several = text.split("(", 1)[1]
        kinds = DTYPES if any([f"{letter}" in several for letter in "xysmp"]) else DTYPES[:1]
        for dtype in kinds:
            for seed in (0, 1):
                arrays = inputs(dtype, seed)
                own = {key: strict.asarray(value) for key, value in arrays.items()}
                with np.errstate(all="ignore"):
                    try:
                        expected = eval(f"xp.{text}", {"xp": strict, "d": there, **own})
                    except (TypeError, ValueError, np.linalg.LinAlgError, ComplexWarning):
                        continue  # not a call of the standard
                    expected = plain(expected, lambda a: np.array(np.from_dlpack(a)))
                    own = {key: device.send(value) for key, value in arrays.items()}
                    taken += 1
                    try:
                        value = eval(f"xp.{text}", {"xp": xp, "d": here, **own})
                        value = plain(value, backend.to_host)
                    except Exception as error:
                        wrong.append(f"{text} of {dtype}: {error!r}")
                        continue
                if not same(value, expected):
                    wrong.append(f"{text} of {dtype}: {value!r} instead of {expected!r}")
    assert taken
    assert wrong == []


# -- where NumPy and the standard differ ----------------------------------------------------------


def test_can_cast(device):
    """As the standard, and as NumPy where the standard defines no promotion.

    These are casts from bool to numbers, and from integers to floating point.
    """
    undefined = 0
    for source in DTYPES:
        for target in DTYPES:
            from_, to = np.dtype(source), np.dtype(target)
            expected = np.can_cast(from_, to)
            if to.kind not in {"b": "iufc", "i": "fc", "u": "fc"}.get(from_.kind, ""):
                assert expected == strict.can_cast(getattr(strict, source), getattr(strict, target))
            else:
                undefined += expected
            for value in (from_, device.send(np.zeros(1, from_))):
                assert device.xp.can_cast(value, to) is expected, (value, to)
    assert undefined == 15


#: In ``array_api_strict``, ``isin`` (new in 2025.12) ignores ``invert``, so it is compared here.
@pytest.mark.parametrize("dtype", ["int32", "int64", "uint8", "float32"])
def test_isin_inverted(device, dtype):
    x = inputs(dtype, 1)["x"]
    if dtype == "float32":
        x[0, 0] = np.nan  # is in nothing
    for tests in (x[0], x[0, :0], x[:0]):
        expected = np.isin(x, tests)
        if dtype != "float32":  # the standard has it for integers
            same = strict.isin(strict.asarray(x), strict.asarray(tests))
            np.testing.assert_array_equal(np.from_dlpack(same), expected)
        for invert in (False, True):
            y = device.xp.isin(device.send(x), device.send(tests), invert=invert)
            assert y.dtype == np.bool
            np.testing.assert_array_equal(device.backend.to_host(y), expected ^ invert)


def test_isin_options(device):
    xp = device.xp
    x = xp.asarray([1, 2, 2])
    assert bool(xp.all(xp.isin(x, xp.asarray([2, 1]), assume_unique=True, kind="sort")))
    with pytest.raises(ValueError, match=r"kind of isin.*got 'fast'"):
        xp.isin(x, x, kind="fast")
    with pytest.raises(TypeError, match="inverted"):
        xp.isin(x, x, inverted=True)


#: ``eig`` and ``eigvals`` are new in 2025.12, and always complex there. In NumPy, whose rules the
#: namespaces follow, they are real if all eigenvalues are.
@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("real", [True, False])
def test_eig(device, dtype, real):
    x = inputs(dtype, 0)["p" if real else "s"]
    if dtype.startswith("float") and real:
        x = np.triu(x)  # its eigenvalues are on the diagonal
    expected = np.array(np.from_dlpack(strict.linalg.eigvals(strict.asarray(x))))
    array = device.send(x)
    values, vectors = map(device.backend.to_host, device.xp.linalg.eig(array))
    only = device.backend.to_host(device.xp.linalg.eigvals(array))
    own = np.linalg.eig(x)
    assert values.dtype == only.dtype == own.eigenvalues.dtype
    assert vectors.dtype == own.eigenvectors.dtype
    tolerance = 1e-3 if np.finfo(x.dtype).bits == 32 else 1e-9
    for found in (values, only):
        np.testing.assert_allclose(
            np.sort_complex(found), np.sort_complex(expected), tolerance, tolerance
        )
    np.testing.assert_allclose(x @ vectors, vectors * values[:, None, :], tolerance, 10 * tolerance)


#: The factors are not unique, so ``test_calls`` compares their shapes, dtypes and singular values.
@pytest.mark.parametrize("dtype", ["float32", "float64", "complex128"])
def test_factors(device, dtype):
    x = inputs(dtype, 0)["x"]
    array, host = device.send(x), device.backend.to_host
    tolerance = 1e-5 if dtype == "float32" else 1e-12
    for mode in ("reduced", "complete"):
        q, r = map(host, device.xp.linalg.qr(array, mode=mode))
        np.testing.assert_allclose(q @ r, x, tolerance, tolerance)
        np.testing.assert_allclose(q.conj().T @ q, np.eye(q.shape[1]), tolerance, tolerance)
        assert (np.tril(r, -1) == 0).all()
    for full in (True, False):
        u, s, vh = map(host, device.xp.linalg.svd(array, full_matrices=full))
        np.testing.assert_allclose(u[:, :3] * s @ vh[:3], x, tolerance, 10 * tolerance)
        np.testing.assert_allclose(u.conj().T @ u, np.eye(u.shape[1]), tolerance, tolerance)
        np.testing.assert_allclose(vh @ vh.conj().T, np.eye(len(vh)), tolerance, tolerance)
    p = inputs(dtype, 0)["p"]
    values, vectors = map(host, device.xp.linalg.eigh(device.send(p)))
    np.testing.assert_allclose(p @ vectors, vectors * values[:, None, :], 0, 100 * tolerance)
