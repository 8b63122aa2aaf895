"""Einstein summation, products with sparse matrices, Cholesky factors."""

# pyright: basic
from __future__ import annotations

import numpy as np

from chainer.core.autograd.sparse import CooMatrix
from chainer.core.autograd.variable import as_variable
from chainer.testing.op_spec import ErrorInput, OpSpec, Sample
from chainer.testing.specs.inputs import floats as _f
from chainer.testing.specs.inputs import invalid_type, invalid_value


def _einsum(*arrays, subscripts):
    """A loop over the values of all subscripts."""
    inputs, output = subscripts.replace(" ", "").split("->")
    # The arrays of the rows have two axes, or none, in the place of an ellipsis.
    wide = any(a.ndim > len(s.replace("...", "")) for a, s in zip(arrays, inputs.split(",")))
    inputs, output = (s.replace("...", "YZ" if wide else "") for s in (inputs, output))
    lengths = {}
    for array, labels in zip(arrays, inputs.split(",")):
        lengths.update(zip(labels, array.shape))
    y = np.zeros([lengths[label] for label in output])
    for values in np.ndindex(*lengths.values()):
        index = dict(zip(lengths, values))
        product = 1.0
        for array, labels in zip(arrays, inputs.split(",")):
            product *= array[tuple(index[label] for label in labels)]
        y[tuple(index[label] for label in output)] += product
    return y


def _einsum_samples(draw):
    for subscripts, *shapes in (
        ("ij,jk->ik", (2, 3), (3, 4)),
        ("ij -> ji", (2, 3)),
        ("ij->i", (2, 3)),
        ("ii->i", (3, 3)),
        ("ii->", (3, 3)),
        ("ij,ij->", (2, 3), (2, 3)),
        ("iji,jk->i", (2, 3, 2), (3, 2)),
        ("ij,k->ijk", (2, 3), (2,)),
        ("ij,jk,kl->il", (2, 3), (3, 2), (2, 3)),
        ("i...,...j->...ij", (2, 1, 3), (1, 3, 2)),
        ("i...,ij->j", (2,), (2, 3)),
    ):
        yield Sample(*[draw(shape) for shape in shapes], subscripts=subscripts)
    yield Sample(draw(()), draw(()), subscripts=",->", kind="zero-dim")
    yield Sample(draw((0, 3)), draw((3, 2)), subscripts="ij,jk->ik", kind="empty")
    yield Sample(draw((2, 0)), draw((0, 3)), subscripts="ij,jk->ik", kind="empty")


def _einsum_errors(draw):
    for subscripts, match in (
        ("ij,jk", "Number of einsum subscripts must be equal to the number of operands"),
        ("ij->k", "Output character k did not appear"),
        ("ij->ii", "output subscript 'i' multiple times"),
        ("i1->i", "Character 1 is not a valid symbol"),
        ("ij->i->j", "one '->'"),
        ("i..j->i", "Invalid Ellipses"),
        ("...j->j", "summing over Ellipsis"),
        ("i->i", "more dimensions than subscripts"),
        ("ijk->i", "operand 0 has fewer dimensions than subscripts: 2 and 'ijk'"),
    ):
        yield invalid_value(match, _f(2, 3), subscripts=subscripts)
    yield invalid_type(
        r"x0\.shape\[0\] == x1\.shape\[0\]", _f(2, 3), _f(1, 3), subscripts="ij,ij->i"
    )
    yield invalid_type(r"x0\.dtype\.kind == f", np.ones((2, 3), int), subscripts="ij->i")


def _cholesky(a):
    """The algorithm of Cholesky and Banachiewicz."""
    y = np.zeros_like(a)
    for i in range(len(a)):
        for j in range(i + 1):
            rest = a[i, j] - (y[i, :j] * y[j, :j]).sum()
            y[i, j] = np.sqrt(rest) if i == j else rest / y[j, j]
    return y


def _cholesky_of_symmetric(F, a):
    # The gradient belongs to a symmetric matrix, whatever is in the upper triangle.
    square = a.dtype.kind == "f" and a.ndim == 2 and a.shape[0] == a.shape[1]
    return F.cholesky((a + F.transpose(a)) * 0.5 if square else a)


def _symmetric(draw, n):
    """Symmetric matrices with eigenvalues from 1 up."""
    a = draw((n, n))
    return a @ a.T + np.eye(n)


def _dense(data, row, col, shape):
    y = np.zeros((*data.shape[:-1], *shape))
    for index in np.ndindex(*data.shape):
        if row[index] >= 0:
            y[(*index[:-1], row[index], col[index])] += data[index]
    return y


def _sparse_matmul(data, dense, row, col, shape, right=False, transa=False, transb=False):
    a, b = _dense(data, row, col, shape), dense
    if right:
        a, b = b, a
    a = a.swapaxes(-1, -2) if transa else a
    b = b.swapaxes(-1, -2) if transb else b
    return np.einsum("...ij,...jk->...ik", a, b)


def _call_sparse_matmul(F, data, dense, row, col, shape, right=False, **transposed):
    data = as_variable(data)
    # To determine the order means to wait for a device.
    matrix = CooMatrix(data.array, row, col, shape, order="other")
    matrix.data = data  # the Variable under test
    operands = (dense, matrix) if right else (matrix, dense)
    return F.sparse_matmul(*operands, **transposed)


def _sparse_samples(draw):
    # Element (1, 2) is there twice.
    one = {"row": np.array([0, 1, 1, 2, 1]), "col": np.array([3, 0, 2, 1, 2]), "shape": (3, 4)}
    two = {
        "row": np.array([[0, 1, 2], [2, -1, -1]], np.int32),
        "col": np.array([[0, 1, 1], [0, -1, -1]], np.int32),
        "shape": (3, 2),
    }
    yield Sample(draw((5,)), draw((4, 2)), **one, label="sparse @ dense")
    yield Sample(draw((5,)), draw((2, 4)), **one, transb=True, label="sparse @ dense.T")
    yield Sample(draw((5,)), draw((2, 3)), **one, transa=True, transb=True, label="both transposed")
    yield Sample(draw((5,)), draw((2, 3)), **one, right=True, label="dense @ sparse")
    yield Sample(draw((5,)), draw((4, 2)), **one, right=True, transa=True, transb=True)
    yield Sample(draw((2, 3)), draw((2, 2, 3)), **two, label="batch")
    yield Sample(draw((2, 3)), draw((2, 2, 3)), **two, right=True, label="batch on the right")
    yield Sample(draw((5,)), draw((4, 0)), **one, kind="empty")
    nothing = {**one, "row": np.zeros(0, int), "col": np.zeros(0, int)}
    yield Sample(draw((0,)), draw((4, 2)), **nothing, kind="empty")


def _sparse_errors(draw):
    matrix = {"row": np.array([0, 1]), "col": np.array([1, 0]), "shape": (2, 3)}
    for data, dense, match in (
        (_f(2), _f(2, 3), r"dn\.shape\[-2\] == 3"),
        (_f(2), _f(1, 3, 2), r"sp\.ndim == dn\.ndim - 1"),
        (_f(2), np.ones((3, 2), int), r"dn\.dtype\.kind == f"),
        (np.ones(2, int), _f(3, 2), r"sp\.dtype\.kind == f"),
    ):
        yield invalid_type(match, data, dense, **matrix)


SPECS = (
    OpSpec(
        "sparse_matmul",
        call=_call_sparse_matmul,
        reference=_sparse_matmul,
        covers=("sparse_matmul",),
        samples=_sparse_samples,
        errors=_sparse_errors,
    ),
    OpSpec(
        "cholesky",
        call=_cholesky_of_symmetric,
        reference=lambda a: _cholesky((a + a.T) / 2),
        covers=("cholesky",),
        samples=lambda draw: [
            Sample(_symmetric(draw, 3)),
            Sample(np.array([[2, 0.5], [0.5, 1]])),
            Sample(np.zeros((0, 0)), kind="empty"),
        ],
        errors=lambda draw: [
            ErrorInput(_f(3, 2), error=np.linalg.LinAlgError, match="must be square"),
            ErrorInput(-np.eye(2), error=np.linalg.LinAlgError, match="positive", debug=True),
            invalid_type(r"a\.ndim == 2", _f(2, 2, 2)),
            invalid_type(r"a\.dtype\.kind == f", np.eye(2, dtype=int)),
        ],
    ),
    OpSpec(
        "einsum",
        reference=_einsum,
        call=lambda F, *arrays, subscripts: F.einsum(subscripts, *arrays),
        covers=("einsum",),
        samples=_einsum_samples,
        errors=_einsum_errors,
    ),
)
