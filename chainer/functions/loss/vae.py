"""Losses of variational autoencoders."""

from __future__ import annotations

import math

from chainer.core.autograd.variable import Variable, as_variable
from chainer.core.typing import VariableLike
from chainer.core.utils.argument import explained_keywords
from chainer.core.utils.documentation import SharedSections
from chainer.functions.activation.softplus import softplus
from chainer.functions.array.cast import in_dtype
from chainer.functions.loss._pair import check_reduce
from chainer.functions.math.average import average
from chainer.functions.math.exponential import exp
from chainer.functions.math.sum import sum

_nll_sections = SharedSections(
    """
    Args:
        x (Variable or array): Observations$range, floating point.
    $parameters
        reduce (str): ``'sum'``: summed up. ``'mean'``: averaged. ``'no'``: the elementwise values.

    Returns:
        Variable: The negative log-likelihood.

    Raises:
        ValueError: If ``reduce`` is something else.
    """,
    range="",
)


def _reduced(loss: Variable, reduce: str) -> Variable:
    if reduce == "sum":
        return sum(loss)
    return average(loss) if reduce == "mean" else loss


@explained_keywords
def gaussian_kl_divergence(
    mean: VariableLike, ln_var: VariableLike, reduce: str = "sum"
) -> Variable:
    """Computes the KL-divergence of Gaussian variables from the standard one.

    Elementwise it is ``(mean^2 + exp(ln_var) - ln_var - 1) / 2``.

    Args:
        mean (Variable or array): Means, floating point.
        ln_var (Variable or array): Logarithms of the variances, of the same shape and dtype.
        reduce (str): ``'sum'``: summed up. ``'mean'``: averaged. ``'no'``: the elementwise values.

    Returns:
        Variable: The divergence.

    Raises:
        ValueError: If ``reduce`` is something else.

    Example:
        >>> F.gaussian_kl_divergence(np.array([0., 1.]), np.array([0., 0.]))
        variable(0.5)
    """
    check_reduce(reduce, "sum", "mean", "no")
    # A raw array takes the dtype of the Variable beside it, so it must not become one before.
    ln_var = as_variable(ln_var)
    return _reduced((exp(ln_var) + mean * mean - ln_var - 1) * 0.5, reduce)


@_nll_sections(
    range=" in ``[0, 1]``",
    parameters="""\
    y (Variable or array): Parameters before the sigmoid, of the same shape and dtype.""",
)
@explained_keywords
def bernoulli_nll(x: VariableLike, y: VariableLike, reduce: str = "sum") -> Variable:
    """Computes the negative log-likelihood of a Bernoulli distribution of parameter ``sigmoid(y)``.

    As the sigmoid is part of it, the output of a fully-connected layer can be given directly.

    Example:
        >>> F.bernoulli_nll(np.array([1., 0.]), np.array([0., 0.]), reduce='no')
        variable([0.69314718, 0.69314718])
    """
    check_reduce(reduce, "sum", "mean", "no")
    y = as_variable(y)
    return _reduced(softplus(y) - y * x, reduce)


@_nll_sections(
    parameters="""\
    mean (Variable or array): Means, of the same shape and dtype.
    ln_var (Variable or array): Logarithms of the variances, of the same shape and dtype."""
)
@explained_keywords
def gaussian_nll(
    x: VariableLike, mean: VariableLike, ln_var: VariableLike, reduce: str = "sum"
) -> Variable:
    """Computes the negative log-likelihood of a Gaussian distribution.

    Elementwise it is ``(ln_var + log(2 pi) + (x - mean)^2 / exp(ln_var)) / 2``.

    Example:
        >>> F.gaussian_nll(np.array([0.]), np.array([0.]), np.array([0.]))
        variable(0.91893853)
    """
    check_reduce(reduce, "sum", "mean", "no")
    raw = not any(isinstance(each, Variable) for each in (x, mean, ln_var))
    ln_var = as_variable(ln_var)
    if raw:  # dtypes may be mixed; the dtype of ln_var is used
        difference = as_variable(in_dtype(x - mean, ln_var.dtype))
    else:
        # A raw array takes the dtype of the Variable beside it, so it must not become one before.
        difference = x - mean if isinstance(x, Variable) else as_variable(mean) - x
    loss = difference * difference * exp(-ln_var) + ln_var + math.log(2 * math.pi)
    return _reduced(loss * 0.5, reduce)
