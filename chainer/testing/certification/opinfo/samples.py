"""Reads the files that :mod:`.export` writes."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy

from chainer.testing.certification.opinfo.row import Arguments

#: Environment variable with the folder of the samples.
FOLDER = "CHAINER_OPINFO_SAMPLES"


@dataclass(frozen=True)
class Sample:
    """A sample, with PyTorch's results.

    Attributes:
        label: Text that tells the sample in reports.
        arguments: The arguments, on the host.
        ys: PyTorch's outputs.
        gys: Gradients of the outputs, None for outputs that have none; None if the function has no
            gradient.
        gxs: PyTorch's gradients of all arrays among the arguments, None for those without.
    """

    label: str
    arguments: Arguments
    ys: list[Any]
    gys: list[Any] | None
    gxs: list[Any]


def read(folder: Path, op: str, dtype: str) -> list[Sample]:
    """Reads the samples of an OpInfo; an empty list if there are none.

    Args:
        folder: The folder.
        op: Name of the OpInfo.
        dtype: Name of the dtype.
    """
    path = folder / f"{op}.{dtype}.json"
    if not path.exists():
        return []
    with numpy.load(folder / f"{op}.{dtype}.npz", allow_pickle=False) as file:
        arrays: dict[str, Any] = dict(file)
    return [_sample(encoded, arrays) for encoded in json.loads(path.read_text(encoding="utf-8"))]


def _sample(encoded: dict[str, Any], arrays: Mapping[str, Any]) -> Sample:
    def decoded(value: Any) -> Any:
        return _decode(value, arrays)

    arguments = Arguments(tuple(decoded(encoded["args"])), decoded(encoded["kwargs"]))
    gys: list[Any] | None = None
    if "gys" in encoded:
        gys = [decoded(gy) for gy in encoded["gys"]]
    name = f"{encoded['variant'] or 'sample'} {encoded['number']}"
    label = f"{name}: {_text(arguments)}"
    gxs = [decoded(gx) for gx in encoded.get("gxs", [])]
    return Sample(label, arguments, decoded(encoded["ys"]), gys, gxs)


def _decode(value: Any, arrays: Mapping[str, Any]) -> Any:
    if not isinstance(value, dict):
        return value
    ((kind, content),) = value.items()  # pyright: ignore[reportUnknownVariableType]
    item: Any = content
    match kind:
        case "array":
            return arrays[item]
        case "dtype":
            return item
        case "slice":
            return slice(*item)
        case "ellipsis":
            return ...
        case "list":
            return [_decode(part, arrays) for part in item]
        case "tuple":
            return tuple(_decode(part, arrays) for part in item)
        case "dict":
            return {name: _decode(part, arrays) for name, part in item.items()}
        case _:
            raise ValueError(f"a sample has a value that cannot be read: {item}")


def leaves(value: Any, is_leaf: Callable[[Any], bool]) -> list[Any]:
    """Returns the leaves of nested values, in order.

    Args:
        value: The values.
        is_leaf: Tells a leaf.
    """
    if is_leaf(value):
        return [value]
    parts: Any = value.values() if isinstance(value, dict) else value
    if isinstance(value, (list, tuple, dict)):
        return [leaf for part in parts for leaf in leaves(part, is_leaf)]
    return []


def _text(arguments: Arguments) -> str:
    parts = [_short(value) for value in arguments.args]
    parts += [f"{name}={_short(value)}" for name, value in arguments.kwargs.items()]
    return ", ".join(parts)[:200]


def _short(value: Any) -> str:
    if isinstance(value, list | tuple):
        parts: Any = value
        return "[" + ", ".join(_short(part) for part in parts) + "]"
    shape = getattr(value, "shape", None)
    return repr(value) if shape is None else f"{value.dtype}{list(shape)}"
