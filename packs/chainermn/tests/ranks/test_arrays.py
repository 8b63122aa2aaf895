"""Messages of arrays: the result of each method is computed here without communication."""

import numpy as np
import pytest

import chainer

DTYPES = ["int32", "int64", "float16", "float32", "float64"]
SHAPES = [(), (0,), (3,), (2, 3), (2, 0, 4)]


def value(rank, shape=(2, 3), dtype="float32"):
    """The array of a rank."""
    size = int(np.prod(shape))
    return np.asarray(np.arange(size).reshape(shape) + 10 * rank + 1, dtype)


def check(actual, expected):
    assert type(actual) is np.ndarray
    assert actual.dtype == expected.dtype
    np.testing.assert_array_equal(actual, expected)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES)
def test_collective_methods(comm, everyone, dtype, shape):
    x = value(comm.rank, shape, dtype)
    before = x.copy()
    arrays = everyone(lambda rank: value(rank, shape, dtype))
    root = comm.size - 1
    check(comm.bcast(x if comm.rank == root else None, root=root), arrays[root])
    gathered = comm.gather(x, root=root)
    if comm.rank == root:
        for a, b in zip(gathered, arrays, strict=True):
            check(a, b)
    else:
        assert gathered is None
    for a, b in zip(comm.allgather(x), arrays, strict=True):
        check(a, b)
    wide = "float32" if dtype == "float16" else dtype
    check(
        np.asarray(comm.allreduce(x)), np.asarray(sum(a.astype(wide) for a in arrays).astype(dtype))
    )
    parts = tuple(value(10 + r, shape, dtype) for r in range(comm.size))
    check(comm.scatter(parts if comm.rank == root else None, root=root), parts[comm.rank])
    sent = [value(comm.rank * comm.size + r, shape, dtype) for r in range(comm.size)]
    for r, y in enumerate(comm.alltoall(sent)):
        check(y, value(r * comm.size + comm.rank, shape, dtype))
    check(x, before)


def test_results_are_new_and_root_gets_its_own_object(comm):
    x = value(comm.rank)
    assert comm.allreduce(x) is not x
    if comm.rank == 0:
        assert comm.bcast(x) is x
    else:
        result = comm.bcast(None)
        result += 1  # writable
    for y in comm.allgather(x):
        y += 1
    np.testing.assert_array_equal(x, value(comm.rank))


def test_shapes_may_differ(comm, everyone):
    x = value(comm.rank, (comm.rank + 1, 2))
    for rank, y in enumerate(comm.allgather(x)):
        check(y, value(rank, (rank + 1, 2)))
    gathered = comm.gather(x)
    if comm.rank == 0:
        assert [y.shape for y in gathered] == everyone(lambda rank: (rank + 1, 2))
    sent = [value(comm.rank, (comm.rank + r,)) for r in range(comm.size)]
    for rank, y in enumerate(comm.alltoall(sent)):
        check(y, value(rank, (rank + comm.rank,)))
    parts = [value(r, (r, 2)) for r in range(comm.size)] if comm.rank == 0 else None
    check(comm.scatter(parts), value(comm.rank, (comm.rank, 2)))


def test_not_contiguous(comm, everyone):
    x = np.asfortranarray(value(comm.rank, (4, 5)))[::2].T
    arrays = everyone(lambda rank: value(rank, (4, 5))[::2].T)
    np.testing.assert_array_equal(comm.allreduce(x), sum(arrays))
    for a, b in zip(comm.allgather(x), arrays, strict=True):
        np.testing.assert_array_equal(a, b)
    mean = value(comm.rank, (4, 6)).T
    comm.mean_array(mean)
    np.testing.assert_allclose(mean, sum(everyone(lambda r: value(r, (4, 6)).T)) / comm.size)


def test_scatter_of_one_array(comm):
    x = value(0, (comm.size, 3)) if comm.rank == 0 else None
    check(comm.scatter(x), value(0, (comm.size, 3))[comm.rank])


@pytest.mark.parametrize("is_tuple", [False, True])
@pytest.mark.parametrize("count", [1, 2])
def test_send_and_recv(comm, is_tuple, count):
    """Around the ring; the last process first receives, so that none waits for another."""
    if comm.size == 1:
        pytest.skip("needs another process")
    if not is_tuple and count > 1:
        pytest.skip("several arrays are a tuple")
    arrays = tuple(value(comm.rank, (i + 1, 2)) for i in range(count))
    target, source = (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size
    received = None
    if comm.rank % 2:
        received = comm.recv(source, 3)
    comm.send(arrays if is_tuple else arrays[0], target, 3)
    if received is None:
        received = comm.recv(source, 3)
    assert isinstance(received, tuple) == is_tuple
    for i, y in enumerate(received if is_tuple else (received,)):
        check(y, value(source, (i + 1, 2)))


def test_large_array(comm):
    x = np.full(3_000_001, comm.rank + 1, np.float32)  # beyond the eager limits of MPI
    assert (comm.allreduce(x) == comm.size * (comm.size + 1) / 2).all()


def test_float16_is_summed_in_float32(comm):
    # 2048 + 1 is 2048 in float16.
    x = np.array([2048 if comm.rank == 0 else 1], np.float16)
    assert comm.allreduce(x)[0] == np.float16(2048 + comm.size - 1)


BAD = {
    "dtype": (lambda: np.zeros(2, "int8"), TypeError, "int8"),
    "number": (lambda: 3, TypeError, "int"),
    "string": (lambda: "ab", (TypeError, ValueError), "str"),
    "tuple": (lambda: (np.zeros(2),), TypeError, "tuple"),
}


@pytest.mark.parametrize("method", ["bcast", "gather", "allgather", "allreduce"])
@pytest.mark.parametrize("case", BAD)
def test_bad_argument_is_an_error_in_all_processes(comm, method, case):
    make, kind, text = BAD[case]
    with pytest.raises(kind, match=text):
        getattr(comm, method)(make())


def test_error_of_one_process_reaches_all(comm):
    good, bad = np.zeros(2, "f"), np.zeros(2, "int8")
    last = comm.rank == comm.size - 1
    with pytest.raises(TypeError, match="int8"):
        comm.allgather(bad if last else good)
    with pytest.raises(TypeError, match="int8"):
        comm.gather(bad if last else good)
    with pytest.raises(TypeError, match="int8"):
        comm.bcast(bad, root=comm.size - 1)
    with pytest.raises(ValueError, match=f"{comm.size} processes, got {comm.size + 1}"):
        comm.scatter([good] * (comm.size + 1) if last else None, root=comm.size - 1)
    with pytest.raises(ValueError, match="processes, got"):
        comm.alltoall([good] * (comm.size + last))
    if comm.size > 1:
        with pytest.raises(TypeError, match="one dtype"):
            comm.allgather(good.astype("float64") if last else good)


@pytest.mark.parametrize(
    ("data", "kind", "text"),
    [
        ("abc", ValueError, "got elements: str"),
        ([1, 2], ValueError, "got elements: int"),
        (5, TypeError, "int"),
        ((np.zeros(1, "f"), np.zeros(1, "d")), TypeError, "one dtype"),
        (np.zeros(1, "uint8"), TypeError, "uint8"),
    ],
)
def test_bad_data_to_send(comm, data, kind, text):
    with pytest.raises(kind, match=text):
        comm.send(data, comm.size - 1, 0)


def test_bad_rank(comm):
    for call in (
        lambda: comm.send(np.zeros(1), comm.size, 0),
        lambda: comm.recv(-1, 0),
        lambda: comm.bcast(np.zeros(1), root=comm.size),
        lambda: comm.bcast_obj(1, root=-2),
    ):
        with pytest.raises(ValueError, match="must be a rank from 0 to"):
            call()


def test_mean_and_parts(comm, everyone):
    x = value(comm.rank, (7,))
    mean = sum(everyone(lambda rank: value(rank, (7,)))) / comm.size
    y = x.copy()
    comm.mean_array(y)
    np.testing.assert_allclose(y, mean, rtol=1e-6)
    y = x.copy()
    comm._multi_node_mean(None, y)
    np.testing.assert_allclose(y, mean, rtol=1e-6)
    y = x.copy()
    request = comm.start_mean(y)
    request.wait()
    assert request.test()
    np.testing.assert_allclose(y, mean, rtol=1e-6)
    counts = [7 - 2 * (comm.size - 1)] + [2] * (comm.size - 1)
    start = sum(counts[: comm.rank])
    part = slice(start, start + counts[comm.rank])
    y = x.copy()
    comm.reduce_scatter_mean(y, counts)
    np.testing.assert_allclose(y[part], mean[part], rtol=1e-6)
    z = np.zeros_like(mean)
    z[part] = mean[part]
    comm.allgather_parts(z, counts)
    np.testing.assert_array_equal(z, mean)


def test_ranks(comm):
    from chainermn.mpi import load_mpi

    world = load_mpi().COMM_WORLD
    assert (comm.rank, comm.size) == (world.Get_rank(), world.Get_size())
    # All processes of the test are on one host.
    assert (comm.intra_rank, comm.intra_size) == (comm.rank, comm.size)
    assert (comm.inter_rank, comm.inter_size) == (0, 1)
    assert comm.mpi_comm == world


def test_split(comm):
    comm.set_config("batched_copy", False)
    part = comm.split(comm.rank % 2, -comm.rank)
    comm.set_config("batched_copy", True)
    members = [rank for rank in range(comm.size) if rank % 2 == comm.rank % 2]
    assert type(part) is type(comm)
    assert part.size == len(members)
    assert part.rank == members[::-1].index(comm.rank)
    assert part.get_config("batched_copy") is False
    assert comm.get_config("batched_copy") is True
    assert part.allreduce(np.array(comm.rank)) == sum(members)


def test_split_has_the_configuration(comm):
    part = comm.split(0, comm.rank)
    with part.config_scope():
        part.mine = 3
    part.set_config("batched_copy", False)
    again = part.split(0, comm.rank)
    assert again.mine == again.get_config("mine") == 3
    assert again.batched_copy is False


def test_alltoall_of_an_iterator(comm):
    received = comm.alltoall(np.full(2, 10 * comm.rank + to) for to in range(comm.size))
    assert [each[0] for each in received] == [10 * rank + comm.rank for rank in range(comm.size)]


def test_classes_of_errors(comm):
    for value in (1, chainer.Variable(np.ones(2, "f"))):
        with pytest.raises(TypeError):
            comm.allreduce(value)
    with pytest.raises(TypeError):
        comm.alltoall([1] * comm.size)
    with pytest.raises(ValueError):
        comm.allgather([1])
