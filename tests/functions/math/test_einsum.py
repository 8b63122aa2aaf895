"""Einsum: forms of calls, dtypes, gradients of diagonals, classes, large products."""

import numpy as np
import pytest

import chainer
import chainer.functions as F
from chainer import Variable, gradient_check
from chainer.functions.math import einsum as module
from chainer.functions.math.einsum import DiagEinSum, EinSum

RANDOM = np.random.default_rng(0)
A, B = RANDOM.standard_normal((2, 3)), RANDOM.standard_normal((3, 4))
T = RANDOM.standard_normal((2, 3, 4))


@pytest.mark.parametrize(
    ("operands", "expected"),
    [
        (("ij,jk", A, B), A @ B),
        ((" i j, j k ", A, B), A @ B),
        (("ba", A), A.T),
        (("i...j", T), T.transpose(1, 0, 2)),
        ((A, [0, 1], B, [1, 2], [0, 2]), A @ B),
        ((A, [0, 1], B, [1, 2]), A @ B),
        ((A, (1, 0)), A.T),
        ((A, [0, Ellipsis], [Ellipsis]), A.sum(axis=0)),
        ((A, [np.int64(26), 0]), A.T),
        (("ij->", A), A.sum()),
        (("", np.array(2.0)), 2),
    ],
)
def test_forms(operands, expected):
    np.testing.assert_allclose(F.einsum(*operands).array, expected)


def test_wrong_lists():
    with pytest.raises(TypeError, match="lists must contain either int or Ellipsis"):
        F.einsum(A, [0, "a"])
    with pytest.raises(TypeError, match="lists must contain either int or Ellipsis"):
        F.einsum(A)
    with pytest.raises(ValueError, match="subscripts must be less than 52, got 52"):
        F.einsum(A, [0, 52])
    with pytest.raises(ValueError, match="No input operands"):
        F.einsum()


def test_dtypes_are_promoted_and_gradients_cast_back():
    x, y = Variable(A.astype("f")), Variable(B.astype("e"))
    z = F.einsum("ij,jk->ik", x, y)
    assert z.dtype == np.float32
    F.sum(z * z).backward()
    assert (x.grad.dtype, y.grad.dtype) == (np.float32, np.float16)


def test_the_same_variable_twice():
    x = Variable(A)
    F.einsum("ij,ij->", x, x).backward()
    np.testing.assert_allclose(x.grad, 2 * A)


@pytest.mark.parametrize("dtype", ["e", "f", "d"])
def test_large_products(dtype):
    """Matrix products instead of a loop."""
    x, y = (RANDOM.standard_normal((60, 60)).astype(dtype) for _ in range(2))
    assert module.MANY_PRODUCTS < 60**3
    z = F.einsum("ij,jk->ik", x, y)
    assert z.dtype == dtype
    np.testing.assert_allclose(z.array, x.astype("d") @ y.astype("d"), rtol=2e-3, atol=0.02)


def test_array_library_without_optimization():
    class Plain:
        @staticmethod
        def einsum(text, *arrays):
            return np.einsum(text, *arrays)

    arrays = [A, B, B.T.copy()]
    with pytest.warns(chainer.warnings.PerformanceWarning, match=r"Plain\.einsum does not take"):
        y = module._optimized(Plain, "ij,jk,kl->il", arrays)
    np.testing.assert_allclose(y, A @ B @ B.T)


class TestDiagEinSum:
    def test_diagonal(self):
        """Examples of release 7.8.1."""
        x = np.array([1.0, 2.0])
        (y,) = DiagEinSum("i", "ii", (2, 2)).apply((x,))
        assert y.array.tolist() == [[1, 0], [0, 2]]
        (y,) = DiagEinSum("i", "ij", (2, 3)).apply((x,))
        assert y.array.tolist() == [[1, 1, 1], [2, 2, 2]]

    def test_ellipsis(self):
        (y,) = DiagEinSum("@i,i", "@ii", (2, 3, 3)).apply((A, B[:, 0]))
        np.testing.assert_allclose(y.array, [np.diag(row * B[:, 0]) for row in A])

    def test_gradients(self):
        x, gy, ggx = (RANDOM.standard_normal(shape) for shape in ((3,), (3, 3, 2), (3,)))

        def function(x):
            return DiagEinSum("i", "iij", (3, 3, 2)).apply((x,))[0]

        gradient_check.check_backward(function, x, gy)
        gradient_check.check_double_backward(lambda x: function(x) ** 2, x, gy, ggx)


def test_classes():
    node = F.einsum("...ij,jk->...ik", Variable(T), B.T.copy()[:, :2]).creator
    assert isinstance(node, EinSum)
    assert (node.label, node.in_subs, node.out_sub) == ("EinSum", "@ij,jk", "@ik")
    (y,) = EinSum("@ij", "@j").apply((T,))
    np.testing.assert_allclose(y.array, T.sum(axis=1))
