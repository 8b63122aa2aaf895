"""TabularDataset and its views.

The requests that views pass on to their sources were recorded with release 7.8.1.
"""

import importlib.util
import pickle

import numpy as np
import pytest

from chainer import dataset, datasets, get_device, iterators
from chainer.backend import get_device_from_array
from chainer.dataset import TabularDataset, concat_examples, tabular


class Recorder(TabularDataset):
    """Columns of numbers, arrays and lists in turns, that records what is asked for."""

    def __init__(self, length=10, keys=("a", "b", "c"), mode=tuple, offset=0):
        self.length, self.names, self.form = length, keys, mode
        self.requests = []
        self.columns = []
        for i in range(len(keys)):
            values = offset + 100 * i + np.arange(length)
            self.columns.append(values if i % 2 == 0 else values.tolist())

    def __len__(self):
        return self.length

    @property
    def keys(self):
        return self.names

    @property
    def mode(self):
        return self.form

    def get_examples(self, indices, key_indices):
        self.requests.append((indices, key_indices))
        result = []
        for k in range(len(self.columns)) if key_indices is None else key_indices:
            column = self.columns[k]
            if indices is None:
                result.append(column)
            elif isinstance(indices, list) and isinstance(column, list):
                result.append([column[i] for i in indices])
            else:
                result.append(column[indices])
        return tuple(result)


def plain(value):
    """Returns arrays as lists, because those can be compared."""
    if isinstance(value, tuple):
        return tuple(map(plain, value))
    if isinstance(value, dict):
        return {key: plain(column) for key, column in value.items()}
    return value.tolist() if isinstance(value, (np.ndarray, np.generic)) else value


def test_base_class():
    base = TabularDataset()
    for use in (
        lambda: len(base),
        lambda: base.keys,
        lambda: base.mode,
        lambda: base.get_examples(None, None),
        lambda: base[0],
    ):
        with pytest.raises(NotImplementedError, match="TabularDataset must define"):
            use()


@pytest.mark.parametrize(
    ("mode", "keys", "expected"),
    [
        (tuple, ("a", "b"), (2, 102)),
        (dict, ("a", "b"), {"a": 2, "b": 102}),
        (None, ("a",), 2),
    ],
)
def test_examples(mode, keys, expected):
    source = Recorder(4, keys, mode)
    assert plain(source[2]) == plain(source.get_example(np.int64(2))) == expected
    assert source.requests == [([2], None)] * 2
    assert plain(source[-2]) == expected
    assert plain(list(source)[2]) == expected
    for index in (slice(1, 3), [1, 2], np.array([1, 2])):
        part = source[index]
        assert type(part) is list
        assert len(part) == 2
        assert plain(part[1]) == expected
    for index in (4, -5):
        with pytest.raises(IndexError, match=f"index {index} is out of range for 4 rows"):
            source[index]
    with pytest.raises(TypeError):
        source[1.0]


def test_fetch_and_convert():
    source = Recorder(3, ("a", "b"))
    data = source.fetch()
    assert plain(data) == ([0, 1, 2], [100, 101, 102])
    assert type(data[1]) is list
    converted = source.convert(data)
    assert converted[0] is source.columns[0]
    assert isinstance(converted[1], np.ndarray)
    converted = source.asdict().convert(source.asdict().fetch())
    assert plain(converted) == {"a": [0, 1, 2], "b": [100, 101, 102]}
    single = source.slice[:, "b"]
    np.testing.assert_array_equal(single.convert(single.fetch()), [100, 101, 102])


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        ([1, 2.5], np.array([1, 2.5])),
        ([True], np.array([True])),
        ([], np.array([])),
        ([[1, 2], [3, 4]], np.array([[1, 2], [3, 4]])),
        (["p", "q"], np.array(["p", "q"])),
        ([np.float32([1, 2]), np.float32([3, 4])], np.float32([[1, 2], [3, 4]])),
    ],
)
def test_convert_lists(column, expected):
    result = Recorder().convert(column)
    np.testing.assert_array_equal(result, expected)
    assert result.dtype == expected.dtype


@pytest.mark.skipif(
    importlib.util.find_spec("chainer_strict_backend") is None,
    reason="the distribution in tests/strict_backend is not installed",
)
def test_convert_keeps_the_device():
    device = get_device("@strict:1")
    arrays = [device.send(np.float32([1, 2])), device.send(np.float32([3, 4]))]
    source = tabular.from_data(arrays)
    converted = source.convert(source.fetch())
    assert get_device_from_array(converted) == device
    np.testing.assert_array_equal(get_device("@numpy").send(converted), [[1, 2], [3, 4]])
    assert source.convert(arrays[0]) is arrays[0]
    # An array of the device as the column is sliced on the device.
    source = tabular.from_data({"x": converted})
    assert get_device_from_array(source.slice[[1, 0]].fetch()["x"]) == device


# -- slice -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rows", "numbers", "expected"),
    [
        (slice(None), list(range(10)), slice(None)),
        (slice(1, None), list(range(1, 10)), slice(1, None)),
        (slice(8, 2, -2), [8, 6, 4], slice(8, 2, -2)),
        (slice(20, 30), [], slice(20, 30)),
        ([3, 1], [3, 1], [3, 1]),
        ([-1, 0, 0], [9, 0, 0], [9, 0, 0]),
        ([], [], []),
        (np.array([2, -2]), [2, 8], [2, 8]),
        (range(3), [0, 1, 2], [0, 1, 2]),
        ([True, False] * 5, [0, 2, 4, 6, 8], [0, 2, 4, 6, 8]),
        (np.array([False, True] * 5), [1, 3, 5, 7, 9], [1, 3, 5, 7, 9]),
        ([True, 2], [1, 2], [1, 2]),
    ],
    ids=str,
)
def test_slice_of_rows(rows, numbers, expected):
    source = Recorder()
    view = source.slice[rows]
    assert source.requests == []
    assert (len(view), view.keys, view.mode) == (len(numbers), ("a", "b", "c"), tuple)
    fetched = view.fetch()
    assert source.requests == [(expected, None)]
    assert [type(column) for column in fetched] == [np.ndarray, list, np.ndarray]
    assert plain(fetched) == tuple([offset + i for i in numbers] for offset in (0, 100, 200))
    assert [example[0] for example in view] == numbers


@pytest.mark.parametrize(
    ("columns", "keys", "mode", "expected"),
    [
        (0, ("a",), None, (0,)),
        ("b", ("b",), None, (1,)),
        (-1, ("c",), None, (2,)),
        (("b",), ("b",), tuple, (1,)),
        (("c", 0), ("c", "a"), tuple, (2, 0)),
        ((1, 1), ("b", "b"), tuple, (1, 1)),
        ((), (), tuple, ()),
    ],
    ids=str,
)
def test_slice_of_columns(columns, keys, mode, expected):
    source = Recorder(3)
    view = source.slice[1:, columns]
    assert (view.keys, view.mode) == (keys, mode)
    values = tuple([[100 * k + 1, 100 * k + 2] for k in expected])
    assert plain(view.fetch()) == (values[0] if mode is None else values)
    assert source.requests == [(slice(1, None), expected)]


def test_mode_of_a_slice():
    assert Recorder(mode=dict).slice[:, ("b", "a")][0] == {"b": 100, "a": 0}
    single = Recorder(keys=("a",), mode=None)
    assert single.slice[:].mode is None
    assert single.slice[:, ("a",)].mode is tuple
    assert single.slice[:, "a"].asdict()[1] == {"a": 1}


@pytest.mark.parametrize(
    ("index", "error", "message"),
    [
        (3, TypeError, "must be a slice, a list of integers or a mask, got 3"),
        (None, TypeError, "got None"),
        pytest.param(iter([1]), TypeError, "rows must be", id="iterator"),
        ("a", ValueError, "invalid literal"),
        ([99], IndexError, "row 99 is out of range for 10 rows"),
        ([-11], IndexError, "row -11 is out of range"),
        ([True] * 3, ValueError, "mask must have length 10, got 3"),
        ((slice(None), 7), IndexError, "column 7 is out of range for 3 columns"),
        ((slice(None), -4), IndexError, "column -4 is out of range"),
        ((slice(None), "zz"), KeyError, "no column 'zz', only 'a', 'b', 'c'"),
        ((slice(None), ("a", "zz")), KeyError, "zz"),
        ((slice(None), ["a"]), KeyError, "no column"),
        ((0, 1, 2), ValueError, "got 3 indexes"),
        ((slice(None),), ValueError, "got 1 indexes"),
    ],
    ids=str,
)
def test_bad_slice(index, error, message):
    source = Recorder()
    with pytest.raises(error, match=message):
        source.slice[index]
    assert source.requests == []


@pytest.mark.parametrize(
    ("view", "asked", "expected"),
    [
        (slice(1, None), slice(None), slice(1, 10, 1)),
        (slice(1, None), slice(None, None, -1), slice(9, 0, -1)),
        (slice(None), slice(None, None, -1), slice(9, None, -1)),
        (slice(None, None, -1), slice(-2, None), slice(1, None, -1)),
        (slice(2, 8, 3), slice(None, None, -1), slice(5, None, -3)),
        (slice(2, 8, 3), slice(1, 100), slice(5, 8, 3)),
        (slice(8, 2, -2), slice(5, 1, -2), slice(4, 6, 4)),
        (slice(1, None), [1, 0, 1], [2, 1, 2]),
        ([3, 1], slice(None, None, -1), [1, 3]),
        ([3, 1], [1, 0, 1], [1, 3, 1]),
        ([3, 1], slice(5, 9), []),
    ],
    ids=str,
)
def test_slices_are_composed(view, asked, expected):
    source = Recorder()
    source.slice[view].get_examples(asked, (0,))
    source.slice[view, ("c", "a")].get_examples(asked, (1, 0))
    source.slice[view, ("c", "a")].get_examples(asked, None)
    assert source.requests == [(expected, (0,)), (expected, (0, 2)), (expected, (2, 0))]
    nested = source.slice[view].slice[asked]
    numbers = list(range(10))
    rows = numbers[expected] if isinstance(expected, slice) else expected
    assert plain(nested.fetch()[0]) == rows
    assert len(nested) == len(nested.fetch()[0])


def test_a_view_has_no_rows_outside_of_it():
    view = Recorder().slice[1:3]
    assert view[-1] == (2, 102, 202)
    for index in (2, -3):
        with pytest.raises(IndexError):
            view[index]
    with pytest.raises(IndexError):
        view.get_examples([2], None)


# -- concat ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("indices", "requests"),
    [
        (slice(13, 6, -2), [slice(9, 6, -2), None, slice(3, None, -2)]),
        (slice(1, 3), [slice(1, 3, 1), None, None]),
        (slice(8, 13, 2), [slice(8, 10, 2), None, slice(0, 3, 2)]),
        (slice(12, 15), [None, None, slice(2, 5, 1)]),
        (slice(-2, None), [None, None, slice(3, 5, 1)]),
        (slice(0, 15, 12), [slice(0, 10, 12), None, slice(2, 5, 12)]),
        (slice(14, None, -11), [slice(3, None, -11), None, slice(4, None, -11)]),
        (slice(9, None, -3), [slice(9, None, -3), None, None]),
        (slice(5, 5), [None, None, None]),
        ([12], [None, None, [2]]),
        ([7, 0], [[7, 0], None, None]),
        ([11, 3, 11, 4], [[3, 4], None, [1, 1]]),
        ([14, 10], [None, None, [4, 0]]),
        ([], [None, None, None]),
    ],
    ids=str,
)
@pytest.mark.parametrize("key_indices", [None, (1,), (2, 0, 2), ()])
def test_concat(indices, requests, key_indices):
    sources = [Recorder(10), Recorder(0, offset=2000), Recorder(5, offset=1000)]
    view = sources[0].concat(*sources[1:])
    assert (len(view), view.keys, view.mode) == (15, ("a", "b", "c"), tuple)
    result = view.get_examples(indices, key_indices)
    numbers = [*range(10), *range(1000, 1005)]
    numbers = numbers[indices] if isinstance(indices, slice) else [numbers[i] for i in indices]
    wanted = range(3) if key_indices is None else key_indices
    assert plain(result) == tuple([[100 * k + n for n in numbers] for k in wanted])
    expected = [[] if request is None else [(request, key_indices)] for request in requests]
    assert [source.requests for source in sources] == expected
    if sum(request is not None for request in requests) != 1:
        assert all(type(column) is list for column in result)


def test_concat_of_everything():
    first, second = Recorder(2), Recorder(1, offset=1000)
    fetched = first.concat(second).fetch()
    assert fetched == ([0, 1, 1000], [100, 101, 1100], [200, 201, 1200])
    assert first.requests == second.requests == [(None, None)]
    assert [type(column) for column in first.concat().fetch()] == [list] * 3
    assert first.concat(second.asdict()).mode is tuple
    assert first.asdict().concat(second)[2] == {"a": 1000, "b": 1100, "c": 1200}
    with pytest.raises(IndexError):
        first.concat(second)[3]
    with pytest.raises(IndexError):
        first.concat(second).get_examples([3], None)


@pytest.mark.parametrize("columns", [("a", "b"), ("b", "a", "c")])
def test_concat_of_different_keys(columns):
    with pytest.raises(ValueError, match="same keys"):
        Recorder().concat(Recorder().slice[:, columns])


# -- join ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("key_indices", "requests"),
    [
        (None, [None, None, None]),
        ((), [..., ..., ...]),
        ((3,), [..., (1,), ...]),
        ((4, 0), [(0,), ..., (0,)]),
        ((4, 4, 0, 5, 1, 4), [(0, 1), ..., (0, 1)]),
        ((5, 4, 3, 2), [..., (1, 0), (1, 0)]),
    ],
    ids=str,
)
@pytest.mark.parametrize("indices", [None, slice(1, 4), [2, 0], []], ids=str)
def test_join(indices, key_indices, requests):
    sources = [
        Recorder(5, ("a", "b")),
        Recorder(5, ("c", "d"), dict, 1000),
        Recorder(5, ("e", "f"), None, 5000),
    ]
    view = sources[0].join(*sources[1:])
    assert (len(view), view.keys, view.mode) == (5, tuple("abcdef"), tuple)
    result = view.get_examples(indices, key_indices)
    columns = [column for source in sources for column in Recorder.get_examples(source, None, None)]
    for source in sources:
        source.requests.pop()
    wanted = range(6) if key_indices is None else key_indices
    rows = list(range(5)) if indices is None else indices
    rows = list(range(5))[rows] if isinstance(rows, slice) else rows
    assert plain(result) == tuple([[plain(columns[k])[i] for i in rows] for k in wanted])
    expected = [[] if keys is ... else [(indices, keys)] for keys in requests]
    assert [source.requests for source in sources] == expected


def test_mode_of_a_join():
    tuples, dicts = Recorder(2, ("a",)), Recorder(2, ("b",), dict)
    bare, other = Recorder(2, ("c",), None), Recorder(2, ("d",), None)
    assert bare.join(dicts, tuples).mode is dict
    assert bare.join(other).mode is bare.join().mode is tuple
    assert bare.join(other)[1] == (1, 1)


def test_bad_join():
    with pytest.raises(ValueError, match="different keys"):
        Recorder(2, ("a", "b")).join(Recorder(2, ("b",)))
    with pytest.raises(ValueError, match="expected 2, got 3 in dataset 1"):
        Recorder(2, ("a",)).join(Recorder(3, ("b",)))


# -- transform -------------------------------------------------------------------------------------

FORMS = {
    tuple: (lambda *args, **kwargs: args + tuple(kwargs.values())),
    dict: (lambda *args, **kwargs: dict(zip("pq", args + tuple(kwargs.values())))),
    None: (lambda *args, **kwargs: sum(args) + sum(kwargs.values())),
}


@pytest.mark.parametrize("result_mode", FORMS)
@pytest.mark.parametrize("mode", FORMS)
def test_transform(mode, result_mode):
    source = Recorder(4, ("a", "b") if mode else ("a",), mode)
    keys = "p" if result_mode is None or mode is None else ("p", "q")
    view = source.transform(keys, FORMS[result_mode])
    assert (view.keys, len(view)) == ((keys,) if keys == "p" else keys, 4)
    assert source.requests == []
    fetched = view.fetch()
    assert source.requests == [(None, None)]
    if result_mode is None:
        assert fetched == ([100, 102, 104, 106] if mode else [0, 1, 2, 3])
    else:
        columns = [[0, 1, 2, 3], [100, 101, 102, 103]][: 2 if mode else 1]
        expected = tuple(columns) if result_mode is tuple else dict(zip("pq", columns))
        assert fetched == expected
    # The mode is known from the first call.
    assert view.mode is result_mode
    assert len(source.requests) == 1


def test_mode_of_a_transformation_is_learned_once():
    calls = []
    view = Recorder(4, ("a",), None).transform("p", lambda a: calls.append(a) or {"p": a})
    assert view.mode is view.mode is dict
    assert calls == [0]
    assert view.get_examples([], None) == ([],)
    assert view.get_examples(slice(1, 3), ()) == ()
    # All rows are computed, even if no column is requested.
    assert calls == [0, 1, 2]
    assert view.slice[2:, "p"].fetch() == [2, 3]


def test_transformation_of_a_bare_tuple():
    source = tabular.from_data(("a", lambda i: [(i, -i)]), size=2)
    assert source.transform("b", lambda pairs: pairs[0]).fetch() == ([0, 1],)


@pytest.mark.parametrize("method", ["transform", "transform_batch"])
def test_transformation_that_changes_its_kind(method):
    results = iter([(1,), {"p": 1}, 1])
    function = (lambda a: next(results)) if method == "transform" else (lambda a: ([1],))
    view = getattr(Recorder(3, ("a",)), method)("p", function)
    if method == "transform_batch":
        view._mode, view._is_mode_known = dict, True
        with pytest.raises(ValueError, match="first a dict, now a tuple"):
            view.get_examples([0], None)
        return
    assert view[0] == (1,)
    with pytest.raises(ValueError, match="first a tuple, now a dict"):
        view[1]
    with pytest.raises(ValueError, match="first a tuple, now a bare value"):
        view[1]


def test_results_of_a_transformation_with_other_columns():
    source = Recorder(2, ("a",), None)
    assert source.transform(("p",), lambda a: (a, "ignored")).fetch() == ([0, 1],)
    assert source.transform("q", lambda a: {"q": a, "r": 5}).fetch() == {"q": [0, 1]}
    too_few = source.transform(("p", "q"), lambda a: (a,))
    assert too_few.get_examples(None, (0,)) == ([0, 1],)
    with pytest.raises(IndexError):
        too_few.fetch()
    with pytest.raises(KeyError):
        source.transform(("p", "q"), lambda a: {"p": a}).fetch()


@pytest.mark.parametrize("mode", [tuple, dict])
def test_transform_batch(mode):
    received = []

    def double(*args, **kwargs):
        received.append((args, kwargs))
        columns = [np.asarray(column) * 2 for column in (*args, *kwargs.values())]
        return tuple(columns) if mode is tuple else dict(zip("pq", columns))

    source = Recorder(4, ("a", "b"), mode)
    view = source.transform_batch(("q", "p"), double)
    examples = view.get_examples([3, 0], (1,))
    ((args, kwargs),) = received
    assert plain(args or tuple(kwargs.values())) == ([3, 0], [103, 100])
    assert [type(column) for column in args or kwargs.values()] == [np.ndarray, list]
    np.testing.assert_array_equal(examples, [[206, 200] if mode is tuple else [6, 0]])
    assert view.mode is mode
    assert len(view[1:]) == 3


@pytest.mark.parametrize("result", [([1],), {"p": [1]}, [1]], ids=str)
def test_transform_batch_with_too_few_rows(result):
    view = Recorder(3).transform_batch("p", lambda a, b, c: result)
    assert view[0] is not None  # one row is right here
    with pytest.raises(ValueError, match="expected 3, got 1"):
        view.fetch()


# -- converters ------------------------------------------------------------------------------------


def test_with_converter():
    source = Recorder(2, ("a", "b"))
    view = source.with_converter(lambda *args, **kwargs: (args, kwargs))
    assert view.convert((1, 2)) == ((1, 2), {})
    assert view.convert({"a": 1}) == ((), {"a": 1})
    assert view.convert([1]) == (([1],), {})
    assert (view.keys, view.mode, len(view)) == (("a", "b"), tuple, 2)
    assert view[1] == (1, 101)
    other = Recorder(2, ("c",))
    for derived in (
        view.slice[:1],
        view.slice[:, "a"],
        view.astuple(),
        view.asdict(),
        view.concat(source),
        view.join(other),
        view.transform("p", lambda a, b: a),
        view.transform_batch("p", lambda a, b: a),
    ):
        assert derived.convert(5) == ((5,), {})
    for derived in (source.concat(view), other.join(view)):
        assert plain(derived.convert(([1],))) == ([1],)
    assert view.with_converter(lambda a: "other").convert((1,)) == "other"


# -- from_data -------------------------------------------------------------------------------------


def square(i):
    assert type(i) is int
    return i * i


def pair(i):
    return i, -i


@pytest.mark.parametrize(
    ("data", "mode", "keys", "fetched"),
    [
        ([1, 2], None, None, [1, 2]),
        (np.array([1, 2]), None, None, [1, 2]),
        (("a", [1, 2]), None, ("a",), [1, 2]),
        (("a", square), None, ("a",), [0, 1]),
        ((("a", "b"), pair), tuple, ("a", "b"), ([0, 1], [0, -1])),
        (
            (("a", "b"), lambda i: {"b": i, "a": 5}),
            dict,
            ("a", "b"),
            {"a": [5, 5], "b": [0, 1]},
        ),
        (("a", pair), tuple, ("a",), ([0, 1],)),
        (("a", lambda i: {"a": i, "z": 5}), dict, ("a",), {"a": [0, 1]}),
        (([1, 2],), tuple, None, ([1, 2],)),
        (([1, 2], ("b", [3, 4])), tuple, None, ([1, 2], [3, 4])),
        ((("a", [5, 6]), (("b", "c"), pair)), tuple, tuple("abc"), ([5, 6], [0, 1], [0, -1])),
        ({"a": [1, 2]}, dict, ("a",), {"a": [1, 2]}),
        (
            {("b", "c"): pair, "a": np.array([3, 4]), "d": square},
            dict,
            tuple("bcad"),
            {"b": [0, 1], "c": [0, -1], "a": [3, 4], "d": [0, 1]},
        ),
    ],
)
def test_from_data(data, mode, keys, fetched):
    result = tabular.from_data(data, size=2)
    assert result.mode is mode
    assert len(result) == 2
    if keys is not None:
        assert result.keys == keys
    assert plain(result.fetch()) == fetched
    assert plain(result.slice[::-1].fetch()) == plain(result.slice[[1, 0]].fetch())


def test_functions_are_called_at_access():
    calls = []
    result = tabular.from_data({"a": [1, 2, 3], "b": calls.append})
    assert (result.mode, result.keys, len(result)) == (dict, ("a", "b"), 3)
    result.slice[:, "a"].fetch()
    assert calls == []
    assert result[-1] == {"a": 3, "b": None}
    assert calls == [2]


def test_size():
    assert len(tabular.from_data([1, 2, 3], size=2)) == 3
    with pytest.raises(ValueError, match="same length"):
        tabular.from_data({"a": [1, 2, 3], "b": square}, size=2)
    with pytest.raises(ValueError, match="same length"):
        tabular.from_data(([1, 2], [1, 2, 3]))
    for data in (("a", square), {"a": square}, (("a", square), ("b", square))):
        with pytest.raises(ValueError, match="size must be given"):
            tabular.from_data(data)


def test_the_same_list_twice():
    values = [1, 2]
    assert tabular.from_data((values, values))[1] == (2, 2)


@pytest.mark.parametrize(
    ("data", "error", "message"),
    [
        (square, ValueError, "needs a key"),
        (([1], square), ValueError, "needs a key"),
        ((), ValueError, "at least one column"),
        ({}, ValueError, "at least one column"),
        (5, TypeError, "data must be a list, an array or a function, got int"),
        ("abc", TypeError, "got str"),
        (None, TypeError, "got NoneType"),
        (range(3), TypeError, "got range"),
        (("a", (1, 2)), TypeError, "data of 'a' must be a list, an array or a function, got tuple"),
        ({"a": 5}, TypeError, "data of 'a'"),
        ((("a", "b"), [1, 2]), TypeError, "must be a function, got list"),
        (([1, 2], (1, 2)), TypeError, "got tuple"),
    ],
)
def test_bad_data(data, error, message):
    with pytest.raises(error, match=message):
        tabular.from_data(data, size=2)


class Squares(tabular.DelegateDataset):
    def __init__(self, count):
        super().__init__(tabular.from_data({"n": list(range(count)), "square": self.get_square}))

    def get_square(self, i):
        return i * i


def test_delegate_dataset():
    squares = Squares(4)
    assert (len(squares), squares.keys, squares.mode) == (4, ("n", "square"), dict)
    assert squares[-1] == {"n": 3, "square": 9}
    assert squares.slice[1:, "square"].fetch() == [1, 4, 9]
    assert squares.dataset.mode is dict
    # Unlike views, it does not take the converter of its source.
    source = tabular.from_data([1, 2]).with_converter(lambda column: "converted")
    np.testing.assert_array_equal(tabular.DelegateDataset(source).convert([1, 2]), [1, 2])


# -- together with the rest ------------------------------------------------------------------------


def test_as_any_dataset():
    squares = Squares(5)
    iterator = iterators.SerialIterator(squares, 2, repeat=False, shuffle=False)
    assert [len(batch) for batch in iterator] == [2, 2, 1]
    np.testing.assert_array_equal(concat_examples(squares[:])["square"], [0, 1, 4, 9, 16])
    assert datasets.split_dataset(squares, 3)[1][0] == {"n": 3, "square": 9}
    assert datasets.TransformDataset(squares, lambda x: x["n"])[2] == 2


def test_pickle():
    squares = pickle.loads(pickle.dumps(Squares(3)))
    assert squares.slice[[2, 1]].asdict().fetch() == {"n": [2, 1], "square": [4, 1]}
    joined = pickle.loads(pickle.dumps(tabular.from_data(([1, 2], [3, 4])).concat()))
    assert joined[1] == (2, 4)


def test_public_names():
    assert dataset.TabularDataset is TabularDataset
    assert dataset.tabular.tabular_dataset.TabularDataset is TabularDataset
    assert {"TabularDataset", "tabular"} <= set(dir(dataset))
