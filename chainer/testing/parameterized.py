"""Parameterized test cases: one class for each set of parameters."""

from __future__ import annotations

import functools
import inspect
import itertools
import re
import sys
import types
import unittest
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, cast

from chainer.testing.bundle import TestCaseBundle, over_bundles

Parameters = Mapping[str, Any]

#: Longest text of one value, and of all values, in the name of a class. Longer ones lose their
#: middle: file systems and terminals do not take names of any length.
_LONGEST_VALUE = 100
_LONGEST_NAME = 5000


def parameterize(*params: Parameters) -> Callable[[Any], Any]:
    """Class decorator that makes a test class for each set of parameters.

    The parameters become attributes; a failure names them. The classes are put into the module of
    the decorated class, where unittest and pytest find them, under names such as
    ``TestRelu_param_0_{dtype=float32}``.

    Args:
        params: Dictionaries from attribute name to value, one for each class to make.

    Returns:
        Class decorator. It binds the name of the class to a
        :class:`~chainer.testing.bundle.TestCaseBundle`; refer to the base class with ``super()``
        without arguments.

    Example:
        >>> import unittest
        >>> @chainer.testing.parameterize({'n': 1}, {'n': 2})
        ... class TestN(unittest.TestCase):
        ...     def test_positive(self):
        ...         assert self.n > 0
    """

    def decorate(cls: type) -> TestCaseBundle:
        cases = [_make_case(cls, i, param) for i, param in enumerate(params)]
        return TestCaseBundle(cls, cases, cls.__module__)

    return over_bundles(decorate, "parameterize")


def parameterize_pytest(names: str, values: Iterable[Any]) -> Callable[[Any], Any]:
    """Class decorator like :func:`parameterize`, with arguments like ``pytest.mark.parametrize``.

    Args:
        names (str): Names of the attributes, separated by commas.
        values: For each class the value, or with several names a tuple of values.

    Returns:
        Class decorator.

    Example:
        >>> import unittest
        >>> @chainer.testing.parameterize_pytest('a,b', [(1, 2), (3, 4)])
        ... class TestLess(unittest.TestCase):
        ...     def test_less(self):
        ...         assert self.a < self.b
    """
    return parameterize(*from_pytest_parameterize(names, values))


def from_pytest_parameterize(names: str, values: Iterable[Any]) -> list[dict[str, Any]]:
    """Converts arguments of ``pytest.mark.parametrize`` to dictionaries for :func:`parameterize`.

    Args:
        names (str): Names of the parameters, separated by commas.
        values: The value of each set; with several names, a sequence of values for each set.

    Returns:
        list of dict: The sets of parameters.

    Raises:
        AssertionError: If a set does not have a value for each name, or ``values`` is not a list.

    Example:
        >>> chainer.testing.from_pytest_parameterize('a,b', [(1, 2), (3, 4)])
        [{'a': 1, 'b': 2}, {'a': 3, 'b': 4}]
    """
    if not isinstance(names, str) or not isinstance(values, Iterable):  # pyright: ignore
        raise AssertionError(f"{names!r} must be a text of names, {values!r} a list of values")
    split = names.split(",")
    if len(split) == 1:
        return [{names: value} for value in values]
    return [_unpacked(split, value) for value in values]


def _unpacked(names: Sequence[str], values: object) -> dict[str, Any]:
    if not isinstance(values, (tuple, list)) or len(cast("list[Any]", values)) != len(names):
        raise AssertionError(
            f"the {len(names)} parameters {','.join(names)!r} need a tuple or list of "
            f"{len(names)} values, got {values!r}"
        )
    return dict(zip(names, cast("list[Any]", values), strict=True))


def product(parameter: Any) -> list[dict[str, Any]]:
    """Returns all combinations of parameters, for :func:`parameterize`.

    Args:
        parameter: A dictionary from name to list of values: all combinations of values. A key may
            have several names separated by commas; its values are then tuples of as many values.
            Or a list of lists of dictionaries: all combinations of one dictionary of each list,
            merged.

    Returns:
        list of dict: The combinations.

    Raises:
        TypeError: If ``parameter`` is neither.
        AssertionError: If a value does not have an element for each name of its key.

    Example:
        >>> chainer.testing.product({'a': [1, 2], 'b,c': [(3, 4)]})
        [{'a': 1, 'b': 3, 'c': 4}, {'a': 2, 'b': 3, 'c': 4}]
    """
    # Looked up at each call: projects replace product_dict in this module to thin out combinations.
    combine: Callable[..., list[dict[str, Any]]] = sys.modules[__name__].product_dict
    if isinstance(parameter, Mapping):
        values = cast("Mapping[str, Iterable[Any]]", parameter)
        return combine(*[from_pytest_parameterize(key, values[key]) for key in sorted(values)])
    if isinstance(parameter, list):
        lists = cast("list[Any]", parameter)
        if all(_is_list_of_dicts(item) for item in lists):
            return combine(*lists)
    raise TypeError(
        "product takes a dictionary of lists, or a list of lists of dictionaries, got "
        f"{parameter!r}"
    )


def _is_list_of_dicts(value: object) -> bool:
    return isinstance(value, list) and all(
        isinstance(item, Mapping) for item in cast("list[Any]", value)
    )


def product_dict(*parameters: Sequence[Parameters]) -> list[dict[str, Any]]:
    """Returns all combinations of one dictionary of each list, merged.

    Args:
        parameters: Lists of dictionaries. Later lists win where keys are equal.

    Returns:
        list of dict: The combinations.

    Example:
        >>> chainer.testing.product_dict([{'a': 1}, {'a': 2}], [{'b': 3}])
        [{'a': 1, 'b': 3}, {'a': 2, 'b': 3}]
    """
    return [_merged(chosen) for chosen in itertools.product(*parameters)]


#: The function itself, for projects that replaced ``product_dict``.
_product_dict_orig = product_dict


def _pairwise_product_dict(*parameters: Sequence[Parameters]) -> list[dict[str, Any]]:
    """Returns combinations in which any two choices from two of the lists occur together.

    Far fewer than all combinations where there are three lists or more. Projects put it in the
    place of :func:`product_dict` to shorten their tests.
    """
    if len(parameters) <= 2:
        return _product_dict_orig(*parameters)
    if not all(parameters):
        return []
    # The first two lists completely; each further list adds a choice to the rows there are, and
    # rows for the pairs that are still missing (in-parameter-order generation).
    sizes = [len(items) for items in parameters]
    rows: list[list[int]] = [list(pair) for pair in itertools.product(*map(range, sizes[:2]))]
    for column in range(2, len(sizes)):
        missing = {
            (other, i, j)
            for other in range(column)
            for i in range(sizes[other])
            for j in range(sizes[column])
        }
        _extend_rows(rows, sizes[column], missing)
        _append_rows(rows, sizes[:column], missing)
    return [_merged([items[i] for items, i in zip(parameters, row, strict=True)]) for row in rows]


def _extend_rows(rows: list[list[int]], size: int, missing: set[tuple[int, int, int]]) -> None:
    """Adds to each row the choice from the next list that covers most of the missing pairs.

    Args:
        rows: Choices made so far, one from each list before.
        size: Length of the next list.
        missing: Pairs ``(list, choice from it, choice from the next list)`` that do not occur yet.
    """
    for number, row in enumerate(rows):
        choice = max(
            # The rotation spreads choices evenly where several cover equally many pairs.
            ((number + k) % size for k in range(size)),
            key=lambda j: sum((other, i, j) in missing for other, i in enumerate(row)),
        )
        missing -= {(other, i, choice) for other, i in enumerate(row)}
        row.append(choice)


def _append_rows(
    rows: list[list[int]], sizes: list[int], missing: set[tuple[int, int, int]]
) -> None:
    """Adds rows until no pair is missing; ``sizes`` are the lengths of the lists before."""
    while missing:
        other, i, j = min(missing)
        row = [next((c for c in range(n) if (k, c, j) in missing), 0) for k, n in enumerate(sizes)]
        row[other] = i
        missing -= {(k, c, j) for k, c in enumerate(row)}
        rows.append([*row, j])


def _merged(parts: Iterable[Parameters]) -> dict[str, Any]:
    merged: dict[str, Any] = {}
    for part in parts:
        merged.update(part)
    return merged


def _make_case(cls: type, index: int, param: Parameters) -> type:
    shown = ", ".join(f"{key}={_value_text(value)}" for key, value in sorted(param.items()))
    name = f"{cls.__name__}_param_{index}_{{{_shortened(shown, _LONGEST_NAME)}}}"
    members: dict[str, Any] = {"__module__": cls.__module__, "__doc__": cls.__doc__}
    listing = "".join(f"  {key}: {value!r}\n" for key, value in sorted(param.items()))
    for attribute in dir(cls):
        method = inspect.getattr_static(cls, attribute)
        if attribute.startswith("test_") and isinstance(method, types.FunctionType):
            note = (
                "Parameterized test failed.\n\n"
                f"Base test method: {cls.__name__}.{attribute}\nTest parameters:\n{listing}"
            )
            members[attribute] = _with_note(method, note)
    for key, value in param.items():
        # A plain function as a value must not become a method.
        members[key] = staticmethod(value) if isinstance(value, types.FunctionType) else value
    if issubclass(cls, unittest.TestCase):
        text = f"  parameter: {dict(param)}"
        members["__str__"] = lambda self: cls.__str__(self) + text
    metaclass: Any = type(cls)
    return metaclass(name, (cls,), members)


def _value_text(value: object) -> str:
    # Classes, functions of Python and of libraries, modules.
    name = getattr(value, "__name__", None)
    return _shortened(name if isinstance(name, str) else repr(value), _LONGEST_VALUE)


def _shortened(text: str, longest: int) -> str:
    """Returns a text whose middle is replaced by dots if it is too long, and without new lines."""
    text = re.sub(r"\s*\n\s*", " ", text)
    if len(text) <= longest:
        return text
    kept = longest - len("...")
    return f"{text[: kept // 2]}...{text[len(text) - (kept - kept // 2) :]}"


def _with_note(method: Callable[..., Any], note: str) -> Callable[..., Any]:
    @functools.wraps(method)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        try:
            return method(*args, **kwargs)
        except Exception as error:
            if type(error).__name__ == "OutOfMemoryError":
                # CuPy raises its own class; convert it to MemoryError, which test runners know.
                raise MemoryError(f"{note}\n(caused by)\n{error}") from error
            if note not in getattr(error, "__notes__", ()):
                error.add_note(note)
            raise

    return wrapped
