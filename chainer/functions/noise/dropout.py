"""Dropout."""

from __future__ import annotations

from typing import Any

from chainer.backends.operations.dropouts import dropout as operation
from chainer.core.autograd.variable import Variable, as_variable
from chainer.core.config.configuration import config
from chainer.core.typing import Array, ArrayGrads, Arrays, Indexes, VariableLike
from chainer.core.utils.argument import REMOVED_TRAIN, removed_arguments
from chainer.functions.noise._given import fit
from chainer.functions.rules import OneFloat, PiecewiseLinearFunction


class Dropout(OneFloat, PiecewiseLinearFunction):
    """Random dropping of elements.

    Args:
        dropout_ratio (float): Probability to drop an element, ``0.0 <= dropout_ratio < 1.0``.
        mask (array): Factor of each element; made at random if None.
        return_mask (bool): Without effect, since the mask is always kept; an argument of release 7.

    Attributes:
        mask: Factor of each element.
    """

    accepts_opaque_arrays = True

    def __init__(
        self, dropout_ratio: float, mask: Array | None = None, return_mask: bool = False
    ) -> None:
        if not 0.0 <= dropout_ratio < 1.0:
            raise ValueError(f"dropout_ratio must be in the range [0, 1), got {dropout_ratio}")
        self.dropout_ratio = dropout_ratio
        self.mask = mask
        self.return_mask = return_mask

    def forward(self, inputs: Arrays) -> Arrays:
        (x,) = inputs
        self._kernel = operation.select(x, ratio=self.dropout_ratio)
        mask = self.mask
        # The kernel draws and applies a mask in one pass; one that is given is only applied.
        if mask is None:
            y, self.mask = self._kernel.forward(x, self.dropout_ratio)
            return (y,)
        if mask.shape != x.shape or mask.dtype != x.dtype:
            raise ValueError(
                f"mask must have the shape and dtype of x, {x.shape} and {x.dtype}, "
                f"got {mask.shape} and {mask.dtype}"
            )
        return (x * mask,)

    def backward_arrays(self, target_input_indexes: Indexes, grad_outputs: ArrayGrads) -> Arrays:
        return (self._kernel.backward(grad_outputs[0], self.mask),)


@removed_arguments(train=REMOVED_TRAIN)
def dropout(
    x: VariableLike,
    ratio: float = 0.5,
    *,
    mask: VariableLike | None = None,
    return_mask: bool = False,
) -> Any:
    """Drops elements of input variable randomly.

    This function drops input elements randomly with probability ``ratio`` and scales the remaining
    elements by factor ``1 / (1 - ratio)``. In testing mode (``chainer.config.train`` is False) it
    does nothing and just returns ``x``.

    Args:
        x (~chainer.Variable or array): Input of any shape, floating point.
        ratio (float): Dropout ratio, ``0.0 <= ratio < 1.0``.
        mask (array or None): The mask to be used. If None, a mask is generated randomly according
            to ``ratio``, which is ignored otherwise. It is on the device of ``x`` and broadcast to
            its shape. If the dtypes differ, the output has the one that NumPy promotes both to.
        return_mask (bool): If True, the mask used is returned together with the output variable.
            It can be passed as ``mask`` later.

    Returns:
        ~chainer.Variable or tuple: The output variable, or the tuple of it and the mask. The mask
        is None in testing mode.

    Raises:
        InvalidType: If ``x`` is not of floating point numbers.
        ValueError: If ``ratio`` is out of range, if ``mask`` cannot be broadcast to the shape of
            ``x``, or for the removed argument ``train``.

    See the paper by G. Hinton: `Improving neural networks by preventing co-adaptation of feature
    detectors <https://arxiv.org/abs/1207.0580>`_.

    Example:
        >>> x = np.array([[-1, 0], [2, -3], [-2, 1]], np.float32)
        >>> with chainer.using_config('train', True):
        ...     y, mask = F.dropout(x, return_mask=True)
        >>> bool(np.isin(mask, [0, 2]).all()), bool((y.array == x * mask).all())
        (True, True)
        >>> with chainer.using_config('train', False):
        ...     y = F.dropout(x)  # dropout in test mode returns original input
        >>> bool((x == y.array).all())
        True
    """
    if config.train:
        given = mask.array if isinstance(mask, Variable) else mask
        fitted = given
        if given is not None:
            fitted, x = fit("mask", given, x)
        node = Dropout(ratio, fitted)
        y = node.apply((x,))[0]
        return (y, node.mask if given is None else given) if return_mask else y
    # While testing there is nothing to drop, because training scaled what was left.
    y = as_variable(x)
    return (y, None) if return_mask else y
