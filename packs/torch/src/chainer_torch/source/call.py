"""One operator of a graph, as its converter to source text sees it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

#: Writes the expression of an operator.
Writer = Callable[["Call"], str]


class UnsupportedError(ValueError):
    """A graph has operators, or forms of them, that have no source text."""


class Call:
    """One operator of a graph.

    Args:
        operator: Its name in ONNX.
        inputs: Names of the inputs; empty for one that is left out.
        outputs: Names of the outputs.
        attributes: Its attributes.
        constants: The constants of the graph by name.
        expression: Returns the source text of a value by name.
        kinds: Kind of dtype by name of a value, as of ``numpy.dtype.kind``.

    Attributes:
        helpers: Names of the functions of :mod:`chainer_torch.source.helpers` in use.
    """

    def __init__(
        self,
        operator: str,
        inputs: Sequence[str],
        outputs: Sequence[str],
        attributes: dict[str, Any],
        constants: dict[str, np.ndarray],
        expression: Callable[[str], str],
        kinds: dict[str, str],
    ) -> None:
        self.operator = operator
        self.inputs = list(inputs)
        self.outputs = list(outputs)
        self.attributes = attributes
        self._constants = constants
        self._expression = expression
        self._kinds = kinds
        self.helpers: set[str] = set()

    def __getitem__(self, index: int) -> str:
        """The source text of an input."""
        return self._expression(self.inputs[index])

    def __len__(self) -> int:
        return len(self.inputs)

    def has(self, index: int) -> bool:
        """Returns whether an input is given."""
        return index < len(self.inputs) and bool(self.inputs[index])

    def optional(self, index: int) -> str:
        """Returns the source text of an input, ``None`` if it is not given."""
        return self[index] if self.has(index) else "None"

    def get(self, name: str, default: Any = None) -> Any:
        """Returns an attribute."""
        return self.attributes.get(name, default)

    def kind(self, index: int) -> str:
        """Returns the kind of dtype of an input: ``'f'``, ``'i'``, ``'b'``."""
        return self._kinds.get(self.inputs[index], "f")

    def constant(self, index: int) -> np.ndarray | None:
        """Returns the value of an input, None if it is not a constant."""
        return self._constants.get(self.inputs[index]) if self.has(index) else None

    def ints(self, index: int, attribute: str = "") -> list[int] | None:
        """Returns whole numbers that are an input, or an attribute in old sets of operators.

        Returns:
            list: None if they are not given.

        Raises:
            UnsupportedError: If they are computed by the graph.
        """
        if not self.has(index):
            value = self.get(attribute) if attribute else None
            return None if value is None else [int(n) for n in value]
        value = self.constant(index)
        if value is None:
            raise UnsupportedError(f"{self.operator} with an input {index} that is computed")
        return [int(n) for n in np.reshape(value, -1)]

    def shape(self, index: int) -> str:
        """Returns a shape as source text: numbers, or a list that the model computes."""
        value = self.constant(index)
        if value is None:
            return f"{self[index]}.tolist()"
        return str(tuple([int(n) for n in np.reshape(value, -1)]))

    def number(self, index: int) -> str | None:
        """Returns an input as a literal if it is one constant number."""
        value = self.constant(index)
        if value is None or value.size != 1 or value.ndim > 1 or value.dtype.kind not in "fiu":
            return None
        return literal(value.reshape(-1)[0])

    def scalar(self, index: int) -> str:
        """Returns an input as a literal if it is one constant number, else its source text."""
        return self.number(index) or self[index]

    def helper(self, name: str, *arguments: Any) -> str:
        """Returns a call of a function that is written into the file."""
        self.helpers.add(name)
        return f"{name}({', '.join(map(str, arguments))})"

    def unsupported(self, form: str) -> UnsupportedError:
        """Returns the error of a form that has no source text."""
        return UnsupportedError(f"{self.operator} {form}")


def literal(number: Any) -> str:
    """Returns a number as source text, with the fewest digits that give it back."""
    if isinstance(number, np.generic):
        if isinstance(number, np.floating):
            # The digits that tell float32 numbers apart: as float64, 0.1 would be
            # 0.10000000149011612.
            short = float(np.format_float_positional(number, unique=True, trim="0"))
            return literal(short)
        number = number.item()
    if isinstance(number, float) and not np.isfinite(number):
        return f'float("{number}")'
    return repr(number)
