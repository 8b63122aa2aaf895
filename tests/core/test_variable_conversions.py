"""Variables as numbers, texts and NumPy arrays."""

import math

import numpy as np
import pytest

import chainer
import chainer.functions as F
from chainer import Variable

NUMPY_FUNCTIONS_OF_CHAINER = [
    "arccos arcsin arctan cos cosh exp expm1 fabs log log10 log1p log2 sin sinh sqrt",
    "tan tanh",
]


def scalar(value=2.5, dtype=np.float32):
    return Variable(np.array(value, dtype))


def vector():
    return Variable(np.array([1, 2], np.float32))


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("shape", [(), (1,), (1, 1)])
def test_a_variable_of_one_element_is_a_number(dtype, shape):
    x = Variable(np.full(shape, 2.5, dtype))
    assert float(x) == 2.5 and type(float(x)) is float
    assert int(x) == 2 and type(int(x)) is int
    assert complex(x) == 2.5 + 0j
    assert f"{x:.3f}" == "2.500"
    assert f"{x:.1f}" == "2.5"
    assert math.isclose(x, 2.5)


@pytest.mark.parametrize("convert", [float, int, complex, lambda x: f"{x:.2f}"])
@pytest.mark.parametrize("size", [0, 2])
def test_other_sizes_are_refused_with_the_shape(convert, size):
    with pytest.raises(TypeError, match=rf"one element .* shape \({size},\); use its 'array'"):
        convert(Variable(np.zeros(size, np.float32)))


def test_a_format_without_specification_is_the_text():
    assert f"{vector()}" == "variable([1. 2.])"
    assert f"{scalar()}" == "variable(2.5)"


def test_numpy_returns_the_array_itself():
    x = vector()
    assert x.numpy() is x.array
    with pytest.raises(AttributeError, match="uninitialized"):
        chainer.Parameter().numpy()


def test_numpy_brings_an_array_to_host_memory():
    x = vector()
    x.to_device("@strict")
    assert type(x.numpy()) is np.ndarray
    np.testing.assert_array_equal(x.numpy(), [1, 2])
    assert float(x.sum()) == 3.0
    assert f"{x.mean():.1f}" == "1.5"


def test_detach_cuts_the_graph_and_shares_the_array():
    x = vector()
    y = x * 3
    detached = y.detach()
    assert detached.array is y.array and detached.creator is None
    assert not detached.requires_grad
    F.sum(detached * y).backward()
    np.testing.assert_array_equal(x.grad, 3 * np.array([3, 6]))


def test_a_detached_parameter_is_not_a_parameter():
    assert type(chainer.Parameter(np.zeros(2, np.float32)).detach()) is Variable


def test_sum_and_mean_are_differentiable():
    x = Variable(np.arange(6, dtype=np.float32).reshape(2, 3))
    np.testing.assert_array_equal(x.sum(axis=1, keepdims=True).array, [[3], [12]])
    np.testing.assert_array_equal(x.mean(axis=0).array, [1.5, 2.5, 3.5])
    (x.sum() + x.mean()).backward()
    np.testing.assert_allclose(x.grad, np.full((2, 3), 1 + 1 / 6), rtol=1e-6)


def test_sum_and_mean_of_numpy_stay_variables():
    # In all releases numpy.sum(x) is a variable with a graph.
    for function, expected in ((np.sum, 3.0), (np.mean, 1.5)):
        x = vector()
        y = function(x)
        assert isinstance(y, Variable) and float(y) == expected
        y.backward()
        assert x.grad is not None
        with pytest.raises(TypeError, match="out of .* must be None"):
            function(x, out=np.zeros((), np.float32))


def test_numbers_with_a_dtype():
    np.testing.assert_array_equal(np.asarray(vector(), np.float64), np.array([1.0, 2.0]))
    np.testing.assert_array_equal(np.array([scalar(), scalar(3)], "f"), np.array([2.5, 3], "f"))
    x = vector()
    np.array(x, np.float32)[0] = 7
    assert float(x[0]) == 1.0  # numpy.array copies


@pytest.mark.parametrize(
    "make",
    [np.asarray, np.array, lambda x: np.array([x, x])[0], lambda x: np.concatenate([x, x])[:2]],
)
def test_an_array_of_variables_is_made_with_a_warning(make):
    # 4.3.1 and 7.8.1 make the same array, without a warning.
    with pytest.warns(RuntimeWarning, match="array of Variables .* use the 'array' attribute"):
        array = make(vector())
    assert array.dtype == object and array.shape == (2,)
    assert [float(x) for x in array] == [1, 2]
    assert all(isinstance(x, Variable) for x in array)


def test_an_array_of_variables_that_is_asked_for_needs_no_warning():
    x = vector()
    assert np.asarray(x, object).shape == (2,)
    assert np.empty(3, object).dtype == object
    losses = np.empty(1, object)
    losses[0] = scalar()
    assert isinstance(losses[0], Variable)


def test_operators_with_arrays_are_those_of_variables():
    array, x = np.array([1, 2], np.float32), vector()
    for result in (array + x, array * x, array - x, np.float32(2) * x):
        assert isinstance(result, Variable) and result.creator is not None
    array += x
    assert isinstance(array, Variable)


@pytest.mark.parametrize("name", " ".join(NUMPY_FUNCTIONS_OF_CHAINER).split())
def test_functions_of_numpy_say_what_to_use(name):
    x = scalar(0.5)
    replacement = "absolute" if name == "fabs" else name
    # NumPy turns the error of the attribute into its own, and keeps it as the cause.
    with pytest.raises(TypeError) as caught, pytest.warns(RuntimeWarning):
        getattr(np, name)(x)
    assert f"use chainer.functions.{replacement}(x)" in str(caught.value.__cause__)
    assert not hasattr(x, name)
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(
            getattr(F, replacement)(x).array, getattr(np, name)(x.array), rtol=1e-6
        )


def test_functions_without_a_replacement_say_so():
    with pytest.raises(AttributeError, match=r"numpy.rint\(x.array\) takes the array alone"):
        _ = vector().rint
    with pytest.raises(AttributeError, match="Parameter"):
        _ = chainer.Parameter(np.zeros(1, np.float32)).exp


def test_programs_may_set_these_attributes():
    x = vector()
    x.exp = "own"
    assert x.exp == "own"
