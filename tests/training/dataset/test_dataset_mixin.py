import numpy as np
import pytest

from chainer import dataset


class Squares(dataset.DatasetMixin):
    def __len__(self):
        return 6

    def get_example(self, i):
        if not -6 <= i < 6:
            raise IndexError(i)
        return i * i


def test_integer():
    assert Squares()[3] == 9
    assert Squares()[np.int64(3)] == 9
    with pytest.raises(IndexError):
        Squares()[6]


@pytest.mark.parametrize(
    ("index", "expected"),
    [
        (slice(1, 3), [1, 4]),
        (slice(None, None, -2), [25, 9, 1]),
        (slice(4, 100), [16, 25]),
        (slice(5, 2), []),
        ([4, 0], [16, 0]),
        ([], []),
        (np.arange(3), [0, 1, 4]),
        (np.array([], dtype=int), []),
        (np.array([True, False, False, False, True, False]), [0, 16]),
        (np.array(3), [9]),
    ],
)
def test_many(index, expected):
    assert Squares()[index] == expected


@pytest.mark.parametrize("index", [np.zeros((2, 2), int), np.array([True])])
def test_bad_index_array(index):
    with pytest.raises(IndexError):
        Squares()[index]


def test_what_must_be_defined():
    with pytest.raises(NotImplementedError, match="get_example"):
        dataset.DatasetMixin()[0]
    with pytest.raises(NotImplementedError, match="__len__"):
        len(dataset.DatasetMixin())


def test_iterator_interface():
    class Countdown(dataset.Iterator):
        left = 2
        finalized = False

        def __next__(self):
            if not self.left:
                raise StopIteration
            self.left -= 1
            return [self.left]

        def finalize(self):
            self.finalized = True

    with Countdown() as iterator:
        assert iterator.next() == [1]
        assert list(iterator) == [[0]]
    assert iterator.finalized
    with pytest.raises(NotImplementedError):
        dataset.Iterator().next()
    dataset.Iterator().serialize(None)
    dataset.Iterator().finalize()
