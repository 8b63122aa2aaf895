"""A row: a function of Chainer, the OpInfo that describes it, and their differences."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

Values = dict[str, Any]


@dataclass(frozen=True)
class Arguments:
    """Arguments of PyTorch, with arrays of NumPy in the place of tensors.

    Attributes:
        args: Positional arguments.
        kwargs: Keywords.
    """

    args: tuple[Any, ...]
    kwargs: Values = field(default_factory=dict[str, Any])

    def get(self, position: int, name: str, default: Any = None) -> Any:
        """Returns an argument that is given by position or by name.

        Args:
            position: Its position.
            name: Its name.
            default: The value if it is not given.
        """
        if position < len(self.args):
            return self.args[position]
        return self.kwargs.get(name, default)


@dataclass(frozen=True)
class Difference:
    """A declared difference. The samples that it is about must not agree with PyTorch.

    Attributes:
        reason: Why the libraries differ.
        when: Which samples it is about.
    """

    reason: str
    when: Callable[[Arguments], bool]


@dataclass(frozen=True)
class Row:
    """A function that both have.

    Attributes:
        function: Name in ``chainer.functions``.
        op: Name of the OpInfo.
        call: Adapter ``call(F, *args, **kwargs)`` with PyTorch's arguments; by default
            ``F.<function>(*args, **kwargs)``.
        outputs: Indexes of PyTorch's outputs that are compared; all by default.
        differences: Differences on purpose. A sample belongs to the first that fits.
    """

    function: str
    op: str
    call: Callable[..., Any] | None = None
    outputs: tuple[int, ...] | None = None
    differences: tuple[Difference, ...] = ()

    def apply(self, functions: Any, arguments: Arguments) -> Any:
        """Calls the function of Chainer.

        Args:
            functions: Object whose attributes are the functions.
            arguments: PyTorch's arguments, with Variables and arrays in the place of tensors.
        """
        if self.call is None:
            return getattr(functions, self.function)(*arguments.args, **arguments.kwargs)
        return self.call(functions, *arguments.args, **arguments.kwargs)

    def difference(self, arguments: Arguments) -> int | None:
        """Returns the index of the difference that a sample belongs to; None for none.

        Args:
            arguments: Its arguments, on the host.
        """
        for i, difference in enumerate(self.differences):
            if difference.when(arguments):
                return i
        return None


def keyword(name: str, reason: str) -> Difference:
    """Declares that a keyword of PyTorch has no counterpart.

    Args:
        name: The keyword.
        reason: Why.
    """
    return Difference(reason, lambda given: name in given.kwargs)


def _axis_of_scalar(given: Arguments) -> bool:
    # The axes () are none.
    return given.args[0].ndim == 0 and given.get(1, "dim", ()) != ()


#: PyTorch takes axis 0 of an array that has none.
without_axes = Difference("an array without axes has no axis 0", _axis_of_scalar)
