"""Keyword arguments: those that earlier releases had, and those read from ``**kwargs``.

A function declares keyword-only arguments in its signature. :func:`removed_arguments` and
:func:`renamed_arguments` handle the arguments of older releases, so that the code shows only what
the function accepts today. The other functions of this module are for code that takes
``**kwargs``, as functions did before Python 3.
"""

from __future__ import annotations

import functools
import inspect
import sys
import warnings
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

from chainer.core.arguments import require_attribute as require_attribute
from chainer.core.arguments import wrong_type as wrong_type
from chainer.core.foreign_names import explain_call_error, keyword_hint

_P = ParamSpec("_P")
_R = TypeVar("_R")
_T = TypeVar("_T")

_USE_CONFIG = "{} argument is not supported anymore. Use chainer.using_config"

#: Texts for :func:`removed_arguments`; each names what replaced the argument.
REMOVED_TRAIN = _USE_CONFIG.format("train")
REMOVED_TEST = _USE_CONFIG.format("test")
REMOVED_REQUIRES_X_GRAD = (
    "requires_x_grad argument is not supported anymore. Remove it: backpropagation computes the "
    "gradient of x if x requires one."
)
REMOVED_USE_CUDNN = _USE_CONFIG.format("use_cudnn")
REMOVED_DETERMINISTIC = (
    "deterministic argument is not supported anymore. Use "
    "chainer.using_config('cudnn_deterministic', value) context where value is either `True` or "
    "`False`."
)


def removed_arguments(**texts: str) -> Callable[[Callable[_P, _R]], Callable[_P, _R]]:
    """Decorator: calls that pass an argument of an older release raise the documented error.

    Args:
        texts: Name of a removed argument -> text of the error, which tells what to do instead.

    Returns:
        callable: The decorator. The decorated function raises ValueError with the text if it gets
        one of the arguments by keyword; otherwise it calls the function. It has the signature of
        the function.

    Example:
        >>> from chainer.core.utils.argument import removed_arguments
        >>> @removed_arguments(train="train is not supported anymore. Use chainer.using_config")
        ... def double(x, *, times=2):
        ...     return x * times
        >>> double(3)
        6
        >>> double(3, train=True)
        Traceback (most recent call last):
        ValueError: train is not supported anymore. Use chainer.using_config
    """

    def decorate(function: Callable[_P, _R]) -> Callable[_P, _R]:
        @functools.wraps(function)
        def wrapper(*args: _P.args, **kwargs: _P.kwargs) -> _R:
            # Most calls pass no keyword argument, so the loop over the names is rarely entered.
            if kwargs:
                for name in kwargs:
                    if name in texts:
                        raise ValueError(texts[name])
            try:
                return function(*args, **kwargs)
            except TypeError as error:
                explain_call_error(error, function, kwargs)
                raise

        return wrapper

    return decorate


def explained_keywords(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """Decorator: the error about an unknown keyword argument tells which one was meant.

    It is for functions whose arguments have other names in PyTorch and Keras.

    Args:
        function: The function.

    Returns:
        callable: The function, with a call in between that takes about 0.2 us.

    Example:
        >>> from chainer.core.utils.argument import explained_keywords
        >>> @explained_keywords
        ... def total(x, *, axis=None):
        ...     return x.sum(axis=axis)
        >>> total([1, 2], dim=0)
        Traceback (most recent call last):
        TypeError: total() got an unexpected keyword argument 'dim'; write axis=0
    """

    @functools.wraps(function)
    def wrapper(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        try:
            return function(*args, **kwargs)
        except TypeError as error:
            explain_call_error(error, function, kwargs)
            raise

    return wrapper


def renamed_arguments(**new_names: str) -> Callable[[Callable[_P, _R]], Callable[_P, _R]]:
    """Decorator: an argument is still accepted by the name that it had in an older release.

    Args:
        new_names: Old name of an argument -> its name today.

    Returns:
        callable: The decorator. The decorated function accepts the old names by keyword with a
        DeprecationWarning, and raises TypeError if an argument is given by both names. It has the
        signature of the function, with ``**old_names`` at its end.

    Example:
        >>> from chainer.core.utils.argument import renamed_arguments
        >>> @renamed_arguments(patients="patience")
        ... def stop_after(patience=3):
        ...     return patience
        >>> stop_after(5)
        5
    """

    def decorate(function: Callable[_P, _R]) -> Callable[_P, _R]:
        @functools.wraps(function)
        def wrapper(*args: _P.args, **kwargs: _P.kwargs) -> _R:
            for old in [name for name in kwargs if name in new_names]:
                new = new_names[old]
                if new in kwargs:
                    raise TypeError(
                        f"{function.__qualname__}() got {new!r} and its old name {old!r}"
                    )
                warnings.warn(
                    f"The argument {old!r} of {function.__qualname__}() is deprecated. "
                    f"Use {new!r} instead.",
                    DeprecationWarning,
                    stacklevel=2,
                )
                # If it was also given by position, the call below raises TypeError.
                kwargs[new] = kwargs.pop(old)
            try:
                return function(*args, **kwargs)
            except TypeError as error:
                explain_call_error(error, function, kwargs)
                raise

        # Tools that read signatures learn that there are more keywords than the names of today.
        signature = _with_old_names(function)
        wrapper.__signature__ = signature  # pyright: ignore[reportAttributeAccessIssue]
        return wrapper

    return decorate


def renamed_argument(function: str, value: _T, default: _T, old: str, kwargs: dict[str, Any]) -> _T:
    """Returns the value of an argument that has another name, too.

    Args:
        function: Name of the function, for the message.
        value: Value that was given by the present name.
        default: Default of the argument. If ``value`` is another one, it is preferred.
        old: The other name of the argument.
        kwargs: The other keyword arguments of the call.

    Raises:
        TypeError: If there is another keyword argument.
    """
    unknown = [name for name in kwargs if name != old]
    if unknown:
        names = ", ".join(map(repr, unknown))
        # The names of the caller's arguments: it has all of them, but for those in kwargs.
        code = sys._getframe(1).f_code  # pyright: ignore[reportPrivateUsage]
        accepted = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        hint = keyword_hint(unknown[0], kwargs[unknown[0]], accepted)
        text = f"{function}() got unexpected keyword argument(s) {names}"
        raise TypeError(f"{text}; {hint}" if hint else text)
    return kwargs[old] if old in kwargs and value == default else value


def _with_old_names(function: Callable[..., Any]) -> inspect.Signature:
    """Returns the signature of a function that accepts older names by keyword as well."""
    signature = inspect.signature(function)
    parameters = list(signature.parameters.values())
    if not any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters):
        parameters.append(inspect.Parameter("old_names", inspect.Parameter.VAR_KEYWORD))
    return signature.replace(parameters=parameters)


def check_unexpected_kwargs(kwargs: dict[str, Any], **unexpected: str) -> None:
    """Raises if a keyword argument is one that was removed.

    Args:
        kwargs: Keyword arguments of a call.
        unexpected: Name of a removed argument -> text of the error, which tells what to do instead.

    Raises:
        ValueError: With that text.
    """
    for name, message in unexpected.items():
        if name in kwargs:
            raise ValueError(message)


def parse_kwargs(
    kwargs: dict[str, Any], *names_and_defaults: Any, **unexpected: str
) -> tuple[Any, ...]:
    """Takes keyword-only arguments out of ``**kwargs``.

    Args:
        kwargs: Keyword arguments of a call.
        names_and_defaults: Pairs of name and default value.
        unexpected: Name of a removed argument -> text of the error, which tells what to do instead.

    Returns:
        tuple: Values in the order of the names.

    Raises:
        ValueError: If a removed argument is passed.
        TypeError: If an unknown argument is passed.
    """
    if not kwargs:
        return tuple(default for _, default in names_and_defaults)
    check_unexpected_kwargs(kwargs, **unexpected)
    values = tuple(kwargs.pop(name, default) for name, default in names_and_defaults)
    if kwargs:
        frame = sys._getframe(1)  # pyright: ignore[reportPrivateUsage]
        caller = frame.f_code.co_qualname
        names = ", ".join(repr(name) for name in sorted(kwargs))
        raise TypeError(f"{caller}() got unexpected keyword argument(s) {names}")
    return values


def assert_kwargs_empty(kwargs: dict[str, Any]) -> None:
    """Raises TypeError if keyword arguments are left over."""
    if kwargs:
        names = ", ".join(repr(name) for name in sorted(kwargs))
        raise TypeError(f"got unexpected keyword argument(s) {names}")
