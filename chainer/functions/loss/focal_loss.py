"""Focal losses."""

from __future__ import annotations

from collections.abc import Callable

from chainer.core.autograd.variable import Variable, as_variable
from chainer.core.config.configuration import config
from chainer.core.typing import Array, Arrays, VariableLike
from chainer.core.utils import type_check
from chainer.core.utils.argument import explained_keywords
from chainer.functions.activation.log_softmax import log_softmax
from chainer.functions.activation.sigmoid import sigmoid
from chainer.functions.activation.softplus import softplus
from chainer.functions.loss._class_labels import (
    IsLabel,
    OneHotLabels,
    check_labels,
    expect_scores_and_labels,
    mean_of_valid,
)
from chainer.functions.loss._pair import check_reduce
from chainer.functions.math.clip import clip
from chainer.functions.math.exponential import exp
from chainer.functions.math.square import square
from chainer.functions.math.sum import sum as sum_axes


def _expect(arrays: Arrays, check: Callable[[type_check.TypeInfoTuple], None]) -> None:
    if config.type_check:
        check(type_check.get_types(arrays, "in_types"))


@explained_keywords
def focal_loss(
    x: VariableLike,
    t: VariableLike,
    gamma: float = 2.0,
    class_weight: Array | None = None,
    ignore_label: int = -1,
    reduce: str = "mean",
) -> Variable:
    """Focal loss of a softmax: cross entropy that cares less for what is classified well already.

    .. math:: -w_t (1 - p_t)^\\gamma \\log p_t

    where :math:`p_t` is the probability of the true class.

    Args:
        x (Variable or array): Unnormalized log probabilities, shape ``(N, C, ...)``, floating
            point.
        t (Variable or array): Labels, shape ``(N, ...)``, signed integer.
        gamma (float): Exponent; 0 gives the cross entropy.
        class_weight (array): Weights of the classes, shape ``(C,)``; ones by default.
        ignore_label (int): Label of elements that have no loss.
        reduce (str): ``'mean'``: the mean over the labels that are not ignored; a scalar. ``'no'``:
            the loss of each label, of the shape of ``t``.

    Returns:
        Variable: The loss.

    Raises:
        InvalidType: If dtypes or shapes do not fit.
        ValueError: If ``gamma``, ``class_weight`` or ``reduce`` is wrong, or (in debug mode) a
            label is.

    Note:
        This function is differentiable only by ``x``.

    See: `Focal Loss for Dense Object Detection <https://arxiv.org/abs/1708.02002>`_

    Example:
        >>> x = np.array([[-1, 0, 1, 2], [2, 0, 1, -1]], np.float32)
        >>> t = np.array([3, 0], np.int32)
        >>> F.focal_loss(x, t, reduce='no').array.round(4)
        array([0.0558, 0.0558], dtype=float32)
    """
    if gamma < 0:
        raise ValueError(f"gamma must not be negative, got {gamma}")
    check_reduce(reduce, "mean", "no")
    x, t = as_variable(x), as_variable(t)
    _expect((x.array, t.array), expect_scores_and_labels)
    n_classes = x.shape[1]
    check_labels(t.array, n_classes, ignore_label)
    weights = OneHotLabels(n_classes, ignore_label, x.dtype).apply((t,))[0]
    if class_weight is not None:
        if class_weight.shape != (n_classes,):
            raise ValueError(
                f"class_weight must have the shape {(n_classes,)}, got {class_weight.shape}"
            )
        shape = (-1,) + (1,) * (t.ndim - 1)
        with x.device:
            factors = class_weight.astype(x.dtype, copy=False).reshape(shape)
        weights = weights * factors
    log_p = log_softmax(x, axis=1)
    losses = -sum_axes(log_p * _focus(exp(log_p), gamma) * weights, axis=1)
    return losses if reduce == "no" else mean_of_valid(losses, t, ignore_label)


@explained_keywords
def sigmoid_focal_loss(
    x: VariableLike,
    t: VariableLike,
    gamma: float = 2.0,
    alpha: float | None = 0.25,
    ignore_label: int = -1,
    reduce: str = "mean",
) -> Variable:
    """Focal loss of independent sigmoids, each of which has a binary label.

    Args:
        x (Variable or array): Scores before the sigmoid, of any shape, floating point.
        t (Variable or array): Labels, 0 or 1, of the shape of ``x``, signed integer.
        gamma (float): Exponent; 0 gives the cross entropy.
        alpha (float): Weight of label 1, from 0 to 1; that of label 0 is ``1 - alpha``. No weights
            if None.
        ignore_label (int): Label of elements that have no loss.
        reduce (str): ``'mean'``: the mean over the labels that are not ignored; a scalar. ``'no'``:
            the loss of each label, of the shape of ``t``.

    Returns:
        Variable: The loss.

    Raises:
        InvalidType: If dtypes or shapes do not fit.
        ValueError: If ``gamma``, ``alpha`` or ``reduce`` is wrong, or (in debug mode) a label is.

    Note:
        This function is differentiable only by ``x``. The paper divides the sum of the losses by
        the number of labels 1: use ``reduce='no'`` for that.

    See: `Focal Loss for Dense Object Detection <https://arxiv.org/abs/1708.02002>`_

    Example:
        >>> x, t = np.array([-2, 0, 2], np.float32), np.array([0, 1, 1], np.int32)
        >>> F.sigmoid_focal_loss(x, t, reduce='no').array.round(4)
        array([0.0014, 0.0433, 0.0005], dtype=float32)
    """
    if gamma < 0:
        raise ValueError(f"gamma must not be negative, got {gamma}")
    if alpha is not None and not 0 <= alpha <= 1:
        raise ValueError(f"alpha must be from 0 to 1, or None, got {alpha}")
    check_reduce(reduce, "mean", "no")
    x, t = as_variable(x), as_variable(t)
    _expect((x.array, t.array), _expect_binary)
    check_labels(t.array, 2, ignore_label)
    positive = IsLabel(1, x.dtype).apply((t,))[0]
    weights = 1.0 - IsLabel(ignore_label, x.dtype).apply((t,))[0]
    if alpha is not None:
        weights = weights * ((1 - alpha) + (2 * alpha - 1) * positive)
    # The score for the label; log(p_t) = -softplus(-score).
    score = x * (2.0 * positive - 1.0)
    losses = softplus(-score) * _focus(sigmoid(score), gamma) * weights
    return losses if reduce == "no" else mean_of_valid(losses, t, ignore_label)


def _focus(p: Variable, gamma: float) -> Variable | float:
    """Returns ``(1 - p) ** gamma``, differentiable also where ``p`` is 1."""
    if gamma == 0:
        return 1.0
    if gamma == 2:
        return square(1.0 - p)
    # Rounding may give p > 1, and powers below 1 have no gradient at 0.
    tiny = 1e-6 if p.dtype.itemsize < 8 else 1e-12
    return clip(1.0 - p, tiny, None) ** gamma


def _expect_binary(in_types: type_check.TypeInfoTuple) -> None:
    type_check.expect(in_types[0].dtype.kind == "f", in_types[1].dtype.kind == "i")
    type_check.expect(in_types[0].shape == in_types[1].shape)
