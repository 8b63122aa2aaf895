"""One case for each way in which a function is exported: function, inputs, oldest opset."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import chainer
import chainer.distributions as D
import chainer.functions as F
from chainer.functions.math.sum import SumTo

_rng = np.random.RandomState(0)


def normal(*shape):
    """Numbers of both signs."""
    return _rng.standard_normal(shape).astype(np.float32)


def positive(*shape):
    """Numbers between 0.1 and 0.9."""
    return _rng.uniform(0.1, 0.9, shape).astype(np.float32)


def ints(high, *shape, low=0):
    """Labels."""
    return _rng.randint(low, high, shape).astype(np.int32)


class Case(NamedTuple):
    """A way in which a function is exported.

    Attributes:
        name: Name of the function, and what is special.
        function: The function.
        inputs: Its inputs.
        since: The oldest opset that it can be exported to.
        tolerance: Relative and absolute tolerance; None for the tolerance of the dtype.
        floats: Whether other floating-point types are tested too.
        batch: Indexes of the inputs whose first axis is the batch.
        rows: Whether only whole rows of the inputs are exchanged for other values of them, because
            the values in a row belong together.
    """

    name: str
    function: Callable[..., Any]
    inputs: tuple[np.ndarray, ...]
    since: int
    tolerance: float | None
    floats: bool
    batch: tuple[int, ...]
    rows: bool


def case(
    name, function, *inputs, since=9, tolerance=None, floats=True, batch=None, rows=False
) -> Case:
    """A case; by default the batch is in all inputs that are as long as the first one."""
    if batch is None:
        batch = tuple([i for i, x in enumerate(inputs) if x.shape[:1] == inputs[0].shape[:1]])
    return Case(name, function, inputs, since, tolerance, floats, batch, rows)


def _batch_matmul(*args):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        return F.batch_matmul(*args)


def _coo(data, row, col, shape=(2, 3)):
    matrix = chainer.utils.CooMatrix(data.array, np.int32(row), np.int32(col), shape)
    matrix.data = data
    return matrix


def _sparse(cols=(2, 1, 0, 2), is_right=False, **options):
    """A product with a sparse matrix whose elements are the first input."""
    if is_right:
        # Of the shape (4, 3).
        return lambda x, y: F.sparse_matmul(y, _coo(x, [3, 0, 0, 2], cols, (4, 3)))
    # Of the shape (2, 3).
    return lambda x, y: F.sparse_matmul(_coo(x, [0, 0, 1, 1], cols), y, **options)


X = normal(2, 3)
IMAGE = normal(2, 4, 6, 6)
FAR = np.array([-40.0, -3.0, -1e-4, 0.0, 1e-4, 3.0, 40.0], np.float32)


def _params(*shapes):
    return [normal(*shape) for shape in shapes]


_W, _B = _params((5, 4, 3, 3), (5,))
_WG, _BG = _params((6, 2, 3, 3), (6,))
_WD, _BD = _params((4, 5, 3, 3), (5,))
_WP, _BP = _params((2, 4, 3, 3), (8,))
_WN = normal(3, 2, 2, 2, 2)
_GAMMA, _BETA, _MEAN = _params((4,), (4,), (4,))
_VAR = positive(4)

ACTIVATION = [
    case("clipped_relu", lambda x: F.clipped_relu(x, 0.5), X),
    case("crelu", lambda x: F.crelu(x, axis=-1), X),
    case("elu", lambda x: F.elu(x, 0.7), X),
    case("hard_sigmoid", F.hard_sigmoid, 3 * X),
    case("leaky_relu", lambda x: F.leaky_relu(x, 0.3), X),
    case("log_softmax", F.log_softmax, X),
    case("log_softmax axis", lambda x: F.log_softmax(x, axis=1), IMAGE),
    case("lstm", F.lstm, normal(2, 3), normal(2, 12)),
    case("lstm shorter batch", F.lstm, normal(3, 3), normal(2, 12)),
    case("maxout", lambda x: F.maxout(x, 2), normal(2, 6)),
    case("prelu", F.prelu, IMAGE, positive(4)),
    case("prelu all", F.prelu, X, positive(3)),
    case("relu", F.relu, X),
    case("relu6", F.relu6, 9 * X),
    case("rrelu", F.rrelu, X),
    case("selu", F.selu, X),
    case("sigmoid", F.sigmoid, X),
    case("slstm", F.slstm, *_params((2, 3), (2, 3), (2, 12), (2, 12))),
    case("softmax", F.softmax, X),
    case("softmax axis", lambda x: F.softmax(x, axis=1), IMAGE),
    case("softmax axis 0", lambda x: F.softmax(x, axis=0), IMAGE),
    case("softplus", F.softplus, X),
    case("softplus beta", lambda x: F.softplus(x, 2.0), X),
    case("swish", F.swish, IMAGE, positive(4)),
    case("tanh", F.tanh, X),
    case("tree_lstm", F.tree_lstm, *_params((2, 3), (2, 3), (2, 15))),
]

ARRAY = [
    case("as_strided", lambda x: F.as_strided(x, (2, 2), (3, 1)), X),
    case("broadcast", lambda x, y: F.broadcast(x, y), X, normal(3)),
    case("broadcast_to", lambda x: F.broadcast_to(x, (4, 2, 3)), X),
    case("broadcast_to samples", lambda x: F.broadcast_to(x, (len(x), 4, 3)), normal(2, 1, 3)),
    case("cast", lambda x: F.cast(x, np.float64), X, floats=False),
    case("concat", lambda x, y: F.concat((x, y), axis=-1), X, normal(2, 2)),
    case("copy", lambda x: F.copy(x, -1), X),
    case("depth2space", lambda x: F.depth2space(x, 2), normal(2, 8, 2, 3)),
    case("diagonal", lambda x: F.diagonal(x, 1, 0, 2), normal(3, 2, 4)),
    case("diagonal of samples", lambda x: F.diagonal(x, -1, 1, 2), normal(3, 2, 4)),
    case("dstack 1", lambda x, y: F.dstack((x, y)), normal(3), normal(3)),
    case("dstack 2", lambda x, y: F.dstack((x, y)), X, X),
    case("dstack 3", lambda x, y: F.dstack((x, y)), normal(2, 2, 2), normal(2, 2, 1)),
    case("expand_dims", lambda x: F.expand_dims(x, -1), X),
    case("flatten", F.flatten, X),
    case("flip", lambda x: F.flip(x, -1), X),
    case("fliplr", F.fliplr, X),
    case("flipud", F.flipud, X),
    case("hstack 0", lambda x, y: F.hstack((x, y)), normal(), normal()),
    case("hstack 1", lambda x, y: F.hstack((x, y)), normal(2), normal(3)),
    case("hstack 2", lambda x, y: F.hstack((x, y)), X, X),
    case("im2col", lambda x: F.im2col(x, 3, 2, 1, dilate=(1, 2)), IMAGE),
    case("im2col cover_all", lambda x: F.im2col(x, 3, 2, 0, cover_all=True), IMAGE),
    case("moveaxis", lambda x: F.moveaxis(x, (0, 1), (-1, 0)), IMAGE),
    case("pad", lambda x: F.pad(x, ((1, 2), (0, 1)), "constant", constant_values=2), X),
    case("pad edge", lambda x: F.pad(x, 1, "edge"), X),
    case("pad reflect", lambda x: F.pad(x, ((0, 0), (1, 2)), "reflect"), X),
    case("pad wrap", lambda x: F.pad(x, 1, "wrap"), X, since=19),
    case("pad_sequence", lambda x, y: F.pad_sequence([x, y], 5, -1), X, normal(4, 3)),
    case("permutate", F.permutate, normal(4, 2), np.array([2, 0, 3, 1], np.int32)),
    case(
        "permutate axis",
        lambda x, i: F.permutate(x, i, axis=1),
        normal(2, 4),
        np.array([2, 0, 3, 1], np.int32),
    ),
    case(
        "permutate inv",
        lambda x, i: F.permutate(x, i, inv=True),
        normal(4, 2),
        np.array([2, 0, 3, 1], np.int32),
    ),
    case("repeat", lambda x: F.repeat(x, 2, axis=-1), X),
    case("repeat all", lambda x: F.repeat(x, 2), X),
    case("repeat each", lambda x: F.repeat(x, (1, 0, 2), axis=1), X),
    case("reshape", lambda x: F.reshape(x, (3, -1)), X),
    case("reshape samples", lambda x: F.reshape(x, (len(x), 2, -1)), normal(3, 2, 4)),
    case("reshape empty", lambda x: F.reshape(x, (0, 5)), normal(0, 3)),
    case("resize_images", lambda x: F.resize_images(x, (9, 4)), IMAGE),
    case(
        "resize_images half",
        lambda x: F.resize_images(x, (9, 4), align_corners=False),
        IMAGE,
    ),
    case("resize_images nearest", lambda x: F.resize_images(x, (9, 4), mode="nearest"), IMAGE),
    case("rollaxis", lambda x: F.rollaxis(x, 2, 1), IMAGE),
    case(
        "scatter_add",
        lambda x, y: F.scatter_add(x, ([0, 1, 0], [1, 2, 1]), y),
        X,
        normal(3),
        since=16,
        floats=False,
    ),
    case(
        "scatter_add samples",
        lambda x, y: F.scatter_add(x, (slice(None), [1, 2, 1], slice(1, 3)), y),
        normal(2, 4, 3),
        normal(2, 3, 2),
        since=16,
        floats=False,
    ),
    case("select_item", F.select_item, X, ints(3, 2)),
    case("separate", lambda x: F.separate(x, 1), X),
    case("separate one", lambda x: F.separate(x, 1), normal(2, 1)),
    case("space2depth", lambda x: F.space2depth(x, 2), normal(2, 2, 4, 6)),
    case("split_axis", lambda x: F.split_axis(x, 3, 1), X),
    case("split_axis at", lambda x: F.split_axis(x, [1, 3], 1), normal(2, 6)),
    case("split_axis unused", lambda x: F.split_axis(x, [1, 3], 1)[1], normal(2, 6)),
    case("squeeze", F.squeeze, normal(1, 2, 1)),
    case("squeeze axis", lambda x: F.squeeze(x, -1), normal(1, 2, 1)),
    case("stack", lambda x, y: F.stack((x, y), -1), X, X),
    case("swapaxes", lambda x: F.swapaxes(x, 1, -1), IMAGE),
    case("tile", lambda x: F.tile(x, 2), X),
    case("tile more", lambda x: F.tile(x, (2, 1, 2)), X),
    case("transpose", F.transpose, X),
    case("transpose axes", lambda x: F.transpose(x, (-1, 0, 2, 1)), IMAGE),
    case(
        "transpose_sequence",
        lambda x, y: F.transpose_sequence([x, y]),
        normal(3, 2),
        normal(2, 2),
    ),
    case("vstack 1", lambda x, y: F.vstack((x, y)), normal(3), normal(3)),
    case("vstack 2", lambda x, y: F.vstack((x, y)), X, normal(1, 3)),
    case("where", F.where, X > 0, X, normal(2, 3)),
    case("where constant", lambda x, y: F.where(np.eye(2, 3, dtype=bool), x, y), X, normal(2, 3)),
    case("where bool", lambda x, y: F.where(True, x, y), X, normal(2, 3)),
    case(
        "spatial_transformer_grid", lambda t: F.spatial_transformer_grid(t, (3, 4)), normal(4, 2, 3)
    ),
    case(
        "spatial_transformer_sampler",
        F.spatial_transformer_sampler,
        IMAGE,
        1.2 * normal(2, 2, 3, 3),
        since=16,
    ),
]

_I = np.array([[0, 2], [1, 0]])
INDEXES = {
    "int": 1,
    "negative int": -1,
    "slice": slice(1, None),
    "slices": (slice(None), slice(-2, None), slice(None, 1)),
    "step": (slice(None), slice(None, None, 2)),
    "reverse": (slice(None), slice(None, None, -1)),
    "reverse step": (slice(None), slice(2, None, -2)),
    "ellipsis": (Ellipsis, 1),
    "new axis": (None, 1, None, slice(1, 2)),
    "new axis end": (Ellipsis, None),
    "list": ([2, 0],),
    "list second": (slice(None), [0, -1]),
    "array": (_I,),
    "array second": (slice(None), _I),
    "array last": (Ellipsis, _I),
    "two lists": ([0, 1], [1, 2]),
    "two lists behind": (slice(None), [0, 1], [1, 2]),
    "two lists apart": ([0, 1], slice(None), [1, 2]),
    "list and int": (0, slice(None), [1, 2]),
    "list and new axis": ([0, 1], None, [1, 2]),
    "list, new axis behind": ([0, 1], slice(None), None),
    "mask": (np.array([True, False, True]),),
    "mask of two axes": (np.eye(3, dtype=bool),),
}
ARRAY += [
    case(
        f"get_item {name}",
        lambda x, index=index: F.get_item(x, index),
        normal(3, 3, 4),
        since=10 if "step" in name or "reverse" in name else 9,
    )
    for name, index in INDEXES.items()
]

MATH = [
    case("absolute", F.absolute, X),
    case("add", lambda x, y: x + y, X, normal(3)),
    case("add many", lambda x, y, z: F.add(x, y, z), X, X, X),
    case("add constant", lambda x: x + 2, X),
    case("add array", lambda x: x + np.arange(3, dtype=np.float32), X, floats=False),
    case("argmax", lambda x: F.argmax(x, axis=1), X),
    case("argmax all", F.argmax, X),
    case("argmin", lambda x: F.argmin(x, axis=0), X),
    case("arccos", F.arccos, X / 3),
    case("arcsin", F.arcsin, X / 3),
    case("arctan", F.arctan, X),
    case(
        "arctan2",
        F.arctan2,
        np.array([1, 1, -1, -1, 1, -1, 0, 0], np.float32),
        np.array([2, -2, 2, -2, 0, 0, 1, -1], np.float32),
    ),
    case("arctanh", F.arctanh, X / 3),
    case("average", lambda x: F.average(x, 1), X),
    case("average weights", lambda x, w: F.average(x, 1, w), X, positive(3)),
    case("batch_det", F.batch_det, normal(2, 3, 3), since=11),
    case("det", F.det, normal(3, 3), since=11),
    case("batch_l2_norm_squared", F.batch_l2_norm_squared, IMAGE),
    case("batch_matmul", _batch_matmul, normal(2, 3, 4), normal(2, 4)),
    case(
        "batch_matmul trans", lambda a, b: _batch_matmul(a, b, True), normal(2, 3), normal(2, 3, 2)
    ),
    case("bias", F.bias, IMAGE, normal(4)),
    case("ceil", F.ceil, 3 * X),
    case("clip", lambda x: F.clip(x, -0.5, 0.5), X),
    case("clip above", lambda x: F.clip(x, None, 0.5), X),
    case("clip below", lambda x: F.clip(x, -0.5, None), X),
    case("cos", F.cos, X),
    case("cosh", F.cosh, X),
    case("cumprod", lambda x: F.cumprod(x, 1), normal(2, 6)),
    case("cumprod all", F.cumprod, X),
    case("cumsum", lambda x: F.cumsum(x, -1), X, since=11),
    case("cumsum all", F.cumsum, X, since=11),
    case("div", lambda x, y: x / y, X, positive(3)),
    case("div from constant", lambda x: 2 / x, positive(2, 3)),
    case("einsum", lambda a, b: F.einsum("ij,kj->ik", a, b), X, X, since=12),
    case("einsum ellipsis", lambda a: F.einsum("...ij->...i", a), IMAGE, since=12),
    case("erf", F.erf, X),
    case("erfc", F.erfc, X),
    case("exp", F.exp, X),
    case("expm1", F.expm1, FAR[:-1]),
    case("fix", F.fix, 3 * X),
    case("floor", F.floor, 3 * X),
    case("fmod", F.fmod, 5 * X, positive(2, 3)),
    case("identity", lambda x, y: F.identity(x, y), X, X),
    case("linear_interpolate", F.linear_interpolate, positive(2, 3), X, normal(2, 3)),
    case("log", F.log, positive(2, 3)),
    case("log10", F.log10, positive(2, 3)),
    case("log1p", F.log1p, np.array([-0.5, 0, 1e-7, 1e-4, 1, 1e8], np.float32), floats=False),
    case("log2", F.log2, positive(2, 3)),
    case("logsumexp", F.logsumexp, X),
    case("logsumexp axis", lambda x: F.logsumexp(x, -1), X),
    case("matmul", F.matmul, X, normal(3, 2)),
    case("sparse_matmul", _sparse(), normal(4), normal(3, 2), since=11, batch=()),
    case(
        "sparse_matmul transposed",
        _sparse(transa=True, transb=True),
        normal(4),
        normal(5, 2),
        since=11,
        batch=(),
    ),
    case(
        "sparse_matmul right", _sparse(is_right=True), normal(4), normal(5, 4), since=11, batch=()
    ),
    case(
        "sparse_matmul repeated",
        _sparse(cols=[1, 1, 0, 1]),
        normal(4),
        normal(3, 2),
        since=16,
        floats=False,
        batch=(),
    ),
    case(
        "sparse_matmul batch",
        lambda x, y: F.sparse_matmul(_coo(x, [[0, 1, -1], [1, 0, 1]], [[2, 0, -1], [1, 1, 0]]), y),
        np.float32([[1, 2, 0], [3, 4, 5]]),
        normal(2, 3, 4),
        since=11,
        batch=(),
        rows=True,
    ),
    case("matmul trans", lambda a, b: F.matmul(a, b, True, True), normal(3, 2), normal(4, 3)),
    case("matmul stack", F.matmul, normal(2, 3, 4), normal(4, 2)),
    case("matmul vector", F.matmul, normal(3), normal(3, 2)),
    case("matmul vectors", F.matmul, normal(3), normal(3)),
    case("max", lambda x: F.max(x, -1, keepdims=True), X),
    case("max axes", lambda x: F.max(x, (0, 2)), IMAGE),
    case("maximum", F.maximum, X, normal(2, 3)),
    case("mean", lambda x: F.mean(x, (1, 2)), IMAGE),
    case("min", F.min, X),
    case("minimum", F.minimum, X, normal(2, 3)),
    case("mul", lambda x, y: x * y, X, normal(2, 1)),
    case("mul constant", lambda x: 2 * x, X),
    case("ndtr", F.ndtr, X),
    case("neg", lambda x: -x, X),
    case("pow", lambda x, y: x**y, positive(2, 3), normal(3)),
    case("pow constant", lambda x: x**3, X),
    case("pow of constant", lambda x: 3**x, X),
    case("prod", lambda x: F.prod(x, 1), X),
    case("rsqrt", F.rsqrt, positive(2, 3)),
    case("scale", F.scale, IMAGE, normal(4)),
    case("sign", F.sign, X),
    case("sin", F.sin, X),
    case("sinh", F.sinh, X),
    case("sqrt", F.sqrt, positive(2, 3)),
    case("square", F.square, X),
    case("squared_difference", F.squared_difference, X, normal(2, 3)),
    case("squared_error", F.squared_error, X, normal(2, 3)),
    case("sub", lambda x, y: x - y, X, normal(3)),
    case("sub from constant", lambda x: 2 - x, X),
    case("sum", F.sum, X),
    case("sum axes", lambda x: F.sum(x, (1, -1), keepdims=True), IMAGE),
    case("sum no axes", lambda x: F.sum(x, ()), X),
    case("sum_to", lambda x: F.sum_to(x, (1, 3)), normal(2, 4, 3)),
    case("sum_to negative", lambda x: SumTo((1, 3), True).apply((x,))[0], normal(2, 4, 3)),
    case("sum_to samples", lambda x: F.sum_to(x, (len(x), 1, 3)), normal(2, 4, 3)),
    case("tan", F.tan, X),
    case(
        "tensordot",
        lambda a, b: F.tensordot(a, b, ([1, 0], [0, 2])),
        normal(2, 3, 4),
        normal(3, 5, 2),
    ),
    case(
        "tensordot samples",
        lambda a, b: F.tensordot(a, b, ([2, 1], [0, 2])),
        normal(2, 3, 4),
        normal(4, 5, 3),
    ),
    case("integers", lambda x, y: x + y * 2 - 1, ints(9, 2, 3), ints(9, 3), floats=False),
]

CONNECTION = [
    case("bilinear", F.bilinear, X, normal(2, 4), normal(3, 4, 2)),
    case("convolution_1d", F.convolution_1d, normal(2, 3, 7), normal(4, 3, 2), normal(4)),
    case("convolution_2d", lambda x, W, b: F.convolution_2d(x, W, b, 2, 1), IMAGE, _W, _B),
    case("convolution_2d no bias", F.convolution_2d, IMAGE, _W),
    case(
        "convolution_2d cover_all",
        lambda x, W, b: F.convolution_2d(x, W, b, 2, (0, 1), cover_all=True),
        IMAGE,
        _W,
        _B,
    ),
    case(
        "convolution_2d groups",
        lambda x, W, b: F.convolution_2d(x, W, b, groups=2, dilate=(1, 2)),
        IMAGE,
        _WG,
        _BG,
    ),
    case(
        "convolution_3d", lambda x, W: F.convolution_3d(x, W, dilate=2), normal(1, 2, 4, 4, 5), _WN
    ),
    case("deconvolution_1d", F.deconvolution_1d, normal(2, 3, 4), normal(3, 4, 2)),
    case("deconvolution_2d", F.deconvolution_2d, IMAGE, _WD, _BD),
    case(
        "deconvolution_2d stride",
        lambda x, W, b: F.deconvolution_2d(x, W, b, 2, 1, outsize=(12, 11)),
        IMAGE,
        _WD,
        _BD,
    ),
    case(
        "deconvolution_2d dilate",
        lambda x, W: F.deconvolution_2d(x, W, stride=2, dilate=2, groups=2),
        IMAGE,
        normal(4, 3, 3, 3),
        floats=False,
    ),
    case(
        "depthwise_convolution_2d",
        lambda x, W, b: F.depthwise_convolution_2d(x, W, b, 1, 1),
        IMAGE,
        _WP,
        _BP,
        batch=(0,),
    ),
    case(
        "dilated_convolution_2d",
        lambda x, W, b: F.dilated_convolution_2d(x, W, b, dilate=2),
        IMAGE,
        _W,
        _B,
    ),
    case("embed_id", F.embed_id, ints(5, 2, 3), normal(5, 4)),
    case(
        "embed_id ignore",
        lambda x, W: F.embed_id(x, W, ignore_label=-1),
        ints(5, 2, 3, low=-1),
        normal(5, 4),
    ),
    case("linear", F.linear, X, normal(4, 3), normal(4)),
    case("linear no bias", F.linear, X, normal(4, 3)),
    case(
        "linear axes",
        lambda x, W, b: F.linear(x, W, b, n_batch_axes=2),
        normal(2, 3, 4),
        normal(5, 4),
        normal(5),
    ),
    case(
        "local_convolution_2d",
        F.local_convolution_2d,
        normal(2, 3, 4, 4),
        normal(2, 3, 3, 3, 2, 2),
        normal(2, 3, 3),
    ),
    case("convolution_nd", F.convolution_nd, normal(2, 3, 7), normal(4, 3, 2)),
    case("deconvolution_3d", F.deconvolution_3d, normal(2, 3, 2, 3, 3), normal(3, 2, 2, 2, 2)),
    case(
        "deconvolution_nd",
        lambda x, W: F.deconvolution_nd(x, W, stride=2),
        normal(2, 3, 4),
        normal(3, 4, 2),
    ),
    case(
        "deformable_convolution_2d_sampler",
        F.deformable_convolution_2d_sampler,
        normal(2, 2, 5, 5),
        0.1 * normal(2, 18, 3, 3),
        normal(3, 2, 3, 3),
        normal(3),
        batch=(0, 1),
        since=16,
        floats=False,
    ),
    case("shift", lambda x: F.shift(x, (3, 5), (1, 2)), normal(2, 17, 5, 6)),
]

_SEGMENTS = np.array([[[0, 1], [1, 0]]], np.int32)
LOSS = [
    case("absolute_error", F.absolute_error, X, normal(2, 3)),
    case("accuracy", F.accuracy, X, ints(3, 2)),
    case("accuracy ignore", lambda y, t: F.accuracy(y, t, -1), normal(6, 3), ints(3, 6, low=-1)),
    case("bernoulli_nll", F.bernoulli_nll, positive(2, 3), X),
    case("binary_accuracy", F.binary_accuracy, X, ints(2, 2, 3, low=-1)),
    case("contrastive", F.contrastive, X, normal(2, 3), np.array([0, 1], np.int32)),
    case("cross_covariance", F.cross_covariance, normal(5, 3), normal(5, 2)),
    case("decov", F.decov, normal(5, 3)),
    case(
        "discriminative_margin_based_clustering_loss",
        lambda x: F.discriminative_margin_based_clustering_loss(x, _SEGMENTS, 0.5, 1.5, 2),
        normal(1, 2, 2, 2),
    ),
    case("gaussian_nll", F.gaussian_nll, X, positive(2, 3), X + 1),
    case("gaussian_kl_divergence", F.gaussian_kl_divergence, X, normal(2, 3)),
    case("hinge", F.hinge, X, ints(3, 2)),
    case("huber_loss", lambda x, t: F.huber_loss(x, t, 0.7), X, normal(2, 3)),
    case("huber_loss no", lambda x, t: F.huber_loss(x, t, 0.7, "no"), X, normal(2, 3)),
    case("mean_absolute_error", F.mean_absolute_error, X, normal(2, 3)),
    case("mean_squared_error", F.mean_squared_error, X, normal(2, 3)),
    case("sigmoid_cross_entropy", F.sigmoid_cross_entropy, X, ints(2, 2, 3, low=-1)),
    case(
        "sigmoid_cross_entropy no",
        lambda x, t: F.sigmoid_cross_entropy(x, t, reduce="no"),
        X,
        ints(2, 2, 3),
    ),
    case(
        "sigmoid_cross_entropy batch",
        lambda x, t: F.sigmoid_cross_entropy(x, t, normalize=False),
        X,
        ints(2, 2, 3),
    ),
    case("softmax_cross_entropy", F.softmax_cross_entropy, normal(6, 3), ints(3, 6, low=-1)),
    case(
        "softmax_cross_entropy weight",
        lambda x, t: F.softmax_cross_entropy(x, t, class_weight=np.array([1, 2, 3], np.float32)),
        normal(6, 3),
        ints(3, 6, low=-1),
        floats=False,
    ),
    case(
        "softmax_cross_entropy image",
        lambda x, t: F.softmax_cross_entropy(x, t, normalize=False),
        IMAGE,
        ints(4, 2, 6, 6),
    ),
    case(
        "softmax_cross_entropy no",
        lambda x, t: F.softmax_cross_entropy(x, t, ignore_label=2, reduce="no"),
        normal(6, 3),
        ints(3, 6),
    ),
    case("softmax_cross_entropy soft", F.softmax_cross_entropy, X, positive(2, 3)),
    case("triplet", F.triplet, *_params((2, 3), (2, 3), (2, 3))),
    case(
        "triplet no",
        lambda a, p, n: F.triplet(a, p, n, reduce="no"),
        *_params((2, 3), (2, 3), (2, 3)),
    ),
    case("discriminative-like norm", lambda x: F.sqrt(F.batch_l2_norm_squared(x)), X),
]

NORMALIZATION = [
    case("batch_normalization", F.batch_normalization, normal(6, 3), normal(3), normal(3)),
    case(
        "batch_normalization last",
        lambda x, g, b: F.batch_normalization(x, g, b, axis=(0, 1)),
        normal(4, 2, 3),
        normal(3),
        normal(3),
    ),
    case(
        "fixed_batch_normalization", F.fixed_batch_normalization, IMAGE, _GAMMA, _BETA, _MEAN, _VAR
    ),
    case(
        "fixed_batch_normalization last",
        lambda x, *p: F.fixed_batch_normalization(x, *p, axis=(0, 1, 2)),
        normal(2, 3, 2, 4),
        _GAMMA,
        _BETA,
        _MEAN,
        _VAR,
    ),
    case(
        "fixed_batch_normalization two axes",
        lambda x, *p: F.fixed_batch_normalization(x, *p, axis=0),
        normal(5, 2, 3),
        *_params((2, 3), (2, 3), (2, 3)),
        positive(2, 3),
    ),
    case(
        "group_normalization",
        lambda x, g, b: F.group_normalization(x, 2, g, b),
        IMAGE,
        _GAMMA,
        _BETA,
    ),
    case("layer_normalization", F.layer_normalization, X, normal(3), normal(3)),
    case("local_response_normalization", F.local_response_normalization, IMAGE, floats=False),
    case("normalize", F.normalize, X),
    case("normalize axes", lambda x: F.normalize(x, 0.1, (1, 2)), IMAGE),
    case(
        "fixed_decorrelated_batch_normalization",
        lambda x, m, p: F.fixed_decorrelated_batch_normalization(x, m, p, groups=2),
        IMAGE,
        normal(2, 2),
        normal(2, 2, 2),
        batch=(0,),
    ),
]

_ROIS = np.array([[0, 0, 0, 4, 4], [1, 1, 2, 5, 5]], np.float32)
POOLING = [
    case("average_pooling_2d", lambda x: F.average_pooling_2d(x, 3, 2, 1), IMAGE),
    case(
        "average_pooling_nd none", lambda x: F.average_pooling_nd(x, 3, 2, 1, pad_value=None), IMAGE
    ),
    case("average_pooling_1d", lambda x: F.average_pooling_1d(x, 2), normal(2, 3, 7)),
    case("average_pooling_3d", lambda x: F.average_pooling_3d(x, 2), normal(2, 2, 4, 4, 4)),
    case("max_pooling_1d", lambda x: F.max_pooling_1d(x, 2), normal(2, 3, 7)),
    case("max_pooling_2d", lambda x: F.max_pooling_2d(x, 2, 2, cover_all=False), IMAGE),
    case("max_pooling_2d cover_all", lambda x: F.max_pooling_2d(x, 3, 2), normal(2, 3, 6, 7)),
    case(
        "max_pooling_2d cover_all pad", lambda x: F.max_pooling_2d(x, 3, 2, 1), normal(2, 3, 7, 6)
    ),
    case("max_pooling_2d gap", lambda x: F.max_pooling_2d(x, 2, 3), normal(2, 3, 8, 7)),
    case("max_pooling_3d", lambda x: F.max_pooling_3d(x, 2), normal(1, 2, 4, 5, 4)),
    case(
        "roi_pooling_2d",
        lambda x, r: F.roi_pooling_2d(x, r, 2, 2, 1),
        abs(IMAGE),
        _ROIS,
        floats=False,
        batch=(1,),
        rows=True,
    ),
    case(
        "roi_average_align_2d",
        lambda x, r, i: F.roi_average_align_2d(x, r, i, 2, 1, 2),
        IMAGE,
        np.array([[0, 0, 4, 4], [1, 2, 5, 5]], np.float32),
        np.array([0, 1], np.int32),
        since=16,
        floats=False,
        batch=(1, 2),
        rows=True,
    ),
    case(
        "spatial_pyramid_pooling_2d",
        lambda x: F.spatial_pyramid_pooling_2d(x, 2, pooling="max"),
        IMAGE,
    ),
    case("unpooling_2d", lambda x: F.unpooling_2d(x, 2), normal(2, 3, 3, 4)),
    case("unpooling_2d exact", lambda x: F.unpooling_2d(x, 2, cover_all=False), normal(2, 3, 3, 4)),
    case(
        "unpooling_2d overlap",
        lambda x: F.unpooling_2d(x, 3, 2, 1, outsize=(5, 7)),
        normal(2, 3, 3, 4),
    ),
    case("unpooling_3d", lambda x: F.unpooling_3d(x, 2), normal(2, 2, 2, 3, 2)),
    case("unpooling_nd", lambda x: F.unpooling_nd(x, 2), normal(2, 2, 3)),
    case("unpooling_1d", lambda x: F.unpooling_1d(x, 2, cover_all=False), normal(2, 3, 4)),
]

MODERN = [
    case("gelu", F.gelu, X),
    case("gelu tanh", lambda x: F.gelu(x, approximate=True), X),
    case("quick_gelu", F.quick_gelu, X),
    case("silu", F.silu, X),
    case("hard_swish", F.hard_swish, 3 * X),
    case("mish", F.mish, X),
    case("swiglu", F.swiglu, normal(2, 6)),
    case("rms_normalization", F.rms_normalization, X, normal(3)),
    case("instance_normalization", F.instance_normalization, IMAGE),
    case("alibi_bias", lambda slopes: F.alibi_bias(slopes, 3, 4), normal(2)),
    case(
        "relative_position_bias", lambda table: F.relative_position_bias(table, 3, 4), normal(8, 2)
    ),
    case("rotary_embedding", F.rotary_embedding, normal(2, 3, 6)),
    case("adaptive_average_pooling_2d", lambda x: F.adaptive_average_pooling_2d(x, 4), IMAGE),
    case(
        "label_smoothed_cross_entropy",
        F.label_smoothed_cross_entropy,
        normal(6, 3),
        ints(3, 6, low=-1),
    ),
    case(
        "label_smoothed_cross_entropy no",
        lambda x, t: F.label_smoothed_cross_entropy(x, t, 0.3, 1, "no"),
        IMAGE,
        ints(4, 2, 6, 6),
    ),
    case("focal_loss", F.focal_loss, normal(6, 3), ints(3, 6, low=-1)),
    case(
        "focal_loss weight",
        lambda x, t: F.focal_loss(x, t, 1.5, np.array([1, 2, 3], np.float32), 1, "no"),
        normal(6, 3),
        ints(3, 6),
        floats=False,
    ),
    case("sigmoid_focal_loss", F.sigmoid_focal_loss, X, ints(2, 2, 3, low=-1)),
    case(
        "sigmoid_focal_loss no",
        lambda x, t: F.sigmoid_focal_loss(x, t, alpha=None, reduce="no"),
        X,
        ints(2, 2, 3),
    ),
    case("dice_loss", F.dice_loss, positive(2, 1, 3), ints(2, 2, 1, 3)),
    case("glu", F.glu, normal(2, 6)),
    case("geglu", F.geglu, normal(2, 6)),
    case("reglu", F.reglu, normal(2, 6)),
    case("attention", F.scaled_dot_product_attention, *_params((2, 3, 4), (2, 5, 4), (2, 5, 6))),
    case(
        "attention causal",
        lambda q, k, v: F.scaled_dot_product_attention(q, k, v, causal=True),
        *_params((2, 2, 5, 4), (2, 2, 5, 4), (2, 2, 5, 6)),
    ),
    case(
        "attention shared keys",
        lambda q, k, v: F.scaled_dot_product_attention(q, k, v, causal=True, window=3, softcap=2.0),
        *_params((2, 4, 3, 4), (2, 2, 5, 4), (2, 2, 5, 6)),
    ),
    case(
        "rotary of a part",
        lambda x: F.rotary_embedding(x, tables=F.rotary_tables(np.arange(3), 2), interleaved=True),
        *_params((2, 3, 4)),
    ),
    case(
        "attention mask",
        F.scaled_dot_product_attention,
        *_params((1, 3, 4), (1, 5, 4), (1, 5, 6)),
        np.array([[1, 0, 1, 0, 1], [0, 0, 0, 0, 0], [1, 1, 1, 1, 1]], bool),
    ),
    case(
        "attention added mask",
        F.scaled_dot_product_attention,
        *_params((1, 3, 4), (1, 5, 4), (1, 5, 6)),
        np.array([[1, 0, -np.inf, 0, 1], [-np.inf] * 5, [1] * 5], np.float32),
        floats=False,
    ),
]

DENSITIES = [
    case(
        "bernoulli",
        lambda logit, x: D.Bernoulli(logit=logit).log_prob(F.cast(x, logit.dtype)),
        X,
        ints(2, 2, 3),
    ),
    case(
        "bernoulli check",
        lambda logit, x: D.Bernoulli(logit=logit, binary_check=True).log_prob(x),
        X,
        np.array([[0, 1, 0.5], [1, 1, 2]], np.float32),
    ),
    case("bernoulli entropy", lambda p: D.Bernoulli(p).entropy, positive(2, 3)),
    case("laplace", lambda x, m, s: D.Laplace(m, s).log_prob(x), X, X + 1, positive(2, 3)),
    case("laplace cdf", lambda x, m, s: D.Laplace(m, s).cdf(x), X, X + 1, positive(2, 3)),
    case("laplace icdf", lambda p, m, s: D.Laplace(m, s).icdf(p), positive(2, 3), X, X * X + 1),
    case(
        "multivariate normal",
        lambda x, m, s: D.MultivariateNormal(m, scale_tril=s).log_prob(x),
        X,
        X + 1,
        np.tril(positive(2, 3, 3)),
        floats=False,
        rows=True,
    ),
    case("normal", lambda x, m, s: D.Normal(m, s).log_prob(x), X, X + 1, positive(2, 3)),
]

_SPREAD = np.array([-30.5, -2.5, -0.3, 1e-3, 0.5, 1.0, 1.46, 2.0, 7.7, 40.0, np.inf], np.float32)
_PROBABILITIES = np.array([0, 1e-7, 0.01, 0.074, 0.3, 0.5, 0.6, 0.93, 0.99, 1], np.float32)

SPECIAL = [
    case("digamma", F.digamma, _SPREAD[1:]),
    case("erfcinv", F.erfcinv, 2 * _PROBABILITIES),
    case("erfcx", F.erfcx, np.array([-5, -0.3, 0, 0.2, 1.5, 10, 1e4], np.float32), floats=False),
    case("erfinv", F.erfinv, 2 * _PROBABILITIES - 1),
    case("erfinv near zero", F.erfinv, np.array([-1e-20, 0, 1e-6, 1e-3], np.float32)),
    case("fft", lambda x, y: F.fft((x, y)), normal(2, 3, 5), normal(2, 3, 5), since=17),
    case("ifft", lambda x, y: F.ifft((x, y)), normal(2, 4), normal(2, 4), since=17, floats=False),
    case("forget", lambda x, y: F.forget(lambda a, b: F.tanh(a) * b, x, y), X, X),
    case("lgamma", F.lgamma, _SPREAD),
    case("log_ndtr", F.log_ndtr, np.array([-40, -5, -0.1, 0, 0.3, 2, 8], np.float32)),
    case("ndtri", F.ndtri, _PROBABILITIES),
]

CASES = [
    *ACTIVATION,
    *ARRAY,
    *MATH,
    *CONNECTION,
    *LOSS,
    *NORMALIZATION,
    *POOLING,
    *MODERN,
    *DENSITIES,
    *SPECIAL,
]

BY_NAME = {case.name: case for case in CASES}
