"""Variables, parameters and summaries, as programs written for releases 4 to 7 use them."""

import copy

import numpy as np
import pytest

import chainer
import chainer.links as L
from chainer import initializers, serializers


def test_zerograd_warns_at_every_call():
    """Variable.zerograd and Link.zerograds are deprecated: one warning for each call of them."""
    x = chainer.Variable(np.ones(2, "f"))
    for _ in range(2):
        with pytest.warns(DeprecationWarning, match="zerograd"):
            x.zerograd()
    with pytest.warns(DeprecationWarning, match="zerograd"):
        chainer.Parameter().zerograd()
    models = [L.Linear(2, 3), chainer.ChainList(L.Linear(2, 3)), chainer.Sequential(L.Linear(2, 3))]
    for model in models:
        with pytest.warns(DeprecationWarning, match="zerograd") as warnings:
            model.zerograds()
        assert len(warnings) >= 3  # the model and its two parameters


@pytest.mark.parametrize(
    ("parameter", "kind", "dtype"),
    [
        (chainer.Parameter(), initializers.NaN, None),
        (chainer.Parameter(shape=(2,)), initializers.NaN, None),
        (chainer.Parameter(3.0, (2,)), initializers.Constant, None),
        (chainer.Parameter(initializers.Normal(dtype="d"), (2,)), initializers.Normal, "d"),
    ],
)
def test_parameter_keeps_an_initializer_object(parameter, kind, dtype):
    """Parameter.initializer is an initializer with a dtype, which other initializers can take."""
    assert isinstance(parameter.initializer, kind)
    assert parameter.initializer.dtype == dtype
    initializers.Normal(dtype=parameter.initializer.dtype)


def test_parameter_keeps_its_array_as_the_initializer():
    """Parameter(array).initializer is the array."""
    array = np.ones(2, "f")
    assert chainer.Parameter(array).initializer is array


@pytest.mark.parametrize("first", [0, 1])
def test_copies_of_a_parameter_share_the_later_initialization(first):
    """A copy of a parameter without a shape gets its array when either is initialized."""
    pair = [chainer.Parameter(1.0)]
    pair.append(copy.copy(pair[0]))
    pair[first].initialize((3, 2))
    assert pair[0].array is pair[1].array
    assert pair[0].shape == (3, 2)


@pytest.mark.parametrize("first", [0, 1])
@pytest.mark.parametrize("wrap", [lambda link: link, chainer.Sequential, chainer.ChainList])
def test_copies_of_a_link_share_the_later_initialization(wrap, first):
    """Copies of lazily initialized links share their arrays, whichever is called first."""
    pair = [wrap(L.Linear(None, 3))]
    pair.append(pair[0].copy())
    link = pair[first] if isinstance(pair[first], L.Linear) else pair[first][0]
    link(np.ones((2, 4), "f"))
    arrays = [dict(link.namedparams()) for link in pair]
    assert len(arrays[0]) == 2
    for name, param in arrays[0].items():
        assert param.array is arrays[1][name].array is not None


@pytest.mark.parametrize("shape", [(0,), (0, 0), (2, 0, 3)])
def test_text_of_empty_variables(shape):
    """str() of an empty variable tells no shape; repr() does from two dimensions on."""
    x = chainer.Variable(np.zeros(shape, "f"))
    named = chainer.Variable(np.zeros(shape, "f"), name="x")
    assert (str(x), str(named)) == ("variable([])", "variable x([])")
    assert repr(x) == ("variable([])" if len(shape) == 1 else f"variable([], shape={shape})")


def test_debug_print_of_an_uninitialized_variable():
    """debug_print lists the properties of a variable without an array as None."""
    names = ("device", "backend", "shape", "dtype", "statistics", "grad")
    lines = chainer.Parameter(name="w").debug_print().splitlines()
    assert lines == ["<variable w>", *[f"- {name}: None" for name in names]]


def test_loss_scale_stays_on_parameters():
    """backward(loss_scale=s) leaves s on the parameters, and an update divides by it."""
    param = chainer.Parameter(np.ones(3, "f"))
    assert param._loss_scale is None
    chainer.functions.sum(param * 2).backward(loss_scale=4.0)
    assert param._loss_scale == 4
    np.testing.assert_array_equal(param.grad, [8, 8, 8])


def test_update_divides_by_the_loss_scale_of_the_parameter():
    """An update rule divides the gradient by a _loss_scale that the program has set."""
    link = L.Scale(W_shape=(3,))
    optimizer = chainer.optimizers.SGD(1.0).setup(link)
    link.W.grad = np.full(3, 8, "f")
    link.W._loss_scale = 4.0
    optimizer.update()
    np.testing.assert_array_equal(link.W.array, [-1, -1, -1])


def test_summary_of_a_file_without_statistics():
    """Summary keeps its values and warns if a snapshot has none; DictSummary becomes empty."""
    summary = chainer.reporter.Summary()
    summary.add(2.0)
    with pytest.warns(UserWarning, match="previous statistics are not saved"):
        summary.serialize(serializers.NpzDeserializer({}))
    assert summary.compute_mean() == 2
    summary = chainer.reporter.DictSummary()
    summary.add({"a": 2.0})
    with pytest.warns(UserWarning, match="names of statistics are not saved"):
        summary.serialize(serializers.NpzDeserializer({}))
    assert summary.compute_mean() == {}
