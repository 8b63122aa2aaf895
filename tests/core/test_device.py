import pickle
import threading

import numpy as np
import pytest

from chainer.core.arrays.backend import get_device
from chainer.core.autograd.variable import Variable
from tests.core.nodes import f32


def test_names():
    device = get_device("@strict:1")
    assert (device.name, str(device), repr(device)) == (
        "@strict:1",
        "@strict:1",
        "<Device @strict:1>",
    )
    assert str(get_device("@numpy")) == "@numpy"


def test_equality():
    assert get_device("@strict:0") == get_device("@strict:0")
    assert get_device("@strict:0") != get_device("@strict:1")
    assert get_device("@strict:0") != get_device("@numpy")
    assert get_device("@numpy") != "@numpy"
    assert len({get_device("@strict:0"), get_device("@strict:0"), get_device("@strict:1")}) == 2


def test_pickle():
    assert pickle.loads(pickle.dumps(get_device("@strict:1"))) == get_device("@strict:1")


def test_array_types():
    assert get_device("@numpy").supported_array_types == (np.ndarray,)


class TestSend:
    def test_here_already(self):
        array = f32(1)
        assert get_device("@numpy").send(array) is array

    def test_there_and_back(self):
        array = get_device("@strict:1").send(f32(1, 2))
        assert array.device_index == 1
        assert get_device("@numpy").send(array).tolist() == [1, 2]

    def test_to_another_device(self):
        array = get_device("@strict:0").send(f32(1))
        moved = get_device("@strict:1").send(array)
        assert (array.device_index, moved.device_index) == (0, 1)

    def test_structures(self):
        sent = get_device("@strict").send([f32(1), (f32(2), None), {"a": f32(3)}])
        assert isinstance(sent, list)
        assert isinstance(sent[1], tuple)
        assert sent[1][1] is None
        assert float(sent[2]["a"][0]) == 3

    @pytest.mark.parametrize("value", [1, "a", Variable(f32(1))])
    def test_others_are_refused(self, value):
        with pytest.raises(TypeError, match="expected"):
            get_device("@strict").send(value)


class TestCurrentDevice:
    def test_context(self):
        from chainer_strict_backend import current

        device = get_device("@strict:1")
        with device as entered:
            assert entered is device
            with device, get_device("@strict:0"):
                assert current.get() == 0
            assert current.get() == 1
        assert current.get() == 0

    def test_use(self):
        from chainer_strict_backend import current

        get_device("@strict:1").use()
        assert current.get() == 1
        get_device("@strict:0").use()
        assert current.get() == 0

    def test_one_device_in_several_threads(self):
        from chainer_strict_backend import current

        device = get_device("@strict:1")
        barrier = threading.Barrier(2, timeout=60)
        after = []

        def work(first):
            with device:
                barrier.wait()
                if first:
                    barrier.wait()
            after.append(current.get())
            if not first:
                barrier.wait()

        threads = [threading.Thread(target=work, args=(first,)) for first in (True, False)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert after == [0, 0]
