import numpy as np
import pytest

from chainer import datasets
from chainer.dataset import DatasetMixin


class TestTupleDataset:
    def test_indexing(self):
        dataset = datasets.TupleDataset(np.arange(4), [5, 6, 7, 8])
        assert len(dataset) == 4
        assert dataset[1] == (1, 6)
        assert dataset[-1] == (3, 8)
        assert dataset[1:3] == [(1, 6), (2, 7)]
        assert dataset[::2] == [(0, 5), (2, 7)]
        assert dataset[[3, 0]] == [(3, 8), (0, 5)]
        assert dataset[np.array([3, 0])] == [(3, 8), (0, 5)]
        assert dataset[np.array([True, False, False, True])] == [(0, 5), (3, 8)]
        assert dataset[np.int64(1)] == (1, 6)
        assert dataset[np.array(1)] == (1, 6)
        with pytest.raises(IndexError):
            dataset[4]

    def test_errors(self):
        with pytest.raises(ValueError, match="no datasets are given"):
            datasets.TupleDataset()
        with pytest.raises(ValueError, match="dataset of the index 1 has a wrong length"):
            datasets.TupleDataset([1], [1, 2])


class TestDictDataset:
    def test_indexing(self):
        dataset = datasets.DictDataset(x=np.arange(4), y=[5, 6, 7, 8])
        assert len(dataset) == 4
        assert dataset[1] == {"x": 1, "y": 6}
        assert dataset[1:3] == [{"x": 1, "y": 6}, {"x": 2, "y": 7}]
        assert dataset[[3, 0]] == [{"x": 3, "y": 8}, {"x": 0, "y": 5}]
        with pytest.raises(IndexError):
            dataset[4]

    def test_errors(self):
        with pytest.raises(ValueError, match="no datasets are given"):
            datasets.DictDataset()
        with pytest.raises(ValueError, match='conflicts at "b"'):
            datasets.DictDataset(a=[1], b=[])


class TestConcatenatedDataset:
    def test_indexing(self):
        dataset = datasets.ConcatenatedDataset([1, 2], [], np.array([3]), (4, 5))
        assert len(dataset) == 5
        assert [dataset[i] for i in range(5)] == [1, 2, 3, 4, 5]
        assert [dataset[i] for i in range(-5, 0)] == [1, 2, 3, 4, 5]
        assert dataset[1:4] == [2, 3, 4]
        assert dataset[[4, 0]] == [5, 1]
        for i in (5, -6):
            with pytest.raises(IndexError, match="out of range"):
                dataset[i]

    def test_empty(self):
        assert len(datasets.ConcatenatedDataset()) == 0


class TestTransformDataset:
    def test_indexing(self):
        dataset = datasets.TransformDataset([1, 2, 3], lambda x: x * 10)
        assert len(dataset) == 3
        assert dataset[1] == 20
        assert dataset[-1] == 30
        assert dataset[:2] == [10, 20]
        with pytest.raises(IndexError):
            dataset[3]


class TestSubDataset:
    base = list(range(10))

    def test_interval(self):
        dataset = datasets.SubDataset(self.base, 2, 6)
        assert len(dataset) == 4
        assert dataset[:] == [2, 3, 4, 5]
        assert dataset[-1] == 5
        for i in (4, -5):
            with pytest.raises(IndexError, match="out of range"):
                dataset[i]

    @pytest.mark.parametrize("kind", [list, tuple, np.array])
    def test_order(self, kind):
        dataset = datasets.SubDataset(self.base, 2, 6, order=kind(range(9, -1, -1)))
        assert dataset[:] == [7, 6, 5, 4]
        assert dataset[-1] == 4

    def test_type_of_indexes(self):
        """A dataset that computes with its index has the dtypes of release 7.8.1."""

        class Types(DatasetMixin):
            def __len__(self):
                return 3

            def get_example(self, i):
                return type(i)

        assert set(datasets.SubDataset(Types(), 0, 3, [2, 0, 1])) == {int}
        assert set(datasets.SubDataset(Types(), 0, 3, np.array([2, 0, 1]))) == {np.int64}

    @pytest.mark.parametrize(("start", "finish"), [(2, 11), (-2, 6), (6, 3)])
    def test_overrun(self, start, finish):
        with pytest.raises(ValueError, match="overruns the base dataset"):
            datasets.SubDataset(self.base, start, finish)

    def test_wrong_order(self):
        with pytest.raises(ValueError, match="order option must have the same length"):
            datasets.SubDataset(self.base, 0, 3, [1, 2])


def contents(*parts):
    return [part[:] for part in parts]


class TestSplits:
    base = list(range(10))

    @pytest.mark.parametrize("at", [0, 3, 10, np.int64(3)])
    def test_split(self, at):
        first, second = datasets.split_dataset(self.base, at)
        assert contents(first, second) == [self.base[:at], self.base[at:]]

    def test_split_with_order(self):
        parts = datasets.split_dataset(self.base, 3, order=self.base[::-1])
        assert contents(*parts) == [[9, 8, 7], [6, 5, 4, 3, 2, 1, 0]]

    @pytest.mark.parametrize(
        ("at", "error", "message"),
        [
            (-1, ValueError, "must be non-negative"),
            (11, ValueError, "exceeds the dataset size"),
            (2.0, TypeError, "split_at must be int, got <class 'float'>"),
        ],
    )
    def test_split_errors(self, at, error, message):
        with pytest.raises(error, match=message):
            datasets.split_dataset(self.base, at)

    def test_random_split(self):
        # the split of 4.3.1 and 7.8.1
        parts = datasets.split_dataset_random(self.base, 3, seed=0)
        assert contents(*parts) == [[2, 8, 4], [9, 1, 6, 7, 3, 0, 5]]

    def test_random_split_without_seed(self):
        np.random.seed(0)
        splits = {tuple(datasets.split_dataset_random(range(1000), 3)[0][:]) for _ in range(5)}
        assert len(splits) == 5
        assert np.random.rand() == 0.5488135039273248  # numpy.random was left alone

    def test_split_n(self):
        parts = datasets.split_dataset_n(self.base, 3)
        assert contents(*parts) == [[0, 1, 2], [3, 4, 5], [6, 7, 8]]
        parts = datasets.split_dataset_n_random(self.base, 3, seed=0)
        assert contents(*parts) == [[2, 8, 4], [9, 1, 6], [7, 3, 0]]
        with pytest.raises(ValueError, match="n must be positive"):
            datasets.split_dataset_n(self.base, 0)


class TestCrossValidation:
    # the folds of 4.3.1 and 7.8.1
    def test_folds(self):
        folds = datasets.get_cross_validation_datasets(list(range(10)), 3)
        assert [contents(*fold) for fold in folds] == [
            [[0, 1, 2, 3, 4, 5], [6, 7, 8, 9]],
            [[6, 7, 8, 9, 0, 1, 2], [3, 4, 5]],
            [[3, 4, 5, 6, 7, 8, 9], [0, 1, 2]],
        ]

    def test_order(self):
        folds = datasets.get_cross_validation_datasets(list(range(10)), 3, list(range(9, -1, -1)))
        assert contents(*folds[0]) == [[9, 8, 7, 6, 5, 4], [3, 2, 1, 0]]

    def test_random_folds(self):
        folds = datasets.get_cross_validation_datasets_random(list(range(10)), 3, seed=0)
        assert [contents(*fold) for fold in folds] == [
            [[2, 8, 4, 9, 1, 6], [7, 3, 0, 5]],
            [[7, 3, 0, 5, 2, 8, 4], [9, 1, 6]],
            [[9, 1, 6, 7, 3, 0, 5], [2, 8, 4]],
        ]

    @pytest.mark.filterwarnings("ignore:n_folds .* should be at least 2")
    @pytest.mark.parametrize("n_folds", [1, 2, 5, 7])
    def test_test_sets_cover_everything_once(self, n_folds):
        folds = datasets.get_cross_validation_datasets(list(range(7)), n_folds)
        tests = [test[:] for _, test in folds]
        assert sorted(i for test in tests for i in test) == list(range(7))
        assert max(map(len, tests)) - min(map(len, tests)) <= 1
        for train, test in folds:
            assert sorted(train[:] + test[:]) == list(range(7))

    @pytest.mark.parametrize(
        ("n_folds", "error"), [(0, ValueError), (8, ValueError), (2.0, TypeError)]
    )
    def test_errors(self, n_folds, error):
        with pytest.raises(error, match="n_folds"):
            datasets.get_cross_validation_datasets(list(range(7)), n_folds)

    def test_old_name_of_the_number_of_folds(self):
        for split in (
            datasets.get_cross_validation_datasets,
            datasets.get_cross_validation_datasets_random,
        ):
            with pytest.warns(DeprecationWarning, match="Use 'n_folds' instead"):
                assert len(split(list(range(7)), n_fold=3)) == 3
            with pytest.raises(TypeError):
                split(list(range(7)))
