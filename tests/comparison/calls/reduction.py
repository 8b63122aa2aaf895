"""Calls of reductions, products of arrays and linear algebra."""

from __future__ import annotations

import numpy as np

from tests.comparison.calls.draw import Source


def reduction(draw):
    x = draw.floats()
    axis = draw.axes(x.array.ndim)
    options = {"keepdims": True} if draw.maybe(0.3) else {}
    return [x], options if axis is None else dict(options, axis=axis)


def logsumexp(draw):
    x = draw.floats()
    axis = draw.axes(x.array.ndim)
    return [x], {} if axis is None else {"axis": axis}


def along(draw):
    x = draw.floats()
    axis = draw.choice(None, draw.axis(x.array.ndim))
    return [x], draw.choice({}, {"axis": axis}, {"axis": axis})


def average(draw):
    args, options = reduction(draw)
    if draw.maybe(0.5):
        (x,) = args
        axis = options.get("axis")
        if isinstance(axis, int) and -x.array.ndim <= axis < x.array.ndim:
            shape = (x.array.shape[axis],)
        else:
            shape = x.array.shape
        options["weights"] = draw.floats(shape, low=0.2, high=2)
    return args, options


def matmul(draw):
    i, j, k = draw.size(), draw.integer(1, 3), draw.size()
    batch = draw.choice((), (), (2,), (2, 1))
    transa, transb = draw.maybe(0.3), draw.maybe(0.3)
    a = draw.floats((*batch, j, i) if transa else (*batch, i, j))
    b = draw.floats((*batch, k, j) if transb else (*batch, j, k))
    kind = draw.integer(0, 5)
    if kind == 0:
        return [draw.floats(j), draw.floats(j, k)], {}
    if kind == 1:
        return [draw.floats(i, j), draw.floats(j)], {}
    return [a, b], {"transa": transa, "transb": transb}


def matmul_operator(draw):
    i, j, k = draw.size(), draw.integer(1, 3), draw.size()
    return [draw.floats(i, j), draw.floats(j, k)], {}


def batch_matmul(draw):
    n, i, j, k = draw.size(), draw.size(), draw.integer(1, 3), draw.size()
    transa, transb = draw.maybe(0.3), draw.maybe(0.3)
    a = draw.floats((n, j, i) if transa else (n, i, j))
    b = draw.floats((n, k, j) if transb else (n, j, k))
    return [a, b], {"transa": transa, "transb": transb}


def tensordot(draw):
    i, j, k = draw.integer(1, 3), draw.integer(1, 3), draw.size()
    return draw.choice(
        ([draw.floats(k, i, j), draw.floats(i, j, 2)], {}),
        ([draw.floats(k, i), draw.floats(i, 2)], {"axes": 1}),
        ([draw.floats(i, k, j), draw.floats(2, j, i)], {"axes": ((0, 2), (2, 1))}),
        ([draw.floats(k), draw.floats(i)], {"axes": 0}),
        ([draw.floats(k, i), draw.floats(j, 2)], {"axes": (-1, 0)}),
        ([draw.floats(k, i), draw.floats(i, 2)], {"axes": 3}),
    )


def einsum(draw):
    i, j, k = draw.integer(1, 3), draw.integer(1, 3), draw.size()
    subscripts, shapes = draw.choice(
        ("ij,jk->ik", ((i, j), (j, k))),
        ("ij,jk", ((i, j), (j, k))),
        ("ij->ji", ((i, j),)),
        ("ii->i", ((i, i),)),
        ("ii", ((i, i),)),
        ("ij,ij->", ((i, j), (i, j))),
        ("i,j->ij", ((i,), (j,))),
        ("...ij,...jk->...ik", ((2, i, j), (2, j, k))),
        ("...j,...j->...", ((2, j), (j,))),
        ("...j->j", ((2, j),)),
        ("ij->", ((i, j),)),
        ("ij,jk,kl->il", ((i, j), (j, 2), (2, k))),
        ("i->ii", ((i,),)),
        ("ij->l", ((i, j),)),
        ("ij,jk->ik", ((i, j),)),
        ("i..j->ij", ((i, j),)),
        ("ij,jk->ik", ((i, j), (1, k))),
    )
    return [subscripts, *[draw.floats(shape) for shape in shapes]], {}


def square(*batch):
    def generate(draw):
        n = draw.integer(1, 3)
        x = draw.floats((*[draw.size() for _ in batch], n, n))
        # Far from singular matrices.
        x.array = (x.array + 4 * np.eye(n)).astype(x.array.dtype)
        return [x], {}

    return generate


def cholesky(draw):
    n = draw.integer(1, 3)
    x = draw.floats(n, n)
    values = x.array.astype("d")
    x.array = (values.dot(values.T) + np.eye(n) * draw.choice(1, 1, 1, -9)).astype(x.array.dtype)
    return [x], {}


def batch_l2(draw):
    return [draw.floats(draw.shape(1, 3))], {}


def with_parameter(draw):
    x = draw.floats(draw.shape(2, 4))
    axis = draw.integer(0, x.array.ndim - 1)
    length = draw.integer(0, x.array.ndim - axis)
    y = draw.floats(x.array.shape[axis : axis + length])
    return [x, y], draw.choice({"axis": axis}, {"axis": axis}, {})


def sparse(draw):
    i, j, k = draw.integer(1, 3), draw.integer(1, 3), draw.size()
    transa, transb = draw.maybe(0.3), draw.maybe(0.3)
    batch = draw.choice((), (), (2,))
    a = draw.floats((*batch, j, i) if transa else (*batch, i, j))
    b = draw.floats((*batch, k, j) if transb else (*batch, j, k))
    first = draw.maybe(0.5)
    values = (a if first else b).array
    values = np.where(draw.random.uniform(size=values.shape) < 0.5, values, 0).astype(values.dtype)
    matrix = Source("chainer.utils.to_coo(a)", values)
    return [matrix if first else a, b if first else matrix], {"transa": transa, "transb": transb}


GENERATORS = {
    "argmax": along,
    "argmin": along,
    "average": average,
    "batch_det": square(1),
    "batch_inv": square(1),
    "batch_l2_norm_squared": batch_l2,
    "batch_matmul": batch_matmul,
    "bias": with_parameter,
    "cholesky": cholesky,
    "cumprod": along,
    "cumsum": along,
    "det": square(),
    "einsum": einsum,
    "inv": square(),
    "lambda a, b: a @ b": matmul_operator,
    "logsumexp": logsumexp,
    "matmul": matmul,
    "max": reduction,
    "mean": average,
    "min": reduction,
    "prod": reduction,
    "scale": with_parameter,
    "sparse_matmul": sparse,
    "sum": reduction,
    "tensordot": tensordot,
}
