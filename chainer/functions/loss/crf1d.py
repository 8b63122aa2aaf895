"""Linear-chain conditional random fields."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from chainer.backends import operations
from chainer.core.autograd.batching import need_values
from chainer.core.autograd.variable import Variable, as_variable
from chainer.core.config.configuration import config
from chainer.core.typing import Array, ArrayGrads, Arrays, Indexes, VariableLike, Variables
from chainer.core.utils import type_check
from chainer.core.utils.argument import explained_keywords
from chainer.functions.array.broadcast import broadcast_to
from chainer.functions.array.concat import concat
from chainer.functions.array.expand_dims import expand_dims
from chainer.functions.array.select_item import select_item
from chainer.functions.loss._pair import check_reduce
from chainer.functions.math.logsumexp import logsumexp
from chainer.functions.math.sum import sum
from chainer.functions.rules import ComposedFunction


def _check_costs(cost_type: Any, x_types: Sequence[Any]) -> None:
    type_check.expect(
        cost_type.dtype.kind == "f",
        cost_type.ndim == 2,
        cost_type.shape[0] == cost_type.shape[1],
    )
    for i, x_type in enumerate(x_types):
        type_check.expect(
            x_type.dtype == cost_type.dtype,
            x_type.ndim == 2,
            x_type.shape[1] == cost_type.shape[0],
        )
        if i:
            type_check.expect(x_type.shape[0] <= x_types[i - 1].shape[0])


class CRF1d(ComposedFunction):
    """Negative log-likelihood of each sequence; the inputs are ``cost, *xs, *ys``."""

    type_check_key = ()

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        cost_type, *types = in_types
        x_types, y_types = types[: len(types) // 2], types[len(types) // 2 :]
        _check_costs(cost_type, x_types)
        for x_type, y_type in zip(x_types, y_types, strict=True):
            type_check.expect(
                y_type.dtype.kind == "i",
                y_type.ndim == 1,
                x_type.shape[0] == y_type.shape[0],
            )

    def forward(self, inputs: Arrays) -> Arrays:
        self.retain_inputs(range(len(inputs)))
        cost, xs, ys = _parts(inputs)
        self._kernel = operations.linear_chain_crf.select(cost, *xs)
        losses, self._saved = self._kernel.forward(cost, xs)
        xp = self.xp
        for i, (x, y) in enumerate(zip(xs, ys, strict=True)):
            score = x[xp.arange(len(y)), y]
            if i:
                score = score + cost[ys[i - 1][: len(y)], y]
            losses[: len(y)] -= score
        return (losses.astype(cost.dtype, copy=False),)

    def backward_arrays(self, target_input_indexes: Indexes, grad_outputs: ArrayGrads) -> Arrays:
        cost, xs, ys = _parts(self.retained_input_arrays)
        gy: Array = grad_outputs[0]
        xp = self.xp
        gcost, gxs = self._kernel.backward(cost, xs, self._saved, gy)
        # The loss subtracts the score of the labels, so subtract the gradient of that score.
        for gx, y in zip(gxs, ys, strict=True):
            gx[xp.arange(len(y)), y] -= gy[: len(y)]
        if len(xs) == 1:
            gcost = None  # there is no transition
        elif 0 in target_input_indexes:
            labels = len(cost)
            # Negative labels count from the end. Normalize them before pairs become one number.
            counted = [xp.where(y < 0, y + labels, y).astype("int64") for y in ys]
            pairs = [old[: len(new)] * labels + new for old, new in pairwise(counted)]
            weights = xp.concatenate([gy[: len(pair)] for pair in pairs])
            # The histogram weights each transition by the gradient of its sequence, and adds up
            # repeated transitions.
            counts = xp.bincount(xp.concatenate(pairs), weights, minlength=labels * labels)
            gcost -= counts.reshape(cost.shape).astype(cost.dtype)
        gradients = (gcost, *gxs, *[None] * len(ys))
        return tuple([gradients[i] for i in target_input_indexes])

    def compose(self, *inputs: Variable) -> Variables:
        cost, xs, ys = _parts(inputs)
        return (_compose(cost, xs, [y.array for y in ys]),)


def _parts(inputs: tuple[Any, ...]) -> tuple[Any, tuple[Any, ...], tuple[Any, ...]]:
    """Returns the transition costs, the label costs, and the labels."""
    length = len(inputs) // 2
    return inputs[0], inputs[1 : length + 1], inputs[length + 1 :]


def _compose(cost: Variable, xs: Sequence[Variable], ys: Sequence[Any]) -> Variable:
    """Computes the losses with differentiable functions."""
    alpha = xs[0]
    ended: list[Variable] = []
    labels = len(cost)
    for x in xs[1:]:
        count = len(x)
        if count < len(alpha):
            ended.append(alpha[count:])
            alpha = alpha[:count]
        shape = (count, labels, labels)
        scores = broadcast_to(expand_dims(alpha, 2), shape) + broadcast_to(cost, shape)
        alpha = logsumexp(scores, axis=1) + x
    final = concat([alpha, *ended[::-1]], axis=0)
    return logsumexp(final, axis=1) - _path_score(cost, xs, ys)


def _path_score(cost: Variable, xs: Sequence[Variable], ys: Sequence[Any]) -> Variable:
    """Computes the total cost of label sequences with differentiable functions."""
    score = select_item(xs[0], ys[0])
    ended: list[Variable] = []
    for i in range(1, len(xs)):
        count = len(ys[i])
        if count < len(score):
            ended.append(score[count:])
            score = score[:count]
        score = score + cost[ys[i - 1][:count], ys[i]] + select_item(xs[i], ys[i])
    return concat([score, *ended[::-1]], axis=0)


def _as_costs(cost: Any, xs: Any) -> tuple[Variable, list[Variable]]:
    if xs is None:
        raise TypeError("xs must be a list of the costs of each step, got None")
    cost, xs = as_variable(cost), [as_variable(x) for x in xs]
    if not xs:
        raise ValueError("xs must hold the costs of at least one step, got an empty list")
    for name, x in [("cost", cost), *[(f"xs[{i}]", x) for i, x in enumerate(xs)]]:
        if x.array is None:
            raise TypeError(f"{name} must have an array, got None or an uninitialized variable")
    return cost, xs


@explained_keywords
def crf1d(
    cost: VariableLike, xs: Sequence[VariableLike], ys: Sequence[VariableLike], reduce: str = "mean"
) -> Variable:
    r"""Calculates negative log-likelihood of linear-chain CRF.

    With a transition cost :math:`c_{st}` from label :math:`s` to label :math:`t`, a cost
    :math:`x_{it}` of label :math:`t` at position :math:`i`, and the expected label :math:`y_i`, it
    is

    .. math::
        L = -\left( \sum_{i=1}^l x_{iy_i} + \sum_{i=1}^{l-1} c_{y_i y_{i+1}} - {\log(Z)} \right) ,

    where :math:`l` is the length of the sequence and :math:`Z` the partition function. See
    Conditional Random Fields: Probabilistic Models for Segmenting and Labeling Sequence Data
    (https://repository.upenn.edu/cis_papers/159/).

    Sequences of different lengths are sorted by descending length and transposed, so that each
    element of ``xs`` belongs to one position of all sequences that are as long:
    :func:`transpose_sequence` does it. The loss is finite for costs of any size, and gradients of
    any order are supported.

    Args:
        cost (Variable or array): Transition costs, shape ``(K, K)`` for ``K`` labels, floating
            point.
        xs (list of Variable): Costs of the labels at each position, ``xs[i]`` of shape
            ``(B_i, K)`` and the dtype of ``cost``, with ``B_i`` not increasing.
        ys (list of Variable or array): Expected labels at each position, ``ys[i]`` of shape
            ``(B_i,)``, signed integer. A negative one counts from the end, as indexes do.
        reduce (str): ``'mean'``: the mean of the losses. ``'no'``: the loss of each sequence.

    Returns:
        Variable: The loss, a scalar or of shape ``(B_0,)``.

    Raises:
        InvalidType: If dtypes or shapes do not fit.
        ValueError: If ``xs`` is empty, ``ys`` has another length, or ``reduce`` is something else.

    Example:
        >>> cost = np.zeros((2, 2), np.float32)
        >>> xs = [np.zeros((2, 2), np.float32), np.zeros((1, 2), np.float32)]
        >>> ys = [np.array([0, 1]), np.array([1])]
        >>> F.crf1d(cost, xs, ys, reduce='no')
        variable([1.3862944, 0.6931472])
    """
    check_reduce(reduce, "mean", "no")
    cost, xs = _as_costs(cost, xs)
    ys = list(ys)
    if len(xs) != len(ys):
        raise ValueError(f"ys must be as long as xs, got {len(ys)} and {len(xs)} elements")
    losses = CRF1d().apply((cost, *xs, *ys))[0]
    return sum(losses) * (1.0 / max(len(losses), 1)) if reduce == "mean" else losses


def argmax_crf1d(cost: VariableLike, xs: Sequence[VariableLike]) -> tuple[Variable, list[Any]]:
    """Computes a state that maximizes a joint probability of the given CRF.

    Args:
        cost (Variable or array): Transition costs, shape ``(K, K)`` for ``K`` labels, floating
            point.
        xs (list of Variable): Costs of the labels at each position, ``xs[i]`` of shape
            ``(B_i, K)`` and the dtype of ``cost``, with ``B_i`` not increasing; see :func:`crf1d`.

    Returns:
        tuple: A pair of a Variable ``s`` of shape ``(B_0,)``, the total cost of the best label
            sequence of each sample (differentiable), and a list ``ps`` of int32 arrays, those
            labels: ``ps[i]`` of shape ``(B_i,)``.

    Raises:
        InvalidType: If dtypes or shapes do not fit.
        ValueError: If ``xs`` is empty.

    Example:
        >>> cost = np.array([[0, 1], [0, 0]], np.float32)
        >>> s, ps = F.argmax_crf1d(cost, [np.zeros((1, 2), np.float32)] * 2)
        >>> s, ps
        (variable([1.]), [array([0], dtype=int32), array([1], dtype=int32)])
    """
    cost, xs = _as_costs(cost, xs)
    if config.type_check:
        in_types = type_check.get_types((cost.array, *[x.array for x in xs]), "in_types")
        _check_costs(in_types[0], list(in_types)[1:])
    arrays = [x.array for x in xs]
    need_values(cost.array, *arrays)
    kernel = operations.linear_chain_crf.select(cost.array, *arrays)
    with cost.device:
        path = kernel.decode(cost.array, arrays)
    return _path_score(cost, xs, path), path
