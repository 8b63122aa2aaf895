import importlib.util

import numpy as np
import pytest

import chainer
from chainer import dataset
from chainer.dataset import concat_examples, convert


def check(actual, expected):
    assert type(actual) is type(expected)
    if isinstance(expected, tuple):
        assert len(actual) == len(expected)
        for a, e in zip(actual, expected):
            check(a, e)
    elif isinstance(expected, dict):
        assert list(actual) == list(expected)
        for key in expected:
            check(actual[key], expected[key])
    else:
        assert actual.dtype == expected.dtype
        np.testing.assert_array_equal(actual, expected)


F = np.float32


@pytest.mark.parametrize(
    ("batch", "expected"),
    [
        # results of 7.8.1
        ([1, 2, 3], np.array([1, 2, 3])),
        ([1.0, 2], np.array([1.0, 2.0])),
        ([True, False], np.array([True, False])),
        ([F(1), F(2)], np.array([1, 2], F)),
        ([np.ones(2, F), np.zeros(2, F)], np.array([[1, 1], [0, 0]], F)),
        ([np.ones(2, F), np.zeros(2, "i")], np.array([[1, 1], [0, 0]], np.float64)),
        ([np.array(1), np.array(2)], np.array([1, 2])),
        ([[1, 2], [3, 4]], np.array([[1, 2], [3, 4]])),
        ([(1, 2), (3, 4)], (np.array([1, 3]), np.array([2, 4]))),
        ([(1,), (2,)], (np.array([1, 2]),)),
        (((1, 2), (3, 4)), (np.array([1, 3]), np.array([2, 4]))),
        ([([1, 2], 3)], (np.array([[1, 2]]), np.array([3]))),
        (
            [{"a": 1, "b": [2]}, {"b": [3], "a": 4}],
            {"a": np.array([1, 4]), "b": np.array([[2], [3]])},
        ),
        # what that release cannot do
        (np.arange(3), np.arange(3)),
        (np.arange(4).reshape(2, 2), np.arange(4).reshape(2, 2)),
        ([np.ones(2), [3, 4]], np.array([[1.0, 1.0], [3.0, 4.0]])),
        ([np.zeros((0, 3)), np.zeros((0, 3))], np.zeros((2, 0, 3))),
    ],
)
@pytest.mark.parametrize("device", [None, -1, "@numpy"])
def test_results(batch, expected, device):
    check(concat_examples(batch, device), expected)


def test_result_is_a_contiguous_copy():
    rows = np.arange(12.0).reshape(3, 4).T
    result = concat_examples(list(rows))
    assert result.flags.c_contiguous
    assert not np.shares_memory(result, rows)


@pytest.mark.parametrize(
    ("batch", "padding", "expected"),
    [
        (
            [(np.array([1, 2]), 0), (np.array([3]), 1), (np.array([]), 2)],
            100,
            (np.array([[1, 2], [3, 100], [100, 100]]), np.array([0, 1, 2])),
        ),
        (
            [
                (np.array([1, 2]), np.array([0])),
                (np.array([3]), np.array([])),
                (np.array([]), np.array([2])),
            ],
            (100, 200),
            (np.array([[1, 2], [3, 100], [100, 100]]), np.array([[0], [200], [2]])),
        ),
        (
            [{"a": np.ones(2), "b": 1}, {"a": np.ones(1), "b": 2}],
            {"a": 5, "b": None},
            {"a": np.array([[1.0, 1.0], [1.0, 5.0]]), "b": np.array([1, 2])},
        ),
        ([np.ones(2, F), np.ones(3, "i")], 0, np.array([[1, 1, 0], [1, 1, 1]], F)),
        (
            [np.ones((1, 2)), np.ones((2, 1))],
            -1,
            np.array([[[1, 1], [-1, -1]], [[1, -1], [1, -1]]], float),
        ),
        ([[1, 2], [3]], 0, np.array([[1, 2], [3, 0]])),
        ([1, 2], 0, np.array([1, 2])),
        ([1, 2.5], 0, np.array([1, 2.5])),
        ([True, 3], 0, np.array([1, 3])),
        ([[1], [2.5, 3]], -1, np.array([[1, -1], [2.5, 3]])),
        ([np.int32(1), np.int64(2**40)], 0, np.array([1, 2**40])),
    ],
)
def test_padding(batch, padding, expected):
    check(concat_examples(batch, padding=padding), expected)


@pytest.mark.parametrize(
    ("batch", "padding", "error", "message"),
    [
        ([], None, ValueError, "batch is empty"),
        (np.zeros((0, 2)), None, ValueError, "batch is empty"),
        (
            [np.ones(2), np.ones(3)],
            None,
            ValueError,
            r"same shape, got \(2,\), \(3,\); give a padding",
        ),
        ([np.ones(2), np.ones((2, 2))], None, ValueError, "same shape"),
        (
            [np.ones(2), np.ones((2, 2))],
            0,
            ValueError,
            r"number of dimensions to be padded, got \[1, 2\]",
        ),
        ([(1, 2), (3,)], None, ValueError, r"number of elements, got \[1, 2\]"),
        ([(1,), (2, 3)], None, ValueError, "number of elements"),
        ([(1, 2)], (0,), ValueError, "padding must have 2 elements"),
        ([{"a": 1}, {"b": 1}], None, KeyError, "a"),
        ([None, None], None, TypeError, "got NoneType"),
        ([object()], None, TypeError, "got object"),
    ],
)
def test_errors(batch, padding, error, message):
    with pytest.raises(error, match=message):
        concat_examples(batch, padding=padding)


def test_to_device():
    x = np.ones(2)
    assert dataset.to_device(None, "anything") == "anything"
    assert dataset.to_device(-1, x) is x
    assert dataset.to_device("@numpy", x) is x
    assert dataset.to_device(chainer.get_device(-1), (x, [x]))[1][0] is x
    check(dataset.to_device(-1, F(3)), np.array(3, F))
    with pytest.raises(TypeError):
        dataset.to_device(-1, {1, 2})


@pytest.mark.skipif(importlib.util.find_spec("cupy") is not None, reason="CuPy is installed")
@pytest.mark.parametrize("convert_batch", [concat_examples, dataset.ConcatWithAsyncTransfer()])
def test_device_that_is_not_there(convert_batch):
    with pytest.raises((RuntimeError, ValueError), match="cupy"):
        convert_batch([np.ones(2)], 0)


def test_converter_decorator():
    seen = []

    @dataset.converter()
    def double(batch, device):
        """Doc."""
        seen.append(device)
        return np.array(batch) * 2

    assert isinstance(double, dataset.Converter)
    assert double.__doc__ == "Doc."
    check(double([1, 2], -1), np.array([2, 4]))
    check(double([1, 2]), np.array([2, 4]))
    assert seen == [chainer.get_device("@numpy"), None]
    with pytest.raises(NotImplementedError):
        dataset.Converter()([], None)
    with pytest.raises(TypeError, match="converter.. can only wrap a callable, got 3"):
        dataset.converter()(3)


@pytest.mark.parametrize(
    ("args", "kwargs", "expected"),
    [
        ((1,), {}, ((1,), {})),
        ((1, -1), {}, ((1, "@numpy"), {})),
        ((1,), {"device": "@numpy"}, ((1,), {"device": "@numpy"})),
        ((1, None, 0), {}, ((1, None, 0), {})),
        ((1, -1, 2), {"x": 3}, ((1, "@numpy", 2), {"x": 3})),
        ((), {"batch": 1, "device": -1}, ((), {"batch": 1, "device": "@numpy"})),
    ],
)
def test_arguments_of_decorated_converters(args, kwargs, expected):
    # As observed in 7.8.1: only the device is replaced.
    name = lambda value: value.name if isinstance(value, chainer.backend.Device) else value

    @dataset.converter()
    def collect(*args, **kwargs):
        return tuple(map(name, args)), {key: name(value) for key, value in kwargs.items()}

    assert collect(*args, **kwargs) == expected


@pytest.mark.parametrize(
    ("specifier", "old"), [(None, None), (-1, -1), ("@numpy", -1), ("@ideep", -1)]
)
def test_form_of_the_device(specifier, old):
    device = None if specifier is None else chainer.get_device(specifier)
    returned = lambda batch, device: device

    class New(dataset.Converter):
        def __call__(self, batch, device):
            return device

    assert convert.call_converter(returned, [], device) == old
    assert convert.call_converter(New(), [], device) is device
    assert convert.call_converter(dataset.converter()(returned), [], device) is device


def test_async_transfer_on_the_host():
    assert convert.ConcatWithAsyncTransfer is dataset.ConcatWithAsyncTransfer
    assert convert.concat_examples is concat_examples
    converter = convert.ConcatWithAsyncTransfer()
    for device in (None, -1, "@numpy"):
        check(converter([(F(1), 2), (F(3), 4)], device), (np.array([1, 3], F), np.array([2, 4])))
    check(converter([np.ones(1), np.ones(2)], -1, padding=0), np.array([[1.0, 0.0], [1.0, 1.0]]))
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        convert.nothing


def test_private_names_of_release_7():
    # Converters of released packages import them.
    from chainer.dataset.convert import _concat_arrays, _concat_arrays_with_padding

    np.testing.assert_array_equal(_concat_arrays([np.zeros(2), np.ones(2)], None), [[0, 0], [1, 1]])
    np.testing.assert_array_equal(_concat_arrays([1, 2], None), [1, 2])
    np.testing.assert_array_equal(
        _concat_arrays_with_padding([np.zeros(1), np.ones(2)], -1), [[0, -1], [1, 1]]
    )


def test_examples_that_are_lists_instead_of_tuples():
    with pytest.raises(ValueError, match="inhomogeneous shape") as caught:
        concat_examples([[np.zeros(3), 0], [np.zeros(3), 1]])
    assert caught.value.__notes__ == [
        "The examples of the batch, or their elements, have the types: list. An example of "
        "several elements must be a tuple."
    ]


def test_the_element_that_no_array_can_hold_is_named():
    with pytest.raises(TypeError, match="must be made of arrays, .* got NoneType"):
        concat_examples([1, None])
