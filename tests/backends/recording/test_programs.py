"""Programs of recorded calls: memory is used again, and no bit changes."""

from __future__ import annotations

import re

import numpy as np
import pytest

import chainer
import chainer.links as L
from chainer.backends.numpy.recording.memory import Buffer, Ref
from chainer.backends.numpy.recording.recorder import NumpyRecorder
from chainer.core.arrays.recorder import NotRecordableError, VaryingNumber, computed


def record(function, *arguments, numbers=()):
    """Returns a program of a function of arrays, and what the recorded run returned."""
    recorder = NumpyRecorder()
    given = [recorder.argument(a) for a in arguments]
    outputs = recorder.run(lambda: function(*given))
    program = recorder.program(outputs)
    return program, [recorder.plain(y) for y in outputs]


def random_function(seed):
    """Returns a function that makes calls at random; the same seed makes the same calls."""

    def function(x, y):
        draw = np.random.RandomState(seed)
        values = [x, y, x + 1]
        for _ in range(40):
            a, b = (values[draw.randint(len(values))] for _ in range(2))
            kind = draw.randint(9)
            if kind == 0:
                new = a + b
            elif kind == 1:
                new = np.maximum(a, 0.25) * b
            elif kind == 2:
                new = a.T.copy().T
            elif kind == 3:
                new = a - a.sum(axis=0, keepdims=True)
            elif kind == 4:
                new = (a @ b.T) @ b * 0.01
            elif kind == 5:
                new = np.where(a > b, a, b)
            elif kind == 6:
                new = np.zeros_like(a)
                new[1:] = a[:-1]
            elif kind == 7:
                new = a * 0.5
                new[:, ::2] += b[:, 1::2]
            else:
                new = np.tanh(a)[::-1]
            values.append(new)
            # Some results are needed to the end, most only for a while.
            if len(values) > 5 and draw.rand() < 0.8:
                del values[draw.randint(2, len(values) - 1)]
        return values[-3:]

    return function


@pytest.mark.parametrize("seed", range(25))
def test_random_programs(seed):
    function = random_function(seed)
    draw = np.random.RandomState(seed + 100)
    batches = [[draw.randn(4, 4).astype("f") for _ in range(2)] for _ in range(4)]
    program, first = record(function, *batches[0])
    for array, expected in zip(first, function(*batches[0]), strict=True):
        np.testing.assert_array_equal(array, expected)
    for batch in batches:
        copies = [x.copy() for x in batch]
        for array, expected in zip(program(batch), function(*batch), strict=True):
            np.testing.assert_array_equal(array, expected)
        for x, copy in zip(batch, copies, strict=True):
            np.testing.assert_array_equal(x, copy)


def test_memory_is_used_again():
    def chain(x):
        for _ in range(100):
            x = x[::-1] * 0.5 + x.max()
        return [x]

    x = np.ones((1000,), "f")
    program, _ = record(chain, x)
    # Three arrays are alive at one time: not a hundred.
    assert program.nbytes < 4 * x.nbytes


def test_results_do_not_overwrite_each_other():
    program, _ = record(lambda x: [x + 1], np.ones(3, "f"))
    (first,), (second,) = program([np.ones(3, "f")]), program([np.zeros(3, "f")])
    np.testing.assert_array_equal(first, [2, 2, 2])
    np.testing.assert_array_equal(second, [1, 1, 1])


def test_what_does_not_change_is_computed_once():
    def function(x):
        rows = x + 0
        return [rows[rows.shape[0] - 1] * 2, rows[rows.shape[0] - 1] * 2]

    program, _ = record(function, np.ones((3, 2), "f"))
    assert program.description.startswith("2 calls")
    for y in program([np.full((3, 2), 4, "f")]):
        np.testing.assert_array_equal(y, [8, 8])


def test_results_that_do_not_change():
    program, _ = record(lambda x: [x.sum(), np.zeros_like(x)], np.ones(3, "f"))
    for _ in range(2):
        total, zeros = program([np.full(3, 2, "f")])
        np.testing.assert_array_equal(total, 6)
        np.testing.assert_array_equal(zeros, [0, 0, 0])
        zeros += 1


def test_values_are_followed_to_what_they_reach():
    recorder = NumpyRecorder()
    old = np.ones(3, "f")
    state, x = recorder.state(old), recorder.argument(np.ones(3, "f"))
    unused, y, z = recorder.run(lambda: [state + x, x * 2, (state * 0)[:2]])
    del unused
    assert recorder.reads(state)
    assert not recorder.depends_on([state], [y])
    assert recorder.depends_on([state], [y, z])


def test_empty_arrays():
    program, _ = record(lambda x: [x * 2, x.sum(axis=0)], np.ones((0, 3), "f"))
    doubled, total = program([np.ones((0, 3), "f")])
    assert doubled.shape == (0, 3)
    np.testing.assert_array_equal(total, np.zeros(3))


def test_layouts_of_references():
    buffer = Buffer(24)
    row = Ref(buffer, 0, (2, 3), (12, 4), np.dtype("f"))
    column = Ref(buffer, 0, (3, 2), (4, 12), np.dtype("f"))
    assert row.is_contiguous() and row.is_whole()
    assert not column.is_contiguous()
    piece = row.piece(2, 5)
    assert (piece.offset, piece.shape, piece.is_whole()) == (8, (3,), False)


def test_numbers_that_vary():
    value = [2.0]
    number = NumpyRecorder().number(lambda: value[0])
    assert isinstance(number, VaryingNumber)
    derived = 1 - number * 3
    root = computed(np.sqrt, number)
    assert number * 3 is number * 3
    value[0] = 4.0
    assert (derived.evaluate(), root.evaluate(), computed(np.sqrt, 9.0)) == (-11.0, 2.0, 3.0)


def test_arrays_within_objects_stay_where_they_are():
    rois = np.array([[0, 0, 0, 7, 7], [1, 2, 2, 5, 5]], "f")

    def pool(x, rois):
        y = chainer.functions.roi_pooling_2d(x, rois + 0, 2, 2, 1.0)
        return y

    step = chainer.capture(pool, on_failure="error")
    draw = np.random.RandomState(0)
    for i in range(6):
        x = draw.randn(2, 3, 8, 8).astype("f")
        moved = rois + np.array([0, i % 2, 0, 0, 0], "f")
        np.testing.assert_array_equal(step(x, moved).array, pool(x, moved).array)


@pytest.mark.parametrize("name", ["SGD", "Adam", "RMSprop", "MSVAG"])
def test_updates_in_blocks(name, monkeypatch):
    from chainer.backends.numpy.recording import flat_updates

    monkeypatch.setattr(flat_updates, "BLOCK", 7)
    monkeypatch.setattr(flat_updates, "LARGEST_BLOCK", 20)
    x = np.random.RandomState(0).randn(8, 5).astype("f")
    runs = []
    for captures in (False, True):
        np.random.seed(0)
        model = chainer.Sequential(L.Linear(5, 4), L.Linear(4, 3))
        optimizer = getattr(chainer.optimizers, name)().setup(model)

        def step(x, model=model, optimizer=optimizer):
            model.cleargrads()
            chainer.functions.mean(chainer.functions.tanh(model(x))).backward()
            optimizer.update()

        if captures:
            step = chainer.capture(step, model, optimizer, on_failure="error")
        for _ in range(8):
            step(x)
        runs.append([p.array for p in model.params()])
    for a, b in zip(*runs, strict=True):
        np.testing.assert_array_equal(a, b)


def test_states_of_all_sizes_are_updated_by_the_same_calls():
    """Those of large parameters are parts of memory at chosen addresses."""
    x = np.random.RandomState(0).randn(8, 400).astype("f")
    counts = []
    for units in (40, 50):  # 64,000 and 80,000 bytes
        model = chainer.Sequential(L.Linear(400, units), L.Linear(units, 3))
        optimizer = chainer.optimizers.Adam().setup(model)

        def step(x, model=model, optimizer=optimizer):
            model.cleargrads()
            chainer.functions.mean(model(x)).backward()
            optimizer.update()

        step = chainer.capture(step, model, optimizer, on_failure="error")
        for _ in range(4):
            step(x)
        counts.append(re.search(r"(\d+) calls of NumPy", chainer.explain(step))[1])
    assert counts[0] == counts[1]


def test_shapes_that_depend_on_values():
    with pytest.raises(NotRecordableError, match="depends on values"):
        record(lambda x: [np.nonzero(x)[0]], np.ones(3, "f"))


def test_long_programs_are_functions_of_several_parts():
    def function(x):
        for _ in range(150):
            x = np.tanh(x) + chainer.functions.max_pooling_2d(x[None, None], 1).array[0, 0]
        return (x,)

    x = np.random.RandomState(0).rand(3, 4).astype("f")
    program, (expected,) = record(function, x)
    assert {"part0", "part1"} <= {*program._run.__code__.co_names}
    for _ in range(2):
        np.testing.assert_array_equal(program([x])[0], expected)


@pytest.mark.parametrize("shape", [(3, 4), (200, 100)])
def test_states_lie_in_one_array(shape):
    """Large states of optimizers are views of memory that is aligned; small ones are not."""
    link = chainer.Sequential(L.Linear(shape[1], shape[0]), L.Linear(shape[0], 2))
    optimizer = chainer.optimizers.Adam().setup(link)

    def step(x):
        loss = chainer.functions.sum(link(x) ** 2)
        link.cleargrads()
        loss.backward()
        optimizer.update()
        return loss

    step = chainer.capture(step, optimizer, on_failure="error")
    x = np.ones((5, shape[1]), "f")
    for _ in range(2):
        step(x)
    states = [p.update_rule.state for p in link.params()]
    for name in ("m", "v"):
        addresses = [state[name].ctypes.data for state in states]
        assert addresses[0] % 64 == 0
        ends = [a + s[name].nbytes for a, s in zip(addresses, states, strict=True)]
        assert addresses[1:] == ends[:-1]
    for _ in range(3):
        step(x)
    assert "in use" in chainer.explain(step)


@pytest.mark.parametrize("view", [np.s_[::-1], np.s_[:, ::-1], np.s_[::-1, ::-1]])
@pytest.mark.parametrize("axis", [0, 1, None])
@pytest.mark.parametrize("kind", ["method", "ufunc", "prod"])
def test_sums_of_reversed_rows(kind, axis, view):
    """A sum adds rows in the order of the step as written, with every release of NumPy."""

    def function(x):
        if kind == "ufunc":
            return [np.add.reduce(x[view], axis=axis, keepdims=True)]
        return [x[view].prod(axis) if kind == "prod" else x[view].sum(axis=axis, keepdims=True)]

    draw = np.random.RandomState(0)
    program, _ = record(function, draw.randn(6, 6).astype("f"))
    for _ in range(20):
        x = draw.randn(6, 6).astype("f")
        np.testing.assert_array_equal(program([x.copy()])[0], function(x)[0])
