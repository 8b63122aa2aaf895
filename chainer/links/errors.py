"""Exceptions with two base classes: the one that earlier releases raised, and the fitting one.

Earlier releases check many arguments by ``assert``. Programs that catch what they raise and
programs that catch the class that fits the mistake both work.
"""

from __future__ import annotations


class InvalidValueError(ValueError, AssertionError):
    """An argument has a wrong value or shape."""


class InvalidArgumentTypeError(TypeError, AssertionError):
    """An argument has a wrong type."""


class ArgumentCountError(ValueError, TypeError):
    """A link was called with a wrong number of arguments."""


class UnknownOptionError(ValueError, NotImplementedError):
    """An argument is not among the options."""


class UnsupportedOptionError(ValueError, RuntimeError):
    """An option of a layer in a file of another framework is not supported.

    The earlier releases raise RuntimeError.
    """


class MissingForwardError(AttributeError, TypeError):
    """A link that defines neither ``forward`` nor ``__call__`` was called.

    Release 4 raises TypeError, release 7 AttributeError.
    """


class MissingOutputError(KeyError, ValueError):
    """An output that was asked for cannot be computed. The earlier releases raise KeyError."""

    __str__ = ValueError.__str__  # without the quotes that KeyError adds


class MissingGroupError(KeyError, ValueError):
    """A file has no group of an object that is loaded. Release 7 raises ValueError for HDF5."""


class LayerIndexError(IndexError, ValueError):
    """The index of an assignment to a layer is out of range.

    Lists raise IndexError then, Sequential of the earlier releases ValueError.
    """
