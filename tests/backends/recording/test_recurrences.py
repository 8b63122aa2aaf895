"""Steps of recurrent layers that the kernel of a third party makes in one call."""

import numpy as np
import pytest

import chainer
import chainer.functions as F
from chainer.kernel import Kernel, Recurrence, StepCall, get_operation, register_kernel

made = []
ADDITION = StepCall("numpy.add", ("h", "x"), "total")
SOFTPLUS = StepCall("softplus.forward", ("total", "_"), "y")


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


@pytest.fixture(autouse=True)
def provider():
    made.clear()
    plugin = Plugin()
    chainer.plugins.register(plugin)
    with (
        chainer.using_config("accelerate", "auto"),
        chainer.using_config("kernels", ("tiles",)),
    ):
        yield
    chainer.plugins.unregister(plugin)


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
    declared = {
        "calls": (ADDITION, SOFTPLUS),
        "carried": {"y": "h"},
        "fixed": (),
        "results": ("y",),
        "method": "all_steps",
        "supports": "supports_steps",
    }
    with pytest.raises(error, match=text):
        Recurrence(**{**declared, **changes})
