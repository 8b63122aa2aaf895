"""Tables of names: parameters of a model and tensors of a published file."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import chainer
from chainer.typing import HostArray


class Transform(NamedTuple):
    """How a tensor of a file becomes a parameter, and back.

    Attributes:
        load: Makes the parameter of the tensor; a view if possible.
        save: The inverse.
    """

    load: Callable[[HostArray], HostArray]
    save: Callable[[HostArray], HostArray]


def _same(array: HostArray) -> HostArray:
    return array


def _transposed(array: HostArray) -> HostArray:
    return array.T


#: The tensor as it is.
SAME = Transform(_same, _same)
#: GPT-2 stores weights as (in, out). A product takes the transposed view in either order.
TRANSPOSED = Transform(_transposed, _transposed)


class Row(NamedTuple):
    """One row of a table.

    Attributes:
        own: Path of the parameter, such as ``/layers/*/attn/q/W``. A ``*`` is the number of a
            layer.
        file: Name of the tensor in the file, with a ``*`` for each of ``own``.
        transform: How one becomes the other.
    """

    own: str
    file: str
    transform: Transform = SAME


def weights(own: str, file: str, transform: Transform = SAME) -> list[Row]:
    """Returns the rows of a link with parameters ``W`` and ``b``.

    Args:
        own: Path of the link.
        file: Name of the layer in the file.
        transform: How its weight is stored.
    """
    return [Row(own + "/W", file + ".weight", transform), Row(own + "/b", file + ".bias")]


def norm(own: str, file: str, weight: str = "weight", bias: str = "bias") -> list[Row]:
    """Returns the rows of a normalization.

    Args:
        own: Path of the link.
        file: Name of the layer in the file.
        weight: Name of its factors.
        bias: Name of what is added.
    """
    return [Row(own + "/gamma", f"{file}.{weight}"), Row(own + "/beta", f"{file}.{bias}")]


class Named(NamedTuple):
    """A parameter with its name in files.

    Attributes:
        parameter: The parameter.
        own: Its path in the model.
        file: Name of the tensor.
        transform: How one becomes the other.
    """

    parameter: Any
    own: str
    file: str
    transform: Transform


def named_parameters(model: chainer.Link, rows: Iterable[Row]) -> list[Named]:
    """Returns all parameters of a model with their names in files.

    Args:
        model: The model.
        rows: Its table.

    Raises:
        LookupError: If the table lacks a parameter, or gives two the same name.
    """
    table = Table(rows)
    found: list[Named] = []
    names: set[str] = set()
    for own, parameter in [*model.namedparams(), *_statistics(model)]:
        entry = table.find(own)
        if entry is None:
            raise LookupError(f"the table of names of {type(model).__name__} lacks {own}")
        file, transform = entry
        if file in names:
            raise LookupError(f"two parameters of {type(model).__name__} have the name {file!r}")
        names.add(file)
        found.append(Named(parameter, own, file, transform))
    return found


class Table:
    """A table of names, ready to be searched.

    Args:
        rows: Its rows.
    """

    def __init__(self, rows: Iterable[Row]) -> None:
        rows = list(rows)
        # Networks without repeated layers have hundreds of rows, which are found at once.
        self._single = {row.own: row for row in rows if "*" not in row.own}
        self._patterns = [(_pattern(row.own), row) for row in rows if "*" in row.own]

    def find(self, own: str) -> tuple[str, Transform] | None:
        """Returns the name in files of a parameter, and how it is stored; None if it has none.

        Args:
            own: Path of the parameter.
        """
        if own in self._single:
            return self._single[own].file, self._single[own].transform
        for pattern, row in self._patterns:
            match = pattern.fullmatch(own)
            if match:
                return _filled(row.file, match.groups()), row.transform
        return None


class Statistic:
    """A persistent array of a link, with the attributes of a parameter that loading uses."""

    def __init__(self, link: Any, name: str) -> None:
        self._link = link
        self._name = name

    @property
    def array(self) -> HostArray:
        """The array."""
        return getattr(self._link, self._name)

    @array.setter
    def array(self, value: HostArray) -> None:
        setattr(self._link, self._name, value)


def _statistics(model: chainer.Link) -> list[tuple[str, Statistic]]:
    """Returns the running statistics of batch normalization by path."""
    return [
        (f"{path if path != '/' else ''}/{name}", Statistic(link, name))
        for path, link in model.namedlinks()
        for name in ("avg_mean", "avg_var")
        if name in vars(link)
    ]


def _pattern(own: str) -> re.Pattern[str]:
    return re.compile(r"(\d+)".join([re.escape(part) for part in own.split("*")]))


def _filled(file: str, numbers: Iterable[str]) -> str:
    for number in numbers:
        file = file.replace("*", number, 1)
    return file
