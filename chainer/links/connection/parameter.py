"""A parameter as a link."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

from chainer.core.arrays.backend import get_device_from_array
from chainer.core.autograd import parameter
from chainer.core.autograd.variable import Variable
from chainer.core.typing import Array
from chainer.functions.math import identity
from chainer.links.link import Link


class Parameter(Link):
    """Link that just holds a parameter and returns it.

    Deprecated since v1.5; use :class:`chainer.Parameter` itself.

    Args:
        array: Initial parameter array; it becomes the array of the parameter.

    Attributes:
        W (Parameter): Parameter variable.

    Example:
        >>> L.Parameter(np.ones((2, 3), np.float32))().shape
        (2, 3)
    """

    def __init__(self, array: Array) -> None:
        super().__init__()
        with self.init_scope():
            self.W = parameter.Parameter(array)
            # The gradient is NaN until it is cleared, as for parameters that an initializer fills.
            self.W.initialize(array.shape)
            self.W.array = array
        # The array may be on an accelerator.
        self.to_device(get_device_from_array(array))

    @property
    def printable_specs(self) -> Iterator[tuple[str, Any]]:
        """Pairs of name and value that describe the link when it is printed."""
        yield "shape", self.W.shape

    def forward(self, volatile: str = "off") -> Variable:
        """Returns the parameter variable.

        Args:
            volatile: Has no effect; programs for version 1 give it.

        Returns:
            Variable: A variable with the value of the parameter, through which gradients reach it.
        """
        return cast(Variable, identity.identity(self.W))
