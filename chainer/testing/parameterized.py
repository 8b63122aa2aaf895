"""Parameterised test cases: one class for each set of parameters."""

from __future__ import annotations

import functools
import inspect
import itertools
import sys
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, cast


class TestCaseBundle:
    """The classes made by :func:`parameterize`; it stands where the decorated class stood.

    Further class decorators that know bundles (``parameterize`` itself, ``fix_random``) apply to
    each class.

    Attributes:
        base: The class that was decorated first.
        cases: The generated classes.
    """

    __test__ = False  # pytest looks at everything called Test...

    def __init__(self, base: type, cases: list[type], module: str) -> None:
        self.base = base
        self.cases = cases
        self._module = module
        self._publish()

    def _publish(self) -> None:
        namespace = vars(sys.modules[self._module])
        for case in self.cases:
            namespace[case.__name__] = case

    def _withdraw(self) -> None:
        namespace = vars(sys.modules[self._module])
        for case in self.cases:
            namespace.pop(case.__name__, None)

    def map(self, decorate: Callable[[type], Any]) -> TestCaseBundle:
        """Returns the bundle with a class decorator applied to each class.

        Args:
            decorate: Function of a class that returns a class, or a bundle of classes.
        """
        self._withdraw()
        cases: list[type] = []
        for case in self.cases:
            decorated = decorate(case)
            if isinstance(decorated, TestCaseBundle):
                cases.extend(decorated.cases)
            else:
                cases.append(decorated)
        self.cases = cases
        self._publish()
        return self

    def __iter__(self) -> Iterator[type]:
        return iter(self.cases)


def parameterize(*params: Mapping[str, Any]) -> Callable[[Any], Any]:
    """Class decorator that makes a test class for each set of parameters.

    The parameters become attributes; a failure names them. The classes are put into the module of
    the decorated class, where unittest and pytest find them, under names such as
    ``TestRelu_param_0_{dtype='f'}``.

    Args:
        params: Dictionaries from attribute name to value, one for each class to make.

    Returns:
        Class decorator. What it returns takes the name of the class but is no class; refer to the
        base class with ``super()`` without arguments.

    Example:
        >>> import unittest
        >>> @chainer.testing.parameterize({'n': 1}, {'n': 2})
        ... class TestN(unittest.TestCase):
        ...     def test_positive(self):
        ...         assert self.n > 0
    """

    def decorate(cls: Any) -> Any:
        if isinstance(cls, TestCaseBundle):
            return cls.map(decorate)
        if not isinstance(cls, type):
            raise TypeError(f"parameterize decorates a test class, got {cls!r}")
        cases = [_make_case(cls, i, param) for i, param in enumerate(params)]
        return TestCaseBundle(cls, cases, cls.__module__)

    return decorate


def _make_case(cls: type, index: int, param: Mapping[str, Any]) -> type:
    shown = ", ".join(f"{name}={_short(value)}" for name, value in sorted(param.items()))
    name = f"{cls.__name__}_param_{index}_{{{shown}}}"
    members: dict[str, Any] = {"__module__": cls.__module__, "__doc__": cls.__doc__}
    note = (
        f"Parameterized test failed.\n\nBase test method: {cls.__name__}.{{}}\nTest parameters:\n"
    )
    note += "".join(f"  {key}: {value!r}\n" for key, value in sorted(param.items()))
    for attribute in dir(cls):
        method = inspect.getattr_static(cls, attribute)
        if attribute.startswith("test") and isinstance(method, types.FunctionType):
            members[attribute] = _with_note(method, note.replace("{}", attribute, 1))
    for key, value in param.items():
        # A plain function as a value must not turn into a method.
        members[key] = staticmethod(value) if isinstance(value, types.FunctionType) else value
    return type(cls)(name, (cls,), members)


def _short(value: Any) -> str:
    text = value.__name__ if isinstance(value, (type, types.FunctionType)) else repr(value)
    text = " ".join(text.split())
    return text if len(text) <= 40 else text[:37] + "..."


def _with_note(method: Callable[..., Any], note: str) -> Callable[..., Any]:
    @functools.wraps(method)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        try:
            return method(*args, **kwargs)
        except Exception as error:
            if note not in getattr(error, "__notes__", ()):
                error.add_note(note)
            raise

    return wrapped


def product(parameter: Any) -> list[dict[str, Any]]:
    """Returns all combinations of parameters, for :func:`parameterize`.

    Args:
        parameter: A dictionary from name to list of values: all combinations of values. Or a list
            of lists of dictionaries: all combinations of one dictionary of each list, merged.

    Returns:
        list of dict: The combinations.

    Example:
        >>> chainer.testing.product({'a': [1, 2], 'b': [3]})
        [{'a': 1, 'b': 3}, {'a': 2, 'b': 3}]
    """
    if isinstance(parameter, Mapping):
        lists = cast("Mapping[str, Sequence[Any]]", parameter)
        names = sorted(lists)
        return [
            dict(zip(names, values, strict=True))
            for values in itertools.product(*[lists[name] for name in names])
        ]
    if isinstance(parameter, (list, tuple)):
        return product_dict(*cast("list[Sequence[Mapping[str, Any]]]", parameter))
    raise TypeError(f"product takes a dictionary or a list of lists, got {type(parameter)}")


def product_dict(*parameters: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Returns all combinations of one dictionary of each list, merged.

    Args:
        parameters: Lists of dictionaries.

    Returns:
        list of dict: The combinations.

    Example:
        >>> chainer.testing.product_dict([{'a': 1}, {'a': 2}], [{'b': 3}])
        [{'a': 1, 'b': 3}, {'a': 2, 'b': 3}]
    """
    combined: list[dict[str, Any]] = []
    for chosen in itertools.product(*parameters):
        merged: dict[str, Any] = {}
        for part in chosen:
            merged.update(part)
        combined.append(merged)
    return combined
