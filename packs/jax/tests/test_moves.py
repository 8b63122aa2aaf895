"""Elements that move: in NumPy at first, then by programs, with the same result."""

from __future__ import annotations

import jax
import numpy as np
import pytest
from chainer_array_api.functions.moves import flip

from chainer_jax import boxes, moves
from chainer_jax.moves import Mover
from chainer_jax.tracing import Trace


@pytest.fixture
def x(device):
    return device.send(np.arange(24, dtype=np.float32).reshape(2, 3, 4))


MOVES = {
    "transpose": lambda xp, x: x.transpose(2, 0, 1),
    "reshape": lambda xp, x: x.reshape(4, 6),
    "reshape of a transposition": lambda xp, x: x.T.reshape(-1),
    "part": lambda xp, x: x[1, 1:, :2],
    "new axis": lambda xp, x: x[:, None, 0],
    "steps": lambda xp, x: x[..., ::2],
    "backwards": lambda xp, x: x[::-1, :, -1],
    "elements": lambda xp, x: x[[0, 1, -1], [2, 0, 1]],
    "elements behind an axis": lambda xp, x: x[:, [0, 2], [3, 3]],
    "mask": lambda xp, x: x[x > 9],
    "broadcast": lambda xp, x: xp.broadcast_to(x, (5, 2, 3, 4)),
    "join": lambda xp, x: xp.concatenate([x, x[:, :1]], axis=1),
    "choose": lambda xp, x: xp.where(x > 7, x, x[:1]),
    "flip": lambda xp, x: xp.flip(x, (0, 2)),
    "repeat": lambda xp, x: xp.repeat(x, 2, 1),
    "tile": lambda xp, x: xp.tile(x, (2, 1)),
    "empty": lambda xp, x: x[:0].reshape(3, 0),
}


def _write(index, value):
    def write(xp, x):
        x[index] = value(xp) if callable(value) else value
        return x

    return write


WRITES = {
    "number": _write((1, slice(1, None)), 7),
    "array": _write((slice(None), 0), lambda xp: xp.arange(4, dtype="f")),
    "steps": _write((0, slice(None, None, 2)), 3),
    "elements": _write(([0, 1], [2, 2]), -1),
    "lists": _write(([1], [0, 2], [3, 1]), 5),
    "nothing": _write(slice(2, None), 1),
}


@pytest.fixture
def compiled(device):
    """A name for each program that XLA compiles."""
    names = []
    jax.clear_caches()
    device.backend._mover._calls.clear()

    def count(event, seconds, **values):
        if "backend_compile" in event:
            names.append(event)

    jax.monitoring.register_event_duration_secs_listener(count)
    yield names
    jax.monitoring.unregister_event_duration_listener(count)


@pytest.mark.parametrize("by_programs", [False, True])
@pytest.mark.parametrize("name", [*MOVES, *[f"write {name}" for name in WRITES]])
def test_numpy_and_programs_move_alike(device, x, monkeypatch, name, by_programs):
    if by_programs:
        monkeypatch.setattr(moves, "CALLS_IN_NUMPY", 0)
    move = WRITES[name.removeprefix("write ")] if name.startswith("write ") else MOVES[name]
    host = device.backend.to_host(x).copy()
    expected = move(np, host)
    found = move(device.xp, x)
    assert found.dtype == expected.dtype
    np.testing.assert_array_equal(device.backend.to_host(found), expected)
    assert device.backend.device_of(found) == device


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float64", "int8", "bool", "complex64"])
def test_dtypes(device, dtype):
    dtype = jax.numpy.dtype(dtype)
    host = np.arange(6).reshape(2, 3).astype(dtype)
    found = device.backend.array_class(jax.device_put(host)).T
    assert found.native.dtype == dtype
    np.testing.assert_array_equal(np.asarray(found.native), host.T)


def test_no_program_at_first(x, compiled):
    x[:, 1:].transpose(2, 0, 1).reshape(-1).native  # noqa: B018
    assert not compiled


def test_a_program_when_calls_repeat(x, compiled, monkeypatch):
    monkeypatch.setattr(moves, "CALLS_IN_NUMPY", 3)
    for _ in range(3):
        x.transpose(1, 2, 0).native  # noqa: B018
    assert not compiled
    for _ in range(3):
        x.transpose(1, 2, 0).native  # noqa: B018
    assert len(compiled) == 1


def test_large_arrays_count_more_than_once(device, monkeypatch):
    monkeypatch.setattr(moves, "CALLS_IN_NUMPY", 3)
    mover = Mover(device.backend)
    native = jax.device_put(np.zeros((8, moves.BYTES_OF_A_CALL), np.float32))
    used = []

    def move(nx, x):
        used.append(nx)
        return x

    for _ in range(2):
        mover(move, (native,), ())
    assert used == [np, device.backend.nx]


def test_results_have_memory_of_their_own(device, x):
    before = x.native
    moved = x.reshape(-1)
    y = moved.copy()
    y[...] = -1
    moved[0] = 100  # writes through to x, in a new array
    assert float(x[0, 0, 0]) == 100
    np.testing.assert_array_equal(np.asarray(before), np.arange(24).reshape(2, 3, 4))


def test_traces_use_programs(device, x):
    def traced(native):
        with Trace():
            return device.backend.array_class(native).T.reshape(-1).native

    assert boxes.state.observer is None
    found = jax.jit(traced)(x.native)
    np.testing.assert_array_equal(found, np.arange(24).reshape(2, 3, 4).T.reshape(-1))


def test_transforms_of_jax(device, x, monkeypatch):
    """Tracers of JAX outside of a recorded step are moved by JAX, also in the first use of all."""
    monkeypatch.setattr(device.backend, "_mover", None)
    monkeypatch.delattr(device.backend, "_mover")

    def double(v):
        return device.backend.array_class(v).transpose(1, 0, 2).native * 2

    found = jax.jit(jax.vmap(double, in_axes=0))(x.native[None])
    np.testing.assert_array_equal(found[0], np.asarray(x.native).transpose(1, 0, 2) * 2)


def test_adding_to_elements_is_one_program(device, x, compiled):
    rows, columns, value = (
        device.send(np.array([0, -1, 0])),
        [2, 1, 2],
        device.send(np.ones(4, "f")),
    )
    device.xp.add.at(x, (rows, columns), value)
    assert len(compiled) == 1
    expected = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    np.add.at(expected, ([0, -1, 0], columns), 1)
    np.testing.assert_array_equal(device.backend.to_host(x), expected)
    with pytest.raises(IndexError, match="out of bounds"):
        device.xp.add.at(x, (rows + 2, columns), value)


def test_shapes_that_never_come_back_do_not_fill_the_memory(device, monkeypatch):
    monkeypatch.setattr(moves, "MOST_COUNTED", 5)
    mover = Mover(device.backend)
    for n in range(1, 23):
        x = device.send(np.arange(n, dtype=np.float32)).native
        found = mover(flip, (x,), ((0,),))
        np.testing.assert_array_equal(np.asarray(found), np.arange(n)[::-1])
        assert len(mover._calls) <= 5
