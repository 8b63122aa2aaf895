"""Type check of losses that compare two arrays element by element."""

from __future__ import annotations

from typing import Any

from chainer.core.utils import type_check


def check_pair(self: Any, in_types: type_check.TypeInfoTuple) -> None:
    """Two floating-point arrays of the same dtype and shape."""
    type_check.expect(in_types.size() == 2)
    type_check.expect(
        in_types[0].dtype.kind == "f",
        in_types[0].dtype == in_types[1].dtype,
        in_types[0].shape == in_types[1].shape,
    )


def check_reduce(reduce: str, *choices: str) -> None:
    """Raises ValueError unless ``reduce`` is one of the choices."""
    if reduce not in choices:
        names = [repr(choice) for choice in choices]
        text = ", ".join(names[:-1]) + f" and {names[-1]}"
        raise ValueError(f"only {text} are valid for 'reduce', but {reduce!r} is given")
