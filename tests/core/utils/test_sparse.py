"""Sparse matrices in coordinate format; what they hold is that of release 7.8.1."""

import numpy as np
import pytest

import chainer
from chainer import Variable
from chainer.utils import CooMatrix, get_order, sparse, to_coo

D = np.array([[1, 0, 2], [0, 0, 3]], np.float32)
BATCH = np.array([[[1, 0], [0, 2]], [[0, 0], [3, 0]]], np.float32)
DATA, ROW, COL = np.array([1.0, 2, 3]), np.array([0, 0, 1]), np.array([0, 2, 2])


def test_names():
    import chainer.utils.sparse

    assert chainer.utils.sparse is sparse
    assert sparse.CooMatrix is CooMatrix


class TestCooMatrix:
    def test_attributes(self):
        matrix = CooMatrix(DATA, ROW, COL, [2, 3])
        assert isinstance(matrix.data, Variable)
        assert matrix.data.array is DATA
        assert not matrix.data.requires_grad
        assert matrix.row is ROW
        assert matrix.col is COL
        assert (matrix.shape, matrix.order) == ((2, 3), "C")
        assert CooMatrix(DATA, ROW, COL, (2, 3), requires_grad=True).data.requires_grad
        assert CooMatrix(DATA, ROW, COL, (2, 3), "other").order == "other"

    @pytest.mark.parametrize(
        ("arguments", "match"),
        [
            ((DATA[None, None], ROW, COL, (2, 3)), "ndim of data must be 1 or 2, got 3"),
            ((DATA[None], ROW, COL, (2, 3)), "ndim of data, row and col must be the same"),
            ((DATA, ROW[:2], COL, (2, 3)), r"shape of row and col must be the same, got \(2,\)"),
            ((DATA[:2], ROW, COL, (2, 3)), "shape of data and row must be the same"),
            ((DATA, ROW, COL, (2, 3, 4)), "length of shape must be 2"),
            ((DATA, ROW, COL, (0, 3)), "numbers in shape must be greater than 0"),
            ((DATA, ROW, COL, (2, 3), "X"), "order must be 'C', 'F', 'other' or None, got 'X'"),
        ],
    )
    def test_wrong_arguments(self, arguments, match):
        with pytest.raises(ValueError, match=match):
            CooMatrix(*arguments)

    def test_data_is_an_array(self):
        with pytest.raises(TypeError, match="expected"):
            CooMatrix(Variable(DATA), ROW, COL, (2, 3))

    def test_dense(self):
        np.testing.assert_array_equal(CooMatrix(DATA, ROW, COL, (2, 3)).to_dense(), D)
        same = CooMatrix(DATA, ROW * 0, COL * 0 + 1, (2, 3)).to_dense()
        assert same.tolist() == [[0, 6, 0], [0, 0, 0]]

    def test_dense_without_padding(self):
        """Release 7 adds elements of the padding that are not zero to the last place."""
        matrix = CooMatrix(DATA, np.array([0, -1, 1]), np.array([0, -1, 1]), (2, 3))
        assert matrix.to_dense().tolist() == [[1, 0, 0], [0, 3, 0]]

    def test_elements_outside(self):
        with pytest.raises(IndexError):
            CooMatrix(DATA, ROW + 5, COL, (2, 3)).to_dense()
        with pytest.raises(IndexError):
            CooMatrix(DATA, ROW, COL + 5, (2, 3)).to_dense()


class TestToCoo:
    def test_matrix(self):
        matrix = to_coo(D, requires_grad=True)
        assert matrix.data.requires_grad
        assert matrix.data.dtype == np.float32
        assert (matrix.row.dtype, matrix.col.dtype) == (np.int32, np.int32)
        assert matrix.data.array.tolist() == [1, 2, 3]
        assert (matrix.row.tolist(), matrix.col.tolist()) == ([0, 0, 1], [0, 2, 2])
        assert (matrix.shape, matrix.order) == ((2, 3), "C")

    def test_batch(self):
        matrix = to_coo(BATCH)
        assert matrix.data.array.tolist() == [[1, 2], [3, 0]]
        assert matrix.row.tolist() == [[0, 1], [1, -1]]
        assert matrix.col.tolist() == [[0, 1], [0, -1]]
        assert matrix.shape == (2, 2)
        np.testing.assert_array_equal(matrix.to_dense(), BATCH)

    @pytest.mark.parametrize(("ldnz", "length"), [(1, 3), (5, 5), (None, 3)])
    def test_padding(self, ldnz, length):
        matrix = to_coo(D, ldnz)
        assert matrix.data.array.tolist() == [1, 2, 3] + [0] * (length - 3)
        assert matrix.row.tolist() == [0, 0, 1] + [-1] * (length - 3)
        np.testing.assert_array_equal(matrix.to_dense(), D)

    @pytest.mark.parametrize("shape", [(2, 3), (2, 2, 3), (0, 2, 3)])
    def test_nothing(self, shape):
        matrix = to_coo(np.zeros(shape, np.float32))
        assert matrix.data.shape == (*shape[:-2], 0)
        assert not matrix.to_dense().any()

    def test_wrong_arguments(self):
        with pytest.raises(ValueError, match="ndim of x must be 2 or 3, got 1"):
            to_coo(D[0])
        for x in (Variable(D), D.tolist()):
            with pytest.raises(TypeError, match="expected"):
                to_coo(x)


@pytest.mark.parametrize(
    ("row", "col", "order"),
    [
        ([0, 0, 1], [0, 2, 2], "C"),
        ([0, 1, 0], [0, 0, 1], "F"),
        ([1, 0], [0, 0], "other"),
        ([0, 0], [1, 0], "other"),
        ([0, 1, 0, 1], [0, 0, 1, 1], "F"),
        ([0, 0], [1, 1], "C"),
        ([], [], "C"),
        ([0, 1, -1], [0, 0, -1], "C"),
        ([[0, 0, -1], [0, 1, 1]], [[0, 1, -1], [0, 0, 1]], "C"),
    ],
)
def test_order(row, col, order):
    assert get_order(np.array(row, int), np.array(col, int)) == order


def test_on_a_device():
    device = chainer.get_device("@strict:1")
    with device:
        matrix = to_coo(device.send(BATCH))
        assert matrix.order == get_order(matrix.row, matrix.col) == "C"
        dense = matrix.to_dense()
    assert chainer.backend.get_device_from_array(dense) == device
    np.testing.assert_array_equal(device.backend.to_host(dense), BATCH)
