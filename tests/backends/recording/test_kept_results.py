"""Results of kernels of a third party that later calls get without a copy."""

import gc
import weakref

import numpy as np
import pytest

import chainer
import chainer.functions as F
from chainer.kernel import Kernel, get_operation, register_kernel

pytestmark = pytest.mark.usefixtures("provider")

#: For each call a weak reference to the state that it returned, and whether it got the state that
#: the call before it had returned.
made = []


def as_they_are(*arrays):
    return arrays


class LSTMCellKernel:
    """Makes new arrays, which ``change`` may lay out in another way."""

    change = staticmethod(as_they_are)
    given = None

    def __init__(self, backend):
        self._reference = get_operation("lstm_cell").reference_for(backend)

    def forward(self, c_prev, x):
        is_the_last = bool(made) and made[-1][0]() is c_prev
        results = self._reference.forward(c_prev, x)
        type(self).given = c_prev
        arrays = type(self).change(*results)
        type(self).given = None
        made.append((weakref.ref(arrays[0]), is_the_last))
        return arrays

    def backward(self, c_prev, x, c, saved, gc, gh):
        return self._reference.backward(c_prev, x, c, saved, gc, gh)


class Plugin:
    def chainer_kernels(self, registry):
        register_kernel(Kernel("lstm_cell", np.ndarray, "tiles", LSTMCellKernel), registry)


def inputs(seed, rows=3):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((rows, 5), "f"), rng.standard_normal((rows, 20), "f")


def cells(c, x):
    c, x = chainer.Variable(c), chainer.Variable(x)
    new_c, h = F.lstm(c, x)
    new_c, h = F.lstm(new_c, x * 2)
    F.sum(h * h + new_c).backward()
    assert c.grad_var is not None and x.grad_var is not None
    return h * 2, c.grad_var, x.grad_var


def check(step, rows=3):
    """Compares a captured step with the step as written; returns the captured one."""
    run = chainer.capture(step, on_failure="error")
    for seed in range(5):
        found = run(*inputs(seed, rows))
        for a, b in zip(found, step(*inputs(seed, rows)), strict=True):
            np.testing.assert_array_equal(a.array, b.array)
    return run


def test_the_next_kernel_gets_the_array_that_the_first_one_made():
    run = check(cells)
    made.clear()
    run(*inputs(9))
    assert [is_the_last for _, is_the_last in made] == [False, True]


def test_results_are_freed_when_the_step_ends():
    run = check(cells)
    made.clear()
    run(*inputs(9))
    gc.collect()
    assert [reference() for reference, _ in made] == [None, None]


@pytest.mark.parametrize("step", [cells, F.lstm], ids=["cells", "results of a kernel"])
def test_outputs_of_a_call_stay_as_they_are(step):
    run = check(step)
    first = run(*inputs(1))
    copies = [y.array.copy() for y in first]
    run(*inputs(2))
    for y, copy in zip(first, copies, strict=True):
        np.testing.assert_array_equal(y.array, copy)


@pytest.mark.parametrize("rows", [3, 600])
def test_views_of_results(rows):
    """Views of large results are made, views of small ones are copied."""

    def step(c, x):
        new_c, h = F.lstm(c, x)
        array = new_c.array
        array[1] *= 3
        turned = F.reshape(h, (5, rows)).T
        return F.lstm(turned, x + 1)[1], F.lstm(array, x)[1] + new_c[:, ::-1], new_c[2:] * 2

    check(step, rows)


def test_a_kernel_may_return_an_argument_in_one_call_and_not_in_another(monkeypatch):
    def step(c, x):
        first = chainer.Variable(c * 2)
        new_c = F.lstm(first, x)[0]
        # These take the place of the argument, which nothing needs any more.
        others = [first * 0 + i for i in range(3)]
        return (new_c * 1, *others)

    run = check(step)

    def with_the_argument(c, h, gates):
        return LSTMCellKernel.given, h, gates

    monkeypatch.setattr(LSTMCellKernel, "change", staticmethod(with_the_argument))
    found = run(*inputs(8))
    np.testing.assert_array_equal(found[0].array, inputs(8)[0] * 2)


def test_a_result_that_is_changed_in_its_place():
    def step(c, x):
        new_c, h = F.lstm(c, x)
        array = new_c.array
        array += 1
        array[1] *= 3
        y, other = F.lstm(array, x)
        return y, other, h, chainer.Variable(array[:2] * 1)

    check(step)


@pytest.mark.parametrize("number", [0, 1])
def test_results_that_are_parts_of_one_array(monkeypatch, number):
    def parts(c, h, gates):
        both = np.stack([c, h])
        if number == 0:
            return both[0], both[1], gates
        wide = np.concatenate([c, h], axis=1)  # no part is contiguous
        return wide[:, :5], wide[:, 5:], gates

    monkeypatch.setattr(LSTMCellKernel, "change", staticmethod(parts))
    check(cells)


def test_results_that_overlap(monkeypatch):
    def overlapping(c, h, gates):
        both = np.concatenate([c, h[1:]])
        return both[:3], both[2:], gates

    monkeypatch.setattr(LSTMCellKernel, "change", staticmethod(overlapping))

    def step(c, x):
        new_c, h = F.lstm(c, x)
        return F.lstm(new_c, x)[1], F.lstm(h, x)[1]

    check(step)


class Other(np.ndarray):
    pass


@pytest.mark.parametrize(
    "layout",
    [
        np.asfortranarray,
        lambda a: a.astype(np.float64),
        lambda a: a.view(Other),
        lambda a: np.repeat(a, 2, axis=-1)[..., ::2],
    ],
    ids=["fortran", "float64", "subclass", "strided"],
)
def test_a_kernel_may_lay_its_results_out_in_another_way_in_each_call(monkeypatch, layout):
    run = check(cells)
    monkeypatch.setattr(
        LSTMCellKernel, "change", staticmethod(lambda *arrays: tuple(map(layout, arrays)))
    )
    found = run(*inputs(7))
    monkeypatch.setattr(LSTMCellKernel, "change", staticmethod(as_they_are))
    for a, b in zip(found, cells(*inputs(7)), strict=True):
        np.testing.assert_array_equal(a.array, b.array)
        assert type(a.array) is np.ndarray
        assert a.dtype == np.float32


def test_a_result_of_another_shape_is_refused(monkeypatch):
    run = check(cells)
    monkeypatch.setattr(LSTMCellKernel, "change", staticmethod(lambda c, h, g: (c[:2], h, g)))
    message = r"LSTMCellKernel\.forward has the shape \(2, 5\); when the step was recorded"
    with pytest.raises(Exception, match=message):
        run(*inputs(7))


def test_steps_of_many_calls():
    # The lines of the step are several functions, which share what kernels return.
    def step(c, x):
        h = chainer.Variable(c)
        c = h
        for _ in range(150):
            c, h = F.lstm(c, x)
            x = x + F.tile(h, (1, 4)).array * 0.1
        return c, h

    check(step)
