"""The operation-spec table: one module for each category of functions, each with a tuple ``SPECS``.

:mod:`chainer.testing.op_spec` tells how to write a row.
"""

from __future__ import annotations

import importlib
import pkgutil

from chainer.testing.op_spec import OpSpec


def all_specs() -> tuple[OpSpec, ...]:
    """Returns the rows of all categories.

    Raises:
        ValueError: If two rows have one name.
    """
    rows: list[OpSpec] = []
    for module in sorted(info.name for info in pkgutil.iter_modules(__path__)):
        rows.extend(importlib.import_module(f"{__name__}.{module}").SPECS)
    names = [row.name for row in rows]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ValueError(f"rows of the operation-spec table have one name: {', '.join(twice)}")
    return tuple(rows)
