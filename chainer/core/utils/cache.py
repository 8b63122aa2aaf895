"""Properties whose value is computed once for each mode of backprop."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar, overload

from chainer.core.config.configuration import config

_T = TypeVar("_T")


class cached_property(Generic[_T]):
    """Decorator of a method: a read-only property whose value is computed once.

    There is one value for each value of ``chainer.config.enable_backprop``: a Variable that was
    computed without a graph is not returned to code that needs the graph.

    Args:
        func: The method that computes the value.

    Example:
        >>> from chainer.utils.cache import cached_property
        >>> class Circle:
        ...     @cached_property
        ...     def area(self):
        ...         return chainer.Variable(np.array(3.14))
        >>> circle = Circle()
        >>> circle.area is circle.area
        True
    """

    def __init__(self, func: Callable[[Any], _T]) -> None:
        self.__name__ = func.__name__
        self.__doc__ = func.__doc__
        self._func = func

    @overload
    def __get__(self, obj: None, owner: type) -> cached_property[_T]: ...
    @overload
    def __get__(self, obj: object, owner: type) -> _T: ...
    def __get__(self, obj: object | None, owner: type) -> cached_property[_T] | _T:
        if obj is None:
            return self
        values: dict[bool, _T] = obj.__dict__.setdefault(self.__name__, {})
        mode = bool(config.enable_backprop)
        if mode not in values:
            values[mode] = self._func(obj)
        return values[mode]

    def __set__(self, obj: object, value: object) -> None:
        raise AttributeError(f"attribute {self.__name__!r} of {obj!r} is readonly")

    def __delete__(self, obj: object) -> None:
        raise AttributeError(f"attribute {self.__name__!r} of {obj!r} is readonly")
