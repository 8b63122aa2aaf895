"""Methods that subclasses must not override: ``final`` and ``enable_final``."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, TypeVar, overload

from chainer.core.arguments import wrong_type

_F = TypeVar("_F", bound=Callable[..., Any])

_MARK = "__override_action__"


@overload
def final(function: _F, /) -> _F: ...
@overload
def final(*, action: type[Exception] = TypeError) -> Callable[[_F], _F]: ...
def final(function: Any = None, /, *, action: type[Exception] = TypeError) -> Any:
    """Decorator: subclasses must not override the method.

    It works in classes whose metaclass derives from :class:`FinalMeta`, such as the subclasses of
    :func:`enable_final`. Overriding is noticed when the class is defined, if a direct base of the
    class has (or inherits) the method.

    Args:
        function: The method; with the argument ``action`` the decorator is called without it.
        action: Class of the exception to raise; a class of warnings is issued instead.

    Example:
        >>> from chainer.utils import enable_final, final
        >>> class Base(enable_final()):
        ...     @final
        ...     def run(self):
        ...         return 1
        >>> class Derived(Base):
        ...     def run(self):
        ...         return 2
        Traceback (most recent call last):
        TypeError: method 'run' is final.
    """

    def mark(method: Any) -> Any:
        if not callable(method):
            raise wrong_type("function", "a method", method)
        try:
            setattr(method, _MARK, action)
        except (AttributeError, TypeError):  # such as a method of a class written in C
            raise wrong_type("function", "a method defined in Python", method) from None
        return method

    return mark if function is None else mark(function)


class FinalMeta(type):
    """Metaclass that refuses to override methods marked by :func:`final`."""

    def __new__(
        mcs, name: str, bases: tuple[type, ...], namespace: dict[str, Any], **kwargs: Any
    ) -> FinalMeta:
        """Creates a class, if it overrides no final method of a base class."""
        for attribute in namespace:
            for base in bases:
                action = getattr(getattr(base, attribute, None), _MARK, None)
                if action is not None:
                    _refuse(attribute, action)
        return super().__new__(mcs, name, bases, namespace, **kwargs)


def _refuse(name: str, action: type[Exception]) -> None:
    if issubclass(action, Warning):
        # Two frames up is the statement that defines the class.
        warnings.warn(f"Overriding method {name!r}.", action, stacklevel=3)
    else:
        raise action(f"method {name!r} is final.")


def enable_final(
    base: type | tuple[type, ...] = (), meta_base: type | tuple[type, ...] = ()
) -> type[Any]:
    """Returns a base class whose subclasses may mark methods by :func:`final`.

    Args:
        base: Base class or classes of the result.
        meta_base: Metaclass or metaclasses to combine with, such as ``abc.ABCMeta``.

    Returns:
        type: A class without members of its own.

    Example:
        >>> from chainer.utils import enable_final, final
        >>> class Base(enable_final()):
        ...     @final
        ...     def run(self):
        ...         return 1
        >>> class Derived(Base):
        ...     def run(self):
        ...         return 2
        Traceback (most recent call last):
            ...
        TypeError: ...
    """
    bases = base if isinstance(base, tuple) else (base,)
    meta_bases = meta_base if isinstance(meta_base, tuple) else (meta_base,)
    # A metaclass must derive from the metaclasses of all bases, hence one is made for the call.
    metaclass = type("FinalMeta", (FinalMeta, *meta_bases), {})
    return metaclass("EnableFinal", bases, {})
