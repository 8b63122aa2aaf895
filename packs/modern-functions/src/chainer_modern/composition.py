"""Gradients of gradients of functions whose own gradient is array code."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import chainer
import chainer.functions as F


def composed_gradients(
    composition: Callable[..., chainer.Variable],
    inputs: Sequence[chainer.Variable],
    targets: Sequence[int],
    gy: chainer.Variable,
) -> tuple[Any, ...]:
    """Returns the gradients of a function, differentiable as often as the functions it is made of.

    For :meth:`chainer.FunctionNode.backward` of a function that computes its gradient on arrays
    (``backward_arrays``): what it computes is said once more, with differentiable functions, and
    backpropagation does the rest.

    Args:
        composition: Function of Variables that gives the output.
        inputs: The inputs.
        targets: Indexes of the inputs whose gradients are wanted.
        gy: Gradient of the output.

    Returns:
        tuple: A Variable, or None, for each target.
    """
    with chainer.force_backprop_mode():
        # Partial derivatives are wanted: an input may depend on another, or be the same Variable.
        separate: list[Any] = [F.identity(x) for x in inputs]
        y = composition(*separate)
        return tuple(
            chainer.grad([y], [separate[i] for i in targets], [gy], enable_double_backprop=True)
        )
