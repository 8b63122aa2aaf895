"""The documented links with sizes, inputs and ways to call them: one table for several tests.

Also read by ``data/make_upstream_links.py`` under Python 3.7, with the ``chainer.links`` of an
earlier release for ``L``.
"""

import numpy as np

import chainer

TREE = ((0, 1), ((2, 3), 4))
COUNTS = [5, 2, 3, 1, 4]


class Case:
    """A link to be tested.

    Args:
        name: Name of the case: that of the class, and what is special about it.
        make: Function of the module ``chainer.links`` that makes the link.
        inputs: Arrays, lists of arrays or None: the arguments of a call.
        call: Function of the link and its arguments; returns a variable or variables, nested at
            will.
        lazy: Same as ``make`` with the input size left out.
        random: Whether the call draws random numbers.
    """

    def __init__(self, name, make, inputs, call=None, lazy=None, random=False):
        self.name = name
        self.make = make
        self.inputs = inputs
        self.call = call or (lambda link, *xs: link(*xs))
        self.lazy = lazy
        self.random = random


def floats(*shape):
    """Distinct numbers in (-2, 2), far enough from each other for numerical gradients of maxima."""
    size = int(np.prod(shape, dtype=int))
    order = np.random.RandomState(size + 7 * len(shape)).permutation(size)
    return ((order + 0.5) / size * 4 - 2).astype(np.float32).reshape(shape)


def ints(*values):
    return np.array(values, np.int32)


def sequences(*lengths):
    return [floats(n, 3) * (1 + 0.1 * i) for i, n in enumerate(lengths)]


def steps(link, *xs):
    """Calls a link with state once for each argument."""
    link.reset_state()
    return [link(x) for x in xs]


X2 = floats(4, 3)
IMAGE = floats(2, 3, 6, 5)
VOLUME = floats(2, 3, 4, 5, 4)
TIMES = (floats(4, 3), floats(4, 3)[::-1].copy(), floats(3, 3))

CASES = [
    Case("Bias", lambda L: L.Bias(1, (3,)), [floats(2, 3, 4)]),
    Case("Bias-given", lambda L: L.Bias(1), [floats(2, 3, 4), floats(3, 4)]),
    Case("Bilinear", lambda L: L.Bilinear(3, 2, 4), [X2, floats(4, 2)]),
    Case("Bilinear-nobias", lambda L: L.Bilinear(3, 2, 4, nobias=True), [X2, floats(4, 2)]),
    Case(
        "Convolution2D",
        lambda L: L.Convolution2D(3, 4, 3, stride=2, pad=1),
        [IMAGE],
        lazy=lambda L: L.Convolution2D(4, 3, stride=2, pad=1),
    ),
    Case(
        "Convolution2D-groups",
        lambda L: L.Convolution2D(4, 6, (3, 2), pad=(1, 0), nobias=True, groups=2, dilate=2),
        [floats(2, 4, 7, 6)],
        lazy=lambda L: L.Convolution2D(
            None, 6, (3, 2), pad=(1, 0), nobias=True, groups=2, dilate=2
        ),
    ),
    Case("ConvolutionND-1", lambda L: L.ConvolutionND(1, 3, 2, 3, 2, 1), [floats(2, 3, 8)]),
    Case(
        "ConvolutionND-3",
        lambda L: L.ConvolutionND(3, 3, 2, (2, 3, 2), cover_all=True, nobias=True),
        [VOLUME],
    ),
    Case(
        "Convolution1D",
        lambda L: L.Convolution1D(3, 4, 3, 2, 1, cover_all=True),
        [floats(2, 3, 8)],
        lazy=lambda L: L.Convolution1D(None, 4, 3, 2, 1, cover_all=True),
    ),
    Case(
        "Convolution3D",
        lambda L: L.Convolution3D(3, 2, 2, dilate=2),
        [VOLUME],
        lazy=lambda L: L.Convolution3D(None, 2, 2, dilate=2),
    ),
    Case(
        "Deconvolution1D",
        lambda L: L.Deconvolution1D(3, 2, 3, 2, 1),
        [floats(2, 3, 8)],
        lazy=lambda L: L.Deconvolution1D(None, 2, 3, 2, 1),
    ),
    Case(
        "Deconvolution3D",
        lambda L: L.Deconvolution3D(4, 4, 2, groups=2),
        [floats(2, 4, 2, 3, 2)],
        lazy=lambda L: L.Deconvolution3D(None, 4, 2, groups=2),
    ),
    Case(
        "Deconvolution2D",
        lambda L: L.Deconvolution2D(3, 4, 3, stride=2, pad=1),
        [IMAGE],
        lazy=lambda L: L.Deconvolution2D(4, 3, stride=2, pad=1),
    ),
    Case(
        "Deconvolution2D-outsize",
        lambda L: L.Deconvolution2D(4, 6, 3, 2, 1, outsize=(12, 9), groups=2),
        [floats(2, 4, 6, 5)],
        lazy=lambda L: L.Deconvolution2D(None, 6, 3, 2, 1, outsize=(12, 9), groups=2),
    ),
    Case(
        "DeformableConvolution2D",
        lambda L: L.DeformableConvolution2D(3, 4, 3, 2, 1),
        [IMAGE],
        lazy=lambda L: L.DeformableConvolution2D(None, 4, 3, 2, 1),
    ),
    Case("DeconvolutionND-1", lambda L: L.DeconvolutionND(1, 3, 2, 3, 2, 1), [floats(2, 3, 8)]),
    Case(
        "DeconvolutionND-3",
        lambda L: L.DeconvolutionND(3, 3, 2, 2, nobias=True, outsize=(5, 6, 5)),
        [VOLUME],
    ),
    Case(
        "DepthwiseConvolution2D",
        lambda L: L.DepthwiseConvolution2D(3, 2, 3, stride=2, pad=1),
        [IMAGE],
        lazy=lambda L: L.DepthwiseConvolution2D(None, 2, 3, stride=2, pad=1),
    ),
    Case(
        "DilatedConvolution2D",
        lambda L: L.DilatedConvolution2D(3, 4, (3, 2), 1, 1, 2),
        [IMAGE],
        lazy=lambda L: L.DilatedConvolution2D(4, (3, 2), stride=1, pad=1, dilate=2),
    ),
    Case("EmbedID", lambda L: L.EmbedID(5, 3), [ints([0, 4], [2, 4])]),
    Case("EmbedID-ignore", lambda L: L.EmbedID(5, 3, ignore_label=-1), [ints([0, -1], [2, 4])]),
    Case("Highway", lambda L: L.Highway(3), [X2]),
    Case("Highway-nobias", lambda L: L.Highway(3, nobias=True), [X2]),
    Case(
        "Inception",
        lambda L: L.Inception(3, 2, 3, 4, 2, 3, 2),
        [IMAGE],
        lazy=lambda L: L.Inception(None, 2, 3, 4, 2, 3, 2),
    ),
    Case(
        "InceptionBN",
        lambda L: L.InceptionBN(3, 2, 3, 4, 2, 3, "avg", 2),
        [IMAGE],
        lazy=lambda L: L.InceptionBN(None, 2, 3, 4, 2, 3, "avg", 2),
    ),
    Case(
        "InceptionBN-stride",
        lambda L: L.InceptionBN(3, 0, 3, 4, 2, 3, "max", stride=2),
        [IMAGE],
        lazy=lambda L: L.InceptionBN(None, 0, 3, 4, 2, 3, "max", stride=2),
    ),
    Case("Linear", lambda L: L.Linear(3, 2), [X2], lazy=lambda L: L.Linear(2)),
    Case("Linear-nobias", lambda L: L.Linear(6, 2, nobias=True), [floats(4, 3, 2)]),
    Case(
        "LocalConvolution2D",
        lambda L: L.LocalConvolution2D(3, 2, (6, 5), 3),
        [IMAGE],
        lazy=lambda L: L.LocalConvolution2D(None, 2, ksize=3),
    ),
    Case(
        "MLPConvolution2D",
        lambda L: L.MLPConvolution2D(3, (4, 2), 3, pad=1),
        [IMAGE],
        lazy=lambda L: L.MLPConvolution2D((4, 2), 3, pad=1),
    ),
    Case("Parameter", lambda L: L.Parameter(floats(2, 3)), []),
    Case("Scale", lambda L: L.Scale(1, (3,)), [floats(2, 3, 4)]),
    Case("Scale-bias", lambda L: L.Scale(1, (3, 4), bias_term=True), [floats(2, 3, 4)]),
    Case(
        "Scale-given",
        lambda L: L.Scale(1, bias_term=True, bias_shape=(3, 4)),
        [floats(2, 3, 4), floats(3, 4)],
    ),
    Case(
        "ChildSumTreeLSTM",
        lambda L: L.ChildSumTreeLSTM(3, 2),
        [floats(4, 2), floats(4, 2)[::-1].copy(), floats(2, 4).T, floats(4, 2) * 2, X2],
        lazy=lambda L: L.ChildSumTreeLSTM(None, 2),
    ),
    Case(
        "ChildSumTreeLSTM-leaf",
        lambda L: L.ChildSumTreeLSTM(3, 2),
        [X2],
        lazy=lambda L: L.ChildSumTreeLSTM(None, 2),
    ),
    Case(
        "ChildSumTreeLSTM-none",
        lambda L: L.ChildSumTreeLSTM(3, 2),
        [floats(4, 2), None, floats(2, 4).T, None, X2],
    ),
    Case(
        "NaryTreeLSTM",
        lambda L: L.NaryTreeLSTM(3, 2),
        [floats(4, 2), floats(4, 2)[::-1].copy(), floats(2, 4).T, floats(4, 2) * 2, X2],
        lazy=lambda L: L.NaryTreeLSTM(None, 2),
    ),
    Case(
        "NaryTreeLSTM-none",
        lambda L: L.NaryTreeLSTM(3, 2, n_ary=3),
        [floats(4, 2), None, None, floats(2, 4).T, None, None, X2],
    ),
    Case("GRU", lambda L: L.GRU(3, 2), TIMES[:2], steps, lazy=lambda L: L.GRU(None, 2)),
    Case(
        "StatefulGRU",
        lambda L: L.StatefulGRU(3, 2),
        TIMES[:2],
        steps,
        lazy=lambda L: L.StatefulGRU(None, 2),
    ),
    Case(
        "StatelessGRU",
        lambda L: L.StatelessGRU(3, 2),
        [floats(4, 2), X2],
        lazy=lambda L: L.StatelessGRU(None, 2),
    ),
    Case("StatefulMGU", lambda L: L.StatefulMGU(3, 2), TIMES[:2], steps),
    Case("StatelessMGU", lambda L: L.StatelessMGU(3, 2), [floats(4, 2), X2]),
    Case("LSTM", lambda L: L.LSTM(3, 2), TIMES, steps, lazy=lambda L: L.LSTM(2)),
    Case(
        "StatelessLSTM",
        lambda L: L.StatelessLSTM(3, 2),
        [floats(4, 2), floats(2, 4).T, X2],
        lazy=lambda L: L.StatelessLSTM(2),
    ),
    Case("StatelessLSTM-none", lambda L: L.StatelessLSTM(3, 2), [None, None, X2]),
    Case(
        "StatefulPeepholeLSTM",
        lambda L: L.StatefulPeepholeLSTM(3, 2),
        TIMES[:2],
        steps,
        lazy=lambda L: L.StatefulPeepholeLSTM(None, 2),
    ),
    Case(
        "StatefulZoneoutLSTM",
        lambda L: L.StatefulZoneoutLSTM(3, 2),
        TIMES[:2],
        steps,
        lazy=lambda L: L.StatefulZoneoutLSTM(None, 2),
        random=True,
    ),
    Case(
        "NegativeSampling",
        lambda L: L.NegativeSampling(3, COUNTS, 6),
        [X2, ints(0, -1, 4, 1)],
        random=True,
    ),
    Case(
        "NegativeSampling-no",
        lambda L: L.NegativeSampling(3, COUNTS, 6, power=1.0),
        [X2, ints(0, -1, 4, 1)],
        call=lambda link, x, t: link(x, t, reduce="no"),
        random=True,
    ),
    Case("BlackOut", lambda L: L.BlackOut(3, COUNTS, 6), [X2, ints(0, 2, 4, 1)], random=True),
    Case(
        "BinaryHierarchicalSoftmax",
        lambda L: L.BinaryHierarchicalSoftmax(3, TREE),
        [X2, ints(0, 2, 4, 3)],
    ),
    Case(
        "CRF1d",
        lambda L: L.CRF1d(3),
        [[X2, floats(3, 3), floats(2, 3)], [ints(0, 2, 1, 1), ints(1, 0, 0), ints(2, 2)]],
    ),
    Case(
        "CRF1d-no",
        lambda L: L.CRF1d(3),
        [[X2, floats(3, 3), floats(2, 3)], [ints(0, 2, 1, 1), ints(1, 0, 0), ints(2, 2)]],
        call=lambda link, xs, ys: link(xs, ys, reduce="no"),
    ),
    Case("BatchNormalization", lambda L: L.BatchNormalization(3), [IMAGE]),
    Case(
        "BatchNormalization-plain",
        lambda L: L.BatchNormalization((3, 6), decay=0.5, eps=1e-3, use_beta=False),
        [IMAGE],
    ),
    Case(
        "BatchNormalization-finetune",
        lambda L: L.BatchNormalization(3, use_gamma=False),
        [IMAGE, IMAGE[::-1] * 2],
        call=lambda link, *xs: [link(x, finetune=True) for x in xs],
    ),
    Case("BatchRenormalization", lambda L: L.BatchRenormalization(3, rmax=2, dmax=1), [IMAGE]),
    Case("BatchRenormalization-plain", lambda L: L.BatchRenormalization(3), [X2]),
    Case(
        "LayerNormalization",
        lambda L: L.LayerNormalization(3),
        [X2],
        lazy=lambda L: L.LayerNormalization(),
    ),
    Case(
        "GroupNormalization",
        lambda L: L.GroupNormalization(2, 4),
        [floats(2, 4, 3)],
        lazy=lambda L: L.GroupNormalization(2),
    ),
    Case(
        "DecorrelatedBatchNormalization",
        lambda L: L.DecorrelatedBatchNormalization(4, 2, eps=0.1),
        [floats(5, 4, 3)],
    ),
    Case("PReLU", lambda L: L.PReLU(), [floats(2, 3, 4)]),
    Case("PReLU-shape", lambda L: L.PReLU((3, 4)), [floats(2, 3, 4)]),
    Case("Swish", lambda L: L.Swish((3, 4)), [floats(2, 3, 4)], lazy=lambda L: L.Swish(None)),
    Case("Swish-scalar", lambda L: L.Swish((), 0.5), [floats(2, 3, 4)]),
    Case(
        "SimplifiedDropconnect",
        lambda L: L.SimplifiedDropconnect(3, 2),
        [X2],
        lazy=lambda L: L.SimplifiedDropconnect(None, 2),
        random=True,
    ),
    Case(
        "SimplifiedDropconnect-shared",
        lambda L: L.SimplifiedDropconnect(3, 2, 0.3, nobias=True),
        [X2],
        call=lambda link, x: link(x, use_batchwise_mask=False),
        random=True,
    ),
    Case("Maxout", lambda L: L.Maxout(3, 2, 4), [X2], lazy=lambda L: L.Maxout(None, 2, 4)),
    Case("Maxout-nobias", lambda L: L.Maxout(3, 2, 4, initial_bias=None), [X2]),
    Case(
        "Classifier",
        lambda L: L.Classifier(L.Linear(3, 2)),
        [X2, ints(0, 1, 1, 0)],
        lazy=lambda L: L.Classifier(L.Linear(2)),
    ),
]

_SEQUENCES = sequences(2, 4, 1)
for _prefix, _directions in (("NStep", 1), ("NStepBi", 2)):
    for _kind in ("RNNReLU", "RNNTanh", "GRU", "LSTM"):
        _name = _prefix + _kind
        _states = [floats(2 * _directions, 3, 4)]
        _none = [None]
        if _kind == "LSTM":
            _states.append(floats(3, 2 * _directions, 4).transpose(1, 0, 2))
            _none.append(None)

        def _make(L, name=_name):
            return getattr(L, name)(2, 3, 4, 0.0)

        def _make_dropout(L, name=_name):
            return getattr(L, name)(2, 3, 4, 0.5)

        CASES.append(Case(_name, _make, [*_states, _SEQUENCES]))
        CASES.append(Case(_name + "-dropout", _make_dropout, [*_none, _SEQUENCES], random=True))


def map_arrays(function, value):
    """Applies a function to the arrays of nested lists."""
    if value is None:
        return None
    if isinstance(value, (list, tuple)):
        return [map_arrays(function, v) for v in value]
    return function(value)


def flatten(value):
    """The items of nested lists, in order; None is left out."""
    if value is None:
        return []
    if isinstance(value, (list, tuple)):
        return [item for v in value for item in flatten(v)]
    return [value]


def perturb(link):
    """Gives every parameter and statistic a value that is not special."""
    for path, param in sorted(link.namedparams()):
        shape = param.shape
        param.data[np.isnan(param.data)] = 0  # BlackOut of earlier releases
        change = np.random.RandomState(len(path) + len(shape)).uniform(-0.3, 0.3, shape)
        param.data[...] += change.astype(param.dtype)
    for path, child in sorted(link.namedlinks(), key=lambda pair: pair[0]):
        for name in ("avg_mean", "avg_var"):
            statistic = getattr(child, name, None)
            if statistic is not None:
                state = np.random.RandomState(len(path))
                statistic[...] = state.uniform(0.5, 1.5, statistic.shape)


def variables_of(case, variable, constant=lambda array: array):
    """The inputs of a case; those of floats as variables."""
    return map_arrays(
        lambda array: variable(array) if array.dtype.kind == "f" else constant(array), case.inputs
    )


def run(case, link, variable, constant=lambda array: array):
    """Calls the link of a case and propagates back; returns outputs, gradients of inputs.

    Gradients of outputs are cosines of counters. ``variable`` makes a variable of an array of the
    case, ``constant`` what is to be given for other arrays.
    """
    inputs = variables_of(case, variable, constant)
    np.random.seed(42)
    outputs = flatten(case.call(link, *inputs))
    total = 0
    for i, y in enumerate(outputs):
        weight = np.cos(np.arange(y.size) + i).reshape(y.shape).astype(y.dtype)
        total = total + chainer.functions.sum(y * constant(weight))
    link.cleargrads()
    total.backward()
    variables = [x for x in flatten(inputs) if hasattr(x, "grad")]
    return [y.data for y in outputs], [x.grad for x in variables]


def joined(values):
    """One flat array of the elements of arrays; None counts as NaN."""
    values = [np.float32("nan") if value is None else value for value in values]
    return np.concatenate([np.zeros(0), *[np.ravel(value) for value in values]])


def joined_state(link):
    """One flat array of what a serializer gets of a link."""
    serializer = chainer.serializers.DictionarySerializer()
    serializer.save(link)
    return joined(value for _, value in sorted(serializer.target.items()))
