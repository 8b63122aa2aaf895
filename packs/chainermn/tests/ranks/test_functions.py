"""Differentiable communication, compared with the same computation in one process."""

import chainermn.functions as M
import numpy as np
import pytest

import chainer
import chainer.functions as F


def data(rank, shape=(2, 3), dtype="float32"):
    return np.random.RandomState(100 + rank).normal(size=shape).astype(dtype)


def weight(rank, index=0, shape=(2, 3), dtype="float32"):
    return np.random.RandomState(1000 + 10 * rank + index).normal(size=shape).astype(dtype)


TOLERANCE = {"float16": 2e-2, "float32": 1e-5, "float64": 1e-12}


def close(actual, expected, dtype="float32"):
    assert actual.dtype == dtype
    np.testing.assert_allclose(actual, expected, rtol=TOLERANCE[dtype], atol=TOLERANCE[dtype])


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_allgather(comm, everyone, dtype):
    """The loss of rank s is sum_r <w[s][r], x[r]>, so the gradient of x[r] is sum_s w[s][r]."""
    x = chainer.Variable(data(comm.rank, dtype=dtype))
    ys = M.allgather(comm, x)
    for rank, y in enumerate(ys):
        close(y.array, data(rank, dtype=dtype), dtype)
    sum(F.sum(y * weight(comm.rank, r, dtype=dtype)) for r, y in enumerate(ys)).backward()
    close(x.grad, sum(everyone(lambda s: weight(s, comm.rank, dtype=dtype))), dtype)


def test_allgather_of_different_shapes(comm, everyone):
    x = chainer.Variable(data(comm.rank, (comm.rank + 1, 2)))
    ys = M.allgather(comm, x)
    assert [y.shape for y in ys] == everyone(lambda rank: (rank + 1, 2))
    sum(F.sum(y * y) for y in ys).backward()
    close(x.grad, 2 * comm.size * x.array)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_alltoall(comm, dtype):
    xs = [chainer.Variable(data(comm.rank * 10 + r, dtype=dtype)) for r in range(comm.size)]
    ys = M.alltoall(comm, xs)
    for rank, y in enumerate(ys):
        close(y.array, data(rank * 10 + comm.rank, dtype=dtype), dtype)
    sum(F.sum(y * weight(comm.rank, r, dtype=dtype)) for r, y in enumerate(ys)).backward()
    for rank, x in enumerate(xs):
        close(x.grad, weight(rank, comm.rank, dtype=dtype), dtype)
    with pytest.raises(ValueError, match="one variable for each"):
        M.alltoall(comm, [*xs, xs[0]])


@pytest.mark.parametrize("root", [0, -1])
def test_bcast(comm, everyone, root):
    root %= comm.size
    x = chainer.Variable(data(root)) if comm.rank == root else None
    y = M.bcast(comm, x, root)
    close(y.array, data(root))
    F.sum(y * weight(comm.rank)).backward()
    if x is not None:
        close(x.grad, sum(everyone(weight)))


@pytest.mark.parametrize("root", [0, -1])
def test_gather(comm, root):
    root %= comm.size
    x = chainer.Variable(data(comm.rank))
    ys = M.gather(comm, x, root)
    if comm.rank == root:
        for rank, y in enumerate(ys):
            close(y.array, data(rank))
        sum(F.sum(y * weight(r)) for r, y in enumerate(ys)).backward()
    else:
        assert ys.shape == (0,)
        ys.backward()
    close(x.grad, weight(comm.rank))


@pytest.mark.parametrize("root", [0, -1])
def test_scatter(comm, root):
    root %= comm.size
    xs = [chainer.Variable(data(r)) for r in range(comm.size)] if comm.rank == root else None
    y = M.scatter(comm, xs, root)
    close(y.array, data(comm.rank))
    F.sum(y * weight(comm.rank)).backward()
    for rank, x in enumerate(xs or ()):
        close(x.grad, weight(rank))


def test_no_gradient_wanted_at_the_root(comm):
    """Backward still is collective: the others do not wait forever."""
    x = chainer.Variable(data(0), requires_grad=False) if comm.rank == 0 else None
    F.sum(M.bcast(comm, x)).backward()
    comm.barrier()


def test_unused_output_has_zero_gradient(comm):
    x = chainer.Variable(data(comm.rank))
    ys = M.allgather(comm, x)
    F.sum(ys[0]).backward()
    close(x.grad, np.full((2, 3), comm.size if comm.rank == 0 else 0, "f"))


def needs_two(comm):
    if comm.size < 2:
        pytest.skip("needs another process")
    # The others have nothing to do.
    return comm.rank < 2


@pytest.mark.parametrize("count", [1, 3])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_there_and_back(comm, count, dtype):
    """Rank 0 computes f, rank 1 g, rank 0 h; the gradients belong to h(g(f(x)))."""
    if not needs_two(comm):
        return
    xs = [chainer.Variable(data(i, dtype=dtype)) for i in range(count)]
    if comm.rank == 0:
        fs = tuple(2 * x for x in xs)
        phi = M.send(fs if count > 1 else fs[0], comm, rank=1)
        assert phi.shape == (0,)
        assert phi.dtype == np.float32
        assert phi.name == "delegate_variable"
        ys = M.recv(comm, rank=1, delegate_variable=phi, force_tuple=True)
        assert len(ys) == count
        loss = sum(F.sum(y * weight(0, i, dtype=dtype)) for i, y in enumerate(ys))
        loss.backward()
        for i, x in enumerate(xs):
            w = weight(0, i, dtype=dtype)
            close(x.grad, 4 * x.array * 2 * w, dtype)
    else:
        got = M.recv(comm, rank=0, force_tuple=True)
        ys = tuple(y * y for y in got)
        phi = M.send(ys if count > 1 else ys[0], comm, rank=0)
        phi.backward()


def test_two_sends_are_chained(comm):
    if not needs_two(comm):
        return
    if comm.rank == 0:
        x = chainer.Variable(data(0))
        phi = M.send(2 * x, comm, rank=1)
        phi2 = M.send(3 * x, comm, rank=1)
        M.pseudo_connect(phi, phi2).backward()
        close(x.grad, 2 * weight(0) + 3 * weight(1))
    else:
        a = M.recv(comm, rank=0)
        b = M.recv(comm, rank=0, delegate_variable=a)
        close(a.array, 2 * data(0))
        (F.sum(a * weight(0)) + F.sum(b * weight(1))).backward()


def test_part_of_a_tuple_is_used(comm):
    if not needs_two(comm):
        return
    if comm.rank == 0:
        x, y = chainer.Variable(data(0)), chainer.Variable(data(1))
        M.send((x, y), comm, rank=1).backward()
        close(x.grad, np.zeros((2, 3), "f"))
        close(y.grad, weight(0))
    else:
        _, y = M.recv(comm, rank=0)
        F.sum(y * weight(0)).backward()


def test_tags(comm):
    if not needs_two(comm):
        return
    if comm.rank == 0:
        comm.send_obj("a", 1, tag=1)
        comm.send_obj("b", 1, tag=2)
    else:
        assert comm.recv_obj(0, tag=2) == "b"
        assert comm.recv_obj(0, tag=1) == "a"


def test_own_rank_is_refused(comm):
    x = chainer.Variable(data(0))
    for call in (lambda: M.send(x, comm, comm.rank), lambda: M.recv(comm, comm.rank)):
        with pytest.raises(ValueError, match="another process"):
            call()


def test_pseudo_connect(comm):
    x, y = chainer.Variable(data(0)), chainer.Variable(data(1))
    delegate = chainer.Variable(np.empty((0,), "f"))
    assert M.pseudo_connect(None, x) == (x,)
    assert M.pseudo_connect(None, x, y) == (x, y)
    a, b = M.pseudo_connect(delegate, x, y)
    (F.sum(a * weight(0)) + F.sum(b * weight(1))).backward()
    close(x.grad, weight(0))
    close(y.grad, weight(1))
    assert delegate.grad.shape == (0,)


def test_pseudo_connect_of_one_variable_gives_a_tuple(comm):
    """As release 7. The tuple has ``backward``, so a model may return it in place of a loss."""
    x = chainer.Variable(data(0))
    delegate = chainer.Variable(np.empty((0,), "f"))
    connected = M.pseudo_connect(delegate, F.sum(x * weight(0)))
    assert isinstance(connected, tuple) and len(connected) == 1
    connected.backward(loss_scale=2)
    close(x.grad, 2 * weight(0))
