"""The vocabulary of the signatures."""

from __future__ import annotations

from typing import Any, TypeAlias

AnyArray: TypeAlias = Any
"""A NumPy array or an :class:`~ideep4py.mdarray`; for type checkers both are Any."""
