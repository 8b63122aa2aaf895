"""Functions of images with a fixed number of dimensions: one check more than the general ones."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from string import Template
from typing import Any, ParamSpec, TypeVar

from chainer.core.utils.documentation import SharedSections

_P = ParamSpec("_P")
_R = TypeVar("_R")

#: Words of the sections below, by the number of spatial dimensions.
_WORDS = {
    1: {"ints": "one int", "sizes": "l,", "dimensions": "one spatial dimension"},
    3: {"ints": "three ints", "sizes": "l_1, l_2, l_3", "dimensions": "three spatial dimensions"},
}

_RAISES = """
    Raises:
        ValueError: If ``x`` does not have $dimensions, or the output would be empty.
"""

convolution_sections = SharedSections(
    """
    Args:
        x (:class:`~chainer.Variable` or array): Input of shape ``(n, c_I, $d)``.
        W (:class:`~chainer.Variable` or array): Weight of shape ``($weight, $k)``.
        b (:class:`~chainer.Variable` or array): Bias of length ``c_O`` (optional).
        stride (int or tuple of $ints): Stride of filter applications.
        pad (int or tuple of $ints): Spatial padding width$of.
        $own
        dilate (int or tuple of $ints): Dilation factor of filter applications.
        groups (int): Number of groups of channels.

    Returns:
        ~chainer.Variable: Output of shape ``(n, c_O, $l)`` and the dtype of ``x``.
"""
    + _RAISES
    + """\
        InvalidType: If dtypes or shapes do not fit$outsize.
    """,
    of="",
    outsize="",
)

pooling_sections = SharedSections(
    """
    Args:
        x (:class:`~chainer.Variable` or array): Input of shape ``(n, c, $d)``, floating point.
        ksize (int or tuple of $ints): Size of the pooling window.
        stride (int or tuple of $ints): Stride of pooling applications; ``ksize`` if None.
        pad (int or tuple of $ints): Spatial padding width.
        $own

    Returns:
        ~chainer.Variable$or_tuple: Output of shape ``(n, c, $l)``.$indices
"""
    + _RAISES
    + """\
        InvalidType: If the dtype does not fit$outsize.
    """,
    or_tuple="",
    indices="",
    outsize="",
)


def fixed_dimensions(
    function: Callable[_P, _R], ndim: int, sections: SharedSections, **texts: str
) -> Callable[[Callable[..., Any]], Callable[_P, _R]]:
    """Decorator of a function that passes its arguments on to one of any number of dimensions.

    ``inspect.signature``, editors and type checkers then show the arguments of that function, and
    the docstring gets the sections.

    Args:
        function: The function of any number of dimensions.
        ndim: Number of spatial dimensions.
        sections: Sections of the docstring.
        texts: Texts of the sections. ``$d``, ``$l`` and ``$k``, the lengths of the dimensions of
            input, output and filter, are replaced by the given number of them here, too.
    """
    numbers = [""] if ndim == 1 else [f"_{i + 1}" for i in range(ndim)]
    words = _WORDS[ndim] | {
        name: ", ".join([name + number for number in numbers]) for name in "dlk"
    }
    own = {name: Template(text).substitute(words) for name, text in texts.items()}

    def decorate(wrapper: Any) -> Callable[_P, _R]:
        wrapper.__signature__ = inspect.signature(function)
        wrapper.__annotations__ = dict(function.__annotations__)
        return sections(**words, **own)(wrapper)

    return decorate
