"""Arguments of links that are not themselves initializers."""

from __future__ import annotations

from typing import Any

import numpy

from chainer.core.arrays.backend import is_array
from chainer.core.typing import InitializerLike


class InitializerArgument:
    """An argument of a link and the initializer that the link is expected to use for it.

    For test cases of links, where the two are not the same.

    Args:
        argument_value: Value for the constructor of the link, such as None.
        expected_initializer: The initializer which the link makes of it: an initializer, an array
            or a number.

    Raises:
        ValueError: If ``expected_initializer`` is None.
        TypeError: If ``expected_initializer`` is not an initializer, an array or a number.

    Example:
        >>> from chainer import testing
        >>> argument = testing.InitializerArgument(None, chainer.initializers.LeCunNormal())
        >>> argument.argument_value is None, type(argument.expected_initializer).__name__
        (True, 'LeCunNormal')
    """

    def __init__(self, argument_value: Any, expected_initializer: InitializerLike) -> None:
        self.argument_value = argument_value
        self.expected_initializer = check_initializer(expected_initializer, "expected_initializer")

    def __repr__(self) -> str:
        return f"InitializerArgument({self.argument_value!r}, {self.expected_initializer!r})"


def check_initializer(value: InitializerLike, what: str) -> Any:
    """Returns an initializer unchanged.

    Args:
        value: The object to check.
        what (str): Its name, for messages.

    Raises:
        ValueError: If it is None.
        TypeError: If it is not an initializer, an array, a number or an
            :class:`InitializerArgument`.
    """
    if value is None:
        raise ValueError(
            f"{what} must not be None; for the default initializer of a link use "
            "InitializerArgument(None, EXPECTED)"
        )
    if isinstance(value, InitializerArgument) or callable(value) or is_array(value):
        return value
    if not numpy.isscalar(value):
        raise TypeError(f"{what} must be an initializer, an array or a number, got {type(value)}")
    return value
