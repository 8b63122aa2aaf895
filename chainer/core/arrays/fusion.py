"""Fusions: calls one after the other that a kernel computes as one, in captured steps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, cast


class FusedCall(NamedTuple):
    """One of the calls of a :class:`Fusion`.

    Attributes:
        name: Operation and method, such as ``'relu.forward'``. Operators on arrays in layouts of
            their own have names such as ``'operator.add'``.
        argument: Position of the argument that is the result of the call before. It does not matter
            for the first call.
        result: Position of the result that the next call gets, if the method returns a tuple. None
            if it returns one array.

    Example:
        >>> from chainer.kernel import FusedCall
        >>> FusedCall("batch_normalization.forward", result=0).name
        'batch_normalization.forward'
    """

    name: str
    argument: int = 0
    result: int | None = None


@dataclass(frozen=True)
class Fusion:
    """Calls that a kernel computes as one. Kernels list them in an attribute ``fusions``.

    A captured step makes the calls as one if nothing but the next call reads the result of each,
    and if one of them is a call of the kernel. The others may be of any provider. The kernel gets
    the arguments of all calls, ``method(first, second, ...)``, each a tuple, with None in place of
    the results that pass from call to call. It returns a tuple of the results of all calls, in
    which those that pass from call to call may be None.

    The captured step is compared with the step as written before it is used.

    Attributes:
        calls: The calls, two or more, in order.
        method: Name of the method of the kernel that computes all of them.
        supports: Name of a method of the kernel that gets the same arguments, with an
            :class:`ArraySpec` in place of each array, and returns whether the kernel computes these
            calls as one. The same array has the same object. None if it always does.
        exact: Whether the results have the bits of the single calls. Otherwise the comparison with
            the step as written allows for roundings.

    Raises:
        TypeError: If one of ``calls`` is not a :class:`FusedCall`.
        ValueError: If there are fewer than two calls, or a name is not of the form
            ``'operation.method'``.

    Example:
        A provider's product that also computes the relu that follows:

        >>> from chainer.kernel import FusedCall, Fusion
        >>> class LinearKernel:
        ...     fusions = (
        ...         Fusion((FusedCall("linear.forward"), FusedCall("relu.forward")), "with_relu"),
        ...     )
        ...     def forward(self, x, W, b):
        ...         return x.dot(W.T) + b
        ...     def with_relu(self, linear, relu):
        ...         y = self.forward(*linear)
        ...         return None, np.maximum(y, 0, out=y)
        >>> LinearKernel.fusions[0].calls[1]
        FusedCall(name='relu.forward', argument=0, result=None)
    """

    calls: tuple[FusedCall, ...]
    method: str
    supports: str | None = None
    exact: bool = False

    def __post_init__(self) -> None:
        given = cast("tuple[Any, ...]", self.calls)  # without a type checker, of any type
        wrong = [call for call in given if not isinstance(call, FusedCall)]
        if wrong:
            raise TypeError(f"calls of a Fusion must be FusedCall objects, got {wrong[0]!r}")
        if len(self.calls) < 2:
            raise ValueError(f"calls of a Fusion must be two or more, got {len(self.calls)}")
        for call in self.calls:
            if call.name.count(".") != 1:
                raise ValueError(
                    "name of a FusedCall must be an operation and a method such as "
                    f"'relu.forward', got {call.name!r}"
                )
