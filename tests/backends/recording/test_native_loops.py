"""Native loops by the provider of a third party, which is written in Python here."""

from __future__ import annotations

import ctypes
import warnings

import numpy as np
import pytest

import chainer
import chainer.functions as F
import chainer.links as L
from chainer.backends.numpy.recording import native
from chainer.backends.numpy.recording.dependencies import Dependencies
from chainer.backends.numpy.recording.memory import Buffer, Ref
from chainer.backends.numpy.recording.tape import Call, Kind
from chainer.backends.operations.loops import Loop, Sum
from chainer.core.registry import registries
from chainer.kernel import Kernel, register_kernel
from tests.backends.recording.test_programs import random_function, record

_KINDS = {"divide by zero": 1, "overflow": 2, "underflow": 4, "invalid value": 8}


class Interpreter:
    """Runs loops by NumPy, through a function of C."""

    def __init__(self, backend):
        self.kept = []
        self.compiled = []

    def compile(self, parts):
        @ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_void_p))
        def run(addresses):
            errors, first = 0, 0
            for part in parts:
                with warnings.catch_warnings(record=True) as caught, np.errstate(all="warn"):
                    warnings.simplefilter("always")
                    count = len(part.strides)
                    interpreted(part, [addresses[first + i] for i in range(count)])
                first += count
                for warning in caught:
                    errors |= sum(
                        bit for kind, bit in _KINDS.items() if kind in str(warning.message)
                    )
            return errors

        self.kept.append(run)
        self.compiled.append(parts)
        return ctypes.cast(run, ctypes.c_void_p).value


def interpreted(part, addresses):
    dtype = np.dtype(part.dtype)

    def array(address, shape, strides, dtype=dtype):
        extent = sum((n - 1) * s for n, s in zip(shape, strides)) + dtype.itemsize
        memory = (ctypes.c_char * extent).from_address(address)
        return np.ndarray(shape, dtype, memory, 0, strides)

    if not isinstance(part, Loop):
        outer, _, inner = part.shape
        source = array(addresses[0], part.shape, part.strides[0])
        array(addresses[1], (outer, inner), part.strides[1])[...] = source.sum(axis=1)
        return
    kinds = ["?" if i in part.masks else dtype for i in range(len(part.strides))]
    arrays = [
        array(a, part.shape, s, np.dtype(kind))
        for a, s, kind in zip(addresses, part.strides, kinds, strict=True)
    ]
    values = [arrays[i].copy() for i in part.loads]
    for name, operands in part.steps:
        inputs = [values[i] for i in operands]
        if name == "positive":
            values.append(inputs[0].astype(dtype))
        else:
            values.append(getattr(np, name)(*inputs))
    for value, i in part.stores:
        arrays[i][...] = values[value]


@pytest.fixture
def foreign(monkeypatch):
    """Installs the provider; yields its implementation."""
    implementation = Interpreter(None)
    kernel = Kernel("native_loops", "numpy:ndarray", "foreign", load=lambda backend: implementation)
    monkeypatch.setattr(native, "_WORTH", 1e9)  # Python is slow, but its bits are those of NumPy
    monkeypatch.setattr(native, "_paying", {})
    register_kernel(kernel)
    try:
        with chainer.using_config("kernels", ("foreign",)):
            yield implementation
    finally:
        registries.kernels.unregister(kernel.key)


@pytest.mark.parametrize("seed", range(25))
def test_random_programs(foreign, seed):
    function = random_function(seed)
    draw = np.random.RandomState(seed + 100)
    batches = [[draw.randn(4, 4).astype("f") for _ in range(2)] for _ in range(3)]
    program, _ = record(function, *batches[0])
    assert "native" in program.description
    for batch in batches:
        copies = [x.copy() for x in batch]
        for array, expected in zip(program(batch), function(*batch), strict=True):
            np.testing.assert_array_equal(array, expected)
        for x, copy in zip(batch, copies, strict=True):
            np.testing.assert_array_equal(x, copy)


def random_selections(seed):
    """Returns a function that chooses among numbers at random; a seed makes the same calls."""
    kinds = (
        *(lambda a, b, m: np.maximum(a, b), lambda a, b, m: np.minimum(a, 0.25)),
        *(lambda a, b, m: np.where(m, a, b), lambda a, b, m: np.where(m, 0, a)),
        *(lambda a, b, m: a > b, lambda a, b, m: a <= 0, lambda a, b, m: m & (a != b)),
        *(lambda a, b, m: a * m, lambda a, b, m: m.astype("f") - b),
        *(lambda a, b, m: np.clip(a, -1, b), lambda a, b, m: abs(a).copy()),
        lambda a, b, m: np.tanh(a.T).T,
    )

    def function(x, y):
        draw = np.random.RandomState(seed)
        values, masks = [x, y, x + 1], [x > 0]
        for _ in range(50):
            a, b = (values[draw.randint(len(values))] for _ in range(2))
            new = kinds[draw.randint(len(kinds))](a, b, masks[draw.randint(len(masks))])
            (masks if new.dtype == bool else values).append(new)
            if len(values) > 5 and draw.rand() < 0.8:
                del values[draw.randint(2, len(values) - 1)]
        return [*values[-2:], masks[-1]]

    return function


@pytest.mark.parametrize("seed", range(20))
@np.errstate(all="ignore")
def test_random_selections(foreign, seed):
    function = random_selections(seed)
    draw = np.random.RandomState(seed)
    batches = [[draw.randn(7, 7).astype("f") for _ in range(2)] for _ in range(3)]
    for array in batches[2]:
        array[0] = 0.0, -0.0, np.nan, np.inf, -np.inf, -1, 1
    program, _ = record(function, *batches[0])
    assert "native" in program.description
    for batch in batches:
        for found, expected in zip(program(batch), function(*batch), strict=True):
            np.testing.assert_array_equal(found, expected)
            if found.dtype != bool:
                signs = np.signbit(found) == np.signbit(expected)
                assert signs[~np.isnan(expected)].all()


def training(optimizer, kernels):
    np.random.seed(0)
    model = chainer.Sequential(L.Linear(1, 8), F.tanh, L.Linear(8, 8), F.tanh, L.Linear(8, 1))
    optimizer = optimizer.setup(model)

    def step(x):
        x = chainer.Variable(x)
        (g,) = chainer.grad([model(x)], [x], enable_double_backprop=True)
        (gg,) = chainer.grad([g], [x], enable_double_backprop=True)
        loss = F.mean((gg + x) ** 2)
        model.cleargrads()
        loss.backward()
        optimizer.update()
        return loss

    with chainer.using_config("kernels", kernels):
        captured = chainer.capture(step, model, optimizer, on_failure="error")
        rng = np.random.RandomState(0)
        losses = [captured(rng.rand(16, 1).astype("f")).array.tobytes() for _ in range(8)]
    return losses, [p.array.tobytes() for p in model.params()], captured


@pytest.mark.parametrize("name", ["Adam", "SGD", "MomentumSGD", "RMSprop", "AdaDelta"])
def test_training_has_the_same_bits(foreign, name):
    expected = training(getattr(chainer.optimizers, name)(), ())
    found = training(getattr(chainer.optimizers, name)(), ("foreign",))
    assert found[:2] == expected[:2]


def test_number_of_calls(foreign):
    *_, captured = training(chainer.optimizers.Adam(), ("foreign",))
    (entry,) = captured._machine.entries.values()
    calls, functions = [
        int(w) for w in entry.records[0].program.description.split() if w.isdigit()
    ][:2]
    # Matrix products and two tanh; 135 calls without loops.
    assert calls <= 30
    assert functions <= 12


def test_nothing_happens_without_a_provider():
    *_, captured = training(chainer.optimizers.Adam(), ())
    assert "native" not in captured.explain()


def test_a_single_call_is_a_loop_if_it_repeats_rows(foreign):
    b = np.arange(3, dtype="f")
    x = np.ones((4, 3), "f")
    program, _ = record(lambda x: [np.tanh(np.tanh(x) + b)], x)
    assert "1 native functions" in program.description
    for alone in (lambda x: [np.tanh(np.tanh(x) + x)], lambda x: [np.tanh(np.tanh(x) * 2)]):
        program, _ = record(alone, x)
        assert "native" not in program.description


def test_a_provider_that_computes_something_else_is_not_used(foreign, monkeypatch):
    monkeypatch.setattr(np, "multiply", np.add)  # of the interpreter; calls have the ufunc itself
    program, _ = record(lambda x: [x * x * x - x], np.ones((4, 4), "f"))
    assert "native" not in program.description
    assert foreign.compiled


def test_results_that_others_do_not_read_have_no_memory(foreign):
    program, _ = record(lambda x: [np.tanh(-(x * 2 + 1) * x - 3)], np.ones((4, 4), "f"))
    (parts,) = foreign.compiled
    (loop,) = parts
    assert [name for name, _ in loop.steps] == [
        "multiply",
        "add",
        "negative",
        "multiply",
        "subtract",
    ]
    assert len(loop.stores) == 1
    assert program.nbytes <= 2 * 64


SELECTIONS = {
    "relu": (lambda x: F.relu(x * 2).array + 1, {"multiply", "maximum", "add"}),
    "leaky relu": (lambda x: F.leaky_relu(x * 2, 0.1).array, {"multiply", "maximum"}),
    "clip": (lambda x: F.clip(x * 2, -0.5, 1.0).array, {"multiply", "maximum", "minimum"}),
    "np.clip": (lambda x: np.clip(x * 2, -0.5, 1), {"multiply", "maximum", "minimum"}),
    "where": (lambda x: np.where(x > 0, x * 2, 0.5), {"greater", "multiply", "where"}),
    "zeros": (lambda x: np.where(x != x, -0.0, np.where(x < 0, 0.0, x)), {"not_equal", "where"}),
    "mask": (lambda x: (x >= 0.5) * x - 1, {"greater_equal", "multiply", "subtract"}),
    "number": (lambda x: (x <= 0).astype("f") + x, {"less_equal", "positive", "add"}),
    "distance": (lambda x: abs(x - 1) * x, {"subtract", "absolute", "multiply"}),
    "reciprocal": (lambda x: np.reciprocal(x * 2) + 1, {"multiply", "divide", "add"}),
    "copy": (lambda x: (x * 2).copy() + 1, {"multiply", "add"}),
}


@pytest.mark.parametrize("name", SELECTIONS)
@np.errstate(all="ignore")
def test_selections_are_parts_of_loops(foreign, name):
    function, steps = SELECTIONS[name]
    x = np.random.RandomState(0).randn(6, 8).astype("f")
    program, _ = record(lambda x: [function(x)], x)
    assert "native" in program.description
    (parts,) = foreign.compiled
    (loop,) = parts
    assert {step for step, _ in loop.steps} >= steps
    assert not loop.masks  # truth values that nothing else reads are in no array
    x[0] = 0.0, -0.0, np.nan, np.inf, -np.inf, 0.5, -0.5, 1.0
    (found,) = program([x])
    assert found.tobytes() == np.asarray(function(x)).tobytes()


def test_masks_that_others_read_are_arrays(foreign):
    def function(x):
        mask = x > 0
        return [mask, np.tanh(mask * x) * mask + np.where(mask, 1, x)]

    x = np.random.RandomState(0).randn(6, 8).astype("f")
    program, _ = record(function, x)
    assert any(loop.masks for parts in foreign.compiled for loop in parts)
    for found, expected in zip(program([-x]), function(-x), strict=True):
        assert found.dtype == expected.dtype
        np.testing.assert_array_equal(found, expected)


def test_logic_of_truth_values_is_numpys(foreign):
    """A sum of truth values is a truth value, which loops do not compute."""

    def function(x):
        a, b = x > 0, x > 1
        return [(a + b) * x + (a * b) * x, np.where(a, b, a)]

    x = np.random.RandomState(0).randn(6, 8).astype("f") * 2
    program, _ = record(function, x)
    for found, expected in zip(program([-x]), function(-x), strict=True):
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("treatment", ["warn", "raise", "ignore", "call"])
def test_floating_point_errors(foreign, treatment):
    """They are reported with the name of NumPy's function, and by the state of the caller."""
    told = []
    program, _ = record(lambda x, y: [(x / y) * 2 + x], np.ones(4, "f"), np.ones(4, "f"))
    assert "native" in program.description
    one, zero = np.ones(4, "f"), np.zeros(4, "f")
    with np.errstate(divide=treatment, call=lambda *a: told.append(a)):
        if treatment == "warn":
            with pytest.warns(RuntimeWarning, match="divide by zero encountered in divide"):
                program([one, zero])
        elif treatment == "raise":
            with pytest.raises(FloatingPointError, match="divide by zero encountered in divide"):
                program([one, zero])
        else:
            assert np.isinf(program([one, zero])[0]).all()
    assert len(told) == (treatment == "call")


def test_errors_of_updates_in_place(foreign):
    """The calls of NumPy begin with the values that the native function has overwritten."""
    link = chainer.Link()
    with link.init_scope():
        link.w = chainer.Parameter(np.ones(4, "f"))

    def step(x):
        link.w.array *= 3
        link.w.array -= 1 / x
        link.w.array += 2
        return link.w.array * 2

    captured = chainer.capture(step, link, on_failure="error")
    for _ in range(4):
        captured(np.ones(4, "f"))
    assert "native" in captured.explain()
    before = link.w.array.copy()
    x = np.array([1, 0, 2, -0.0], "f")
    with pytest.warns(RuntimeWarning, match="divide by zero"):
        found = captured(x)
    after = link.w.array.copy()
    link.w.array[...] = before
    with pytest.warns(RuntimeWarning, match="divide by zero"):
        expected = step(x)
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(after, link.w.array)


def test_treatments_of_the_step(foreign):
    def step(x):
        with np.errstate(divide="raise"):
            y = 1 / x * 3
        return y * 2 + x

    captured = chainer.capture(step, on_failure="error")
    for _ in range(4):
        captured(np.ones(3, "f"))
    assert "native" in captured.explain()
    with np.errstate(divide="ignore"), pytest.raises(FloatingPointError):
        captured(np.zeros(3, "f"))


def test_files_have_the_calls_of_numpy(foreign, tmp_path):
    np.random.seed(0)
    model = L.Classifier(L.Linear(4, 3))
    optimizer = chainer.optimizers.Adam().setup(model)

    def step(x, t):
        loss = model(x, t)
        model.cleargrads()
        loss.backward()
        optimizer.update()
        return loss

    captured = chainer.capture(step, model, optimizer, on_failure="error")
    x, t = np.random.rand(5, 4).astype("f"), np.array([0, 1, 2, 0, 1], "i")
    for _ in range(4):
        captured(x, t)
    assert "native" in captured.explain()
    captured.save(tmp_path / "step.npz")
    loaded = chainer.load_step(tmp_path / "step.npz")
    for _ in range(5):
        assert captured(x, t).array.tobytes() == loaded(x, t).array.tobytes()


def test_a_call_that_writes_to_its_argument_reads_it():
    x, y = (
        Ref(Buffer(16), 0, (4,), (4,), np.dtype("f")),
        Ref(Buffer(16), 0, (4,), (4,), np.dtype("f")),
    )
    calls = [Call(Kind.UFUNC, np.sqrt, (x,), {}, (y,)), Call(Kind.UFUNC, np.add, (y, x), {}, (y,))]
    uses = Dependencies(calls, [], {})
    assert uses.readers == [{1}, set()]
    assert uses.before == [set(), {0}]


def test_a_sum_that_the_provider_declines_stands_by_itself(foreign, monkeypatch):
    compile_parts = foreign.compile
    monkeypatch.setattr(
        foreign,
        "compile",
        lambda parts: None if any(isinstance(p, Sum) for p in parts) else compile_parts(parts),
    )
    x = np.random.RandomState(0).randn(6, 8).astype("f")
    program, expected = record(lambda x: [(x * 2 + 1).sum() * x - 1], x)
    assert program.description.startswith("1 calls of NumPy and 2 native")
    assert program([x])[0].tobytes() == expected[0].tobytes()


def test_large_arguments_are_not_copied(foreign):
    def function(x):
        return [(x * 2 + 1).sum()]

    large = np.ones((200, 200), "f")
    program, _ = record(function, large)
    assert program.description.startswith("1 calls of NumPy and 1 native")
    assert "copyto" not in program._run.__code__.co_names
    assert "native" in record(function, np.ones((20, 20), "f"))[0].description


def test_loops_far_apart_are_not_joined_where_that_needs_more_memory(foreign):
    """A result that is computed early but read late waits beside the arrays it is made of."""
    rounds = 12

    def function(x):
        kept = []
        for _ in range(rounds):
            y = x * 2 + 1
            kept.append((x, y))
            x = np.sort(y, axis=1)
        for x_i, y_i in reversed(kept):
            x = np.sort(x + x_i - y_i, axis=1)
            x = np.sort(x * (x_i * 0.5 - 3), axis=1)
        return [x]

    array = np.random.default_rng(0).random((200, 200), "f")
    program, (expected,) = record(function, array)
    assert "native functions" in program.description
    # At the end of the first half, two arrays are kept for each round.
    assert program.nbytes <= (2 * rounds + 3) * array.nbytes
    np.testing.assert_array_equal(program([array])[0], expected)
