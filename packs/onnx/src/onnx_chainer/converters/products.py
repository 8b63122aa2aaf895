"""Converters of products of matrices and arrays."""

from __future__ import annotations

import math

import numpy

from onnx_chainer.converters.rules import rule
from onnx_chainer.nodes import Nodes, array_of


@rule()
def MatMul(g: Nodes, a: str, b: str) -> str:
    """Products of matrices; vectors are not transposed."""
    if g.func.transa and g.ndim(0) > 1:
        a = _transposed(g, a, g.ndim(0))
    if g.func.transb and g.ndim(1) > 1:
        b = _transposed(g, b, g.ndim(1))
    return g("MatMul", a, b)


@rule()
def BatchMatMul(g: Nodes, a: str, b: str) -> str:
    """Products of matrices, of which each sample has one; of a vector it is a column."""
    if g.ndim(0) == 2:
        a = g.unsqueeze(a, [2])
    if g.ndim(1) == 2:
        b = g.unsqueeze(b, [2])
    if g.func.transa:
        a = _transposed(g, a, 3)
    if g.func.transb:
        b = _transposed(g, b, 3)
    return g("MatMul", a, b)


def _transposed(g: Nodes, x: str, ndim: int) -> str:
    return g.transpose(x, [*range(ndim - 2), ndim - 1, ndim - 2])


@rule()
def TensorDot(g: Nodes, a: str, b: str) -> str:
    """A product of matrices: the axes that are summed become one axis of each."""
    # The axes that remain and those that are summed over; of the second input the other way around.
    a_free, a_axes = (g.axes(axes, g.ndim(0)) for axes in g.func.a_axes)
    b_axes, b_free = (g.axes(axes, g.ndim(1)) for axes in g.func.b_axes)
    count = int(numpy.prod([g.shape(0)[i] for i in a_axes]))
    left = g("Reshape", g.transpose(a, a_free + a_axes), g.ints([-1, count]))
    right = g("Reshape", g.transpose(b, b_axes + b_free), g.ints([count, -1]))
    return g.reshape(g("MatMul", left, right), g.out_shape, g.twin_out_shape)


@rule()
def EinSum(g: Nodes, *xs: str) -> str:
    """Einsum; Chainer's subscripts have @ for an ellipsis."""
    g.require_opset(12)
    equation = f"{g.func.in_subs}->{g.func.out_sub}".replace("@", "...")
    return g("Einsum", *xs, equation=equation)


@rule()
def TriangularInv(g: Nodes, x: str) -> str:
    """Inverses of triangular matrices, as products of a few powers.

    With the diagonal D and the rest N, which is zero if multiplied by itself often enough:
    (D (I + N))^-1 = (I - N) (I + N^2) (I + N^4) ... D^-1.
    """
    size = g.shape()[-1]
    eye = g.const(numpy.eye(size))
    ones = numpy.ones((size, size))
    others = g.const(numpy.tril(ones, -1) if g.func._lower else numpy.triu(ones, 1))
    diagonal = g.reduce("ReduceSum", g("Mul", x, eye), [g.ndim() - 1], keepdims=True)
    power = g("Neg", g("Div", g("Mul", x, others), diagonal))
    inverse = g("Add", eye, power)
    reached = 2
    while reached < size:
        power = g("MatMul", power, power)
        inverse = g("MatMul", inverse, g("Add", eye, power))
        reached *= 2
    # Columns of the inverse belong to rows of the matrix.
    behind = [*range(g.ndim() - 2), g.ndim() - 1, g.ndim() - 2]
    return g("Div", inverse, g.transpose(diagonal, behind))


@rule()
def CooMatMul(g: Nodes, data: str, dense: str) -> str:
    """A product of dense matrices: the elements are put into a matrix of zeros.

    ONNX has no product of a sparse and a dense matrix that runtimes compute.
    """
    g.require_opset(11)
    for attribute, what in (("sp_row", "the rows"), ("sp_col", "the columns")):
        g.warn_if_frozen(attribute, f"{what} of the elements of the sparse matrix")
    g.warn_of_lengths()
    row, col = (array_of(x).astype(numpy.int64) for x in (g.func.sp_row, g.func.sp_col))
    rows, columns = g.func.sp_shape
    shape = (*row.shape[:-1], rows, columns)
    # Elements of a batch that do not exist have the row -1.
    used = numpy.flatnonzero(row >= 0)
    matrices = numpy.arange(row.size) // max(row.shape[-1], 1)
    places = ((matrices * rows + row.reshape(-1)) * columns + col.reshape(-1))[used]
    if len(set(places.tolist())) < len(places):
        g.require_opset(16, "with two elements at one place")
        reduction = "add"
    else:
        reduction = None
    kind = g.out_dtype
    data, dense = (
        x if g.dtype(i) == kind else g.cast(x, kind) for i, x in enumerate((data, dense))
    )
    values = g("Gather", g.reshape(data, [-1]), g.ints(used), axis=0)
    zeros = g.const(numpy.zeros(math.prod(shape), kind), kind)
    a = g.reshape(
        g("ScatterND", zeros, g.ints(places[:, None]), values, reduction=reduction), shape
    )
    ndim = len(shape)
    if g.func.transa:
        a = _transposed(g, a, ndim)
    if g.func.transb:
        dense = _transposed(g, dense, ndim)
    y = g("MatMul", a, dense)
    return _transposed(g, y, ndim) if g.func.transc else y
