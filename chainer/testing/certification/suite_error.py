"""The error of a suite of another project."""

from __future__ import annotations


class SuiteError(RuntimeError):
    """A suite of another project, which was asked for, cannot run."""
