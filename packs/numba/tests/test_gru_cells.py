"""A step of a GRU as written: one node of the graph, with the numbers of the single functions."""

from __future__ import annotations

import chainer
import chainer.functions as F
import chainer.links as L
import numpy as np
import pytest
from chainer.functions.rnn._gru_cell import GRUCell, _ParameterSums
from chainer.kernel import get_operation

from chainer_numba.gru_cells import GRUCellKernel

operation = get_operation("gru_cell")

# Rows, inputs and units: no vector is full, several panels, many rows, rows that fill no tile.
SIZES = [(4, 3, 5), (20, 37, 61), (50, 9, 8), (7, 70, 33)]


@pytest.fixture(autouse=True)
def accelerated(any_size):
    with (
        chainer.using_config("accelerate", "auto"),
        chainer.using_config("kernels", ("numba",)),
    ):
        yield


def arrays(rows, inputs, units, seed=0):
    """Returns arguments of the operation: state, input, weights, biases."""
    rng = np.random.default_rng(seed)

    def random(*shape):
        return rng.standard_normal(shape).astype(np.float32) / np.float32(shape[-1] ** 0.5)

    weights = [random(units, inputs) for _ in range(3)] + [random(units, units) for _ in range(3)]
    biases = [random(units) for _ in range(6)]
    return random(rows, units), random(rows, inputs), tuple(weights), tuple(biases)


def reference():
    return operation.reference_for(chainer.get_device("@numpy").backend)


def results(kernel, h, x, weights, biases):
    y, saved = kernel.forward(h, x, weights, biases)
    return y, *kernel.backward(h, x, weights, saved, y)


def assert_close(actual, expected):
    # Sums of up to 131 products of numbers around 1 / sqrt(n), in another order: float32 has a
    # relative precision of 6e-8, and the gradients pass three such sums.
    for a, b in zip(actual, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=3e-6)


@pytest.mark.parametrize("sizes", SIZES)
@pytest.mark.parametrize("threads", [1, 2, 3])
def test_the_kernel_computes_what_the_reference_does(sizes, threads, use_threads):
    use_threads(threads)
    given = arrays(*sizes)
    assert_close(results(GRUCellKernel(None), *given), results(reference(), *given))


def test_threads_do_not_change_the_bits(use_threads):
    given = arrays(20, 37, 61)
    use_threads(1)
    alone = results(GRUCellKernel(None), *given)
    use_threads(3)
    for a, b in zip(alone, results(GRUCellKernel(None), *given), strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_nan_and_infinities_are_where_the_reference_has_them(value):
    h, x, weights, biases = arrays(5, 4, 9)
    x[2, 1] = value
    with np.errstate(all="ignore"):
        actual = results(GRUCellKernel(None), h, x, weights, biases)
        expected = results(reference(), h, x, weights, biases)
    for a, b in zip(actual, expected, strict=True):
        np.testing.assert_array_equal(np.isnan(a), np.isnan(b))


def test_arrays_that_are_not_contiguous():
    h, x, weights, biases = arrays(6, 4, 9)
    y, saved = GRUCellKernel(None).forward(np.asfortranarray(h), x[::-1][::-1], weights, biases)
    again = GRUCellKernel(None).backward(np.asfortranarray(h), x, weights, saved, y.T.copy().T)
    assert_close((y, *again), results(GRUCellKernel(None), h, x, weights, biases))


class Seen(chainer.FunctionHook):
    """Names of the functions that run forward."""

    name = "seen"

    def __init__(self):
        self.names = []

    def forward_preprocess(self, function, in_data):
        self.names.append(type(function).__name__)


def trained(accelerate, link, seed=0, frozen=False, steps=4, prepare=None):
    """Returns outputs and gradients of a layer over some steps."""
    with (
        chainer.using_config("accelerate", accelerate),
        chainer.using_config("kernels", ("numba",) if accelerate == "auto" else ()),
    ):
        np.random.seed(seed)
        layer = link(7, 13)
        for p in layer.params():
            p.array[...] = np.random.standard_normal(p.shape) / 4
        if frozen:
            layer.U.disable_update()
            layer.U.W.requires_grad = False
        if prepare is not None:
            prepare(layer)
        xs = [chainer.Variable(np.random.standard_normal((6, 7)).astype("f")) for _ in range(steps)]
        h = chainer.Variable(np.random.standard_normal((6, 13)).astype("f"))
        if link is L.StatelessGRU:
            ys = [h]
            for x in xs:
                ys.append(layer(ys[-1], x))
        else:
            layer.set_state(h)
            ys = [layer(x) for x in xs]
        loss = sum([F.sum(y * y) for y in ys])
        layer.cleargrads()
        loss.backward()
        names = type(ys[-1].creator).__name__
        gradients = [p.grad for p in layer.params() if p.grad is not None]
        return names, [y.array for y in ys] + [x.grad for x in xs] + [h.grad] + gradients


@pytest.mark.parametrize("link", [L.StatefulGRU, L.GRU, L.StatelessGRU])
@pytest.mark.parametrize("frozen", [False, True])
def test_links_make_one_node_with_the_same_numbers(link, frozen):
    name, actual = trained("auto", link, frozen=frozen)
    assert name == "GRUCell"
    name, expected = trained("never", link, frozen=frozen)
    assert name == "LinearInterpolate"
    assert_close(actual, expected)


def gradients_of_steps(rows, units):
    """Returns the gradients of a layer over some steps, whose sums are collected or not."""
    np.random.seed(3)
    layer = L.StatefulGRU(units, units)
    for p in layer.params():
        p.array[...] = np.random.standard_normal(p.shape) / 16
    with chainer.using_config("accelerate", "auto"), chainer.using_config("kernels", ("numba",)):
        xs = np.random.standard_normal((6, max(rows), units)).astype("f")
        loss = 0
        for x, n in zip(xs, rows, strict=True):
            # The batch shrinks: another state is set.
            if layer.h is not None and len(layer.h) != n:
                layer.set_state(layer.h[:n])
            loss += F.sum(layer(x[:n]) ** 2)
        loss.backward()
    return [p.grad for p in layer.params()]


# 300 rows are more than are collected.
@pytest.mark.parametrize("rows", [(20,) * 6, (20, 20, 20, 20, 9, 9), (300,) * 6, (1,) * 6])
def test_gradients_of_all_parameters_at_once_have_the_same_bits(rows, monkeypatch):
    at_once = gradients_of_steps(rows, 128)
    monkeypatch.setattr(GRUCell, "_parameter_sums", lambda *_: None)
    for a, b in zip(at_once, gradients_of_steps(rows, 128), strict=True):
        np.testing.assert_array_equal(a, b)


def test_all_parameters_get_their_gradients_by_one_call_for_a_step(monkeypatch):
    calls = []
    add = _ParameterSums.add
    monkeypatch.setattr(_ParameterSums, "add", lambda *args: calls.append(1) or add(*args))
    gradients_of_steps((20,) * 6, 128)
    # Five nodes; two of them make the arrays of the sums.
    assert len(calls) == 3


@pytest.mark.parametrize("value", [0.0, -0.0, np.nan, np.inf])
def test_sums_of_bias_gradients_round_as_numpy_does(value):
    sources = np.random.default_rng(0).standard_normal((3, 37, 61)).astype("f")
    sources[:, :, 5] = value
    totals = np.random.default_rng(1).standard_normal((6, 61)).astype("f")
    totals[:, 5] = -0.0
    expected = totals + np.tile(sources.sum(axis=1), (2, 1))
    GRUCellKernel(None).bias_gradient_sums(tuple(totals))(sources)
    np.testing.assert_array_equal(totals, expected)
    numbers = ~np.isnan(expected)
    np.testing.assert_array_equal(np.signbit(totals)[numbers], np.signbit(expected)[numbers])


def test_sums_of_bias_gradients_of_other_arrays_are_left_to_numpy():
    kernel = GRUCellKernel(None)
    assert kernel.bias_gradient_sums(tuple(np.zeros((6, 4)))) is None
    assert kernel.bias_gradient_sums(tuple(np.zeros((6, 8), "f")[:, ::2])) is None


def test_gradients_of_gradients():
    def second(accelerate):
        kernels = ("numba",) if accelerate == "auto" else ()
        with (
            chainer.using_config("accelerate", accelerate),
            chainer.using_config("kernels", kernels),
        ):
            np.random.seed(1)
            layer = L.StatelessGRU(3, 5)
            h, x = (chainer.Variable(np.random.standard_normal((4, n)).astype("f")) for n in (5, 3))
            y = layer(h, x)
            wanted = [h, x, layer.U.W, layer.W_z.b]
            first = chainer.grad([F.sum(y * y)], wanted, enable_double_backprop=True)
            total = sum([F.sum(g * g) for g in first])
            return [g.array for g in chainer.grad([total], wanted)]

    assert_close(second("auto"), second("never"))


def patched(layer):
    layer.U.forward = lambda x: F.linear(x, layer.U.W, layer.U.b)


def without_bias(layer):
    del layer.W_r
    with layer.init_scope():
        layer.W_r = L.Linear(7, 13, nobias=True)
    layer.W_r.W.array[...] = 0.1


class Doubling(L.Linear):
    def forward(self, x):
        return 2 * super().forward(x)


def replaced(layer):
    del layer.W
    with layer.init_scope():
        layer.W = Doubling(7, 13, initialW=np.full((13, 7), 0.1, "f"))


@pytest.mark.parametrize("prepare", [patched, without_bias, replaced])
def test_layers_that_do_something_else_are_called(prepare):
    name, actual = trained("auto", L.StatefulGRU, prepare=prepare)
    assert name == "LinearInterpolate"
    assert_close(actual, trained("never", L.StatefulGRU, prepare=prepare)[1])


def test_a_hook_of_a_layer_is_called():
    def prepare(layer):
        layer.U.add_hook(chainer.link_hooks.SpectralNormalization())

    name, _ = trained("auto", L.StatefulGRU, prepare=prepare)
    assert name == "LinearInterpolate"


def test_function_hooks_see_the_single_functions():
    with Seen() as seen:
        name, _ = trained("auto", L.StatefulGRU, steps=1)
    assert name == "LinearInterpolate"
    assert seen.names.count("LinearFunction") == 6


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda a: [b.astype(np.float64) for b in a], "only float32"),
        (lambda a: [*a[:7], np.asfortranarray(a[7])], "only contiguous weights"),
        (lambda a: [a[0], a[1][:, :0], *[w[:, :0] for w in a[2:5]], *a[5:]], "empty arrays"),
        (lambda a: [np.repeat(b, 300, axis=0) for b in a[:2]] + a[2:], "many rows"),
    ],
)
def test_what_is_left_to_the_single_functions(change, reason):
    h, x, weights, _ = arrays(6, 4, 9)
    given = change([h, x, *weights])
    assert operation.provided(*given) is None
    assert reason in str(operation.explain(*given))
    assert operation.provided(h, x, *weights) is not None
