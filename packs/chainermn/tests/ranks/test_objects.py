"""Messages of objects."""

import pickle

import numpy as np
import pytest

OBJECTS = [None, 3, "text", [1, {"a": (2.5, b"x")}], {1, 2}]


@pytest.mark.parametrize("obj", OBJECTS, ids=repr)
def test_bcast(comm, obj):
    root = comm.size - 1
    assert comm.bcast_obj(obj if comm.rank == root else "ignored", root=root) == obj


def test_bcast_in_pieces(comm):
    data = np.arange(1000)
    for piece in (1, 7, 8192):
        got = comm.bcast_obj(data if comm.rank == 0 else None, max_buf_len=piece)
        np.testing.assert_array_equal(got, data)


@pytest.mark.parametrize("piece", [0, -1, 2**31 - 1])
def test_bad_piece(comm, piece):
    with pytest.raises(ValueError, match="max_buf_len"):
        comm.bcast_obj(1, max_buf_len=piece)


def test_what_cannot_be_pickled_is_an_error_everywhere(comm):
    with pytest.raises(pickle.PicklingError, match="rank 0"):
        comm.bcast_obj(lambda: None)


def test_gather(comm, everyone):
    root = comm.size - 1
    got = comm.gather_obj({"rank": comm.rank}, root=root)
    expected = everyone(lambda rank: {"rank": rank})
    assert got == (expected if comm.rank == root else None)
    assert comm.allgather_obj({"rank": comm.rank}) == expected


def test_allreduce(comm, everyone):
    assert comm.allreduce_obj(comm.rank) == sum(range(comm.size))
    # In order of the ranks.
    assert comm.allreduce_obj([comm.rank]) == list(range(comm.size))
    np.testing.assert_array_equal(
        comm.allreduce_obj(np.full(3, comm.rank)), np.full(3, sum(range(comm.size)))
    )


def test_send_and_recv(comm):
    if comm.size == 1:
        pytest.skip("needs another process")
    target, source = (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size
    if comm.rank % 2:
        got = comm.recv_obj(source, tag=4)
        comm.send_obj({"from": comm.rank}, target, tag=4)
    else:
        comm.send_obj({"from": comm.rank}, target, tag=4)
        got = comm.recv_obj(source)
    assert got == {"from": source}


def test_communicator_is_neither_pickled_nor_copied(comm):
    import copy

    with pytest.raises(TypeError, match="NaiveCommunicator cannot be pickled"):
        pickle.dumps(comm)
    assert copy.deepcopy(comm) is comm


def test_different_calls_are_found(comm, monkeypatch):
    if comm.size == 1:
        pytest.skip("needs another process")
    monkeypatch.setenv("CHAINERMN_CHECK_CALLS", "1")
    checked = comm.split(0, comm.rank)
    with pytest.raises(RuntimeError, match=r"rank 0 calls bcast\(\) with 0, rank 1 calls gather"):
        checked.bcast(np.zeros(1)) if comm.rank == 0 else checked.gather(np.zeros(1))
    with pytest.raises(RuntimeError, match=r"allreduce\(\) with \(\(1,\), 'float32'\)"):
        checked.allreduce(np.zeros(1 if comm.rank == 0 else 2, "f"))
    assert checked.allreduce(np.ones(1, "f")) == comm.size
