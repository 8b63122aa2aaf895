import threading
import time

import pytest

from chainer.iterators import MultithreadIterator


class Slow:
    def __init__(self):
        self.threads = set()
        self.read = []

    def __len__(self):
        return 8

    def __getitem__(self, index):
        self.threads.add(threading.get_ident())
        time.sleep(0.01)
        self.read.append(index)
        return index


def test_several_threads_read():
    dataset = Slow()
    with MultithreadIterator(dataset, 8, n_threads=4, shuffle=False) as iterator:
        assert iterator.n_threads == 4
        assert iterator.next() == list(range(8))
    assert len(dataset.threads) > 1
    assert threading.get_ident() not in dataset.threads


def test_next_batch_is_read_ahead():
    dataset = Slow()
    with MultithreadIterator(dataset, 2, shuffle=False) as iterator:
        iterator.next()
        deadline = time.monotonic() + 60
        while len(dataset.read) < 4 and time.monotonic() < deadline:
            time.sleep(0.005)
        time.sleep(0.05)
        assert sorted(dataset.read) == [0, 1, 2, 3]


def test_threads_end():
    before = threading.active_count()
    iterator = MultithreadIterator(Slow(), 2, n_threads=3)
    iterator.next()
    assert threading.active_count() > before
    iterator.finalize()
    assert threading.active_count() == before


def test_bad_argument():
    with pytest.raises(ValueError, match="n_threads must be positive, got 0"):
        MultithreadIterator([1], 1, n_threads=0)
