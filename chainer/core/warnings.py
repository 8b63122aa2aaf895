"""Warnings of their own classes (public module ``chainer.warnings``)."""

from __future__ import annotations


class PerformanceWarning(RuntimeWarning):
    """A computation is slower than it could be, for instance without an optional package."""


class MisuseWarning(UserWarning):
    """A statement of the program has no effect, or not the intended one; results are as released.

    It is shown once for each parameter, name or class.
    """


class MissingStateWarning(UserWarning):
    """A loaded file is of a release that did not save the state of an object."""
