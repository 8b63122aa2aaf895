"""The function behind :meth:`chainer.Variable.as_layout`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chainer.core.autograd import memory_layouts
from chainer.core.autograd.function_node import FunctionNode

if TYPE_CHECKING:
    from chainer.core.autograd.variable import Variable
    from chainer.core.typing import ArrayGrads, Arrays, Grads, Indexes, Variables


class AsLayout(FunctionNode):
    """Changes the memory layout; the elements, in their semantic order, stay the same.

    Args:
        layout: Name of the layout.
    """

    def __init__(self, layout: str | None) -> None:
        self._layout = layout
        self._previous: str | None = None

    def check_layout_forward(self, inputs: Variables) -> None:
        """Notes the layout of the input."""
        (x,) = inputs
        self._previous = x.layout
        # Raises for unknown layouts, and for arrays that have no channels.
        memory_layouts.transposed(x._array, self._previous, self._layout)  # pyright: ignore[reportPrivateUsage]
        self.output_layouts = (self._layout,)

    def forward(self, inputs: Arrays) -> Arrays:
        """Returns a view of the input."""
        return (inputs[0][...],)

    def backward_arrays(
        self, target_input_indexes: Indexes, grad_outputs: ArrayGrads
    ) -> ArrayGrads:
        """Returns the gradient itself: gradients that are arrays have no layout."""
        return grad_outputs

    def backward(self, target_input_indexes: Indexes, grad_outputs: Grads) -> Grads:
        """Returns the gradient in the layout of the input."""
        (gy,) = grad_outputs
        return (None if gy is None else gy.as_layout(self._previous),)


def as_layout(x: Variable, layout: str | None) -> Variable:
    """Returns a variable in a memory layout; see :meth:`chainer.Variable.as_layout`.

    Args:
        x: The variable.
        layout: Name of the layout.
    """
    return x if x.layout == layout else AsLayout(layout).apply((x,))[0]
