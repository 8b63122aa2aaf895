"""Steps that no kernel declares, as programs: all calls of all steps in one."""

from __future__ import annotations

import chainer
import chainer.functions as F
import chainer.links as L
import numpy as np
import pytest
from chainer.kernel import ArraySpec, Part, Recurrence, StepCall

from chainer_numba import launching, loops, step_calls, step_programs, supports


@pytest.fixture(autouse=True)
def one_thread(any_size, monkeypatch):
    monkeypatch.setattr(launching.config, "NUMBA_NUM_THREADS", 1)
    with (
        chainer.using_config("accelerate", "auto"),
        chainer.using_config("kernels", ("numba",)),
    ):
        yield


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


#: Each call with NumPy, in float64.
FORMULAS = {
    "numpy.add": np.add,
    "numpy.subtract": np.subtract,
    "numpy.multiply": np.multiply,
    "numpy.negative": np.negative,
    "numpy.square": np.square,
    "numpy.tanh": np.tanh,
    "numpy.exp": np.exp,
    "numpy.reciprocal": np.reciprocal,
    "numpy.positive": np.positive,
    "sigmoid.forward": sigmoid,
    "sigmoid.backward": lambda y, gy: y * (1 - y) * gy,
    "linear.forward": lambda x, W, b=None: x @ W.T + (0 if b is None else b),
    "linear.backward_data": np.matmul,
    "numpy.matmul": np.matmul,
}


def recurrence_of(*calls, fixed=(), parts=None):
    results = tuple([call.results for call in calls])
    carried = {results[-1]: "state"}
    return Recurrence(calls, carried, fixed, results, "all_steps", "supports_steps", parts or {})


def step_with(name):
    """Returns a step that makes a call on the sum of a product and an input, between -1 and 1."""
    operands = {
        "numpy.square": ("u",),
        "numpy.negative": ("u",),
        "numpy.tanh": ("u",),
        "numpy.exp": ("u",),
        "numpy.reciprocal": ("u",),
        "numpy.positive": ("u",),
        "sigmoid.forward": ("u",),
    }.get(name, ("u", "x"))
    return recurrence_of(
        StepCall("linear.forward", ("state", "W", "b"), "p"),
        StepCall("numpy.multiply", ("p", 0.25), "q"),
        StepCall("numpy.add", ("x", "q"), "u"),
        StepCall(name, operands, "v"),
        StepCall("numpy.tanh", ("v",), "y"),
        fixed=("W", "b"),
    )


def arrays_of(recurrence, times=4, rows=5, units=19):
    """Returns random arrays of all steps; results are NaN before they are written."""
    rng = np.random.default_rng(0)
    shapes = {"W": (units, units), "b": (units,), "scale": (units,)}
    steps = {}
    for name in (*recurrence.inputs, *recurrence.fixed, "state"):
        count = times if name in recurrence.inputs else 1
        shape = shapes.get(name, (rows, units))
        steps[name] = [rng.uniform(0.5, 1, shape).astype("f") for _ in range(count)]
    for name in recurrence.results:
        steps[name] = [np.full((rows, units), np.nan, "f") for _ in range(times)]
    return steps


def expected_of(recurrence, steps):
    """Returns the results of all steps, in float64."""
    ((last, _),) = recurrence.carried.items()
    values = {n: steps[n][0].astype("d") for n in ("state", *recurrence.fixed)}
    results = {name: [] for name in recurrence.results}
    for t in range(len(steps[last])):
        values.update({n: steps[n][t].astype("d") for n in recurrence.inputs})
        for call in recurrence.calls:
            given = [values[a] if isinstance(a, str) else a for a in call.arguments]
            values[call.results] = FORMULAS[call.name](*given)
            results[call.results].append(values[call.results])
        values["state"] = values[last]
    return results


def specs_of(steps):
    return {
        name: [None if a is None else ArraySpec.of(a) for a in arrays]
        for name, arrays in steps.items()
    }


def compare(recurrence, steps):
    expected = expected_of(recurrence, steps)
    assert step_programs.are_suitable(recurrence, specs_of(steps)) is True
    step_programs.AllSteps(recurrence, steps)()
    # Sums of some 20 products of numbers up to 1, in float32, over four steps.
    for name in recurrence.results:
        for found, right in zip(steps[name], expected[name], strict=True):
            if found is not None:
                np.testing.assert_allclose(found, right, rtol=5e-6, atol=5e-6)


def test_every_call_is_known():
    assert loops.NativeLoopsKernel.step_calls == set(FORMULAS)


@pytest.mark.parametrize("name", sorted({*FORMULAS} - {*step_calls.PRODUCTS}))
@pytest.mark.parametrize("rows", [1, 5])
def test_values(name, rows):
    recurrence = step_with(name)
    compare(recurrence, arrays_of(recurrence, rows=rows))


@pytest.mark.parametrize("arguments", [("state", "W"), ("state", "W", None)])
def test_products(arguments):
    name = "linear.forward" if len(arguments) == 3 else "linear.backward_data"
    recurrence = recurrence_of(
        StepCall(name, arguments, "p"),
        StepCall("numpy.multiply", ("p", 0.0625), "y"),
        fixed=("W",),
    )
    # Several panels, and more terms than are added up at once.
    compare(recurrence, arrays_of(recurrence, units=231))


@pytest.mark.parametrize(
    "layout",
    [lambda W: W, lambda W: W.T.copy().T, lambda W: np.repeat(W, 2, axis=1)[:, ::2]],
    ids=["plain", "transposed", "strided"],
)
def test_products_of_numpy(layout):
    recurrence = recurrence_of(
        StepCall("numpy.matmul", ("state", "W"), "p"),
        StepCall("numpy.multiply", ("p", 0.0625), "y"),
        fixed=("W",),
    )
    steps = arrays_of(recurrence, units=231)
    steps["W"] = [layout(W) for W in steps["W"]]
    compare(recurrence, steps)


@pytest.mark.parametrize("shape", [(19,), (5, 19, 19)])
def test_products_of_numpy_with_other_arrays_than_matrices(shape):
    recurrence = recurrence_of(
        StepCall("numpy.matmul", ("state", "W"), "p"),
        StepCall("numpy.tanh", ("p",), "y"),
        fixed=("W",),
    )
    steps = arrays_of(recurrence)
    steps["W"] = [np.ones(shape, "f")]
    for name in recurrence.results:
        steps[name] = [np.empty((5,) if len(shape) == 1 else (5, 5, 19), "f") for _ in range(4)]
    steps["p"] = [None] * 4
    assert step_programs.are_suitable(recurrence, specs_of(steps)) is not True


def test_a_row_for_all_rows():
    recurrence = recurrence_of(
        StepCall("linear.backward_data", ("state", "W"), "p"),
        StepCall("numpy.multiply", ("scale", "p"), "q"),
        StepCall("numpy.tanh", ("q",), "y"),
        fixed=("W", "scale"),
    )
    compare(recurrence, arrays_of(recurrence))


def test_results_that_no_call_reads():
    recurrence = step_with("numpy.multiply")
    steps = arrays_of(recurrence)
    # Of some no array tells the shape.
    steps.update(dict.fromkeys(("p", "q", "u"), [None] * 4), y=[None, steps["y"][1], None, None])
    compare(recurrence, {**steps, "v": [None, None, None, steps["v"][3]]})


def test_repeated_runs_read_arrays_anew():
    recurrence = step_with("numpy.add")
    steps = arrays_of(recurrence)
    run = step_programs.AllSteps(recurrence, steps)
    run()
    before = steps["y"][-1].copy()
    steps["W"][0] *= np.float32(0.5)
    run()
    assert not np.array_equal(before, steps["y"][-1])
    np.testing.assert_allclose(steps["y"][-1], expected_of(recurrence, steps)["y"][-1], rtol=5e-6)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("name", ["numpy.tanh", "sigmoid.forward", "numpy.exp", "numpy.subtract"])
def test_nan_and_infinities(name, value):
    recurrence = step_with(name)
    steps = arrays_of(recurrence)
    steps["x"][1][2, 3] = value
    with np.errstate(all="ignore"):
        expected = expected_of(recurrence, steps)
    step_programs.AllSteps(recurrence, steps)()
    for each in recurrence.results:
        for found, right in zip(steps[each], expected[each], strict=True):
            np.testing.assert_allclose(found, right, rtol=5e-6, atol=5e-6)


@pytest.mark.parametrize("threads", [2, 3])
def test_threads_change_no_bit(threads, use_threads, monkeypatch):
    recurrence = step_with("sigmoid.backward")
    alone = arrays_of(recurrence, rows=27)
    step_programs.AllSteps(recurrence, alone)()
    divided = []
    run_parts = step_programs.run_parts

    def counted(loop, bounds, arguments):
        divided.append(len(bounds) - 1)
        run_parts(loop, bounds, arguments)

    monkeypatch.setattr(step_programs, "run_parts", counted)
    use_threads(threads)
    steps = arrays_of(recurrence, rows=27)
    step_programs.AllSteps(recurrence, steps)()
    assert divided == [threads]
    for name in recurrence.results:
        np.testing.assert_array_equal(steps[name], alone[name])


def changed(name, array):
    return lambda steps: {**steps, name: [array] * len(steps[name])}


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (changed("x", np.zeros((5, 19))), "arrays have different dtypes"),
        (changed("x", np.zeros((5, 19), "e")), "only contiguous arrays of float32 or float64"),
        (changed("x", np.zeros((19, 5), "f").T), "only contiguous arrays of float32"),
        (changed("x", np.zeros((5, 1), "f")), "another shape"),
        (changed("W", np.zeros((19, 18), "f")), "another shape"),
        (changed("b", np.zeros(1, "f")), "another shape"),
        (changed("state", np.zeros((4, 19), "f")), "another shape"),
        (changed("p", np.zeros((257, 19), "f")), "1 to 256 rows"),
        (changed("p", np.zeros((0, 19), "f")), "1 to 256 rows"),
    ],
)
def test_refusals(change, text):
    recurrence = step_with("numpy.add")
    steps = change(arrays_of(recurrence))
    assert text in step_programs.are_suitable(recurrence, specs_of(steps))


def test_refusals_of_recurrences():
    addition = recurrence_of(StepCall("numpy.add", ("state", "x"), "y"))
    assert "without products" in step_programs.are_suitable(addition, specs_of(arrays_of(addition)))
    varying = recurrence_of(StepCall("linear.forward", ("state", "W", None), "y"))
    assert "another shape" in step_programs.are_suitable(varying, specs_of(arrays_of(varying)))


def test_few_rows_of_many_units(use_threads):
    use_threads(2)
    recurrence = step_with("numpy.add")
    specs = specs_of(arrays_of(recurrence, rows=2, units=100))
    assert "threads" in step_programs.are_suitable(recurrence, specs)


@pytest.mark.parametrize(
    ("times", "rows", "units", "is_made"),
    [
        (3, 20, 64, False),
        (4, 3, 64, False),
        (4, 4, 64, True),
        (20, 19, 800, False),
        (20, 20, 800, True),
    ],
)
def test_few_rows(times, rows, units, is_made, monkeypatch):
    fewest = {"steps": 4, "rows of steps": 16, "rows of large steps": 384}
    for kind, count in fewest.items():
        monkeypatch.setitem(supports.MIN_ELEMENTS, kind, count)
    recurrence = step_with("numpy.add")
    specs = specs_of(arrays_of(recurrence, times, rows, units))
    answer = step_programs.are_suitable(recurrence, specs)
    assert answer is True if is_made else "too few rows" in answer


# -- cells of links -------------------------------------------------------------------------------


def trained(links, dtype="f"):
    """Returns losses, captured and as written, and what is said about the captured step."""
    losses = []
    text = ""
    for captures in (True, False):
        np.random.seed(0)
        with chainer.using_config("dtype", np.dtype(dtype)):
            model = chainer.ChainList(links())
        optimizer = chainer.optimizers.MomentumSGD(0.05).setup(model)

        def step(h, x, model=model, optimizer=optimizer):
            h, (cell,) = chainer.Variable(h), model
            total = 0
            for i in range(len(x)):
                h = cell(h[: len(x) - i], x[i, : len(x) - i])
                total += F.sum(h**2)
            loss = total / x.size
            model.cleargrads()
            loss.backward()
            optimizer.update()
            return loss

        run = chainer.capture(step, model, optimizer, on_failure="error") if captures else step
        rng = np.random.default_rng(1)
        batches = [rng.standard_normal((7, 6, 9)).astype(dtype) for _ in range(6)]
        losses.append([float(run(x[0], x).array) for x in batches])
        text += chainer.explain(run) if captures else ""
    return *losses, text


#: Compiling the loops of float64 takes ten seconds.
FLOAT64 = pytest.param("d", marks=pytest.mark.slow)


@pytest.mark.slow
def test_float64():
    found, expected, _ = trained(lambda: L.StatelessGRU(9, 9), "d")
    np.testing.assert_allclose(found, expected, rtol=1e-12)


class TwoStates(chainer.Chain):
    """A cell of a user, whose states are made from each other."""

    def __init__(self, units):
        super().__init__()
        with self.init_scope():
            self.of_x, self.of_c = L.Linear(units, units), L.Linear(units, units)
            self.of_h = L.Linear(units, units, nobias=True)
        self.reset_state()

    def reset_state(self):
        self.h = self.c = None

    def __call__(self, x):
        none = chainer.Variable(np.zeros(x.shape, x.dtype))
        h, c = (none if state is None else state for state in (self.h, self.c))
        gate = F.sigmoid(self.of_x(x) + self.of_c(c))
        self.c = gate * c + (1 - gate) * F.tanh(self.of_h(h) * 0.5)
        self.h = F.tanh(h + self.c)
        return self.h


class TwoLayers(chainer.ChainList):
    def __init__(self, units):
        super().__init__(L.StatefulGRU(units, units), L.StatefulGRU(units, units))

    def reset_state(self):
        for layer in self:
            layer.reset_state()

    def __call__(self, x):
        return self[1](self[0](x))


def compared(make, dtype, step=None, times=9, calls=6, units=6):
    """Compares losses of a training, captured and as written; returns the explanation."""
    losses = []
    for captures in (True, False):
        np.random.seed(0)
        with chainer.using_config("dtype", np.dtype(dtype)):
            model = make(units)
        optimizer = chainer.optimizers.MomentumSGD(0.05).setup(model)

        def train(xs, model=model, optimizer=optimizer):
            model.reset_state()
            body = step or (lambda model, xs: sum([F.sum(model(x) ** 2) for x in xs]))
            loss = body(model, [xs[i] for i in range(len(xs))]) / xs.size
            model.cleargrads()
            loss.backward()
            optimizer.update()
            return loss

        run = train
        if captures:
            run = capture = chainer.capture(train, model, optimizer, on_failure="error")
        rng = np.random.default_rng(1)
        batches = [rng.standard_normal((times, 5, units)).astype(dtype) for _ in range(calls)]
        losses.append([float(run(xs).array) for xs in batches])
    # Sums of tens of numbers, over some steps of training.
    np.testing.assert_allclose(*losses, rtol=1e-5 if dtype == "f" else 1e-12)
    return chainer.explain(capture)


@pytest.mark.parametrize("dtype", ["f", FLOAT64])
@pytest.mark.parametrize(
    ("make", "layers"),
    [
        (lambda n: L.StatefulPeepholeLSTM(n, n), 2),
        (lambda n: L.StatefulMGU(n, n), 2),
        (lambda n: L.StatefulGRU(n, n), 2),
        (lambda n: L.LSTM(n, n), 2),
        (TwoStates, 2),
        (TwoLayers, 4),
    ],
    ids=["peephole", "mgu", "gru", "lstm", "two states", "two layers"],
)
def test_one_call_for_each_layer_and_direction(make, layers, dtype):
    assert f"{layers} of them all steps of a layer" in compared(make, dtype)


def test_a_layer_that_is_used_twice():
    def step(model, xs):
        first = [model(x) for x in xs]
        model.reset_state()
        return sum([F.sum(model(y) ** 2) for y in first])

    assert "all steps of a layer" in compared(TwoStates, "f", step)


def test_states_that_are_read_between_the_steps():
    def step(model, xs):
        total = 0
        for i, x in enumerate(xs):
            total += F.sum(model(x) ** 2)
            if i == 4:
                total += F.sum(model.c * 3)
        return total

    assert "all steps of a layer" in compared(TwoStates, "f", step)


def test_states_that_are_changed_between_the_steps():
    def step(model, xs):
        total = 0
        for i, x in enumerate(xs):
            total += F.sum(model(x) ** 2)
            if i == 4:
                model.c = chainer.Variable(model.c.array)
                model.c.array[:, 0] = 0.5
        return total

    compared(TwoStates, "f", step, times=12)


@pytest.mark.parametrize("dtype", ["f", FLOAT64])
def test_nan_in_cells(dtype):
    np.random.seed(0)
    with chainer.using_config("dtype", np.dtype(dtype)):
        cell = TwoStates(4)

    def step(xs):
        cell.reset_state()
        return F.stack([cell(xs[i]) for i in range(len(xs))])

    run = chainer.capture(step, cell, on_failure="error")
    xs = np.random.default_rng(0).standard_normal((6, 5, 4)).astype(dtype)
    for value in (0, 0, 0, 0, np.nan, np.inf):
        xs[2, 1, 3] = value
        np.testing.assert_allclose(run(xs).array, step(xs).array, rtol=1e-5, atol=1e-6)
    assert "1 of them all steps of a layer" in chainer.explain(run)


def test_steps_that_use_a_row_with_another_row():
    recurrence = recurrence_of(
        StepCall("linear.forward", ("state", "W", None), "p"),
        StepCall("numpy.tanh", ("shifted",), "y"),
        fixed=("W",),
        # The rows of ``p``, each in the place of the one before.
        parts={"shifted": Part("p", 19, (5, 19), (19, 1))},
    )
    steps = arrays_of(recurrence)
    for name in ("p",):
        steps[name] = [np.empty(6 * 19, "f") for _ in steps[name]]
    assert step_programs.are_suitable(recurrence, specs_of(steps)) is not True


def test_batches_that_become_smaller():
    found, expected, _ = trained(lambda: L.StatelessGRU(9, 9))
    np.testing.assert_allclose(found, expected, rtol=2e-5)


@pytest.mark.parametrize("link", [L.StatelessMGU, L.StatelessGRU])
def test_states_that_pass_from_step_to_step(link):
    """Truncated backpropagation: the state is an argument and a result."""
    np.random.seed(0)
    cell = link(6, 6)

    def step(h, x):
        h = chainer.Variable(h)
        ys = []
        for i in range(len(x)):
            h = cell(h, x[i])
            ys.append(h)
        loss = F.sum(F.stack(ys) ** 2)
        gradients = chainer.grad([loss], list(cell.params()))
        h.unchain_backward()
        return h, *gradients

    run = chainer.capture(step, cell, on_failure="error")
    rng = np.random.default_rng(0)
    h = np.zeros((3, 6), "f")
    for _ in range(5):
        x = rng.standard_normal((5, 3, 6), "f")
        results = run(h, x), step(h, x)
        for a, b in zip(*results, strict=True):
            np.testing.assert_allclose(a.array, b.array, rtol=1e-4, atol=1e-5)
        h = results[0][0].array
    assert "2 of them all steps" in chainer.explain(run)


def test_gradients_of_gradients():
    np.random.seed(0)
    cell = L.StatelessGRU(5, 5)

    def step(h, x):
        h, x = chainer.Variable(h), chainer.Variable(x)
        total = 0
        for i in range(4):
            h = cell(h, x[i])
            total += F.sum(h**2)
        (gx,) = chainer.grad([total], [x], enable_double_backprop=True)
        return chainer.grad([F.sum(gx**2)], [cell.U.W])[0]

    run = chainer.capture(step, cell, on_failure="error")
    rng = np.random.default_rng(0)
    for _ in range(5):
        h, x = rng.standard_normal((3, 5), "f"), rng.standard_normal((4, 3, 5), "f")
        np.testing.assert_allclose(run(h, x).array, step(h, x).array, rtol=1e-3, atol=1e-5)


def test_cells_written_by_hand():
    np.random.seed(0)
    net = chainer.Sequential(L.Linear(5, 5), L.Linear(5, 5))

    def step(h, x):
        h = chainer.Variable(h)
        for i in range(len(x)):
            h = F.tanh(net[0](h) + x[i]) * F.sigmoid(net[1](h))
        return chainer.grad([F.sum(h)], [net[0].W])[0]

    run = chainer.capture(step, net, on_failure="error")
    rng = np.random.default_rng(0)
    for _ in range(5):
        h, x = rng.standard_normal((3, 5), "f"), rng.standard_normal((6, 3, 5), "f")
        np.testing.assert_allclose(run(h, x).array, step(h, x).array, rtol=1e-3, atol=1e-5)
    assert "2 of them all steps of a layer" in chainer.explain(run)
