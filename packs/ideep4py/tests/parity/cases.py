"""Programs for the original ideep4py and for ours: each calls one part of the API and returns
arrays.

``record.py`` runs them with the original (which needs Python 3.7, so that this file must do without
newer syntax), and ``test_parity.py`` with ours, comparing numbers, shapes and types.
"""

import numpy as np

CASES = {}


def case(function):
    CASES[function.__name__] = function
    return function


def inputs(seed=0):
    """The arrays that all cases work on."""
    random = np.random.RandomState(seed)

    def normal(*shape):
        return random.standard_normal(shape).astype(np.float32)

    return {
        "x2": normal(2, 3),
        "y2": normal(2, 3),
        "x4": normal(2, 8, 5, 5),
        "y4": normal(2, 8, 5, 5),
        "x3channels": normal(2, 3, 6, 6),
        "w3channels": normal(4, 3, 3, 3),
        "w4": normal(4, 8, 3, 3),
        "b4": normal(4),
        "gy4": normal(2, 4, 5, 5),
        "scale": np.abs(normal(8)) + np.float32(0.5),
        "shift": normal(8),
        "mean": normal(8),
        "var": np.abs(normal(8)) + np.float32(0.5),
        "W": normal(4, 3),
        "b": normal(4),
        "gy": normal(2, 4),
    }


class Arrays:
    """The inputs as attributes, converted by ``array``."""

    def __init__(self, i, arrays):
        for name, array in arrays.items():
            setattr(self, name, i.array(array.copy()))


@case
def addition(i, a):
    return a.x4 + a.y4, a.x4 - a.y4, a.x4 * a.y4, a.x2 / a.y2


@case
def addition_with_numpy(i, a):
    return a.x4 + np.array(a.y4), a.x4 * np.array(a.y4), np.array(a.x4) - a.y4


@case
def in_place(i, a):
    a.x4 += a.y4
    a.x4 -= a.x4 * a.y4
    a.x2 *= a.y2
    return a.x4, a.x2


@case
def in_place_with_numpy(i, a):
    before = a.x2
    a.x2 += np.array(a.y2)
    assert before is a.x2
    return (a.x2,)


@case
def axpby(i, a):
    new = a.x4.axpby(2.0, 3.0, a.y4)
    a.x2.inplace_axpby(0.5, -1.0, a.y2)
    return new, a.x2


@case
def comparison(i, a):
    return a.x2 > 0, a.x2 == a.x2, a.x2 != a.y2


@case
def sums(i, a):
    return a.x2.sum(0), a.x2.sum(axis=1), a.x4.sum((0, 2, 3)), a.x4.sum((2, 3))


@case
def sums_of_all(i, a):
    return a.x2.sum(), a.x4.sum(), a.x2.sum((0, 1))


@case
def sums_keeping_axes(i, a):
    return a.x2.sum(1, keepdims=True), a.x4.sum((0, 2, 3), keepdims=True)


@case
def reshapes(i, a):
    return a.x2.reshape(3, 2), a.x2.reshape((3, 2)), a.x4.reshape(2, -1), a.x2.reshape(1, 1, 2, 3)


@case
def reshape_shares_memory(i, a):
    other = a.x2.reshape(3, 2)
    a.x2[0, 0] = 9
    return (other,)


@case
def views_share_memory(i, a):
    view = np.asarray(a.x2)
    view[1, 1] = 7
    a.x2[0] = 5
    return (a.x2,)


@case
def copies_its_input(i, a):
    source = np.array(a.x2)
    array = i.array(source)
    source[:] = 0
    return (array,)


@case
def items(i, a):
    return a.x2[0], a.x2[:, 1], a.x4[1, 2:4], np.array(list(a.x2))


@case
def numpy_functions(i, a):
    return np.tanh(a.x2), np.concatenate([a.x2, a.y2]), np.dot(a.x2, np.array(a.y2).T), np.sum(a.x2)


@case
def matrix_product(i, a):
    return (np.array(a.x2 @ np.array(a.y2).T),)


@case
def ndarray_attributes(i, a):
    return a.x2.T, a.x2.max(), a.x2.mean(), a.x2.ravel(), a.x2.flat(), a.x2.astype("d")


@case
def set_elements(i, a):
    a.x2.set(np.array(a.y2))
    return (a.x2,)


@case
def copyto(i, a):
    i.basic_copyto(a.x4, a.y4)
    i.basic_copyto(a.x2, np.array(a.y2))
    return a.x4, a.x2


@case
def accumulate(i, a):
    vector = i.mdarrayVector()
    for array in (a.x4, a.y4, a.x4):
        vector.push_back(array)
    return i.basic_acc_sum(vector), i.basic_acc_sum((a.x2, a.y2)), i.multi_add((a.x2, a.y2, a.x2))


@case
def multi_add_of_numpy(i, a):
    return i.multi_add((np.array(a.x2), a.y2)), i.multi_add((np.array(a.x2),))


@case
def relu(i, a):
    y = i.relu.Forward(a.x4)
    return y, i.relu.Forward(a.x2), i.relu.Backward(a.x4, a.y4), i.relu.Backward(a.x2, a.y2)


@case
def leaky_relu(i, a):
    return i.relu.Forward(a.x4, 0.25), i.relu.Backward(a.x4, a.y4, 0.25)


@case
def tanh(i, a):
    return i.tanh(a.x4), i.tanh(np.array(a.x2)), i.tanh(np.array(a.x2, "d"))


def window(i, out, stride=1, pad=1, dilate=1):
    return i.convolution2DParam(out, dilate, dilate, stride, stride, pad, pad, pad, pad)


@case
def convolution(i, a):
    cp = window(i, (2, 4, 5, 5))
    return (
        i.convolution2D.Forward(a.x4, a.w4, a.b4, cp),
        i.convolution2D.Forward(a.x4, a.w4, None, cp),
        i.convolution2D.Forward(a.x3channels, a.w3channels, a.b4, window(i, (2, 4, 6, 6))),
    )


@case
def strided_convolution(i, a):
    return (i.convolution2D.Forward(a.x4, a.w4, a.b4, window(i, (2, 4, 3, 3), stride=2)),)


@case
def dilated_convolution(i, a):
    return (i.convolution2D.Forward(a.x4, a.w4, a.b4, window(i, (2, 4, 5, 5), pad=2, dilate=2)),)


@case
def convolution_data_gradient(i, a):
    return (i.convolution2D.BackwardData(a.w4, a.gy4, window(i, (2, 8, 5, 5))),)


@case
def convolution_weight_gradient(i, a):
    return (i.convolution2D.BackwardWeights(a.x4, a.gy4, window(i, (4, 8, 3, 3))),)


@case
def convolution_weight_and_bias_gradient(i, a):
    return i.convolution2D.BackwardWeightsBias(a.x4, a.gy4, window(i, (4, 8, 3, 3)))


@case
def convolution_then_relu_then_sum(i, a):
    y = i.relu.Forward(i.convolution2D.Forward(a.x4, a.w4, a.b4, window(i, (2, 4, 5, 5))))
    return y, y.sum((0, 2, 3)), y + y, y.reshape(2, -1), y[0, 1]


@case
def linear(i, a):
    return i.linear.Forward(a.x2, a.W, a.b), i.linear.Forward(a.x2, a.W, None)


@case
def linear_of_images(i, a):
    W = i.array(np.linspace(-1, 1, 3 * 200).astype("f").reshape(3, 200))
    return (i.linear.Forward(a.x4, W, None),)


@case
def linear_gradients(i, a):
    gw, gb = i.linear.BackwardWeightsBias(a.x2, a.gy)
    return i.linear.BackwardData(a.W, a.gy), i.linear.BackwardWeights(a.x2, a.gy), gw, gb


def pool(i, out, size, stride, pad, after, kind):
    return i.pooling2DParam(out, size, size, stride, stride, pad, pad, after, after, kind)


@case
def max_pooling(i, a):
    kind = i.pol2DParam.pooling_max
    y, workspace = i.pooling2D.Forward(a.x4, pool(i, (2, 8, 3, 3), 2, 2, 0, 1, kind))
    gx = i.pooling2D.Backward(a.x4, y, workspace, pool(i, (2, 8, 5, 5), 2, 2, 0, 1, kind))
    return y, workspace, gx


@case
def overlapping_max_pooling(i, a):
    kind = i.pol2DParam.pooling_max
    y, workspace = i.pooling2D.Forward(a.x4, pool(i, (2, 8, 3, 3), 3, 2, 1, 1, kind))
    gx = i.pooling2D.Backward(a.x4, y, workspace, pool(i, (2, 8, 5, 5), 3, 2, 1, 1, kind))
    return y, workspace, gx


@case
def average_pooling(i, a):
    out = ()
    for kind in (
        i.pol2DParam.pooling_avg_include_padding,
        i.pol2DParam.pooling_avg_exclude_padding,
    ):
        (y,) = i.pooling2D.Forward(a.x4, pool(i, (2, 8, 3, 3), 3, 2, 1, 1, kind))
        p = pool(i, (2, 8, 5, 5), 3, 2, 1, 1, kind)
        out += (y, i.pooling2D.Backward(a.x4, y, None, p))
    (y,) = i.pooling2D.Forward(a.x4, pool(i, (2, 8, 3, 3), 3, 2, 1, 1, i.pol2DParam.pooling_avg))
    return out + (y,)


@case
def batch_normalization(i, a):
    y, mean, var, inverse = i.batchNormalization.Forward(a.x4, a.scale, a.shift, None, None, 2e-5)
    gx, gw = i.batchNormalization.Backward(a.x4, a.y4, mean, var, a.scale, 2e-5)
    return y, mean, var, inverse, gx, gw


@case
def batch_normalization_with_one_array(i, a):
    w = i.array(np.stack([np.array(a.scale), np.array(a.shift)]))
    return i.batchNormalization.Forward(a.x4, w, None, None, 2e-5)


@case
def batch_normalization_of_rows(i, a):
    w = i.array(np.ones((2, 3), "f"))
    return i.batchNormalization.Forward(a.x2, w, None, None, 2e-5)


@case
def fixed_batch_normalization(i, a):
    return i.batchNormalization.Forward(a.x4, a.scale, a.shift, a.mean, a.var, 2e-5)


@case
def local_response_normalization(i, a):
    p = i.localResponseNormalizationParam(5, 2, 0.5, 0.75, i.lrnParam.lrn_across_channels)
    y, workspace = i.localResponseNormalization.Forward(a.x4, p)
    return y, i.localResponseNormalization.Backward(a.x4, a.y4, workspace, p)


@case
def local_response_normalization_within(i, a):
    p = i.localResponseNormalizationParam(5, 2, 0.5, 0.75, i.lrnParam.lrn_within_channel)
    return (i.localResponseNormalization.Forward(a.x4, p)[0],)


@case
def concatenation(i, a):
    vector = i.mdarrayVector()
    vector.push_back(a.x4)
    vector.push_back(a.y4)
    return i.concat.Forward(vector, 1), i.concat.Forward((a.x2, a.y2), 0)


@case
def concatenation_gradient(i, a):
    offsets = i.intVector()
    offsets.push_back(2)
    offsets.push_back(5)
    return i.concat.Backward(a.x4, offsets, 1)


@case
def splitting(i, a):
    parts = i.split(a.x4, [2, 4], 1) + i.split(a.x4, (4,), axis=1)
    return parts + i.split(a.x4, np.array([1]), 0)


@case
def splitting_into_empty_parts(i, a):
    parts = i.split(a.x4, [8], 1)
    assert isinstance(parts, list)
    return tuple(parts)


@case
def dropout_of_nothing(i, a):
    return i.dropout.Forward(a.x4, 0.0)


@case
def dropout_gradient(i, a):
    mask = i.array((np.array(a.y4) > 0).astype("f") * 2)
    return (i.dropout.Backward(mask, a.x4),)


@case
def integer_array(i, a):
    return (i.mdarray(np.arange(6, dtype="i").reshape(2, 3)),)


@case
def checks(i, a):
    arrays = [np.array(a.x2), np.array(a.x4), np.zeros((2, 3, 4), "f"), np.zeros(3, "f")]
    arrays += [np.zeros((2, 3), "d"), np.zeros((2, 3), "i"), np.zeros((0, 3), "f"), a.x2, a.x4]
    arrays.append(a.b)
    out = []
    for x in arrays:
        out += [
            i.all_ready((x,)),
            i.check_ndim((x,)),
            i.check_type((x,)),
            i.check_ndim((x,), (1, 3)),
        ]
    out += [i.all_ready((arrays[1], arrays[3])), i.check_ndim((arrays[3], arrays[1]))]
    return (np.array(out),)
