"""Bilinear layer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from chainer.core.arrays.backend import is_array
from chainer.core.autograd.parameter import Parameter
from chainer.core.autograd.variable import Variable
from chainer.core.typing import InitializerLike, Shape, VariableLike
from chainer.functions.connection import bilinear
from chainer.links.errors import InvalidValueError
from chainer.links.initializers import get_initializer
from chainer.links.link import Link


class Bilinear(Link):
    """Bilinear layer that performs tensor multiplication.

    Wraps :func:`chainer.functions.bilinear` and holds its parameters.

    Args:
        left_size (int): Size :math:`J` of the left input vectors.
        right_size (int): Size :math:`K` of the right input vectors.
        out_size (int): Size :math:`L` of output vectors.
        nobias (bool): Whether to leave out ``V1``, ``V2`` and ``b``.
        initialW (initializer): Initializer of ``W``; an array has shape
            ``(left_size, right_size, out_size)``.
        initial_bias (tuple of initializer): Initializers of ``V1``, ``V2`` and ``b``; arrays have
            shapes ``(left_size, out_size)``, ``(right_size, out_size)`` and ``(out_size,)``. If
            None, ``V1`` and ``V2`` are initialized by the default initializer and ``b`` is zero.

    Attributes:
        W (Parameter): Bilinear weight of shape ``(left_size, right_size, out_size)``.
        V1 (Parameter): Linear weight of the left input, shape ``(left_size, out_size)``.
        V2 (Parameter): Linear weight of the right input, shape ``(right_size, out_size)``.
        b (Parameter): Bias of shape ``(out_size,)``.

    Raises:
        ValueError: If ``initialW`` or ``initial_bias`` are not of that form.

    Example:
        >>> e1, e2 = np.zeros((4, 3), np.float32), np.zeros((4, 2), np.float32)
        >>> L.Bilinear(3, 2, 5)(e1, e2).shape
        (4, 5)
    """

    W: Parameter
    V1: Parameter
    V2: Parameter
    b: Parameter

    # Links restored from pickles of older releases lack the attribute.
    out_size: int | None = None

    def __init__(
        self,
        left_size: int,
        right_size: int,
        out_size: int,
        nobias: bool = False,
        initialW: InitializerLike = None,
        initial_bias: tuple[InitializerLike, InitializerLike, InitializerLike] | None = None,
    ) -> None:
        super().__init__()
        shape = (left_size, right_size, out_size)
        _check_shape("initialW", initialW, shape)
        if initial_bias is None:
            initial_bias = (None, None, 0)
        elif not isinstance(initial_bias, tuple):
            raise ValueError("initial_bias must be tuple or None")
        elif len(initial_bias) != 3:
            raise ValueError(
                "initial_bias must be a tuple of three initializers, for V1, V2 and b, "
                f"got {len(initial_bias)}"
            )
        self.in_sizes = (left_size, right_size)
        self.out_size = out_size
        self.nobias = nobias
        # An array of another shape would be broadcast, which is hardly ever meant.
        with self.init_scope():
            self.W = Parameter(get_initializer(initialW), shape)
            if not nobias:
                shapes = ((left_size, out_size), (right_size, out_size), (out_size,))
                for name, initializer, shape in zip(("V1", "V2", "b"), initial_bias, shapes):
                    _check_shape(f"the element of initial_bias for {name}", initializer, shape)
                    setattr(self, name, Parameter(get_initializer(initializer), shape))

    @property
    def printable_specs(self) -> Iterator[tuple[str, Any]]:
        """Pairs of name and value that describe the link when it is printed."""
        yield "left_size", self.in_sizes[0]
        yield "right_size", self.in_sizes[1]
        yield "out_size", self.out_size
        yield "nobias", self.nobias

    def forward(self, e1: VariableLike, e2: VariableLike) -> Variable:
        """Applies the bilinear function to inputs and the internal parameters.

        Args:
            e1 (Variable or array): Left input of shape ``(B, left_size)``.
            e2 (Variable or array): Right input of shape ``(B, right_size)``.

        Returns:
            Variable: Output of shape ``(B, out_size)``.
        """
        if self.nobias:
            return bilinear.bilinear(e1, e2, self.W)
        return bilinear.bilinear(e1, e2, self.W, self.V1, self.V2, self.b)

    def zero_grads(self) -> None:
        """Fills the gradients with zeros; kept for programs of version 1."""
        self.zerograds()


def _check_shape(name: str, initializer: InitializerLike, shape: Shape) -> None:
    """Raises ValueError if an initializer is an array of another shape."""
    given = getattr(initializer, "shape", shape) if is_array(initializer) else shape
    if given != shape:
        raise InvalidValueError(f"{name} must have shape {shape}, got {given}")
