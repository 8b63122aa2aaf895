"""Initializers: values, statistics with fixed seeds, data types, errors."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import chainer
from chainer import initializers
from chainer.initializer import get_fans

FIRST = np.array([1.62434536, -0.61175641, -0.52817175, -1.07296862])  # normal, seed 1
UNIFORM = np.array([0.417022005, 0.720324493, 0.000114374817, 0.302332573]) * 2 - 1


@pytest.mark.parametrize(
    ("shape", "fans"),
    [((3, 4), (4, 3)), ((2, 3, 4), (12, 8)), ((2, 3, 4, 5), (60, 40)), ((0, 3), (3, 0))],
)
def test_fans(shape, fans):
    assert get_fans(shape) == fans


@pytest.mark.parametrize("shape", [(), (3,)])
def test_fans_need_two_axes(shape):
    with pytest.raises(ValueError, match="shape must be of length >= 2"):
        get_fans(shape)
    with pytest.raises(ValueError, match="shape must be of length >= 2"):
        initializers.LeCunNormal()(np.empty(shape))


RANDOM = [
    # initializer, deviation (or bound) for shape (4, 2, 3): fan-in 6, fan-out 12
    (initializers.Normal(), 0.05),
    (initializers.Normal(2), 2),
    (initializers.LeCunNormal(), (1 / 6) ** 0.5),
    (initializers.GlorotNormal(3), 3 * (2 / 18) ** 0.5),
    (initializers.HeNormal(), (2 / 6) ** 0.5),
    (initializers.HeNormal(fan_option="fan_out"), (2 / 12) ** 0.5),
    (initializers.Uniform(), 0.05),
    (initializers.LeCunUniform(), (3 / 6) ** 0.5),
    (initializers.GlorotUniform(), (6 / 18) ** 0.5),
    (initializers.HeUniform(2), 2 * (6 / 6) ** 0.5),
]
random_ones = pytest.mark.parametrize(
    ("initializer", "scale"), RANDOM, ids=[type(row[0]).__name__ for row in RANDOM]
)


def is_uniform(initializer):
    return "Uniform" in type(initializer).__name__


@random_ones
def test_draws_follow_numpys_seed(initializer, scale):
    array = np.empty((4, 2, 3), np.float32)
    np.random.seed(1)
    initializer(array)
    draws = UNIFORM if is_uniform(initializer) else FIRST
    np.testing.assert_allclose(array.ravel()[:4], scale * draws, rtol=1e-5)


@random_ones
def test_statistics(initializer, scale):
    np.random.seed(0)
    values = []
    for _ in range(2000):
        array = np.empty((4, 2, 3))
        initializer(array)
        values.append(array)
    values = np.stack(values)
    deviation = scale / 3**0.5 if is_uniform(initializer) else scale
    assert abs(values.mean()) < 4 * deviation / values.size**0.5
    np.testing.assert_allclose(values.std(), deviation, rtol=0.02)
    if is_uniform(initializer):
        assert 0.99 * scale < values.max() <= scale
        assert -scale <= values.min() < -0.99 * scale
    else:
        np.testing.assert_allclose((values**4).mean(), 3 * deviation**4, rtol=0.1)


@pytest.mark.parametrize("shape", [(3, 4), (4, 3), (3, 3), (2, 3, 2, 2), (5, 1), (1, 5), (4,)])
def test_orthogonal(shape):
    np.random.seed(0)
    array = np.empty(shape)
    initializers.Orthogonal(2.0)(array)
    matrix = array.reshape(shape[0], -1)
    gram = matrix @ matrix.T if matrix.shape[0] <= matrix.shape[1] else matrix.T @ matrix
    np.testing.assert_allclose(gram, 4 * np.eye(len(gram)), atol=1e-12)


def test_orthogonal_matrices_are_distributed_evenly():
    np.random.seed(0)
    arrays = np.empty((3000, 2, 2))
    for array in arrays:
        initializers.Orthogonal(1.0)(array)
    np.testing.assert_allclose(arrays.mean(axis=0), 0, atol=0.05)
    np.testing.assert_allclose((arrays**2).mean(axis=0), 0.5, atol=0.03)
    np.testing.assert_allclose((np.linalg.det(arrays) > 0).mean(), 0.5, atol=0.03)


def test_orthogonal_is_that_of_earlier_releases():
    array = np.empty((2, 3))
    np.random.seed(0)
    initializers.Orthogonal()(array)
    # Release 7.8.1.
    expected = [[0.94349007, 0.21402106, 0.52347061], [0.30140337, 0.67123752, -0.81767732]]
    np.testing.assert_allclose(array, expected, rtol=1e-6)


@pytest.mark.parametrize("shape", [(0, 3), (2, 0)])
def test_nothing_to_initialize(shape):
    for initializer, _ in RANDOM:
        initializer(np.empty(shape))
    with pytest.raises(ValueError, match="Array to be initialized must be non-empty"):
        initializers.Orthogonal()(np.empty(shape))


def test_scalar_array():
    values = set()
    np.random.seed(0)
    for _ in range(20):
        array = np.empty(())
        initializers.Orthogonal(1.5)(array)
        values.add(float(array))
    assert values == {1.5, -1.5}


def test_identity():
    array = np.empty((3, 3), np.float16)
    initializers.Identity(2)(array)
    np.testing.assert_array_equal(array, 2 * np.eye(3))


@pytest.mark.parametrize("shape", [(), (3,), (2, 3), (2, 2, 2)])
def test_identity_needs_a_square_matrix(shape):
    with pytest.raises(ValueError, match="2D squared matrices"):
        initializers.Identity()(np.empty(shape))


@pytest.mark.parametrize(
    ("initializer", "value"),
    [
        (initializers.Zero(), 0),
        (initializers.One(), 1),
        (initializers.NaN(), np.nan),
        (initializers.Constant(3), 3),
        (initializers.Constant(np.array([1.0, 2.0])), [1, 2]),
        (initializers.Constant(np.float32(0.5)), 0.5),
    ],
    ids=lambda value: type(value).__name__,
)
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_constants(initializer, value, dtype):
    array = np.empty((3, 2), dtype)
    initializer(array)
    np.testing.assert_array_equal(array, np.broadcast_to(value, (3, 2)))
    assert array.dtype == dtype


def test_constant_of_nothing():
    with pytest.raises(ValueError, match="must be a scalar or an array, got None"):
        initializers.Constant(None)(np.empty(2))


@pytest.mark.parametrize("shape", [(3, 1), (2, 3), (2, 1, 2), (1, 1, 2), (0,)])
def test_constant_of_another_shape(shape):
    value, array = np.ones(shape), np.empty((3, 2), np.float32)
    try:
        np.empty((3, 2))[...] = value
    except ValueError:
        with pytest.raises(ValueError, match="initial value of shape .* an array of shape"):
            initializers.Constant(value)(array)
    else:
        initializers.Constant(value)(array)
        assert (array == 1).all()


ALL = [
    "Constant",
    "DownsamplingConvFilter",
    "GlorotNormal",
    "GlorotUniform",
    "HeNormal",
    "HeUniform",
    "Identity",
    "LeCunNormal",
    "LeCunUniform",
    "NaN",
    "Normal",
    "One",
    "Orthogonal",
    "Uniform",
    "UpsamplingDeconvFilter",
    "Zero",
]
# Numbers of axes that initializers need, other than two.
NDIM = {"DownsamplingConvFilter": 3, "UpsamplingDeconvFilter": 3}


@pytest.mark.parametrize("name", ALL)
def test_dtype(name):
    arguments = (1.0,) if name == "Constant" else ()
    initializer = getattr(initializers, name)(*arguments, dtype=np.float16)
    assert initializer.dtype == np.float16
    array = initializers.generate_array(initializer, (3, 3, 3)[-NDIM.get(name, 2) :], np)
    assert array.dtype == np.float16
    for error in (ValueError, AssertionError):
        with pytest.raises(error, match="dtype of the array must be"):
            initializer(np.empty((3, 3), np.float32))
    assert getattr(initializers, name)(*arguments).dtype is None


def test_generate_array():
    assert initializers.generate_array(initializers.One(), 3, np).tolist() == [1, 1, 1]
    assert initializers.generate_array(initializers.One(), (2,), np).dtype == np.float32
    assert initializers.generate_array(initializers.One(), (), np, np.float64).dtype == np.float64
    with chainer.using_config("dtype", np.float16):
        assert initializers.generate_array(initializers.One(), 1, np).dtype == np.float16
    filled = initializers.generate_array(lambda array: array.fill(2), (2, 1), np, dtype="e")
    assert filled.dtype == np.float16
    assert filled.tolist() == [[2], [2]]
    with pytest.raises(ValueError, match="dtype mismatch"):
        initializers.generate_array(initializers.One(np.float32), 2, np, dtype=np.float64)


def test_generate_array_on_a_device():
    pytest.importorskip("chainer_strict_backend")
    device = chainer.get_device("@strict:1")
    array = initializers.generate_array(initializers.Normal(), (2, 3), device.xp, device=device)
    assert chainer.backend.get_device_from_array(array) == device
    for name in ALL:
        initializer = getattr(initializers, name)(*((1.0,) if name == "Constant" else ()))
        with device:
            shape = (3, 3, 3)[-NDIM.get(name, 2) :]
            array = device.send(np.empty(shape, np.float32))
            initializer(array)
        if name != "NaN":
            assert np.isfinite(device.backend.to_host(array)).all()


def test_what_links_accept_as_initializer():
    get = initializers.get_initializer
    assert initializers._get_initializer is get
    assert isinstance(get(None), initializers.LeCunNormal)
    assert get(2).fill_value == 2
    assert get(np.float32(2)).fill_value == 2
    array = np.arange(3)
    assert get(array).fill_value is array
    one = initializers.One()
    assert get(one) is one
    for wrong in ("a", [1, 2], object()):
        with pytest.raises(TypeError, match="initializer must be"):
            get(wrong)


def test_unknown_fan_option():
    with pytest.raises(ValueError, match="fan_option should be either 'fan_in' or 'fan_out'"):
        initializers.HeNormal(fan_option="fan")(np.empty((2, 2)))


def test_base_class_has_no_values():
    with pytest.raises(NotImplementedError, match="Initializer"):
        chainer.Initializer()(np.empty(2))


def test_own_initializer():
    class Ramp(chainer.Initializer):
        def __call__(self, array):
            array[...] = np.arange(array.size).reshape(array.shape)

    link = chainer.links.Linear(3, 2, initialW=Ramp())
    assert link.W.array.tolist() == [[0, 1, 2], [3, 4, 5]]
    assert link.W.dtype == np.float32
    link = chainer.links.Linear(3, 2, initialW=Ramp(np.float64))
    assert link.W.dtype == np.float64


RANDOM_NAMES = [
    *("Normal", "LeCunNormal", "GlorotNormal", "HeNormal", "Orthogonal"),
    *("Uniform", "LeCunUniform", "GlorotUniform", "HeUniform"),
]


class TestGenerators:
    @pytest.mark.parametrize("name", RANDOM_NAMES)
    @pytest.mark.parametrize("shape", [(3, 4), (4, 2, 3), ()])
    def test_values_are_those_of_the_global_generator(self, name, shape):
        if shape == () and not (name == "Normal" or name in ("Uniform", "Orthogonal")):
            return
        a, b = np.empty(shape, np.float32), np.empty(shape, np.float32)
        rng = np.random.RandomState(3)
        initializer = getattr(initializers, name)(rng=rng)
        assert initializer.rng is rng
        initializer(a)
        np.random.seed(3)
        getattr(initializers, name)()(b)
        np.testing.assert_array_equal(a, b)
        initializer(b)
        assert shape == () or not np.array_equal(a, b)

    def test_arguments_of_the_calls(self):
        calls = []

        class Source:
            def normal(self, **kwargs):
                calls.append(kwargs)
                return np.zeros(kwargs["size"])

            def uniform(self, **kwargs):
                calls.append(kwargs)
                return np.zeros(kwargs["size"])

        initializers.Normal(0.5, rng=Source())(np.empty((2, 3), np.float16))
        initializers.Uniform(0.5, rng=Source())(np.empty(2))
        assert calls == [
            {"loc": 0.0, "scale": 0.5, "size": (2, 3)},
            {"low": -0.5, "high": 0.5, "size": (2,)},
        ]

    def test_keyword_only(self):
        with pytest.raises(TypeError):
            initializers.Normal(0.05, None, np.random.RandomState(0))
        with pytest.raises(TypeError, match="foo"):
            initializers.Normal(foo=1)
        assert initializers.Normal().rng is None

    @pytest.mark.parametrize("name", RANDOM_NAMES)
    def test_generator_of_another_device(self, name):
        pytest.importorskip("chainer_strict_backend")
        device = chainer.get_device("@strict:0")
        array = device.send(np.empty((3, 4), np.float32))
        getattr(initializers, name)(rng=np.random.RandomState(3))(array)
        expected = np.empty((3, 4), np.float32)
        getattr(initializers, name)(rng=np.random.RandomState(3))(expected)
        np.testing.assert_array_equal(device.backend.to_host(array), expected)


class TestModesOfOrthogonal:
    @pytest.mark.parametrize(
        ("mode", "shape", "fits"),
        [
            ("auto", (3, 4), True),
            ("auto", (4, 3), True),
            ("projection", (3, 4), True),
            ("projection", (4, 3), False),
            ("projection", (2, 1, 3), True),
            ("projection", (5,), False),
            ("embedding", (3, 4), False),
            ("embedding", (4, 3), True),
            ("embedding", (5,), True),
            ("basis", (3, 4), False),
            ("basis", (4, 3), False),
            ("basis", (4, 2, 2), True),
            ("basis", (), True),
        ],
    )
    def test_shapes(self, mode, shape, fits):
        initializer = initializers.Orthogonal(mode=mode)
        if fits:
            initializer(np.empty(shape))
            return
        with pytest.raises(ValueError, match=f"Cannot make orthogonal {mode}. shape = "):
            initializer(np.empty(shape))

    def test_message(self):
        with pytest.raises(
            ValueError,
            match=r"Cannot make orthogonal projection. shape = \(4, 3\), interpreted as 3-dim "
            "input and 4-dim output.",
        ):
            initializers.Orthogonal(mode="projection")(np.empty((4, 3)))
        with pytest.raises(ValueError, match="Invalid mode: 'x'. Choose from 'auto', 'projection'"):
            initializers.Orthogonal(mode="x")


class TestSamplingFilters:
    def test_values(self):
        W = np.full((2, 2, 3, 3), np.nan)
        initializers.UpsamplingDeconvFilter()(W)
        linear = np.array([0.5, 1, 0.5])
        np.testing.assert_allclose(W[0, 0], np.outer(linear, linear))
        np.testing.assert_array_equal(W[1, 1], W[0, 0])
        assert not W[0, 1].any() and not W[1, 0].any()
        initializers.DownsamplingConvFilter()(W)
        np.testing.assert_allclose(W[0, 0], np.outer(linear, linear) / 4)

    def test_even_size_and_depthwise(self):
        W = np.empty((3, 1, 4))
        initializers.UpsamplingDeconvFilter()(W)
        np.testing.assert_allclose(W, np.broadcast_to([0.25, 0.75, 0.75, 0.25], (3, 1, 4)))

    @pytest.mark.parametrize("k", [2, 3, 4, 5])
    def test_upsampling_interpolates_linearly(self, k):
        stride = (k + 1) // 2
        link = chainer.links.DeconvolutionND(
            1, 2, 2, k, stride, nobias=True, initialW=initializers.UpsamplingDeconvFilter()
        )
        x = np.arange(10, dtype=np.float32).reshape(1, 2, 5)
        y = link(x).array[0, 0]
        # The input samples lie at distances of the stride; between them the values are on a line.
        center = (k - 1) / 2
        positions = (np.arange(len(y)) - center) / stride
        inside = (positions >= 0) & (positions <= 4)
        np.testing.assert_allclose(y[inside], positions[inside], atol=1e-5)

    @pytest.mark.parametrize("k", [2, 3, 4, 5])
    def test_downsampling_keeps_constants(self, k):
        link = chainer.links.Convolution2D(
            3,
            3,
            k,
            (k + 1) // 2,
            nobias=True,
            initialW=initializers.DownsamplingConvFilter(),
        )
        x = np.broadcast_to(np.arange(3, dtype=np.float32)[:, None, None], (1, 3, 9, 9))
        y = link(x.copy()).array
        np.testing.assert_allclose(y, np.broadcast_to(x[:, :, :1, :1], y.shape), rtol=1e-5)

    def test_errors(self):
        filters = (initializers.UpsamplingDeconvFilter, initializers.DownsamplingConvFilter)
        for kind in filters:
            with pytest.raises(ValueError, match="Unsupported interpolation method: cubic"):
                kind("cubic")
            with pytest.raises(ValueError, match="ksize must be all same: 3 != 4"):
                kind()(np.empty((2, 2, 3, 4)))
            for error in (AssertionError, ValueError):
                with pytest.raises(error, match="as many inputs as outputs or one"):
                    kind()(np.empty((2, 3, 3, 3)))
            with pytest.raises(ValueError, match="must have spatial axes"):
                kind()(np.empty((2, 2)))
        from chainer.initializers import sampling

        assert sampling.UpsamplingDeconvFilter is filters[0]


class TestMixedPrecision:
    def test_mixed16(self):
        mixed16 = chainer.mixed16
        assert repr(mixed16) == "dtype('mixed16')"
        assert mixed16.dtype == np.dtype(mixed16) == np.float16
        assert pickle.loads(pickle.dumps(mixed16)) is copy.deepcopy(mixed16) is mixed16

    def test_get_dtype(self):
        assert chainer.get_dtype(None, np.float64) == np.float32
        assert chainer.get_dtype(np.float16, np.float64) == np.float16
        assert chainer.get_dtype(chainer.mixed16) == np.float16
        assert chainer.get_dtype(chainer.mixed16, np.float64) == np.float64
        with chainer.using_config("dtype", chainer.mixed16):
            assert chainer.get_dtype() == np.float16
            assert chainer.get_dtype(map_mixed16=np.float32) == np.float32
            assert chainer.get_dtype(np.float64, np.float32) == np.float64

    def test_arrays(self):
        array = initializers.generate_array(initializers.One(), 2, np, dtype=chainer.mixed16)
        assert array.dtype == np.float16
        with chainer.using_config("dtype", chainer.mixed16):
            assert initializers.generate_array(initializers.One(), 2, np).dtype == np.float16
            assert chainer.Parameter(1, 2).dtype == np.float16
            assert chainer.Parameter(np.ones(2), 2).dtype == np.float16
            assert chainer.Parameter(initializers.One()).dtype == np.float16
            assert chainer.Link(a=2).a.dtype == np.float32

    def test_device_of_generated_arrays(self):
        with pytest.raises(ValueError, match="device must be one of"):
            initializers.generate_array(initializers.One(), 2, chainer, device="@numpy")


def test_what_is_accepted_as_initializer():
    check = initializers._check_is_initializer_like
    for good in (None, 3, np.float32(3), np.zeros(2), initializers.Normal(), len):
        check(good)
    for bad in ([1], {}, "x"):
        with pytest.raises(TypeError, match="initializer must be None, a scalar, an array"):
            check(bad)
