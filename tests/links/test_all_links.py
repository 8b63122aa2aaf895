"""What holds for every link: numbers of an earlier release, gradients, files, copies, devices."""

from __future__ import annotations

import copy
import pathlib
import pickle

import numpy as np
import pytest

import chainer
import chainer.functions as F
import chainer.links as L
from chainer import serializers
from tests.links import link_cases
from tests.links.link_cases import CASES, Case

UPSTREAM = np.load(pathlib.Path(__file__).parent / "data" / "upstream_links.npz")
"""Made by ``data/make_upstream_links.py`` with release 7.8.1."""

FORMATS = {
    "npz": (serializers.save_npz, serializers.load_npz),
    "h5": (serializers.save_hdf5, serializers.load_hdf5),
}

all_cases = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
lazy_cases = pytest.mark.parametrize(
    "case", [case for case in CASES if case.lazy], ids=lambda case: case.name
)


def made(case: Case) -> chainer.Link:
    np.random.seed(0)
    return case.make(L)


def lazily_made(case: Case) -> chainer.Link:
    np.random.seed(0)
    return case.lazy(L)


def called(case: Case, link: chainer.Link) -> None:
    with chainer.using_config("train", False):
        case.call(link, *case.inputs)


def outputs(case: Case, link: chainer.Link) -> np.ndarray:
    np.random.seed(42)
    with chainer.using_config("train", False), chainer.no_backprop_mode():
        return link_cases.joined(y.array for y in link_cases.flatten(case.call(link, *case.inputs)))


def equals_upstream(actual, case, kind, **tolerance):
    expected = UPSTREAM[f"{kind}/{case.name}"]
    np.testing.assert_allclose(actual, expected, **{"rtol": 1e-4, "atol": 2e-5, **tolerance})


@all_cases
def test_initial_values_are_those_of_earlier_releases(case):
    link = made(case)
    if case.name == "BlackOut":  # there the weight is full of NaN, and so is the loss
        assert not link.W.array.any()
        return
    equals_upstream(link_cases.joined_state(link), case, "initial", rtol=1e-6, atol=1e-7)


@lazy_cases
def test_sizes_are_found_out(case):
    link = lazily_made(case)
    called(case, link)
    equals_upstream(link_cases.joined_state(link), case, "lazy", rtol=1e-6, atol=1e-7)


@all_cases
def test_numbers_are_those_of_earlier_releases(case):
    link = made(case)
    link_cases.perturb(link)
    outputs, gradients = link_cases.run(case, link, chainer.Variable)
    equals_upstream(link_cases.joined(outputs), case, "outputs")
    equals_upstream(link_cases.joined(gradients), case, "inputs")
    grads = link_cases.joined(param.grad for _, param in sorted(link.namedparams()))
    equals_upstream(grads, case, "gradients")
    equals_upstream(link_cases.joined_state(link), case, "after")


def loss_of(case: Case, link: chainer.Link, inputs: list[np.ndarray]) -> float:
    arrays = iter(inputs)
    moved = link_cases.map_arrays(
        lambda array: next(arrays) if array.dtype.kind == "f" else array, case.inputs
    )
    np.random.seed(42)
    results = link_cases.flatten(case.call(link, *moved))
    return sum(
        float((np.cos(np.arange(y.size) + i) * y.array.ravel()).sum())
        for i, y in enumerate(results)
    )


@pytest.mark.parametrize(
    # Its gradient takes the correction for constant.
    "case",
    [case for case in CASES if case.name != "BatchRenormalization"],
    ids=lambda case: case.name,
)
def test_gradients_are_those_of_finite_differences(case):
    link = made(case)
    link_cases.perturb(link)
    for param in link.params():
        param.array = param.array.astype(np.float64)

    def variable(array):
        return chainer.Variable(array.astype(np.float64))

    _, gradients = link_cases.run(case, copy.deepcopy(link), variable)
    inputs = [
        array.astype(np.float64)
        for array in link_cases.flatten(case.inputs)
        if array.dtype.kind == "f"
    ]
    propagated = copy.deepcopy(link)
    link_cases.run(case, propagated, variable)

    state = np.random.RandomState(0)
    expected, values = 0.0, []
    directions = []
    for array, gradient in [
        *zip(inputs, gradients, strict=True),
        *((param.array, param.grad) for param in propagated.params()),
    ]:
        direction = state.randn(*array.shape)
        directions.append(direction)
        if gradient is not None:
            expected += float((gradient * direction).sum())
    # A larger step carries points of the deformable convolution from one pixel to the next.
    for eps in (1e-6, -1e-6):
        moved = copy.deepcopy(link)
        for param, direction in zip(moved.params(), directions[len(inputs) :], strict=True):
            param.array += eps * direction
        shifted = [x + eps * d for x, d in zip(inputs, directions)]
        with chainer.no_backprop_mode():
            values.append(loss_of(case, moved, shifted))
    np.testing.assert_allclose((values[0] - values[1]) / 2e-6, expected, rtol=1e-4, atol=1e-6)


FORMULAS = {
    "Bias": lambda link, x: F.bias(x, link.b),
    "Bilinear": lambda link, x, y: F.bilinear(x, y, link.W, link.V1, link.V2, link.b),
    "Convolution2D": lambda link, x: F.convolution_2d(x, link.W, link.b, 2, 1),
    "ConvolutionND-1": lambda link, x: F.convolution_nd(x, link.W, link.b, 2, 1),
    "Deconvolution2D": lambda link, x: F.deconvolution_2d(x, link.W, link.b, 2, 1),
    "DeconvolutionND-1": lambda link, x: F.deconvolution_nd(x, link.W, link.b, 2, 1),
    "DepthwiseConvolution2D": lambda link, x: F.depthwise_convolution_2d(x, link.W, link.b, 2, 1),
    "DilatedConvolution2D": lambda link, x: F.convolution_2d(x, link.W, link.b, 1, 1, dilate=2),
    "EmbedID": lambda link, x: link.W[x],
    "Highway": lambda link, x: F.linear_interpolate(
        F.sigmoid(link.transform(x)), F.relu(link.plain(x)), x
    ),
    "Linear": lambda link, x: F.matmul(x, link.W, transb=True) + link.b.array,
    "LocalConvolution2D": lambda link, x: F.local_convolution_2d(x, link.W, link.b),
    "MLPConvolution2D": lambda link, x: link[1](F.relu(link[0](x))),
    "Scale-bias": lambda link, x: x * link.W.array + F.broadcast_to(link.bias.b, x.shape),
    "StatelessGRU": lambda link, h, x: F.linear_interpolate(
        F.sigmoid(link.W_z(x) + link.U_z(h)),
        F.tanh(link.W(x) + link.U(h * F.sigmoid(link.W_r(x) + link.U_r(h)))),
        chainer.as_variable(h),
    ),
    "StatelessLSTM": lambda link, c, h, x: F.lstm(c, link.upward(x) + link.lateral(h)),
    "BatchNormalization": lambda link, x: F.fixed_batch_normalization(
        x, link.gamma, link.beta, link.avg_mean, link.avg_var
    ),
    "LayerNormalization": lambda link, x: F.layer_normalization(x, link.gamma, link.beta, 1e-6),
    "PReLU": lambda link, x: F.prelu(x, link.W),
    "Swish": lambda link, x: x * F.sigmoid(x * F.broadcast_to(link.beta, x.shape)),
    "Maxout": lambda link, x: F.max(F.reshape(link.linear(x), (-1, 2, 4)), axis=2),
    "Classifier": lambda link, x, t: F.softmax_cross_entropy(link.predictor(x), t),
    "CRF1d": lambda link, xs, ys: F.crf1d(link.cost, xs, ys),
}


@pytest.mark.parametrize(
    "case", [case for case in CASES if case.name in FORMULAS], ids=lambda case: case.name
)
def test_result_is_that_of_plain_functions(case):
    link = made(case)
    link_cases.perturb(link)
    with chainer.using_config("train", False):
        expected = link_cases.flatten(FORMULAS[case.name](link, *case.inputs))
    expected = link_cases.joined(y.array for y in expected)
    np.testing.assert_allclose(outputs(case, link), expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("suffix", ["npz", "h5"])
@all_cases
def test_file(case, suffix, tmp_path):
    save, load = FORMATS[suffix]
    if suffix == "h5":
        pytest.importorskip("h5py")
    link = made(case)
    link_cases.perturb(link)
    save(tmp_path / "link", link)
    other = made(case)
    load(tmp_path / "link", other)
    np.testing.assert_array_equal(link_cases.joined_state(other), link_cases.joined_state(link))
    np.testing.assert_array_equal(outputs(case, other), outputs(case, link))


@pytest.mark.parametrize("suffix", ["npz", "h5"])
@lazy_cases
def test_file_before_and_after_the_sizes_are_known(case, suffix, tmp_path):
    save, load = FORMATS[suffix]
    if suffix == "h5":
        pytest.importorskip("h5py")
    before = lazily_made(case)
    unknown = [path for path, param in before.namedparams() if param.array is None]
    save(tmp_path / "before", before)
    other = lazily_made(case)
    load(tmp_path / "before", other)
    assert unknown == [path for path, param in other.namedparams() if param.array is None]

    after = lazily_made(case)
    called(case, after)
    link_cases.perturb(after)
    save(tmp_path / "after", after)
    load(tmp_path / "after", other)
    assert all(param.array is not None for param in other.params())
    np.testing.assert_array_equal(link_cases.joined_state(other), link_cases.joined_state(after))
    np.testing.assert_array_equal(outputs(case, other), outputs(case, after))


@all_cases
def test_copies(case):
    link = made(case)
    link_cases.perturb(link)
    params = dict(link.namedparams())
    shared, copied = link.copy(), link.copy("copy")
    for replica in (shared, copied):
        assert dict(replica.namedparams()).keys() == params.keys()
        assert replica.name is None
        np.testing.assert_array_equal(outputs(case, replica), outputs(case, link))
    for path, param in shared.namedparams():
        assert param is not params[path]
        assert param.array is params[path].array
    for path, param in copied.namedparams():
        assert param is not params[path]
        assert not np.shares_memory(param.array, params[path].array)

    np.random.seed(1)
    fresh = link.copy("init")
    state = dict(fresh.namedparams())
    assert state.keys() == params.keys()
    for path, param in made(case).namedparams():
        array = state[path].array
        assert array.shape == param.shape
        assert not np.shares_memory(array, params[path].array)
        if case.name == "Parameter":  # the array it was made of is its initializer
            np.testing.assert_array_equal(array, params[path].array)
        elif np.ptp(param.array):
            assert not np.array_equal(array, params[path].array)
        else:
            np.testing.assert_array_equal(array, param.array)


@all_cases
def test_pickling(case):
    link = made(case)
    restored = pickle.loads(pickle.dumps(link))
    np.testing.assert_array_equal(outputs(case, restored), outputs(case, link))


@all_cases
def test_printed_form(case):
    link = made(case)
    assert repr(link).startswith((type(link).__name__, f"<{type(link).__name__}"))
    assert str(link).startswith(f"{type(link).__name__}(")


@pytest.fixture
def strict():
    pytest.importorskip("chainer_strict_backend")
    return chainer.get_device("@strict:1")


@pytest.mark.parametrize(
    ("case", "lazy"),
    [
        pytest.param(case, lazy, id=f"{case.name}-lazy" if lazy else case.name)
        for case in CASES
        for lazy in ([False, True] if case.lazy else [False])
    ],
)
def test_device(case, lazy, strict):
    from chainer_strict_backend import count_transfers

    link = made(case)
    with chainer.using_config("train", False):
        expected, expected_gradients = link_cases.run(case, made(case), chainer.Variable)
    if lazy:
        moved = lazily_made(case).to_device(strict)
        with chainer.using_config("train", False):
            case.call(moved, *link_cases.map_arrays(strict.send, case.inputs))
        for path, param in moved.namedparams():
            source = dict(link.namedparams())[path]
            param.array = strict.send(source.array)
    else:
        moved = link
        assert moved.to_device(strict) is moved
    assert moved.xp is strict.xp
    state = [param.array for param in moved.params()]
    assert all(chainer.backend.get_device_from_array(array) == strict for array in state)

    arrays = [strict.send(array) for array in link_cases.flatten(case.inputs)]
    prepared = iter(arrays)
    inputs = link_cases.map_arrays(lambda array: next(prepared), case.inputs)
    if hasattr(moved, "reset_state"):
        moved.reset_state()
    with chainer.using_config("train", False), count_transfers() as transfers:
        results = link_cases.flatten(case.call(moved, *inputs))
    assert all(chainer.backend.get_device_from_array(y.array) == strict for y in results)
    assert transfers.to_host == transfers.between_devices == 0
    with chainer.using_config("train", False):
        results, gradients = link_cases.run(
            case, moved, lambda array: chainer.Variable(strict.send(array)), strict.send
        )
    if not case.random:
        for actual, array in zip(results, expected, strict=True):
            np.testing.assert_allclose(strict.backend.to_host(actual), array, rtol=1e-4, atol=1e-5)
        for actual, array in zip(gradients, expected_gradients, strict=True):
            np.testing.assert_allclose(strict.backend.to_host(actual), array, rtol=1e-4, atol=1e-5)
    assert moved.to_device("@numpy") is moved
    assert all(isinstance(param.array, np.ndarray) for param in moved.params())
    called(case, moved)
