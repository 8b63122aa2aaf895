"""Negative sampling loss."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy

from chainer.backends import operations
from chainer.core.autograd.variable import Variable
from chainer.core.typing import VariableLike
from chainer.core.utils import type_check
from chainer.core.utils.argument import explained_keywords, parse_kwargs
from chainer.functions.activation.softplus import softplus
from chainer.functions.loss._pair import check_reduce
from chainer.functions.loss._sampled import SampledLoss
from chainer.functions.math.sum import sum


class NegativeSamplingFunction(SampledLoss):
    """Negative sampling loss; it draws the samples when it is applied.

    Attributes:
        samples: The correct classes and the samples, shape ``(N, sample_size + 1)``.
    """

    argument_names = ("x", "t", "W")

    #: Class of samples that are ignored. Subclasses of programs have another one.
    ignore_label = -1

    type_check_key = ()
    samples: Any = None

    def __init__(self, sampler: Callable[..., Any], sample_size: int, reduce: str = "sum") -> None:
        check_reduce(reduce, "sum", "no")
        self.operation = operations.negative_sampling
        self.sampler = sampler
        self.sample_size = sample_size
        self.reduce = reduce

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        type_check.expect(in_types.size() == 3)
        x_type, t_type, w_type = in_types
        type_check.expect(
            x_type.dtype.kind == "f",
            x_type.ndim == 2,
            t_type.dtype == numpy.int32,
            t_type.ndim == 1,
            x_type.shape[0] == t_type.shape[0],
            w_type.dtype == x_type.dtype,
            w_type.ndim == 2,
            w_type.shape[1] == x_type.shape[1],
        )

    def classes(self, inputs: tuple[Any, ...]) -> tuple[Any, Any]:
        t = inputs[1]
        shape = (len(t), self.sample_size + 1)
        drawn = self.sampler(shape)
        if getattr(drawn, "shape", None) != shape or drawn.dtype.kind not in "iu":
            raise ValueError(
                f"sampler must return an array of integers of shape {shape}, got "
                f"{getattr(drawn, 'dtype', type(drawn))} of shape {getattr(drawn, 'shape', None)}"
            )
        dtype = numpy.result_type(drawn.dtype, t.dtype)  # holds any class, and -1
        self.samples = drawn.astype(dtype if dtype.kind == "i" else numpy.int64)
        # The correct class takes the place of one sample, so that one array holds all classes.
        self.samples[:, 0] = t
        return self.samples, t != self.ignore_label

    def compose(self, scores: Variable) -> Variable:
        signs = self.xp.ones(scores.shape, scores.dtype)
        signs[:, 0] = -1
        return sum(softplus(scores * signs), axis=1)


@explained_keywords
def negative_sampling(
    x: VariableLike,
    t: VariableLike,
    W: VariableLike,
    sampler: Callable[..., Any],
    sample_size: int,
    reduce: str = "sum",
    **kwargs: Any,
) -> Any:
    r"""Negative sampling loss function.

    Where there are many classes, such as the words of a vocabulary, it needs the scores of the
    correct class :math:`p` and of a few sampled ones :math:`N` only:

    .. math::
        f(x, p) \approx - \log \sigma(x^\top w_p) - \sum_{n \in N} \log \sigma(-x^\top w_n)

    See Distributed Representations of Words and Phrases and their Compositionality
    (https://arxiv.org/abs/1310.4546). Gradients of any order are supported.

    Args:
        x (Variable or array): Batch of input vectors, shape ``(B, D)``, floating point.
        t (Variable or array): Correct classes, shape ``(B,)``, int32. Samples whose class is -1 are
            ignored.
        W (Variable or array): Weights of the ``V`` classes, shape ``(V, D)`` and the dtype of
            ``x``.
        sampler (function): Called with a shape, it returns an array of integers of that shape:
            samples from the distribution of classes, such as
            :meth:`WalkerAlias.sample <chainer.utils.WalkerAlias.sample>`.
        sample_size (int): Number of samples drawn for each input.
        reduce (str): ``'sum'``: the sum of the losses. ``'no'``: the loss of each input.
        return_samples (bool): Keyword only. If True, the samples are returned too. Defaults to
            False.

    Returns:
        Variable or tuple: The loss, a scalar or of shape ``(B,)``; with ``return_samples`` a pair
            of the loss and the array of samples of shape ``(B, sample_size + 1)``, whose first
            column is ``t``.

    Raises:
        InvalidType: If dtypes or shapes do not fit.
        TypeError: If a keyword argument is unknown.
        ValueError: If ``reduce`` is something else, or what ``sampler`` returns does not fit.

    .. seealso:: :class:`~chainer.links.NegativeSampling`

    Example:
        >>> x, t = np.ones((1, 2), np.float32), np.array([1], np.int32)
        >>> W = np.zeros((5, 2), np.float32)
        >>> sampler = chainer.utils.WalkerAlias([1, 1, 1, 1, 1]).sample
        >>> F.negative_sampling(x, t, W, sampler, 3)
        variable(2.7725887)
    """
    (return_samples,) = parse_kwargs(kwargs, ("return_samples", False))
    function = NegativeSamplingFunction(sampler, sample_size, reduce)
    loss = function.apply((x, t, W))[0]
    return (loss, function.samples) if return_samples else loss
