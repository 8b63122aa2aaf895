"""Highway module."""

from __future__ import annotations

from collections.abc import Callable

from chainer.core.autograd.variable import Variable
from chainer.core.typing import InitializerLike, VariableLike
from chainer.functions.activation import relu, sigmoid
from chainer.functions.math.linear_interpolate import linear_interpolate
from chainer.links.chain import Chain
from chainer.links.connection.linear import Linear


class Highway(Chain):
    r"""Highway module.

    A gate :math:`T(x) = \sigma(W_t x + b_t)` mixes a non-linear transformation of the input with
    the input itself:

    .. math::
        y = activate(W_h x + b_h) \odot T(x) + x \odot (1 - T(x)).

    See `Highway Networks <https://arxiv.org/abs/1505.00387>`_.

    Args:
        in_out_size (int): Size of input and output vectors.
        nobias (bool): Whether there are no biases.
        activate (callable): Activation function, for example :func:`chainer.functions.tanh`.
        init_Wh (initializer): Initializer of :math:`W_h`; an array has shape
            ``(in_out_size, in_out_size)``.
        init_Wt (initializer): Initializer of :math:`W_t`; likewise.
        init_bh (initializer): Initializer of :math:`b_h`; zero by default. An array has shape
            ``(in_out_size,)``.
        init_bt (initializer): Initializer of :math:`b_t`; the authors of the paper recommend
            negative values (-1, -3, ...), with which the input is carried on at first.

    Attributes:
        plain (Linear): Linear layer of the transformation.
        transform (Linear): Linear layer of the gate.

    Example:
        >>> L.Highway(3)(np.zeros((2, 3), np.float32)).shape
        (2, 3)
    """

    def __init__(
        self,
        in_out_size: int,
        nobias: bool = False,
        activate: Callable[[Variable], Variable] = relu.relu,
        init_Wh: InitializerLike = None,
        init_Wt: InitializerLike = None,
        init_bh: InitializerLike = None,
        init_bt: InitializerLike = -1,
    ) -> None:
        super().__init__()
        # The layers keep their names from earlier releases, because saved files use them.
        self.activate = activate
        with self.init_scope():
            self.plain = Linear(
                in_out_size, in_out_size, nobias=nobias, initialW=init_Wh, initial_bias=init_bh
            )
            self.transform = Linear(
                in_out_size, in_out_size, nobias=nobias, initialW=init_Wt, initial_bias=init_bt
            )

    def forward(self, x: VariableLike) -> Variable:
        """Computes the output of the Highway module.

        Args:
            x (Variable or array): Input of shape ``(B, in_out_size)``.

        Returns:
            Variable: Output of the shape of ``x``.
        """
        out_plain = self.activate(self.plain(x))
        return linear_interpolate(sigmoid.sigmoid(self.transform(x)), out_plain, x)
