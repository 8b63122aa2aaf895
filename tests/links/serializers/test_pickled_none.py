import io
import pickle

import numpy as np
import pytest

from chainer.links.serializers.pickled_none import NONE_NPY, is_pickled_none

# What NumPy 1.16 on Python 3.7 (protocols 3 and 4) and on Python 2.7 (protocol 2) writes.
PROTOCOL_3 = (
    b"\x80\x03cnumpy.core.multiarray\n_reconstruct\nq\x00cnumpy\nndarray\nq\x01K\x00\x85q\x02C\x01bq\x03\x87q\x04Rq"
    b"\x05(K\x01)cnumpy\ndtype\nq\x06X\x02\x00\x00\x00O8q\x07K\x00K\x01\x87q\x08Rq\t(K\x03X\x01\x00\x00\x00|q\nNNNJ"
    b"\xff\xff\xff\xffJ\xff\xff\xff\xffK?tq\x0bb\x89]q\x0cNatq\rb."
)
PROTOCOL_4 = (
    b"\x80\x04\x95\x88\x00\x00\x00\x00\x00\x00\x00\x8c\x15numpy.core.multiarray\x94\x8c\x0c_reconstruct\x94\x93\x94\x8c"
    b"\x05numpy\x94\x8c\x07ndarray\x94\x93\x94K\x00\x85\x94C\x01b\x94\x87\x94R\x94(K\x01)h\x03\x8c\x05dtype\x94\x93\x94"
    b"\x8c\x02O8\x94K\x00K\x01\x87\x94R\x94(K\x03\x8c\x01|\x94NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK?t\x94b\x89]\x94Nat"
    b"\x94b."
)
PYTHON_2 = (
    b"\x80\x02cnumpy.core.multiarray\n_reconstruct\nq\x01cnumpy\nndarray\nq\x02K\x00\x85q\x03U\x01bq\x04\x87q\x05Rq\x06"
    b"(K\x01)cnumpy\ndtype\nq\x07U\x02O8q\x08K\x00K\x01\x87q\tRq\n(K\x03U\x01|q\x0bNNNJ\xff\xff\xff\xffJ\xff\xff\xff\xff"
    b"K?tq\x0cb\x89]q\rNatq\x0eb."
)


def body(npy):
    return npy.partition(b"\n")[2]


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
def test_none_of_this_numpy_is_recognised(protocol):
    assert is_pickled_none(pickle.dumps(np.array(None, dtype=object), protocol))


@pytest.mark.parametrize("data", [PROTOCOL_3, PROTOCOL_4, PYTHON_2, body(NONE_NPY)])
def test_none_of_older_releases_is_recognised(data):
    assert is_pickled_none(data)


def test_what_is_written_is_none_to_numpy():
    assert np.load(io.BytesIO(NONE_NPY), allow_pickle=True).item() is None


class Evil:
    def __reduce__(self):
        return (print, ("this must never be printed",))


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b".",
        b"N.",
        b"junk",
        body(NONE_NPY)[:-1],
        PROTOCOL_3.replace(b"]q\x0cNa", b"]q\x0c\x88a"),
        PROTOCOL_3 * 10,
        PROTOCOL_4.replace(b"numpy.core.multiarray", b"somewhere.else.method"),
        b"\x80\x02h\x07.",
        pickle.dumps(Evil()),
        pickle.dumps(np.array("text", dtype=object)),
        pickle.dumps(np.array([None], dtype=object)),
        pickle.dumps(np.array([None, None], dtype=object)),
        pickle.dumps(None),
    ],
)
def test_everything_else_is_refused(data, capsys):
    assert not is_pickled_none(data)
    assert capsys.readouterr().out == ""
