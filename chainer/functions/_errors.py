"""Errors that belong to two classes, because releases raised different ones for one mistake.

Programs catch the class that the release they were written for raised. See also
:class:`chainer.core.utils.conv.OutputSizeError`.
"""

from __future__ import annotations

from typing import Any

import numpy

from chainer.core.utils import type_check
from chainer.core.utils.type_check import InvalidType


class InvalidValue(InvalidType, ValueError):
    """A shape, or the value of an argument, that does not fit the inputs."""


class InvalidAxis(InvalidType, numpy.exceptions.AxisError):
    """An axis that an input does not have: an IndexError and a ValueError as well."""

    def __init__(self, expect: str, actual: str, msg: str | None = None) -> None:
        super().__init__(expect, actual, msg)
        # AxisError keeps its text elsewhere; pickles keep the arguments.
        self.args = (numpy.exceptions.AxisError.__str__(self),)

    def __str__(self) -> str:
        return str(self.args[0])


class InvalidIndexes(InvalidType, IndexError, TypeError):
    """Indexes that are not integers: of both classes that releases of NumPy raise."""


class InvalidGroups(InvalidType, TypeError):
    """A number of groups that does not divide the number of channels."""


def expect_as(error: type[InvalidType], *expressions: Any) -> None:
    """Does what :func:`chainer.utils.type_check.expect` does, with another class of error.

    Args:
        error: Class of the error.
        expressions: Comparisons to test.

    Raises:
        InvalidType: An instance of ``error``, if a comparison does not hold.
    """
    try:
        type_check.expect(*expressions)
    except InvalidType as failure:
        raise error(failure.expect, failure.actual) from None
