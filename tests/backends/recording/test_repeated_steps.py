"""Steps that no kernel declares: the compiler of a third party makes all of them in one call."""

import numpy as np
import pytest

import chainer
import chainer.functions as F
import chainer.links as L
from chainer.backends.numpy.recording import repeated_steps
from chainer.kernel import Kernel, StepCall, get_operation, register_kernel

pytestmark = pytest.mark.usefixtures("accelerated", "provider")

#: The calls of which steps may consist, written with NumPy.
CALLS = {
    "numpy.add": np.add,
    "numpy.subtract": np.subtract,
    "numpy.multiply": np.multiply,
    "numpy.negative": np.negative,
    "numpy.exp": np.exp,
    "numpy.reciprocal": np.reciprocal,
    "numpy.tanh": np.tanh,
    "numpy.matmul": np.matmul,
    "linear.forward": lambda x, W, b=None: x @ W.T + (0 if b is None else b),
    "linear.backward_data": np.matmul,
}

#: For each call of a layer: the recurrence, and which results of each step are read.
made = []


class Compiler:
    """Makes the calls of all steps one after the other."""

    step_calls = frozenset(CALLS)
    answer, factor = True, 1

    def __init__(self, backend):
        pass

    def compile(self, parts):
        return None

    def supports_steps(self, recurrence, steps):
        assert set(steps) == {
            *(*recurrence.inputs, *recurrence.fixed, *recurrence.results),
            *recurrence.carried.values(),
        }
        return self.answer

    def all_steps(self, recurrence, steps):
        ((last, state),) = recurrence.carried.items()

        def run():
            made.append((recurrence, {n: [a is not None for a in steps[n]] for n in steps}))
            values = {name: steps[name][0] for name in (state, *recurrence.fixed)}
            for t in range(len(steps[last])):
                values.update({name: steps[name][t] for name in recurrence.inputs})
                for call in recurrence.calls:
                    given = [values[a] if isinstance(a, str) else a for a in call.arguments]
                    values[call.results] = CALLS[call.name](*given)
                values[last] = values[last] * np.float32(self.factor)
                for name in recurrence.results:
                    if steps[name][t] is not None:
                        steps[name][t][...] = values[name]
                values[state] = values[last]

        return run


class Linear:
    """The reference, whose calls are recorded as they are."""

    def __init__(self, backend):
        reference = get_operation("linear").reference_for(backend)
        self.forward = reference.forward
        self.backward_data = reference.backward_data
        self.backward_weight = reference.backward_weight


class Plugin:
    def chainer_kernels(self, registry):
        register_kernel(Kernel("native_loops", np.ndarray, "tiles", Compiler), registry)
        register_kernel(Kernel("linear", np.ndarray, "tiles", Linear), registry)


WEIGHTS = [np.random.default_rng(n).standard_normal((4, 4)).astype("f") / 2 for n in range(2)]


def layer(h, xs, *weights):
    """Returns all outputs; each step makes a product with each weight."""
    ys = []
    for x in xs:
        for W in weights or WEIGHTS[:1]:
            h = F.tanh(F.linear(h, W) + x)
        ys.append(h)
    return ys


def captured(step, shape=(6, 3, 4), calls=5):
    """Compares with the step as written; returns what is said about the captured step."""
    run = chainer.capture(step, on_failure="error")
    rng = np.random.default_rng(0)
    for _ in range(calls):
        h, x = rng.standard_normal(shape[1:], "f"), rng.standard_normal(shape, "f")
        found, expected = run(h, x), step(h, x)
        if isinstance(found, chainer.Variable):
            found, expected = (found,), (expected,)
        for a, b in zip(found, expected, strict=True):
            np.testing.assert_allclose(a.array, b.array, rtol=1e-5, atol=1e-6)
    return chainer.explain(run)


def test_all_steps_become_one_call():
    text = captured(lambda h, x: layer(h, x)[-1])
    assert "1 of them all steps of a layer" in text
    recurrence, are_read = made[-1]
    product, addition, last = recurrence.calls
    assert product == StepCall("linear.forward", ("state_0", "input_0", None), "result_0")
    assert addition.name == "numpy.add"
    assert set(addition.arguments) == {"result_0", *recurrence.inputs}
    assert last == StepCall("numpy.tanh", ("result_1",), "result_2")
    assert recurrence.carried == {"result_2": "state_0"}
    assert recurrence.fixed == ("input_0",)
    assert are_read["result_2"] == [False] * 5 + [True]
    assert are_read["result_0"] == [False] * 6


def test_results_that_others_read_are_written():
    assert "all steps" in captured(lambda h, x: tuple(layer(h, x)[1:]))
    assert made[-1][1]["result_2"] == [False] + [True] * 5


def test_gradients_are_found_as_well():
    def step(h, x):
        h, x, W = chainer.Variable(h), chainer.Variable(x), chainer.Variable(WEIGHTS[0].copy())
        ys = layer(h, [x[i] for i in range(len(x))], W)
        sum([F.sum(y * y) for y in ys]).backward()
        return h.grad_var, x.grad_var, W.grad_var

    assert "2 of them all steps of a layer" in captured(step)
    names = {call.name for call in made[-1][0].calls}
    # The derivative of tanh is made in the step, too: nothing else reads it.
    assert names == {"linear.backward_data", "numpy.add", "numpy.multiply", "numpy.subtract"}


def test_two_layers_are_two_calls():
    text = captured(lambda h, x: layer(h, layer(h, x), WEIGHTS[1])[-1])
    assert "2 of them all steps of a layer" in text


def test_two_cells_in_turn_are_one_step():
    assert "1 of them all steps of a layer" in captured(lambda h, x: layer(h, x, *WEIGHTS)[-1])
    recurrence = made[-1][0]
    assert [call.name for call in recurrence.calls].count("linear.forward") == 2
    assert len(recurrence.fixed) == 2


def test_a_step_takes_in_what_comes_back_to_it():
    def step(h, x):
        for i in range(len(x)):
            # The input of a step is computed from the output of the step before.
            h = F.tanh(F.linear(h, WEIGHTS[0]) + F.tanh(h * x[i]))
        return h

    assert "1 of them all steps of a layer" in captured(step)
    assert len(made[-1][0].calls) == 5


def test_gated_units():
    np.random.seed(0)
    link = L.StatelessGRU(4, 4)

    def step(h, x):
        for i in range(len(x)):
            h = link(h, x[i])
        return h

    assert "1 of them all steps of a layer" in captured(step)
    recurrence = made[-1][0]
    assert [call.name for call in recurrence.calls].count("linear.forward") == 3
    # One minus a gate: numbers are arguments of their own.
    assert 1.0 in [a for call in recurrence.calls for a in call.arguments]
    assert len(recurrence.inputs) == 3


def test_a_changed_shape_begins_another_layer():
    def step(h, x):
        ys = layer(h, x[:4])
        return layer(ys[-1][:2], x[4:, :2])[-1]

    assert "2 of them all steps of a layer" in captured(step, (8, 3, 4))


@pytest.mark.parametrize("numbers", [(0.5, 0.25), (0.0, -0.0)])
def test_steps_with_another_number_stay_single_calls(numbers):
    def step(h, x):
        for i in range(len(x)):
            h = F.tanh(F.linear(h, WEIGHTS[0]) * numbers[i % 2]) + x[i]
        return h

    assert "all steps" not in captured(step)


def test_not_where_a_step_makes_a_call_that_the_compiler_does_not_know():
    def step(h, x):
        for i in range(len(x)):
            h = F.cumsum(F.tanh(F.linear(h, WEIGHTS[0]) + x[i]), axis=1)
        return h

    assert "all steps" not in captured(step)


def test_not_where_a_step_reads_what_comes_from_two_steps_before():
    def step(h, x):
        before = chainer.as_variable(x[0])
        for _ in range(len(x)):
            h, before = F.tanh(F.linear(h, WEIGHTS[0]) + before), h
        return h

    assert "all steps" not in captured(step)


def test_other_readers_between_the_steps_are_served():
    def step(h, x):
        sums, products = [], []
        for i in range(len(x)):
            product = F.linear(h, WEIGHTS[0])
            h = F.tanh(product + x[i])
            products.append(product * 3)
            sums.append(F.sum(h))
        return h, *sums, *products

    assert "1 of them all steps of a layer" in captured(step)
    assert all(made[-1][1]["result_0"])


def test_not_for_two_steps():
    assert "all steps" not in captured(lambda h, x: layer(h, x)[-1], (2, 3, 4))


def test_not_in_long_programs(monkeypatch):
    monkeypatch.setattr(repeated_steps, "_LONGEST_PROGRAM", 10)
    assert "all steps" not in captured(lambda h, x: layer(h, x)[-1])


def test_not_by_a_provider_that_is_not_named():
    # chainer-numba makes the steps where it is installed: it takes part by the switch alone.
    with chainer.using_config("kernels", ()):
        captured(lambda h, x: layer(h, x)[-1])
    assert not made


def test_not_without_the_switch():
    with chainer.using_config("accelerate", "never"):
        assert "all steps" not in captured(lambda h, x: layer(h, x)[-1])
    assert not made


def test_answers_of_supports(monkeypatch):
    monkeypatch.setattr(Compiler, "answer", "only two dimensions")
    assert "all steps" not in captured(lambda h, x: layer(h, x)[-1])
    monkeypatch.setattr(Compiler, "answer", None)
    text = (
        r"supports_steps\(\) of the kernel Compiler must return True, False or a reason, got None"
    )
    with pytest.raises(RuntimeError, match=text):
        captured(lambda h, x: layer(h, x)[-1])


def test_a_wrong_result_is_found(monkeypatch):
    monkeypatch.setattr(Compiler, "factor", 1.5)
    with pytest.raises(RuntimeError, match="differ"):
        captured(lambda h, x: layer(h, x)[-1])


@pytest.mark.parametrize(
    ("calls", "error", "text"),
    [
        (
            "numpy.add",
            TypeError,
            "step_calls .* Compiler must be a set of names .* got 'numpy.add'",
        ),
        ({1}, TypeError, "must be a set of names of calls, got {1}"),
        ({"numpy.ad"}, ValueError, "'numpy.ad' is neither a method of an operation nor a ufunc"),
        ({"add"}, ValueError, "'add' is neither a method of an operation nor a ufunc"),
    ],
)
def test_what_a_compiler_declares_is_checked(calls, error, text, monkeypatch):
    monkeypatch.setattr(Compiler, "step_calls", calls)
    with pytest.raises(RuntimeError, match=f"{error.__name__}: .*{text}"):
        captured(lambda h, x: layer(h, x)[-1])


def test_a_compiler_without_a_method(monkeypatch):
    monkeypatch.setattr(Compiler, "all_steps", None)
    with pytest.raises(RuntimeError, match="Compiler: the kernel has no method 'all_steps'"):
        captured(lambda h, x: layer(h, x)[-1])


def raising(self, *arguments):
    raise KeyError("hh")


@pytest.mark.parametrize(
    ("name", "method"),
    [
        ("supports_steps", raising),
        ("all_steps", raising),
        ("all_steps", lambda self, recurrence, steps: lambda: steps["hh"]),
    ],
)
def test_errors_name_the_kernel(name, method, monkeypatch):
    monkeypatch.setattr(Compiler, name, method)
    with pytest.raises(
        RuntimeError, match=rf"{name}\(\) of the kernel Compiler, .* KeyError: .*hh"
    ):
        captured(lambda h, x: layer(h, x)[-1])
