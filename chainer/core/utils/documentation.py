"""Parts of docstrings that several functions share, such as the arguments of a family."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from string import Template
from typing import ParamSpec, TypeVar

from chainer.core.utils.repr_texts import ShowsArguments

_P = ParamSpec("_P")
_R = TypeVar("_R")

_EXAMPLE = "\nExample:\n"


class SharedSections(ShowsArguments):
    """Sections of docstrings, written once for a family of functions.

    An instance is called to get a decorator, which inserts the sections into the docstring of a
    function in front of its example, or at its end if there is none. So :func:`help`, editors and
    the site show the complete text.

    Args:
        text: The sections, with ``$name`` where functions of the family differ.
        **defaults: Values of names that few functions change.

    Example:
        >>> from chainer.core.utils.documentation import SharedSections
        >>> unary = SharedSections("Args:\\n    x (Variable or array): $x.", x="Input")
        >>> @unary(x="Angles in radians")
        ... def sin(x):
        ...     '''Sine.'''
        >>> print(sin.__doc__)
        Sine.
        <BLANKLINE>
        Args:
            x (Variable or array): Angles in radians.
    """

    def __init__(self, text: str, **defaults: str) -> None:
        self._template = Template(inspect.cleandoc(text))
        self._defaults = defaults

    def __call__(self, **values: str) -> Callable[[Callable[_P, _R]], Callable[_P, _R]]:
        """Returns a decorator.

        Args:
            **values: Texts for the names in the sections.

        Raises:
            KeyError: If a name has neither a value nor a default.
        """
        sections = self._template.substitute(self._defaults | values)

        def decorate(function: Callable[_P, _R]) -> Callable[_P, _R]:
            own = inspect.cleandoc(function.__doc__ or "")
            head, example, tail = own.partition(_EXAMPLE)
            function.__doc__ = f"{head.rstrip()}\n\n{sections}\n{example}{tail}".rstrip()
            return function

        return decorate
