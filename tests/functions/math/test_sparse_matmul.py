"""Products with sparse matrices: operands, dtypes, classes, kernels."""

import numpy as np
import pytest

import chainer
import chainer.functions as F
from chainer import Variable
from chainer.backends.numpy.kernels import sparse_products
from chainer.backends.operations import coo_product
from chainer.core.arrays.backend import get_backend
from chainer.functions.math.sparse_matmul import CooMatMul, CooMatMulGradSP
from chainer.utils import CooMatrix, to_coo

D = np.array([[1, 0, 2], [0, 0, 3]], np.float32)
B = np.arange(12, dtype=np.float32).reshape(3, 4)


def test_gradients_reach_the_elements():
    """Numbers of release 7.8.1."""
    a, b = to_coo(D, requires_grad=True), Variable(B)
    y = F.sparse_matmul(a, b)
    assert y.array.tolist() == [[16, 19, 22, 25], [24, 27, 30, 33]]
    F.sum(y).backward()
    assert a.data.grad.tolist() == [6, 38, 38]
    assert b.grad.tolist() == [[1] * 4, [0] * 4, [5] * 4]


def test_elements_without_gradient():
    a, b = to_coo(D), Variable(B)
    F.sum(F.sparse_matmul(a, b)).backward()
    assert a.data.grad is None
    assert b.grad is not None


@pytest.mark.parametrize(
    ("sparse", "dense", "result"),
    [("f", "d", "d"), ("f", "e", "f"), ("e", "e", "e"), ("d", "f", "d")],
)
def test_dtypes(sparse, dense, result):
    a, b = to_coo(D.astype(sparse), requires_grad=True), Variable(B.astype(dense))
    y = F.sparse_matmul(a, b)
    assert y.dtype == result
    F.sum(y * y).backward()
    assert (a.data.grad.dtype, b.grad.dtype) == (np.dtype(sparse), np.dtype(dense))


@pytest.mark.parametrize("operands", [(B, B), (to_coo(D), to_coo(D)), (to_coo(D), B.tolist())])
def test_combinations_that_are_not_supported(operands):
    match = "(?s)combination of type of inputs is not supported.*a: <class .*b: <class"
    with pytest.raises(ValueError, match=match):
        F.sparse_matmul(*operands)


def test_no_broadcasting_of_batches():
    batch = to_coo(np.stack([D, D]))
    with pytest.raises(chainer.utils.type_check.InvalidType, match=r"dn\.shape\[0\] == 2"):
        F.sparse_matmul(batch, B[None])


@pytest.mark.parametrize("scipy", [True, False])
def test_elements_outside_of_the_matrix(scipy, monkeypatch):
    monkeypatch.setattr(sparse_products, "_has_scipy", lambda: scipy)
    data, good, bad = np.ones((2, 2)), np.array([[0, 1], [1, 0]]), np.array([[0, 5], [1, 0]])
    for row, col, name in ((bad, good, "row"), (good, bad, "column")):
        match = f"{name} index exceeds matrix dimensions: 5, expected less than"
        with pytest.raises(ValueError, match=match):
            F.sparse_matmul(CooMatrix(data[0], row[0], col[0], (2, 3)), np.ones((3, 2)))
        with pytest.raises(ValueError, match=match):
            F.sparse_matmul(CooMatrix(data, row, col, (2, 3)), np.ones((2, 3, 2)))


@pytest.mark.parametrize("shape", [(40, 30), (3, 40, 30)])
@pytest.mark.parametrize("dtype", ["e", "f", "d"])
def test_kernel_with_and_without_scipy(shape, dtype, monkeypatch):
    random = np.random.default_rng(0)
    a = random.standard_normal(shape) * (random.uniform(size=shape) < 0.1)
    b = random.standard_normal((*shape[:-2], 30, 50))
    matrix = to_coo(a.astype(dtype))
    kernel = coo_product.reference_for(get_backend("numpy"))
    for scipy in (True, False):
        monkeypatch.setattr(sparse_products, "_has_scipy", lambda scipy=scipy: scipy)
        arrays = (matrix.data.array, matrix.row, matrix.col)
        y = kernel.multiply(*arrays, 40, b.astype(dtype))
        assert y.dtype == dtype
        tolerance = {"e": 2e-2, "f": 1e-5, "d": 1e-12}[dtype]
        np.testing.assert_allclose(y, a @ b, rtol=tolerance, atol=tolerance)


def test_classes():
    a = to_coo(D, requires_grad=True)
    node = F.sparse_matmul(B[:, :2], a).creator
    assert isinstance(node, CooMatMul)
    assert (node.label, node.sp_shape, node.sp_order) == ("CooMatMul", (2, 3), "C")
    assert (node.transa, node.transb, node.transc, node.dtype) == (True, True, True, None)
    (y,) = CooMatMul(a.row, a.col, a.shape, dtype=np.float64).apply((a.data, B))
    assert y.dtype == np.float64
    (y,) = CooMatMulGradSP(a.row, a.col, a.shape).apply((np.ones((2, 4), "f"), B))
    assert y.array.tolist() == [6, 38, 38]
    with pytest.raises(ValueError, match="ndim of sp_row and sp_col must be the same"):
        CooMatMul(a.row, a.col[None], a.shape)
