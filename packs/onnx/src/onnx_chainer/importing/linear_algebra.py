"""Products of matrices, and determinants."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy

import chainer.functions as F
from chainer.backend import get_array_module
from onnx_chainer.importing.attributes import Attributes
from onnx_chainer.importing.declarations import result_shape
from onnx_chainer.importing.values import Tensor, array_of, is_float, ndim_of


def _product_shape(attributes: Attributes, a: Tensor, b: Tensor, *c: Any) -> Any:
    """Returns the shape of a product of matrices; vectors have no axis in it."""
    x, y = array_of(a).shape, array_of(b).shape
    if attributes.get("transA"):
        x = x[::-1]
    if attributes.get("transB"):
        y = y[::-1]
    try:
        return (*numpy.broadcast_shapes(x[:-2], y[:-2]), *x[-2:-1], *(y[-1:] if y[1:] else ()))
    except ValueError:
        return None


def _einsum_shape(attributes: Attributes, *xs: Tensor) -> Any:
    """Returns the lengths of all axes that are not summed."""
    terms, _, result = attributes["equation"].replace(" ", "").partition("->")
    if "..." in terms:
        return None
    names = terms.split(",")
    lengths = {name: n for term, x in zip(names, xs) for name, n in zip(term, array_of(x).shape)}
    joined = "".join(names)
    kept = result if "->" in attributes["equation"] else {n for n in joined if joined.count(n) == 1}
    return [lengths.get(name, 1) for name in kept]


@result_shape(_product_shape)
def _gemm(attributes: Attributes, a: Tensor, b: Tensor, c: Tensor | None = None) -> Tensor:
    alpha, beta = attributes.get("alpha", 1.0), attributes.get("beta", 1.0)
    transa, transb = bool(attributes.get("transA", 0)), bool(attributes.get("transB", 0))
    if not is_float(a):
        x, y = array_of(a), array_of(b)
        result = (x.T if transa else x) @ (y.T if transb else y)
        result = (alpha * result).astype(x.dtype) if alpha != 1 else result
        if c is None:
            return result
        return result + (beta * array_of(c)).astype(x.dtype)
    if transb and not transa and alpha == beta == 1 and (c is None or ndim_of(c) == 1):
        return F.linear(a, b, c)
    y = F.matmul(a, b, transa, transb)
    y = y if alpha == 1 else y * alpha
    return y if c is None else y + (c if beta == 1 else c * beta)


def _is_transposed(b: Tensor) -> bool:
    """Returns whether a matrix is the transposed view of an array in the usual order."""
    array = array_of(b)
    if not isinstance(array, numpy.ndarray) or array.ndim != 2 or array.shape[0] < 2:
        return False
    return array.flags.f_contiguous and not array.flags.c_contiguous


@result_shape(_product_shape)
def _matmul(attributes: Attributes, a: Tensor, b: Tensor) -> Tensor:
    if is_float(a):
        if _is_transposed(b) and ndim_of(a) > 1:
            # Scores of words are products by the transposed embedding. A linear function reads the
            # embedding as it is, for which iDeep takes three quarters of the time.
            return F.linear(a, F.transpose(b), n_batch_axes=ndim_of(a) - 1)
        return F.matmul(a, b)
    return get_array_module(array_of(a)).matmul(array_of(a), array_of(b))


@result_shape(_einsum_shape)
def _einsum(attributes: Attributes, *xs: Tensor) -> Tensor:
    equation = attributes["equation"].replace(" ", "")
    if is_float(xs[0]):
        return F.einsum(equation, *xs)
    arrays = [array_of(x) for x in xs]
    return get_array_module(arrays[0]).einsum(equation, *arrays)


def _det(attributes: Attributes, x: Tensor) -> Tensor:
    shape = array_of(x).shape
    if len(shape) == 2:
        return F.det(x)
    y = F.batch_det(F.reshape(x, (-1, *shape[-2:])))
    return F.reshape(y, shape[:-2])


OPERATORS: dict[str, Callable[..., Any]] = {
    "Det": _det,
    "Einsum": _einsum,
    "Gemm": _gemm,
    "MatMul": _matmul,
}
