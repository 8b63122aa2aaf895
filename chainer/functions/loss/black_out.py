"""BlackOut loss."""

from __future__ import annotations

from typing import Any

from chainer.backends import operations
from chainer.core.autograd.variable import Variable
from chainer.core.typing import VariableLike
from chainer.core.utils import type_check
from chainer.core.utils.argument import explained_keywords
from chainer.functions.array.broadcast import broadcast_to
from chainer.functions.array.expand_dims import expand_dims
from chainer.functions.array.where import where
from chainer.functions.loss._pair import check_reduce
from chainer.functions.loss._sampled import SampledLoss
from chainer.functions.math.exponential import exp
from chainer.functions.math.logarithm_1p import log1p
from chainer.functions.math.logsumexp import logsumexp
from chainer.functions.math.sum import sum
from chainer.functions.rules import expect_kinds

# Score of a class that does not count: its exponential is zero, and no sum of it is infinite.
_FAR = -1e30


class BlackOut(SampledLoss):
    """BlackOut loss of a correct class and given samples."""

    type_check_key = ()

    def __init__(self, reduce: str = "mean") -> None:
        check_reduce(reduce, "mean", "no")
        self.operation = operations.black_out
        self.reduce = reduce

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        x_type, t_type, w_type, samples_type = expect_kinds(in_types, "fifi")
        type_check.expect(
            x_type.ndim == 2,
            t_type.ndim == 1,
            x_type.shape[0] == t_type.shape[0],
            w_type.ndim == 2,
            w_type.shape[1] == x_type.shape[1],
            samples_type.ndim == 2,
            samples_type.shape[0] == x_type.shape[0],
        )

    def classes(self, inputs: tuple[Any, ...]) -> tuple[Any, Any]:
        _, t, _, samples = inputs
        return self.xp.concatenate([t[:, None], samples], axis=1), None

    def compose(self, scores: Variable) -> Variable:
        xp = self.xp
        top = xp.arange(scores.shape[1]) == scores.array.argmax(axis=1)[:, None]
        log_sums = logsumexp(scores, axis=1)
        log_p = scores - broadcast_to(expand_dims(log_sums, 1), scores.shape)
        far = xp.full_like(scores.array, max(_FAR, float(xp.finfo(scores.dtype).min)))
        # 1 - p of the likeliest class from the other classes; see the kernel.
        rest = logsumexp(where(top, far, scores), axis=1) - log_sums
        rest = broadcast_to(expand_dims(rest, 1), scores.shape)
        misses = where(top, rest, log1p(-exp(where(top, far, log_p))))
        return -(log_p[:, 0] + sum(misses[:, 1:], axis=1))


@explained_keywords
def black_out(
    x: VariableLike, t: VariableLike, W: VariableLike, samples: VariableLike, reduce: str = "mean"
) -> Variable:
    r"""BlackOut loss function.

    .. math::
        -\log(p(t)) - \sum_{s \in S} \log(1 - p(s))

    where :math:`t` is the correct class, :math:`S` are the negative samples, and the likelihood
    :math:`p(y) = \exp(W_y^\top x) / \sum_s \exp(W_s^\top x)` is normalized over the correct class
    and the samples. See BlackOut: Speeding up Recurrent Neural Network Language Models With Very
    Large Vocabularies (https://arxiv.org/abs/1511.06909).

    The loss is finite for scores of any size, and gradients of any order are supported.

    Args:
        x (Variable or array): Batch of input vectors, shape ``(N, D)``, floating point.
        t (Variable or array): Correct classes, shape ``(N,)``, signed integer. A negative one
            counts from the end of ``W``, as indexes do.
        W (Variable or array): Weights of the ``V`` classes, shape ``(V, D)``, floating
            point.
        samples (Variable or array): Negative samples, shape ``(N, S)``, signed integer.
        reduce (str): ``'mean'``: the mean of the losses. ``'no'``: the loss of each input.

    Returns:
        Variable: The loss, a scalar or of shape ``(N,)``, of the wider dtype of ``x`` and ``W``.

    Raises:
        InvalidType: If dtypes or shapes do not fit.
        ValueError: If ``reduce`` is something else.

    .. seealso:: :class:`~chainer.links.BlackOut`

    Example:
        >>> x, W = np.ones((1, 2), np.float32), np.zeros((5, 2), np.float32)
        >>> t, samples = np.array([1], np.int32), np.array([[0, 3, 4]], np.int32)
        >>> F.black_out(x, t, W, samples)  # log 4 - 3 log(3 / 4)
        variable(2.2493405)
    """
    return BlackOut(reduce).apply((x, t, W, samples))[0]
