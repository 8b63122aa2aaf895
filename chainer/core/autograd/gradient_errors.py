"""Checks of what the differentiation rule of a function returned, and their errors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from chainer.core.autograd.gradient_arrays import check_gradient

if TYPE_CHECKING:
    from chainer.core.autograd.function_node import FunctionNode
    from chainer.core.typing import Array, Indexes

_RULE = "-" * 80


class GradientTypeError(TypeError, ValueError):
    """A rule returned something of a wrong type (release 7 raised ValueError in debug mode)."""


def describe(function: FunctionNode) -> str:
    """Returns lines with the name of a function and the shapes and dtypes around it."""
    lines = [f"  function={function._impl_name} ({function.label})"]  # pyright: ignore
    for i, node in enumerate(function.inputs or ()):
        lines.append(f"    input {i}: shape={node.shape} dtype={node.dtype}")
    for i, reference in enumerate(function.outputs or ()):
        node = reference()
        known = "not available" if node is None else f"shape={node.shape} dtype={node.dtype}"
        lines.append(f"    output {i}: {known}")
    return "\n".join(lines)


def gradients_of_targets(
    function: FunctionNode, targets: Indexes, gradients: Any
) -> tuple[Any, ...]:
    """Reduces the result of ``backward`` to one gradient per target."""
    if not isinstance(gradients, (tuple, list)):
        raise GradientTypeError(
            f"backward of {function.label} ({type(function).__name__}) must return a tuple, "
            f"got {type(gradients)}"
        )
    count = len(function.inputs or ())
    given = cast("tuple[Any, ...]", gradients)
    if len(given) == len(targets):
        return given
    if len(given) == count:
        return tuple([given[i] for i in targets])
    expected = f"{len(targets)}" if len(targets) == count else f"{len(targets)} or {count}"
    raise ValueError(
        "number of gradients returned from backward is incorrect: "
        f"{len(given)} != expected {expected}\n{describe(function)}"
    )


def check_input_gradient(function: FunctionNode, index: int, array: Array, any_dtype: bool) -> None:
    """Raises unless an array can be the gradient of an input of a function.

    Args:
        function: The function, whose rule returned the gradient.
        index: Index of the input.
        array: The gradient.
        any_dtype: Whether the dtype may differ from the input's dtype.
    """
    x = function.input_nodes[index]
    shape, dtype = getattr(array, "shape", None), getattr(array, "dtype", None)
    expected_shape: Any = x.shape  # None if the input is not initialized
    if expected_shape is None or (any_dtype and shape == expected_shape):
        return
    what = "type"
    if shape is not None and dtype is not None:
        what = "shape" if shape != x.shape else "dtype"
    actual, expected = (shape, x.shape) if what == "shape" else (dtype, x.dtype)
    text = (
        f"{what} of gradients returned from backward is incorrect: input-index={index}, "
        f"actual {actual} != expected {expected}\n{describe(function)}\n"
    )
    if function.stack is None:
        text += "This is a bug of the function: please report it to its author.\n"
    check_gradient(x, array, text)


def add_stack(error: Exception, function: FunctionNode) -> None:
    """Appends to the text of an error where the function was applied, if debug mode recorded it."""
    if function.stack is None:
        return
    first = error.args[0] if error.args else ""
    if isinstance(first, str) and "Stacktrace of the function" not in first:
        stack = "".join(function.stack.format())
        text = f"{first}\n{_RULE}\nStacktrace of the function is below:\n{stack}"
        error.args = (text, *error.args[1:])
