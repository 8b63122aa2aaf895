import gc
import threading

import numpy as np

from chainer.training.iterators.buffer_pool import BufferPool


def address(array):
    return array.__array_interface__["data"][0]


def test_memory_comes_back_when_the_last_view_is_garbage():
    pool = BufferPool()
    first = pool.take(1000)
    first[:] = 7
    view = first[8:16].view(np.uint32)
    where = address(first)
    del first
    other = pool.take(1000)
    assert address(other) != where
    assert view.tolist() == [0x07070707] * 2
    del view
    gc.collect()
    again = pool.take(900)
    assert (address(again), again.shape, again.dtype) == (where, (900,), np.uint8)
    assert again.flags.writeable


def test_memory_of_another_size():
    pool = BufferPool()
    where = address(pool.take(1000))
    assert address(pool.take(1001)) != where
    large = pool.take(5000)
    where = address(large)
    del large
    # A small batch does not occupy the memory of a large one.
    small = pool.take(1000)
    assert address(small) != where
    assert pool.take(0).shape == (0,)


def test_number_of_spare_buffers_is_limited():
    pool = BufferPool()
    arrays = [pool.take(100) for _ in range(20)]
    arrays.clear()
    assert len(pool._spare) == 8


def test_threads():
    pool = BufferPool()
    failures = []

    def use(number):
        for _ in range(300):
            array = pool.take(64)
            array[:] = number
            if (array != number).any():
                failures.append(number)

    threads = [threading.Thread(target=use, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
