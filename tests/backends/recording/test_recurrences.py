"""Steps of recurrent layers that the kernel of a third party makes in one call."""

import numpy as np
import pytest

import chainer
import chainer.functions as F
from chainer.kernel import Kernel, Recurrence, StepCall, get_operation, register_kernel

pytestmark = pytest.mark.usefixtures("accelerated", "provider")

made = []
ADDITION = StepCall("numpy.add", ("h", "x"), "total")
SOFTPLUS = StepCall("softplus.forward", ("total", "_"), "y")

DECLARED = {
    "calls": (ADDITION, SOFTPLUS),
    "carried": {"y": "h"},
    "fixed": (),
    "results": ("y",),
    "method": "all_steps",
    "supports": "supports_steps",
}


class SoftplusKernel:
    """Makes all steps ``h = softplus(h + x)`` of a layer."""

    recurrences = (
        Recurrence((ADDITION, SOFTPLUS), {"y": "h"}, (), ("y",), "all_steps", "supports_steps"),
    )
    answer, factor = True, 1

    def __init__(self, backend):
        reference = get_operation("softplus").reference_for(backend)
        self.forward, self.backward = reference.forward, reference.backward

    def supports_steps(self, steps):
        assert all(a.shape == steps["h"][0].shape for a in (*steps["x"], *steps["y"]))
        assert set(steps) == {"h", "x", "y"}
        return self.answer

    def all_steps(self, steps):
        (h,) = steps["h"]

        def run():
            made.append([y is not None for y in steps["y"]])
            total = h
            for x, y in zip(steps["x"], steps["y"], strict=True):
                total = self.forward(total + x, 1.0) * np.float32(self.factor)
                if y is not None:
                    y[...] = total

        return run


class Plugin:
    def chainer_kernels(self, registry):
        register_kernel(Kernel("softplus", np.ndarray, "tiles", SoftplusKernel), registry)


def layer(h, xs):
    h = chainer.as_variable(h)
    ys = []
    for x in xs:
        h = F.softplus(h + x)
        ys.append(h)
    return ys


def captured(step, shape=(5, 3, 4), calls=5):
    run = chainer.capture(step, on_failure="error")
    rng = np.random.default_rng(0)
    for _ in range(calls):
        h, x = rng.standard_normal(shape[1:], "f"), rng.standard_normal(shape, "f")
        found, expected = run(h, x), step(h, x)
        if isinstance(found, chainer.Variable):
            found, expected = (found,), (expected,)
        for a, b in zip(found, expected, strict=True):
            np.testing.assert_allclose(a.array, b.array, rtol=1e-5)
    return chainer.explain(run)


def test_all_steps_become_one_call():
    text = captured(lambda h, x: layer(h, x)[-1])
    assert "1 of them all steps of a layer" in text
    assert made[-1] == [False] * 4 + [True]


def test_results_that_others_read_are_written():
    assert "all steps" in captured(lambda h, x: tuple(layer(h, x)[1:]))
    assert made[-1] == [False] + [True] * 4


def test_two_layers_are_two_calls():
    text = captured(lambda h, x: layer(h, layer(h, x))[-1])
    assert "2 of them all steps of a layer" in text


def test_a_changed_shape_begins_another_layer():
    def step(h, x):
        ys = layer(h, x[:3])
        return layer(ys[-1][:2], x[3:, :2])[-1]

    assert "2 of them all steps of a layer" in captured(step)


def test_gradients_are_those_of_the_step_as_written():
    def step(h, x):
        h, x = chainer.Variable(h), chainer.Variable(x)
        ys = layer(h, [x[i] for i in range(len(x))])
        F.sum(ys[-1] * ys[-1]).backward()
        return h.grad_var, x.grad_var

    # Gradients of softplus read the sums between, so that the steps stay single calls.
    assert "all steps" not in captured(step)
    assert not made


def test_not_where_a_step_needs_what_is_computed_from_the_step_before():
    def step(h, x):
        total = x[0]
        for i in range(len(x)):
            h = F.softplus(h + total)
            total = F.exp(-h) + x[i]
        return h

    assert "all steps" not in captured(step)
    assert not made


def test_not_where_something_else_reads_what_the_kernel_does_not_write():
    def step(h, x):
        totals = []
        for i in range(len(x)):
            total = h + chainer.as_variable(x[i])
            totals.append(total * 2)
            h = F.softplus(total)
        return h, *totals

    assert "all steps" not in captured(step)
    assert not made


def test_not_for_a_single_step():
    assert "all steps" not in captured(lambda h, x: layer(h, x)[-1], (1, 3, 4))


def test_not_where_the_kernel_does_not_support_it(monkeypatch):
    monkeypatch.setattr(SoftplusKernel, "answer", False)
    assert "all steps" not in captured(lambda h, x: layer(h, x)[-1])
    assert not made


@pytest.mark.parametrize("setting", [{"kernels": ()}, {"accelerate": "never"}])
def test_not_with_other_providers_or_without_the_switch(setting):
    # Without the switch, results have the bits of the step as written.
    ((name, value),) = setting.items()
    with chainer.using_config(name, value):
        assert "all steps" not in captured(lambda h, x: layer(h, x)[-1])
    assert not made


def test_a_wrong_result_is_found(monkeypatch):
    monkeypatch.setattr(SoftplusKernel, "factor", 1.5)
    with pytest.raises(RuntimeError, match="differ"):
        captured(lambda h, x: layer(h, x)[-1])


@pytest.mark.parametrize(
    ("changes", "error", "text"),
    [
        ({"calls": ("numpy.add",)}, TypeError, "must be StepCall objects, got 'numpy.add'"),
        ({"calls": ()}, ValueError, "one or more, got none"),
        ({"carried": {"z": "h"}}, ValueError, "'z' of a Recurrence is not the result"),
        ({"carried": {"y": "total"}}, ValueError, "'total' of a Recurrence is not an argument"),
        ({"carried": {}}, ValueError, "carried of a Recurrence must name"),
        ({"fixed": ("W",)}, ValueError, "'W' of a Recurrence is not an argument"),
        ({"results": ("x",)}, ValueError, "'x' of a Recurrence is not the result"),
    ],
)
def test_declarations_are_checked(changes, error, text):
    with pytest.raises(error, match=text):
        Recurrence(**{**DECLARED, **changes})


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"calls": ADDITION}, "calls of a Recurrence must be StepCall objects, got 'numpy.add'"),
        ({"calls": "numpy.add"}, "calls of a Recurrence must be a tuple, got 'numpy.add'"),
        ({"fixed": "W"}, "fixed of a Recurrence must be a tuple, got 'W'"),
        ({"results": "y"}, "results of a Recurrence must be a tuple, got 'y'"),
        ({"carried": (("y", "h"),)}, "carried of a Recurrence must be a dict, got"),
        ({"method": len}, "method of a Recurrence must be the name of a method, got <built-in"),
        ({"supports": None}, "supports of a Recurrence must be the name of a method, got None"),
        ({"calls": (StepCall("add", ("h", "x"), "y"),)}, "'numpy.add', got 'add'"),
        ({"calls": (StepCall("numpy.add", "hx", "y"),)}, "arguments .* tuple of names .* got 'hx'"),
        ({"calls": (StepCall("numpy.add", ("h", 1), "y"),)}, r"arguments .* got \('h', 1\)"),
        ({"calls": (StepCall("numpy.add", ("h", "x"), None),)}, "results .* got None"),
    ],
)
def test_types_of_declarations_are_checked(changes, text):
    with pytest.raises(TypeError, match=text):
        Recurrence(**{**DECLARED, **changes})


def recurrence(**changes):
    return Recurrence(**{**DECLARED, **changes})


@pytest.mark.parametrize(
    ("declared", "error", "text"),
    [
        (recurrence(), TypeError, "must be a tuple of Recurrence objects, got Recurrence"),
        ((DECLARED,), TypeError, "must be Recurrence objects, got {'calls'"),
        ((recurrence(method="steps"),), TypeError, "method is 'steps', and the kernel has no such"),
        ((recurrence(supports="answer"),), TypeError, "supports is 'answer', and the kernel"),
        (
            (recurrence(calls=(ADDITION, StepCall("sofplus.forward", ("total", "_"), "y"))),),
            ValueError,
            "'sofplus.forward' is neither a method of an operation nor a ufunc of NumPy",
        ),
        (
            (recurrence(calls=(StepCall("numpy.ad", ("h", "x"), "y"),)),),
            ValueError,
            "'numpy.ad' is neither a method of an operation nor a ufunc of NumPy",
        ),
        (
            (recurrence(calls=(ADDITION, StepCall("softplus.forwards", ("total", "_"), "y"))),),
            ValueError,
            "'softplus.forwards' is neither a method of an operation nor a ufunc of NumPy",
        ),
    ],
)
def test_what_a_kernel_declares_is_checked(declared, error, text, monkeypatch):
    monkeypatch.setattr(SoftplusKernel, "recurrences", declared)
    text = f"{error.__name__}: recurrences of the kernel SoftplusKernel.*{text}"
    with pytest.raises(RuntimeError, match=text):
        captured(lambda h, x: layer(h, x)[-1])


def raising(self, steps):
    raise KeyError("hh")


def test_answers_of_supports(monkeypatch):
    monkeypatch.setattr(SoftplusKernel, "answer", "only two dimensions")
    assert "all steps" not in captured(lambda h, x: layer(h, x)[-1])
    monkeypatch.setattr(SoftplusKernel, "answer", np.True_)
    assert "all steps" in captured(lambda h, x: layer(h, x)[-1])
    monkeypatch.setattr(SoftplusKernel, "answer", None)
    text = r"supports_steps\(\) of the kernel SoftplusKernel must return True, False or a reason, "
    with pytest.raises(RuntimeError, match=text + "got None"):
        captured(lambda h, x: layer(h, x)[-1])


@pytest.mark.parametrize(
    ("name", "method", "error", "text"),
    [
        ("supports_steps", raising, KeyError, "hh"),
        ("supports_steps", lambda self: True, TypeError, "positional argument"),
        ("all_steps", raising, KeyError, "hh"),
        ("all_steps", lambda self, steps, *, threads: None, TypeError, "'threads'"),
        ("all_steps", lambda self, steps: lambda: steps["hh"], KeyError, "hh"),
        ("all_steps", lambda self, steps: lambda x: x, TypeError, "'x'"),
        (
            "all_steps",
            lambda self, steps: lambda: np.copyto(steps["y"][-1], np.ones(7)),
            ValueError,
            "broadcast",
        ),
    ],
)
def test_errors_name_the_kernel(name, method, error, text, monkeypatch):
    monkeypatch.setattr(SoftplusKernel, name, method)
    text = rf"{name}\(\) of the kernel SoftplusKernel, which .* raised {error.__name__}: .*{text}"
    with pytest.raises(RuntimeError, match=text):
        captured(lambda h, x: layer(h, x)[-1])


def test_a_method_that_returns_no_function(monkeypatch):
    monkeypatch.setattr(SoftplusKernel, "all_steps", lambda self, steps: None)
    with pytest.raises(RuntimeError, match=r"all_steps\(\) of .* must return a function without"):
        captured(lambda h, x: layer(h, x)[-1])


@pytest.mark.parametrize(
    ("error", "expected", "text"),
    [(KeyError("hh"), RuntimeError, "SoftplusKernel.*hh"), (MemoryError("no"), MemoryError, "no")],
)
def test_errors_of_later_calls_reach_the_program(error, expected, text, monkeypatch):
    right = SoftplusKernel.all_steps
    fails = []

    def all_steps(self, steps):
        run = right(self, steps)

        def run_or_fail():
            if fails:
                raise error
            run()

        return run_or_fail

    monkeypatch.setattr(SoftplusKernel, "all_steps", all_steps)
    step = chainer.capture(lambda h, x: layer(h, x)[-1], on_failure="error")
    h, x = np.ones((3, 4), "f"), np.ones((5, 3, 4), "f")
    for _ in range(4):
        step(h, x)
    fails.append(True)
    with pytest.raises(expected, match=text):
        step(h, x)
