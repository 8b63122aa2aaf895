"""Type checks of the inputs of function nodes, and the errors that tell what was wrong.

:func:`chainer.core.autograd.apply.apply` comes here once per signature of a class of functions.
"""

# The graph is one data structure in several modules, which reach into each other for speed.
# pyright: reportPrivateUsage=false

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from chainer.core import utils  # utils.type_check is imported by the first call of a function
from chainer.core.arrays.extended_dtypes import kind_of
from chainer.core.config.configuration import threads

if TYPE_CHECKING:
    from chainer.core.autograd.function_node import FunctionNode
    from chainer.core.typing import Array, Arrays


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
        refusal.add_note(_dtype_remedy(self, in_data) or _description(self, in_data, error))
        raise refusal from None
    except Exception as error:
        # A check that works on plain values only cannot say what it expected.
        actual = ", ".join(["None" if x is None else f"{x.dtype}{x.shape}" for x in in_data])
        expected = f"inputs that pass {self._impl_name}.check_type_forward"
        text = f"{message}\nExpect: {expected}\nActual: {actual}"
        raise utils.type_check.InvalidType(expected, actual, msg=text) from error


def _dtype_remedy(self: FunctionNode, in_data: Arrays) -> str:
    """Returns how floating-point inputs get one dtype; an empty text if they have one.

    It is a note of the error, below the documented text, which stays as it is.
    """
    names = self.argument_names or ()
    if len(in_data) == 2 and "t" in names and _label_remedy(in_data[0], in_data[1]):
        return ""  # labels of another type: another float type would not help
    floats = [
        (names[i] if i < len(names) else f"input {i}", array.dtype)
        for i, array in enumerate(in_data)
        if array is not None and kind_of(array.dtype) == "f"
    ]
    dtypes = {dtype for _, dtype in floats}
    if len(dtypes) < 2:
        return ""
    # The advice is to convert data rather than parameters. Parameters come later in the inputs.
    first, wanted = floats[0][0], floats[1][1] if floats[1][1] != floats[0][1] else floats[-1][1]
    listed = ", ".join([f"{name} is {dtype}" for name, dtype in floats])
    return f"{listed}: convert by {first}.astype(np.{wanted}), or the model to {floats[0][1]}"


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


def _description(self: FunctionNode, in_data: Arrays, error: utils.type_check.InvalidType) -> str:
    """Returns shapes and dtypes of all inputs by name, and a remedy where there is a common one."""
    names = self.argument_names or ()
    named = {(names[i] if i < len(names) else f"input {i}"): a for i, a in enumerate(in_data)}
    if any([array is None for array in in_data]):
        kinds = {name: "None" if a is None else a.dtype for name, a in named.items()}
        return ", ".join([f"{name} is {kind}" for name, kind in kinds.items()])
    text = ", ".join([f"{name} is {a.dtype} of shape {a.shape}" for name, a in named.items()])
    if str(error.expect).endswith("dtype.kind == f") and in_data[0].dtype.kind in "biu":
        # Such inputs are most often images stored as bytes.
        text += f": convert {next(iter(named))} by astype(np.float32)"
    elif str(error.expect).endswith("dtype.kind == i") and error.actual == "f != i":
        last = list(named)[-1] if "t" in named else next(iter(named))
        text += f": convert {last} by astype(np.int32)"
    if len(in_data) > 1 and in_data[0].ndim > 2:
        text += _image_remedy(next(iter(named)), in_data[0].shape, in_data[1].shape)
    if "t" in named and len(in_data) == 2:
        text += _label_remedy(in_data[0], named["t"])
    return text


def _label_remedy(scores: Array, labels: Array) -> str:
    """Returns what to do with labels that are of a floating-point dtype, or one-hot."""
    if labels.dtype.kind == "f" and labels.ndim == scores.ndim - 1:
        return ": if t has class numbers, convert by t.astype(np.int32)"
    if labels.dtype.kind in "iu" and labels.shape == scores.shape and labels.ndim > 1:
        return ": if t is one-hot, convert by t.argmax(axis=1)"
    return ""


def _image_remedy(name: str, shape: tuple[int, ...], weight: tuple[int, ...]) -> str:
    """Returns what to do with an image whose channels are last, or without an axis of samples."""
    if len(weight) == len(shape) + 1 and shape[0] == weight[1]:
        return f": if {name} is one sample, add the axis of samples by x[None]"
    if len(weight) == len(shape) and shape[1] != weight[1] == shape[-1]:
        axes = ", ".join([str(axis) for axis in (0, len(shape) - 1, *range(1, len(shape) - 1))])
        return f": channels must be on axis 1: convert {name} by transpose({axes})"
    return ""
