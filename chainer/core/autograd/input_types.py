"""Type checks of the inputs of function nodes, and the errors that tell what was wrong.

:func:`chainer.core.autograd.apply.apply` comes here once per signature of a class of functions.
"""

# The graph is one data structure in several modules, which reach into each other for speed.
# pyright: reportPrivateUsage=false

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from chainer.core import utils  # utils.type_check is imported by the first call of a function
from chainer.core.autograd.remedies import describe
from chainer.core.config.configuration import threads

if TYPE_CHECKING:
    from chainer.core.autograd.function_node import FunctionNode
    from chainer.core.typing import Arrays


def check_types(self: FunctionNode, in_data: Arrays) -> None:
    """Raises InvalidType unless the arrays pass ``check_type_forward``.

    The check runs on plain values first. That is faster, and checks may branch on such values
    (``if in_types[0].ndim == 3``). If the check fails, it runs again on expressions, which supply
    the text of the message.
    """
    state = threads.state
    outer = state.light_type_check
    try:
        light_types: Any = utils.type_check.get_light_types(in_data)
        # Plain assignments, because a signal may raise an exception between the calls that a
        # context manager consists of.
        try:
            state.light_type_check = True
            self.check_type_forward(light_types)
        finally:
            state.light_type_check = outer
    except (utils.type_check.InvalidType, IndexError):
        # IndexError: a shape has fewer axes than the check reads. An expression reads them later.
        _explain_types(self, in_data)
    except (AttributeError, TypeError) as error:
        # A check that expects None as an input passes. Others read attributes of None.
        refuse_uninitialized(self, in_data, error)
        raise


def _explain_types(self: FunctionNode, in_data: Arrays) -> None:
    """Raises InvalidType with the expression that does not hold for the arrays.

    Returns without an error if all expressions hold. That happens with bfloat16: its ``kind`` is
    not ``'f'``, but the expressions treat it as a floating-point type.
    """
    message = f"\nInvalid operation is performed in: {self.label} (Forward)\n"
    try:
        in_types = utils.type_check.get_types(in_data, "in_types", accept_none=True)
        names = self.argument_names
        if names is not None and len(names) >= len(in_types):
            utils.type_check.argname(in_types, names[: len(in_types)])
        self.check_type_forward(in_types)
    except utils.type_check.InvalidType as error:
        # Some functions raise a subclass that belongs to a second class of errors.
        refusal = type(error)(error.expect, error.actual, msg=f"{message}\n{error}")
        refusal.add_note(describe(self.argument_names or (), in_data, error))
        raise refusal from None
    except Exception as error:
        # A check that works on plain values only cannot say what it expected.
        actual = ", ".join(["None" if x is None else f"{x.dtype}{x.shape}" for x in in_data])
        expected = f"inputs that pass {self._impl_name}.check_type_forward"
        text = f"{message}\nExpect: {expected}\nActual: {actual}"
        raise utils.type_check.InvalidType(expected, actual, msg=text) from error


def refuse_uninitialized(
    self: FunctionNode, in_data: Arrays, cause: Exception | None = None
) -> None:
    """Raises an error if an input has no array. Some functions that users define allow that."""
    for i, array in enumerate(in_data):
        if array is None:
            raise RuntimeError(
                f"input {i} of {self.label} is an uninitialized variable, or None; "
                "give it a shape with initialize() first, or return a value where None came from"
            ) from cause
