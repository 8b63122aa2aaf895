"""Connectionist temporal classification."""

from __future__ import annotations

import copy
import operator
from collections.abc import Sequence
from typing import Any

import numpy

from chainer import functions
from chainer.backends import operations
from chainer.core.arrays.backend import HOST_FAMILY, backend_of
from chainer.core.autograd.function_node import FunctionNode
from chainer.core.autograd.variable import Variable, as_variable
from chainer.core.config.configuration import config
from chainer.core.typing import (
    Array,
    ArrayGrads,
    Arrays,
    DType,
    Grads,
    Indexes,
    VariableLike,
    Variables,
)
from chainer.core.utils import type_check
from chainer.core.utils.argument import explained_keywords
from chainer.functions._callable import CallableNode
from chainer.functions.activation.log_softmax import log_softmax
from chainer.functions.array.cast import cast
from chainer.functions.array.concat import concat
from chainer.functions.array.separate import separate
from chainer.functions.array.stack import stack
from chainer.functions.array.where import where
from chainer.functions.loss._pair import check_reduce
from chainer.functions.math.logsumexp import logsumexp
from chainer.functions.math.sum import sum as sum_axes
from chainer.functions.rules import gradients_of_composition
from chainer.functions.rules.batching import sums_of_samples, with_samples


class BlankSymbolError(AssertionError, ValueError):
    """The blank symbol is not among the labels; earlier releases raise AssertionError."""


class ConnectionistTemporalClassification(CallableNode, FunctionNode):
    """CTC loss of ``input_length, label_length, t, x``; ``x`` has shape ``(T, B, V)``."""

    type_check_key = ()

    def __init__(self, blank_symbol: int, reduce: str = "mean") -> None:
        check_reduce(reduce, "mean", "no")
        self.blank_symbol = blank_symbol
        self.reduce = reduce

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        type_check.expect(in_types.size() == 4)
        input_length_type, label_length_type, t_type, x_type = in_types
        type_check.expect(
            input_length_type.dtype == numpy.int32,
            input_length_type.ndim == 1,
            label_length_type.dtype == numpy.int32,
            label_length_type.ndim == 1,
            t_type.dtype == numpy.int32,
            t_type.ndim == 2,
            x_type.dtype.kind == "f",
            x_type.ndim == 3,
            t_type.shape[0] == x_type.shape[1],
            input_length_type.shape[0] == x_type.shape[1],
            label_length_type.shape[0] == x_type.shape[1],
        )

    def forward(self, inputs: Arrays) -> Arrays:
        self.retain_inputs((0, 1, 2, 3))
        input_length, label_length, t, x = inputs
        self._check_values(*inputs)
        self._kernel = operations.connectionist_temporal_classification.select(x, t)
        losses, self._saved = self._kernel.forward(
            x, t, self.blank_symbol, input_length, label_length
        )
        if self.reduce == "no":
            return (losses,)
        # A sum of float16 losses overflows for batches that are not large.
        mean = losses.sum(dtype=_compute_dtype(x.dtype)) / max(len(t), 1)
        return (self.xp.asarray(mean, dtype=x.dtype),)

    def batched(
        self, inputs: Variables, are_batched: tuple[bool, ...], size: int
    ) -> Variables | None:
        *integers, x = with_samples(inputs, are_batched, size)
        # One longer batch; the scores have the time in front.
        length, batch, symbols = x.shape[1:]
        node = copy.copy(self)
        node.reduce = "no"
        (losses,) = node.apply(
            (
                *[functions.reshape(i, (size * batch, *i.shape[2:])) for i in integers],
                functions.moveaxis(x, 0, 1).reshape((length, size * batch, symbols)),
            )
        )
        losses = losses.reshape((size, batch))
        return (losses if self.reduce == "no" else sums_of_samples(losses, 1 / max(batch, 1)),)

    def _check_values(self, input_length: Any, label_length: Any, t: Array, x: Array) -> None:
        xp = self.xp
        classes = x.shape[2]
        if not 0 <= self.blank_symbol < classes:
            raise BlankSymbolError(
                f"blank_symbol must be in 0 <= blank_symbol < {classes} (the number of labels), "
                f"got {self.blank_symbol}"
            )
        if backend_of(x).family != HOST_FAMILY and not config.debug:
            return  # reading values would wait for the device
        for name, length, limit in (
            ("input_length", input_length, len(x)),
            ("label_length", label_length, t.shape[1]),
        ):
            if bool(((length < 0) | (length > limit)).any()):
                raise ValueError(f"{name} must be in 0 <= {name} <= {limit}, got {length}")
        wrong = ((t < 0) | (t >= classes)) & (xp.arange(t.shape[1]) < label_length[:, None])
        if bool(wrong.any()):
            raise ValueError(f"labels t must be in 0 <= t < {classes}, got {t}")

    def backward_arrays(self, target_input_indexes: Indexes, grad_outputs: ArrayGrads) -> Arrays:
        # Labels and lengths are integers and have no gradient.
        if 3 not in target_input_indexes:
            return (None,) * len(target_input_indexes)
        input_length, label_length, t, x = self.retained_input_arrays
        gy: Array = grad_outputs[0]
        scale = gy.astype(_compute_dtype(x.dtype), copy=False)
        if self.reduce == "mean":
            scale = self.xp.full(len(t), scale / max(len(t), 1), dtype=scale.dtype)
        gx = self._kernel.backward(
            x, t, self.blank_symbol, input_length, label_length, self._saved, scale
        )
        return tuple([gx if i == 3 else None for i in target_input_indexes])

    def backward(self, target_input_indexes: Indexes, grad_outputs: Grads) -> Grads:
        if 3 not in target_input_indexes:
            return (None,) * len(target_input_indexes)
        x = self.get_retained_inputs()[3]
        (gx,) = _Gradient(self).apply((x, *[gy for gy in grad_outputs if gy is not None]))
        return tuple([gx if i == 3 else None for i in target_input_indexes])

    def compose(self, x: Variable) -> tuple[Variable]:
        """Computes the loss with differentiable functions, for gradients of gradients.

        Args:
            x: Scores of shape ``(T, B, V)``.
        """
        input_length, label_length, t, _ = self.retained_input_arrays
        dtype = x.dtype
        losses = _losses(
            cast(x, _compute_dtype(dtype)), t, self.blank_symbol, input_length, label_length
        )
        if self.reduce == "mean":
            losses = sum_axes(losses) / max(len(t), 1)
        return (cast(losses, dtype),)


class _Gradient(FunctionNode):
    """Gradient of the loss by its kernel, a function of the scores and of the loss's gradient."""

    type_check_key = ()
    label = "ConnectionistTemporalClassificationGrad"
    _retained_inputs = (0, 1)

    def __init__(self, function: ConnectionistTemporalClassification) -> None:
        self._function = function

    def forward(self, inputs: Arrays) -> Arrays:
        return (self._function.backward_arrays((3,), (inputs[1],))[0],)

    def backward(self, target_input_indexes: Indexes, grad_outputs: Grads) -> Grads:
        compose = self._function.compose
        return gradients_of_composition(
            lambda x, gy: gradients_of_composition(compose, (x,), (0,), (gy,)),
            self.get_retained_inputs(),
            target_input_indexes,
            grad_outputs,
        )


#: Logarithm of a probability of zero. It is finite, because infinities make NaN in gradients.
_LOG_ZERO = -1e10


def _losses(
    x: Variable, t: Array, blank: int, input_length: Array, label_length: Array
) -> Variable:
    """Returns the loss of each sample by the forward recursion of Graves et al. (2006), 4.1.

    Args:
        x: Scores of shape ``(T, B, V)``.
        t: Labels of shape ``(B, M)``.
        blank: Index of the blank symbol.
        input_length: Numbers of valid times, shape ``(B,)``.
        label_length: Numbers of valid labels, shape ``(B,)``.
    """
    xp = x.xp
    batch, n_labels = t.shape
    # Blanks between the labels; labels beyond the length may be out of range.
    path = xp.full((batch, 2 * n_labels + 1), blank, t.dtype)
    path[:, 1::2] = xp.where(xp.arange(n_labels) < label_length[:, None], t, blank)
    position = xp.arange(path.shape[1])
    valid = position <= 2 * label_length[:, None]
    # Equal labels need a blank in between; other labels may follow each other.
    skips = xp.zeros(path.shape, bool)
    skips[:, 2:] = (path[:, 2:] != blank) & (path[:, 2:] != path[:, :-2])
    zero = xp.full(path.shape, _LOG_ZERO, x.dtype)

    steps = separate(log_softmax(x, axis=2)[:, xp.arange(batch)[:, None], path], axis=0)
    alpha = where(valid & (position < 2), steps[0], zero)
    for time, step in enumerate(steps[1:], 1):
        one = concat([zero[:, :1], alpha[:, :-1]], axis=1)
        two = where(skips, concat([zero[:, :1], one[:, :-1]], axis=1), zero)
        following = where(valid, logsumexp(stack([alpha, one, two]), axis=0) + step, zero)
        goes_on = xp.broadcast_to((time < input_length)[:, None], path.shape)
        alpha = where(goes_on, following, alpha)
    # A path ends with the last label or the blank behind it.
    is_end = valid & (position >= 2 * label_length[:, None] - 1)
    losses = -logsumexp(where(is_end, alpha, zero), axis=1)
    # Losses that do not depend on x: no time, or too little for the labels.
    constant = (input_length == 0) | (losses.array > -_LOG_ZERO / 2)
    is_empty = (input_length == 0) & (label_length == 0)
    return where(constant, xp.where(is_empty, 0, -_LOG_ZERO).astype(x.dtype), losses)


def _compute_dtype(dtype: DType) -> Any:
    return numpy.float32 if dtype == numpy.float16 else dtype


@explained_keywords
def connectionist_temporal_classification(
    x: Sequence[Any],
    t: VariableLike,
    blank_symbol: int,
    input_length: VariableLike | None = None,
    label_length: VariableLike | None = None,
    reduce: str = "mean",
) -> Variable:
    """Connectionist Temporal Classification loss function.

    CTC is a loss of sequence labeling where the alignment between inputs and labels is unknown: the
    negative logarithm of the probability of all sequences of symbols which give the labels after
    repeated symbols are merged and blanks removed. See Connectionist Temporal Classification:
    Labelling Unsegmented Sequence Data with Recurrent Neural Networks (Graves et al., 2006), and
    Supervised Sequence Labelling with Recurrent Neural Networks (Graves, 2012).

    The computation is in log space: the loss is finite for inputs of any size. If the labels do not
    fit into the input at all, the loss is 1e10 and its gradient zero.

    Args:
        x (list or tuple of Variable): Unnormalized log probabilities: ``x[i]``, of shape
            ``(B, V)``, floating point, belongs to time ``i``; ``B`` is the batch size and ``V`` the
            number of labels including the blank. This function applies the softmax, so do not apply
            it before. (Do apply it before decoding.)
        t (Variable or array): Label sequences, shape ``(B, M)``, int32.
        blank_symbol (int): Index of the blank symbol; in ``0 <= blank_symbol < V``.
        input_length (Variable or array): Lengths of the inputs, shape ``(B,)``, int32. By default
            all of ``x`` is valid.
        label_length (Variable or array): Lengths of the label sequences, shape ``(B,)``, int32; the
            labels beyond are ignored. By default all of ``t`` is valid.
        reduce (str): ``'mean'``: the mean of the losses. ``'no'``: the loss of each sample.

    Returns:
        Variable: The loss, a scalar or of shape ``(B,)``.

    Raises:
        InvalidType: If dtypes or shapes do not fit.
        TypeError: If ``x`` is not a list or tuple, or ``blank_symbol`` is not an integer.
        ValueError: If ``x`` is empty, or ``blank_symbol``, a length, a label or ``reduce`` is out
            of range. Values on an accelerator are only checked in debug mode; otherwise a value out
            of range gives a loss of NaN there.

    Note:
        This function is differentiable only by ``x``. The first gradient is computed by a kernel,
        gradients of it by a composition of other functions.

    Example:
        >>> x = [np.zeros((1, 3), np.float32) for _ in range(2)]
        >>> t = np.array([[1]], np.int32)  # 11, 01 and 10 of nine equally likely sequences
        >>> F.connectionist_temporal_classification(x, t, 0)
        variable(1.0986123)
    """
    if not isinstance(x, (list, tuple)):
        raise TypeError(f"x must be a list of Variables, got {type(x)}")
    if not x:
        raise ValueError("x must hold at least one Variable")
    try:
        blank_symbol = operator.index(blank_symbol)
    except TypeError:
        raise TypeError(
            f"blank_symbol must be non-negative integer, got {blank_symbol!r}"
        ) from None
    function = ConnectionistTemporalClassification(blank_symbol, reduce)
    scores = stack([as_variable(step) for step in x], axis=0)
    t = as_variable(t)
    if input_length is None:
        input_length = _lengths(scores, len(x))
    if label_length is None:
        label_length = _lengths(scores, t.shape[1] if t.ndim > 1 else 0)
    return function.apply((input_length, label_length, t, scores))[0]


def _lengths(scores: Variable, length: int) -> Any:
    """Returns the same length for each sample of the batch, on the device of the scores."""
    batch = scores.shape[1] if scores.ndim > 1 else 0
    with scores.device:
        return scores.xp.full((batch,), length, dtype=numpy.int32)
