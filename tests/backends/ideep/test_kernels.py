"""Every kernel against the reference: outputs and gradients over shapes and modes."""

import numpy as np
import pytest

import chainer
import chainer.functions as F
from chainer.backends import intel64
from chainer.backends.operations.convolutions import ConvolutionGeometry
from chainer.backends.operations.poolings import PoolingGeometry
from chainer.backends.operations.response_normalizations import ResponseParameters
from chainer.backends.operations.rnns import RNNLayout
from chainer.core.registry import registries


def explained(operation, *arrays, **attributes):
    with chainer.using_config("use_ideep", "auto"):
        return chainer.explain(operation, *arrays, **attributes)


def run(mode, function, values, seed=3):
    """Returns outputs and gradients of a function of Variables, as NumPy arrays."""
    xs = [chainer.Variable(value.copy()) for value in values]
    if mode == "mdarray":
        for x in xs:
            x.to_intel64()
    with chainer.using_config("use_ideep", "never" if mode == "never" else "auto"):
        np.random.seed(seed)
        ys = function(*xs)
        ys = ys if isinstance(ys, tuple) else (ys,)
        state = np.random.RandomState(7)
        loss = sum(F.sum(y * np.asarray(state.randn(*y.shape), y.dtype)) for y in ys)
        loss.backward()
    return [np.asarray(y.array) for y in ys] + [np.asarray(x.grad) for x in xs]


def check(function, *values, rtol=1e-4, atol=1e-4):
    expected = run("never", function, values)
    for mode in ("auto", "mdarray"):
        for got, want in zip(run(mode, function, values), expected, strict=True):
            assert got.dtype == want.dtype
            np.testing.assert_allclose(got, want, rtol=rtol, atol=atol)


def f32(*shape, seed=0):
    return np.random.RandomState(seed).randn(*shape).astype("f")


SHAPES = [(1,), (7,), (3, 5), (2, 3, 4), (2, 16, 5, 6), (2, 3, 2, 3, 2)]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(
    "function",
    [F.relu, F.sigmoid, F.elu, lambda x: F.elu(x, 0.3), lambda x: F.elu(x, -0.5)],
    ids=["relu", "sigmoid", "elu", "elu 0.3", "elu -0.5"],
)
def test_elementwise(function, shape):
    check(function, f32(*shape))


@pytest.mark.parametrize("shape", [(2, 3, 4), (3, 16, 24, 24), (20000,)])
@pytest.mark.parametrize("slope", [0.2, 0.0, -0.3, 1.0, 1.7])
def test_leaky_relu(slope, shape):
    x = f32(*shape)
    x.ravel()[::3] = 0  # where the gradient is that of positive numbers
    check(lambda x: F.leaky_relu(x, slope), x)


def gelu_values(mode, x, gy):
    with chainer.using_config("use_ideep", mode), np.errstate(all="ignore"):
        variable = chainer.Variable(x)
        y = F.gelu(variable)
        y.grad = gy
        y.backward()
    return np.asarray(y.array), np.asarray(variable.grad)


def test_gelu():
    x, gy = 3 * f32(150, 128), f32(150, 128, seed=1)
    assert explained("gelu", x, approximate=False).chosen.provider == "ideep"
    # Both err by a few roundings of the distribution function, 2 ** -24, times x or gy below 16.
    for got, want in zip(gelu_values("auto", x, gy), gelu_values("never", x, gy), strict=True):
        assert type(got) is np.ndarray
        np.testing.assert_allclose(got, want, rtol=0, atol=4e-6)
    check(F.gelu, 3 * f32(3, 16, 24, 24))


@pytest.mark.parametrize("special", [np.inf, -np.inf, np.nan, 3e38, -3e38, 0.0])
def test_gelu_of_special_values(special):
    x, gy = f32(150, 128), f32(150, 128, seed=1)
    x[3, 5] = special
    for got, want in zip(gelu_values("auto", x, gy), gelu_values("never", x, gy), strict=True):
        np.testing.assert_allclose(got, want, rtol=0, atol=4e-6)
    # A NaN elsewhere changes nothing.
    x[7, 9] = np.nan
    (got, _), (want, _) = gelu_values("auto", x, gy), gelu_values("never", x, gy)
    np.testing.assert_allclose(got, want, rtol=0, atol=4e-6)


def test_gelu_that_numpy_computes():
    x = f32(150, 128)
    why = str(explained("gelu", x, approximate=True))
    assert "NumPy computes the approximation as fast" in why
    assert explained("gelu", x[:3], approximate=False).chosen.provider == "reference"


WEIGHT = f32(40, 8, 3, 3, seed=1)


def in_blocks(x, channels=40):
    y = F.convolution_2d(x, WEIGHT[:channels], pad=1)
    if chainer.config.use_ideep != "never":
        assert not y.array.layout.dense
    return y


@pytest.mark.parametrize("axis", [0, 1, 2, -3])
def test_concat(axis):
    def function(x, y):
        return F.concat([in_blocks(x), y, in_blocks(x * y[:, :8])], axis) * 2

    check(function, f32(2, 8, 6, 6), f32(2, 40, 6, 6, seed=2))
    check(lambda x, y: F.concat([y, x], axis), f32(3, 3, 3), f32(3, 3, 3, seed=1))


@pytest.mark.parametrize(
    ("sizes", "images"),
    # 16 channels to a block with AVX-512, 8 with AVX2. Where blocks do not end where the arrays do,
    # large arrays keep them all the same.
    [((32, 16), 2), ((40, 24), 170)],
)
def test_concat_keeps_blocks(sizes, images):
    with chainer.using_config("use_ideep", "auto"):
        x, y = (in_blocks(f32(images, 8, 5, 5), size) for size in sizes)
        joined = F.concat([x, y])
        assert not joined.array.layout.dense
        parts = F.split_axis(joined, sizes[:1], 1)
        assert {part.array.layout.dense for part in parts} == {False}
        for part, whole in zip(parts, (x, y), strict=True):
            np.testing.assert_array_equal(part.array.copy(), whole.array.copy())


@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("where", [2, [1], [1, 1], [0], [4, 5]])
def test_split_axis(where, axis):
    def function(x):
        return F.split_axis(in_blocks(x), where, axis)

    check(function, f32(6, 8, 6, 6))
    check(lambda x: F.split_axis(x, where, axis), f32(6, 8, 6))
    check(lambda x: function(x)[-1], f32(6, 8, 6, 6))  # no gradient of the others


@pytest.mark.parametrize("shape", [(3, 5), (20, 256), (16, 8, 3, 60)])
@pytest.mark.parametrize("rest", [0, 2])
def test_lstm(shape, rest):
    n, units, *size = shape
    check(F.lstm, f32(n + rest, units, *size), f32(n, 4 * units, *size, seed=1))


@pytest.mark.parametrize("function", [F.softmax, F.log_softmax])
@pytest.mark.parametrize(
    ("shape", "axis"), [((3, 5), 1), ((3, 5), 0), ((2, 5, 3, 4), 1), ((2, 3, 4), -1), ((4,), 0)]
)
def test_softmax(function, shape, axis):
    check(lambda x: function(x, axis=axis), 3 * f32(*shape))


CONVOLUTIONS = [
    {},
    {"pad": 1},
    {"stride": 2, "pad": 1},
    {"stride": (2, 1), "pad": (0, 2)},
    {"stride": 2, "cover_all": True},
    {"dilate": 2, "pad": 2},
    {"groups": 2, "pad": 1},
    {"groups": 4, "dilate": (1, 2), "stride": 2},
]


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("options", CONVOLUTIONS, ids=str)
def test_convolution_2d(options, bias):
    groups = options.get("groups", 1)
    values = [f32(2, 8, 9, 8), f32(12, 8 // groups, 3, 3, seed=1)]
    if bias:
        values.append(f32(12, seed=2))
    check(lambda *xs: F.convolution_2d(*xs, **options), *values)


@pytest.mark.parametrize("ndim", [1, 2, 3])
def test_convolution_nd(ndim):
    values = [f32(2, 3, *(6, 7, 5)[:ndim]), f32(4, 3, *(3, 2, 3)[:ndim], seed=1), f32(4, seed=2)]
    check(lambda *xs: F.convolution_nd(*xs, stride=2, pad=1), *values)


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"stride": 2, "pad": 1},
        {"stride": 2, "pad": 1, "outsize": (10, 9)},
        {"dilate": 2},
        {"groups": 2, "stride": (1, 3)},
    ],
    ids=str,
)
def test_deconvolution_2d(options, bias):
    groups = options.get("groups", 1)
    values = [f32(2, 8, 5, 5), f32(8, 6 // groups, 3, 3, seed=1)]
    if bias:
        values.append(f32(6, seed=2))
    check(lambda *xs: F.deconvolution_2d(*xs, **options), *values)


@pytest.mark.parametrize("shape", [(4, 3, 5), (64, 128, 96), (2, 300, 400)])
@pytest.mark.parametrize("bias", [True, False])
def test_linear(shape, bias):
    n, i, o = shape
    values = [f32(n, i), f32(o, i, seed=1)] + ([f32(o, seed=2)] if bias else [])
    check(F.linear, *values, atol=1e-3)


POOLINGS = [
    {"ksize": 2},
    {"ksize": 3, "stride": 2},
    {"ksize": 3, "stride": 2, "pad": 1},
    {"ksize": (3, 2), "stride": (1, 2), "pad": (1, 0)},
    {"ksize": 3, "stride": 1, "pad": 1},
]


@pytest.mark.parametrize("shape", [(2, 3, 7, 8), (1, 16, 9, 9)])
@pytest.mark.parametrize("cover_all", [True, False])
@pytest.mark.parametrize("options", POOLINGS, ids=str)
def test_max_pooling(options, cover_all, shape):
    check(lambda x: F.max_pooling_2d(x, cover_all=cover_all, **options), f32(*shape))


@pytest.mark.parametrize("shape", [(2, 3, 7, 8), (1, 16, 9, 9)])
@pytest.mark.parametrize("options", POOLINGS, ids=str)
def test_average_pooling(options, shape):
    check(lambda x: F.average_pooling_2d(x, **options), f32(*shape))


@pytest.mark.filterwarnings("ignore:.*experimental")
@pytest.mark.parametrize("pad_value", [0, None])
def test_average_pooling_nd(pad_value):
    check(lambda x: F.average_pooling_nd(x, 3, 2, 1, pad_value=pad_value), f32(2, 3, 5, 6, 7))


def test_max_pooling_gives_a_tie_to_the_first():
    check(lambda x: F.max_pooling_2d(x, 3, 2), np.ones((1, 2, 7, 7), "f"))


@pytest.mark.parametrize("shape", [(6, 3), (2, 16, 5, 5), (4, 3, 5), (2, 3, 2, 3, 2)])
def test_batch_normalization(shape):
    channels = shape[1]
    values = [f32(*shape), f32(channels, seed=1), f32(channels, seed=2)]
    check(F.batch_normalization, *values)
    statistics = {}
    for mode in ("never", "auto"):
        mean, var = np.zeros(channels, "f"), np.ones(channels, "f")
        with chainer.using_config("use_ideep", mode):
            F.batch_normalization(*values, running_mean=mean, running_var=var, decay=0.7)
        statistics[mode] = mean, var
    np.testing.assert_allclose(statistics["auto"], statistics["never"], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("shape", [(6, 3), (2, 16, 5, 5), (2, 3, 2, 3, 2)])
def test_fixed_batch_normalization(shape):
    channels = shape[1]
    values = [f32(*shape), *(f32(channels, seed=i) for i in (1, 2, 3))]
    check(F.fixed_batch_normalization, *values, abs(f32(channels, seed=4)) + 1)


@pytest.mark.parametrize("ending", [F.relu, F.tanh, lambda y: F.relu(y) + y, lambda y: y])
@pytest.mark.parametrize("ndim", [1, 2])
def test_normalization_in_inference(ending, ndim):
    """It is fused with a relu that follows, and computed for whatever else does."""
    x, W = f32(2, 8, *(7, 6)[:ndim]), f32(16, 8, *(3, 3)[:ndim], seed=1)
    vectors = [f32(16, seed=i) for i in (2, 3, 4)]

    def predicted(mode):
        with chainer.no_backprop_mode(), chainer.using_config("use_ideep", mode):
            h = F.convolution_nd(x, W)
            y = ending(F.fixed_batch_normalization(h, *vectors, abs(vectors[0]) + 1))
            return np.asarray(y.array)

    np.testing.assert_allclose(predicted("auto"), predicted("never"), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("shape", [(2, 7, 4, 4), (3, 16, 5), (4, 6)])
@pytest.mark.parametrize("options", [{}, {"n": 3, "k": 1, "alpha": 0.1, "beta": 0.5}, {"n": 4}])
def test_local_response_normalization(shape, options):
    check(lambda x: F.local_response_normalization(x, **options), 3 * f32(*shape))


@pytest.mark.parametrize("shape", [(5, 6), (2, 8, 4, 4)])
def test_dropout_draws_what_numpy_draws(shape):
    check(lambda x: F.dropout(F.relu(x), 0.4), f32(*shape))


def test_dropout_in_blocks():
    W = f32(16, 8, 3, 3, seed=1)
    check(lambda x: F.dropout(F.convolution_2d(x, W), 0.4), f32(2, 8, 6, 6))


@pytest.mark.parametrize("options", [{}, {"normalize": False}, {"reduce": "no"}, {"weight": True}])
@pytest.mark.parametrize("cache", [True, False])
@pytest.mark.parametrize("shape", [(3, 4), (200, 100)])
def test_softmax_cross_entropy(shape, cache, options):
    options = dict(options)
    if options.pop("weight", None):
        options["class_weight"] = np.linspace(0.5, 2, shape[1]).astype("f")
    t = np.random.RandomState(1).randint(-1, shape[1], shape[0]).astype("i")
    for labels in (t, abs(t)):
        check(
            lambda x, labels=labels: F.softmax_cross_entropy(
                x, labels, cache_score=cache, **options
            ),
            4 * f32(*shape),
        )


@pytest.mark.parametrize("ratio", [0.0, 0.3])
@pytest.mark.parametrize("directions", [1, 2])
@pytest.mark.parametrize("mode", ["lstm", "gru"])
def test_recurrent(mode, directions, ratio):
    layers, size, width, count = 2, 5, 4, {"lstm": 4, "gru": 3}[mode]
    state = np.random.RandomState(0)
    ws, bs = [], []
    for i in range(layers * directions):
        inputs = width if i < directions else size * directions
        shapes = [(size, inputs)] * count + [(size, size)] * count
        ws.append([state.randn(*s).astype("f") for s in shapes])
        bs.append([state.randn(size).astype("f") for _ in shapes])
    xs = [state.randn(3, width).astype("f") for _ in range(4)]
    start = state.randn(layers * directions, 3, size).astype("f")
    name = f"n_step_{'bi' if directions == 2 else ''}{mode}"
    flat = [a for group in ws + bs for a in group] + xs

    def function(h, *arrays):
        arrays = list(arrays)
        take = lambda: [[arrays.pop(0) for _ in range(2 * count)] for _ in ws]
        w, b = take(), take()
        states = (h, F.tanh(h)) if mode == "lstm" else (h,)
        with chainer.using_config("train", True):
            *last, ys = getattr(F, name)(layers, ratio, *states, w, b, arrays)
        return (*last, *ys)

    check(function, start, *flat)


@pytest.mark.parametrize(
    ("optimizer", "hooks"),
    [
        (chainer.optimizers.SGD, ()),
        (chainer.optimizers.MomentumSGD, ()),
        (chainer.optimizers.Adam, ()),
        (lambda: chainer.optimizers.Adam(weight_decay_rate=0.1), ()),
        (lambda: chainer.optimizers.Adam(amsgrad=True), ()),
        (chainer.optimizers.RMSprop, ()),
        (chainer.optimizers.AdaDelta, ()),
        (chainer.optimizers.SGD, (chainer.optimizer_hooks.WeightDecay(0.1),)),
        (chainer.optimizers.Adam, (chainer.optimizer_hooks.GradientClipping(0.5),)),
    ],
)
@pytest.mark.parametrize("shape", [(3, 4), (120, 130)])
@pytest.mark.parametrize("setting", ["never", "auto"])
def test_updates(optimizer, hooks, shape, setting):
    def updated(ideep):
        link = chainer.Link()
        with link.init_scope():
            link.W = chainer.Parameter(f32(*shape))
        if ideep:
            link.to_device("@ideep")
        rule = optimizer().setup(link)
        for hook in hooks:
            rule.add_hook(hook)
        for i in range(3):
            link.W.grad = f32(*shape, seed=i + 1)
            if ideep:
                link.W.grad = intel64.mdarray(link.W.grad)
            rule.update()
        assert (type(link.W.array) is intel64.mdarray) == ideep
        return np.asarray(link.W.array)

    with chainer.using_config("use_ideep", setting):
        np.testing.assert_allclose(updated(True), updated(False), rtol=1e-5, atol=1e-6)


class TestWhyNot:
    """What iDeep does not serve goes to the reference, with a reason."""

    X = f32(4, 8, 6, 6)
    POOLING = {"geometry": PoolingGeometry((2, 2), (2, 2), (2, 2)), "out_size": (3, 3)}
    CONVOLUTION = {
        "geometry": ConvolutionGeometry((1, 1), (0, 0), (1, 1)),
        "out_size": (4, 4),
        "transposed": False,
    }

    @pytest.mark.parametrize(
        ("operation", "arrays", "attributes", "reason"),
        [
            ("relu", [X.astype("d")], {}, "float64; iDeep computes in float32"),
            ("relu", [X.astype("e")], {}, "float16"),
            ("relu", [X[:0]], {}, "is empty"),
            ("relu", [np.ones((), "f")], {}, "0 dimensions"),
            ("relu", [X[:, ::2]], {}, "not C-contiguous"),
            ("leaky_relu", [X], {"slope": 0.2}, "1152 elements are done faster by NumPy"),
            ("lstm_cell", [f32(3, 4), f32(3, 16)], {}, "48 elements are done faster by NumPy"),
            ("elu", [X], {"alpha": -1.0}, "alpha must be positive"),
            ("softmax", [X], {"axis": 7}, "out of range"),
            ("linear", [f32(2, 3), f32(4, 3), None], {}, "faster by NumPy"),
            ("convolution_nd", [X, f32(3, 8, 3, 3).astype("d"), None], CONVOLUTION, "float64"),
            ("convolution_nd", [X, f32(3, 7, 3, 3), None], CONVOLUTION, "8 channels"),
            (
                "convolution_nd",
                [X, f32(3, 8, 3, 3), None],
                CONVOLUTION | {"out_size": (3, 4)},
                "output size",
            ),
            ("max_pooling_nd", [X], POOLING, "entirely in the padding"),
            ("batch_normalization", [X, f32(6, 6), f32(6, 6)], {"axis": (0, 1)}, "second"),
            (
                "local_response_normalization",
                [X],
                {"parameters": ResponseParameters(4, 1, 1.0, 1.0)},
                "must be odd",
            ),
            ("softmax_cross_entropy", [f32(2, 3), np.zeros(2, "i"), None], {}, "by NumPy"),
            (
                "n_step_rnn",
                [f32(5, 4), f32(1, 3, 4), None],
                {"layout": RNNLayout("gru", 1, 1, (3, 2))},
                "one length",
            ),
        ],
    )
    def test_reasons(self, operation, arrays, attributes, reason):
        explanation = explained(operation, *arrays, **attributes)
        assert explanation.chosen.provider == "reference"
        (ideep,) = (c for c in explanation if c.provider == "ideep")
        assert reason in ideep.reason

    def test_the_configuration(self):
        text = str(chainer.explain("relu", self.X))
        assert "chainer.config.use_ideep is 'never'" in text

    def test_every_kernel_is_chosen_for_something(self):
        registries.kernels.load_all()
        names = {key.split("/")[0] for key in registries.kernels.names() if "/ideep/" in key}
        assert {"relu", "convolution_nd", "adam_update", "dropout", "n_step_rnn"} <= names
        assert {"concat", "split_axis", "leaky_relu", "lstm_cell"} <= names

    @pytest.mark.parametrize("dtype", ["float16", "float64"])
    def test_other_dtypes_compute_as_ever(self, dtype):
        x, W = f32(2, 4, 6, 6).astype(dtype), f32(3, 4, 3, 3, seed=1).astype(dtype)
        function = lambda x, W: F.max_pooling_2d(F.relu(F.convolution_2d(x, W)), 2)
        expected = run("never", function, [x, W])
        for got, want in zip(run("auto", function, [x, W]), expected, strict=True):
            np.testing.assert_array_equal(got, want)

    def test_not_a_number_stays(self):
        x = np.array([[np.nan, 1.0, -1.0], [np.inf, -np.inf, 0.0]], "f")
        with chainer.using_config("use_ideep", "auto"):
            y = np.asarray(F.relu(x).array)
        np.testing.assert_array_equal(y, [[np.nan, 1, 0], [np.inf, 0, 0]])
