"""Converters of normalizations."""

from __future__ import annotations

import numpy

from onnx_chainer.converters.rules import rule
from onnx_chainer.nodes import Nodes, array_of

_STATISTICS = ("", "gamma", "beta", "avg_mean", "avg_var")


def _channels_second(g: Nodes, x: str) -> tuple[str, list[int] | None]:
    """Moves the axes that parameters have to the second place, joined to one.

    The operator normalizes the second axis of ``(N, C, ...)`` only.

    Returns:
        The array, and the permutation of the axes; None if nothing had to be done.
    """
    ndim = g.ndim()
    reduced = g.func._reduced
    kept = [i for i in range(ndim) if i not in reduced]
    if kept == [1]:
        return x, None
    perm = [*reduced, *kept]
    x = g.transpose(x, perm)
    # (reduced..., kept...) -> (all reduced, all kept): two axes.
    count = int(numpy.prod([g.shape()[i] for i in kept]))
    return g("Reshape", x, g.ints([-1, count])), perm


def _restored(g: Nodes, y: str, perm: list[int] | None) -> str:
    if perm is None:
        return y
    twin = g.twin_out_shape
    shape = [g.out_shape[i] for i in perm]
    y = g.reshape(y, shape, None if twin is None else [twin[i] for i in perm])
    return g.transpose(y, [perm.index(i) for i in range(len(perm))])


def _flat(g: Nodes, index: int, name: str) -> str:
    return name if g.ndim(index) == 1 else g("Reshape", name, g.ints([-1]))


@rule(constants=_STATISTICS)
def FixedBatchNormalization(g: Nodes, x: str, gamma: str, beta: str, mean: str, var: str) -> str:
    """Normalization by given statistics."""
    x, perm = _channels_second(g, x)
    parameters = [_flat(g, i, name) for i, name in enumerate((gamma, beta, mean, var), 1)]
    return _restored(g, g("BatchNormalization", x, *parameters, epsilon=g.func.eps), perm)


@rule(constants=_STATISTICS)
def BatchNormalization(g: Nodes, x: str, gamma: str, beta: str) -> str:
    """Normalization by the statistics of the batch.

    From opset 14 on the operator computes them; before, the statistics of the sample are constants.
    """
    sample = array_of(g.arrays[0])
    reduced = tuple(g.func._reduced)
    link = g.context.get_link(g.func.inputs[1])
    prefix = link[0] + "_" if link is not None and link[0] != "param" else ""
    axes_mean = sample.mean(reduced, dtype=numpy.float64)
    axes_var = sample.var(reduced, dtype=numpy.float64)
    dtype = g.dtype(1)
    mean = g.context.add_param(
        axes_mean.astype(dtype).ravel(), f"{prefix}avg_mean", use_original_name=bool(prefix)
    )
    var = g.context.add_param(
        axes_var.astype(dtype).ravel(), f"{prefix}avg_var", use_original_name=bool(prefix)
    )
    x, perm = _channels_second(g, x)
    inputs = [x, _flat(g, 1, gamma), _flat(g, 2, beta), mean, var]
    decay = float(g.func.decay)
    if g.opset >= 14:
        y, *_ = g(
            "BatchNormalization", *inputs, outputs=3,
            epsilon=g.func.eps, momentum=decay, training_mode=1,
        )  # fmt: skip
    else:
        y = g("BatchNormalization", *inputs, epsilon=g.func.eps, momentum=decay)
    return _restored(g, y, perm)


@rule()
def GroupNormalization(g: Nodes, x: str, gamma: str, beta: str) -> str:
    """Normalization of groups of channels.

    Before opset 21 the groups take the place of channels in the normalization of each instance.
    """
    groups, eps = g.func.groups, g.func.eps
    if g.opset >= 21:
        return g("GroupNormalization", x, gamma, beta, num_groups=groups, epsilon=eps)
    joined = g("Reshape", x, g.ints([0, groups, -1]))
    one, zero = g.const(numpy.ones(groups)), g.const(numpy.zeros(groups))
    y = g("InstanceNormalization", joined, one, zero, epsilon=eps)
    y = g("Reshape", y, g("Shape", x))
    behind = list(range(1, g.ndim() - 1))
    if behind:
        gamma, beta = g.unsqueeze(gamma, behind), g.unsqueeze(beta, behind)
    return g("Add", g("Mul", y, gamma), beta)


@rule()
def NormalizeL2(g: Nodes, x: str) -> str:
    """Division by the Euclidean norm plus a small number."""
    dtype = g.dtype()
    if dtype == numpy.float16:  # in which the squares of small numbers are zero
        x = g.cast(x, numpy.float32)
    norm = g.reduce("ReduceL2", x, g.axes(g.func.axis), keepdims=True)
    wide = numpy.float32 if dtype == numpy.float16 else dtype
    y = g("Div", x, g("Add", norm, g.const(g.func.eps, wide, "eps")))
    return g.cast(y, dtype) if dtype == numpy.float16 else y


@rule()
def LocalResponseNormalization(g: Nodes, x: str) -> str:
    """LRN; the operator divides alpha by the size of the window."""
    n = int(g.func.n)
    return g(
        "LRN",
        x,
        size=n,
        alpha=float(g.func.alpha) * n,
        beta=float(g.func.beta),
        bias=float(g.func.k),
    )


@rule()
def FixedDecorrelatedBatchNormalization(g: Nodes, x: str, mean: str, projection: str) -> str:
    """Products of the centered groups of channels and the projections."""
    groups = g.func.groups
    size = g.shape()[1] // groups
    ndim = g.ndim()
    # (N, groups x size, ...) -> (groups, size, N x ...)
    y = g.transpose(x, [1, 0, *range(2, ndim)])
    y = g("Reshape", y, g.ints([groups, size, -1]))
    y = g("MatMul", projection, g("Sub", y, g.unsqueeze(mean, [2])))
    twin = g.twin_out_shape
    order = [1, 0, *range(2, ndim)]
    shape = [g.out_shape[i] for i in order]
    y = g.reshape(y, shape, None if twin is None else [twin[i] for i in order])
    return g.transpose(y, order)
