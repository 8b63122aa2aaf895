import io
import os
import pickle
import threading

import numpy as np
import pytest

from chainer import datasets
from chainer.iterators import MultiprocessIterator

EXAMPLES = [1, "two", np.arange(3), {"k": 4}]


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "examples.pkl"
    with datasets.open_pickle_dataset_writer(path) as writer:
        for example in EXAMPLES:
            assert writer.write(example) is None
    return path


def test_examples(path):
    with datasets.open_pickle_dataset(path) as dataset:
        assert len(dataset) == 4
        assert (dataset[0], dataset[1], dataset[-1]) == (1, "two", {"k": 4})
        np.testing.assert_array_equal(dataset[2], [0, 1, 2])
        assert dataset[:2] == [1, "two"]
        assert dataset[[3, 0]] == [{"k": 4}, 1]
        for index in (4, -5):
            with pytest.raises(IndexError):
                dataset[index]
    assert len(dataset) == 4
    with pytest.raises(ValueError, match="closed"):
        dataset[0]
    dataset.close()


def test_the_file_is_a_sequence_of_pickles(path):
    with open(path, "rb") as file:
        assert [pickle.load(file) for _ in range(2)] == [1, "two"]
    with datasets.open_pickle_dataset_writer(path, protocol=2) as writer:
        writer.write([1])
    assert path.read_bytes() == pickle.dumps([1], 2)


def test_given_file_objects():
    file = io.BytesIO()
    writer = datasets.PickleDatasetWriter(file)
    for i in range(3):
        writer.write(i)
    writer.flush()
    file.seek(1)
    dataset = datasets.PickleDataset(file)
    assert dataset[:] == [0, 1, 2]
    assert pickle.loads(pickle.dumps(dataset))[2] == 2
    dataset.close()
    assert file.closed


class WriteOnly:
    def __init__(self):
        self.content = b""

    def write(self, data):
        self.content += data

    def tell(self):
        return len(self.content)


def test_writer_without_flush_and_close():
    file = WriteOnly()
    with datasets.PickleDatasetWriter(file) as writer:
        writer.write(3)
        writer.flush()
    assert pickle.loads(file.content) == 3


def test_an_object_that_cannot_be_pickled_leaves_nothing(path):
    file = io.BytesIO()
    writer = datasets.PickleDatasetWriter(file)
    writer.write(1)
    with pytest.raises(Exception, match="lambda|pickle"):
        writer.write([np.zeros(1000), lambda: None])
    writer.write(2)
    assert datasets.PickleDataset(file)[:] == [1, 2]


def test_reader_without_random_access():
    class Stream(io.BytesIO):
        def seekable(self):
            return False

    with pytest.raises(ValueError, match="reader must support random access"):
        datasets.PickleDataset(Stream())


def test_file_that_was_cut_off(path):
    # As in release 7.8.1, the file ends where the pickle module finds its end.
    content = pickle.dumps(1) + pickle.dumps(2)
    assert len(datasets.PickleDataset(io.BytesIO(content[:-1]))) == 1
    with pytest.raises(pickle.UnpicklingError, match="truncated"):
        datasets.PickleDataset(io.BytesIO(path.read_bytes()[:-1]))
    assert len(datasets.PickleDataset(io.BytesIO())) == 0
    with pytest.raises((pickle.UnpicklingError, KeyError)):
        datasets.PickleDataset(io.BytesIO(b"hello"))
    with pytest.raises(FileNotFoundError):
        datasets.open_pickle_dataset(path.parent / "missing")


def test_copy_opens_the_file_anew(path):
    dataset = datasets.open_pickle_dataset(path)
    copied = pickle.loads(pickle.dumps(dataset))
    dataset.close()
    assert copied[1] == "two"
    copied.close()


@pytest.fixture
def numbers(tmp_path):
    with datasets.open_pickle_dataset_writer(tmp_path / "numbers.pkl") as writer:
        for i in range(300):
            writer.write(i)
    with datasets.open_pickle_dataset(tmp_path / "numbers.pkl") as dataset:
        yield dataset


def reads_right(dataset):
    return all(dataset[i] == i for _ in range(5) for i in range(len(dataset)))


def test_threads_share_the_file(numbers):
    results = []
    threads = [
        threading.Thread(target=lambda: results.append(reads_right(numbers))) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [True] * 4


def test_forked_process_has_a_position_of_its_own(numbers):
    assert numbers[0] == 0
    child = os.fork()
    if child == 0:
        os._exit(0 if reads_right(numbers) else 1)
    assert reads_right(numbers)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_after_fork_of_a_reader():
    class Reader(io.BytesIO):
        calls = 0

        def after_fork(self):
            self.calls += 1

    reader = Reader(pickle.dumps(1) + pickle.dumps(2))
    dataset = datasets.PickleDataset(reader)
    child = os.fork()
    if child == 0:
        os._exit(0 if dataset[:] == [1, 2] and reader.calls == 1 else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert reader.calls == 0


def test_multiprocess_iterator(numbers):
    with MultiprocessIterator(numbers, 50, n_processes=2, shuffle=False, repeat=False) as iterator:
        assert [example for batch in iterator for example in batch] == list(range(300))
