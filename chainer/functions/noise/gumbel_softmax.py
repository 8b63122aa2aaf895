"""Sampling from Gumbel-Softmax distributions."""

from __future__ import annotations

from chainer.core.arrays.backend import backend_of
from chainer.core.autograd.variable import Variable, as_variable
from chainer.core.misuse import expect_number
from chainer.core.typing import VariableLike
from chainer.core.utils.argument import explained_keywords
from chainer.functions.activation.softmax import softmax
from chainer.functions.array.broadcast import broadcast_to
from chainer.functions.array.reshape import reshape


@explained_keywords
def gumbel_softmax(log_pi: VariableLike, tau: float | Variable = 0.1, axis: int = 1) -> Variable:
    r"""Gumbel-Softmax sampling function.

    It draws samples :math:`y_i` from the Gumbel-Softmax distribution,

    .. math::

        y_i = {\exp((g_i + \log\pi_i)/\tau) \over \sum_{j}\exp((g_j + \log\pi_j)/\tau)},

    where :math:`\tau` is a temperature and :math:`g_i` are samples of the Gumbel distribution
    :math:`Gumbel(0, 1)`. See `Categorical Reparameterization with Gumbel-Softmax
    <https://arxiv.org/abs/1611.01144>`_.

    Args:
        log_pi (~chainer.Variable or array): Pre-normalized log-probability :math:`\log\pi`,
            floating point. Without dimensions it is one category.
        tau (float or ~chainer.Variable): Temperature :math:`\tau`; a Variable of one element or of
            the shape of ``log_pi``.
        axis (int): Axis of the categories.

    Returns:
        ~chainer.Variable: Output with the shape and dtype of ``log_pi``.

    Raises:
        ValueError: If ``tau`` is zero.

    Example:
        >>> log_pi = np.log(np.array([[0.2, 0.8]], np.float32))
        >>> y = F.gumbel_softmax(log_pi, tau=0.5)
        >>> bool(abs(y.array.sum() - 1) < 1e-6)
        True
    """
    if not isinstance(tau, Variable) and tau == 0:
        raise ValueError("tau must not be zero")
    expect_number("tau of gumbel_softmax", tau, above=0)
    log_pi = as_variable(log_pi)
    # The softmax of nothing has no maximum to subtract.
    if log_pi.size == 0:
        return log_pi
    xp = backend_of(log_pi.array).xp
    with log_pi.device:
        noise = xp.random.gumbel(size=log_pi.shape).astype(log_pi.dtype)
    scores = log_pi + noise
    if isinstance(tau, Variable):
        scores = scores / broadcast_to(tau, scores.shape)
    else:
        scores = scores * (1.0 / tau)
    if scores.ndim == 0:  # one category
        return reshape(softmax(reshape(scores, (1, 1))), ())
    return softmax(scores, axis=axis)
