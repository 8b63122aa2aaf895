"""Linear function with dropped weights."""

from __future__ import annotations

from math import prod
from typing import Any

from chainer.core.autograd.variable import Variable
from chainer.core.typing import Array, ArrayGrads, Arrays, Indexes, VariableLike, Variables
from chainer.core.utils import type_check
from chainer.core.utils.argument import explained_keywords
from chainer.functions.array.broadcast import broadcast_to
from chainer.functions.array.cast import cast
from chainer.functions.array.reshape import reshape
from chainer.functions.math.matmul import matmul
from chainer.functions.rules import ComposedFunction, expect_bias, expect_weighted


class SimplifiedDropconnect(ComposedFunction):
    """Linear function with dropped weights.

    Args:
        ratio (float): Probability to drop a weight.
        mask (array): Which weights are kept; made at random if None.
        use_batchwise_mask (bool): Whether a random mask differs between samples.

    Attributes:
        mask: Which weights are kept.
    """

    argument_names = ("x", "W", "b")

    def __init__(
        self, ratio: float, mask: Array | None = None, use_batchwise_mask: bool = True
    ) -> None:
        if not 0.0 <= ratio < 1.0:
            raise ValueError(f"ratio must be in the range [0, 1), got {ratio}")
        self.ratio = ratio
        self.mask: Array = mask
        self.use_batchwise_mask = use_batchwise_mask

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        x_type, w_type = expect_weighted(in_types)
        type_check.expect(
            x_type.ndim >= 2,
            w_type.ndim == 2,
        )
        elements = type_check.Variable(
            prod(type_check.eval(x_type.shape)[1:]), f"prod({x_type}.shape[1:])"
        )
        type_check.expect(elements == w_type.shape[1])
        expect_bias(in_types)
        if self.mask is not None:
            mask_shape = self.mask.shape
            # A mask for each sample, or one for all of them.
            if len(mask_shape) == 3:
                type_check.expect(x_type.shape[0] == mask_shape[0])
            type_check.expect(w_type.shape == mask_shape[-2:])

    def batched(
        self, inputs: Variables, are_batched: tuple[bool, ...], size: int
    ) -> Variables | None:
        # A mask that is not given yet is drawn for each sample.
        return None if self.mask is None else super().batched(inputs, are_batched, size)

    def forward(self, inputs: Arrays) -> Arrays:
        self.retain_inputs(range(len(inputs)))
        x, W = _as_matrix(inputs[0]), inputs[1]
        xp = self.xp
        if self.mask is None:
            shape = (len(x), *W.shape) if self.use_batchwise_mask else W.shape
            # Booleans take an eighth of the memory of the factors that they represent.
            self.mask = xp.random.rand(*shape) >= self.ratio
        # Products with an integer mask would be promoted to float64.
        elif self.mask.dtype.kind in "iu":
            self.mask = self.mask.astype(W.dtype)
        weights = self._weights(W)
        # One mask for all samples needs one product. Otherwise each sample has its own weights.
        y = x @ weights.T if weights.ndim == 2 else (weights @ x[:, :, None])[:, :, 0]
        if len(inputs) == 3:
            y += inputs[2]
        return (y.astype(x.dtype, copy=False),)

    def _weights(self, W: Array) -> Any:
        """Returns the weights that are kept, scaled."""
        return self.mask * (W * W.dtype.type(1.0 / (1 - self.ratio)))

    def backward_arrays(self, target_input_indexes: Indexes, grad_outputs: ArrayGrads) -> Arrays:
        shape = self.retained_input_arrays[0].shape
        x, W = _as_matrix(self.retained_input_arrays[0]), self.retained_input_arrays[1]
        gy: Array = grad_outputs[0]
        scale = W.dtype.type(1.0 / (1 - self.ratio))
        gradients: list[Any] = []
        for i in target_input_indexes:
            if i == 0:
                weights = self._weights(W)
                gx = gy @ weights if weights.ndim == 2 else (gy[:, None] @ weights)[:, 0]
                gradients.append(gx.reshape(shape).astype(x.dtype, copy=False))
            elif i == 1:
                if self.mask.ndim == 2:
                    gW = gy.T @ x
                    gW *= self.mask
                else:
                    # In one pass, without an array of the gradients of all samples.
                    gW = self.xp.einsum("no,ni,noi->oi", gy, x, self.mask)
                gradients.append((gW * scale).astype(W.dtype, copy=False))
            else:
                gradients.append(gy.sum(axis=0))
        return tuple(gradients)

    def compose(self, x: Variable, W: Variable, b: Variable | None = None) -> Variables:
        n, o, size = len(x), W.shape[0], W.shape[1]
        factors = self.mask.astype(W.dtype) * W.dtype.type(1.0 / (1 - self.ratio))
        weights = W * factors if factors.ndim == 3 else broadcast_to(W * factors, (n, o, size))
        y = reshape(matmul(weights, reshape(x, (n, size, 1))), (n, o))
        # The result and the bias have the dtype of x, whatever the weights have.
        y = cast(y, x.dtype)
        return (y if b is None else y + b,)


def _as_matrix(x: Array) -> Any:
    return x if x.ndim == 2 else x.reshape(len(x), prod(x.shape[1:]))


@explained_keywords
def simplified_dropconnect(
    x: VariableLike,
    W: VariableLike,
    b: VariableLike | None = None,
    ratio: float = 0.5,
    train: bool = True,
    mask: VariableLike | None = None,
    use_batchwise_mask: bool = True,
) -> Variable:
    r"""Linear unit regularized by simplified dropconnect.

    It drops elements of the weight matrix randomly with probability ``ratio``, scales the remaining
    ones by factor ``1 / (1 - ratio)``, and computes :math:`Y = xW^\top + b`. In testing mode
    (``train`` is False) zero takes the place of ``ratio``.

    It cannot be used for reproduction of the paper: the original version samples from a Gaussian
    distribution before the activation function, whereas this implementation averages before
    activation.

    Args:
        x (~chainer.Variable or array): Input. Its first dimension ``n`` is the minibatch; the
            others are treated as one of size ``N``.
        W (~chainer.Variable or array): Weight of shape ``(M, N)``.
        b (~chainer.Variable or array): Bias of shape ``(M,)`` (optional).
        ratio (float): Dropconnect ratio, ``0.0 <= ratio < 1.0``.
        train (bool): If True, executes simplified dropconnect. Otherwise it is a linear function.
        mask (None, ~chainer.Variable or array): If None, a mask is generated randomly. Otherwise
            the mask of kept weights (1 or True), of shape ``(n, M, N)`` or ``(M, N)``;
            ``use_batchwise_mask`` is then ignored. Mainly for debugging.
        use_batchwise_mask (bool): If True, dropped connections depend on each sample in the
            minibatch.

    Returns:
        ~chainer.Variable: Output of shape ``(n, M)``.

    Raises:
        InvalidType: If dtypes or shapes do not fit.
        ValueError: If ``ratio`` is out of range.

    .. seealso:: :class:`~chainer.links.SimplifiedDropconnect`

    See: Li, W., Matthew Z., Sixin Z., Yann L., Rob F. (2013). Regularization of Neural Network
    using DropConnect. International Conference on Machine Learning. `URL
    <https://cs.nyu.edu/~wanli/dropc/>`_

    Example:
        >>> x, W = np.ones((1, 3), np.float32), np.ones((2, 3), np.float32)
        >>> F.simplified_dropconnect(x, W, mask=np.array([[1, 1, 0], [1, 0, 0]])).array
        array([[4., 2.]], dtype=float32)
    """
    node = SimplifiedDropconnect(
        ratio if train else 0.0,
        mask.array if isinstance(mask, Variable) else mask,
        use_batchwise_mask,
    )
    return node.apply((x, W) if b is None else (x, W, b))[0]
