"""Dice loss."""

from __future__ import annotations

from chainer.core.autograd.variable import Variable, as_variable
from chainer.core.typing import VariableLike
from chainer.core.utils.argument import explained_keywords
from chainer.functions.array.cast import cast
from chainer.functions.loss._pair import check_reduce
from chainer.functions.math.average import mean
from chainer.functions.math.sum import sum as sum_axes


@explained_keywords
def dice_loss(p: VariableLike, t: VariableLike, eps: float = 1.0, reduce: str = "mean") -> Variable:
    """Dice loss: one minus the overlap of predicted and true region, of each sample and class.

    .. math:: 1 - \\frac{2 \\sum p t + \\epsilon}{\\sum p + \\sum t + \\epsilon}

    where the sums run over the pixels.

    Args:
        p (Variable or array): Predicted probabilities, after the sigmoid or softmax, shape ``(N, C,
            ...)`` with at least one axis of pixels, floating point.
        t (Variable or array): True region, 0 or 1 (or between), of the shape of ``p``; bool,
            integer or the dtype of ``p``.
        eps (float): Added above and below, so that empty regions that agree have no loss.
        reduce (str): ``'mean'``: the mean over samples and classes; a scalar. ``'no'``: the loss of
            each, shape ``(N, C)``.

    Returns:
        Variable: The loss.

    Raises:
        ValueError: If shapes or ``reduce`` are wrong, or ``eps`` is negative.

    See: `V-Net <https://arxiv.org/abs/1606.04797>`_, `Generalised Dice overlap
    <https://arxiv.org/abs/1707.03237>`_

    Example:
        >>> p = np.array([[[1, 1, 0, 0]]], np.float32)
        >>> F.dice_loss(p, np.array([[[1, 1, 0, 0]]])).array
        array(0., dtype=float32)
        >>> F.dice_loss(p, np.array([[[0, 0, 1, 1]]])).array
        array(0.8, dtype=float32)
    """
    check_reduce(reduce, "mean", "no")
    if eps < 0:
        raise ValueError(f"eps must not be negative, got {eps}")
    p = as_variable(p)
    if p.ndim < 3:
        raise ValueError(f"p must have the shape (N, C, ...) with pixels, got {p.shape}")
    if p.shape != t.shape:
        raise ValueError(f"p and t must have the same shape, got {p.shape} and {t.shape}")
    if t.dtype != p.dtype:
        t = cast(t, p.dtype)
    axes = tuple(range(2, p.ndim))
    overlap = sum_axes(p * t, axis=axes) * 2.0 + eps
    total = sum_axes(p, axis=axes) + sum_axes(t, axis=axes) + eps
    losses = 1.0 - overlap / total
    return losses if reduce == "no" else mean(losses)
