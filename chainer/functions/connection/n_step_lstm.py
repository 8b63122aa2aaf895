"""Long short-term memory over whole sequences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from chainer.functions.connection._n_step import (
    BaseNStepRNN,
    apply_n_step,
    refuse_removed_arguments,
)


class NStepLSTM(BaseNStepRNN):
    """Stacked uni-directional LSTM."""

    mode = "lstm"


class NStepBiLSTM(BaseNStepRNN):
    """Stacked bi-directional LSTM."""

    mode = "lstm"
    directions = 2


def n_step_lstm(
    n_layers: int,
    dropout_ratio: float,
    hx: Any,
    cx: Any,
    ws: Sequence[Sequence[Any]],
    bs: Sequence[Sequence[Any]],
    xs: Sequence[Any],
    **kwargs: Any,
) -> tuple[Any, ...]:
    r"""Stacked Uni-directional Long Short-Term Memory function.

    It computes hidden states :math:`h_t` and cell states :math:`c_t` for each time :math:`t` from
    input :math:`x_t`:

    .. math::

        i_t &= \sigma(W_0 x_t + W_4 h_{t-1} + b_0 + b_4) \\
        f_t &= \sigma(W_1 x_t + W_5 h_{t-1} + b_1 + b_5) \\
        a_t &= \tanh(W_2 x_t + W_6 h_{t-1} + b_2 + b_6) \\
        o_t &= \sigma(W_3 x_t + W_7 h_{t-1} + b_3 + b_7) \\
        c_t &= f_t \cdot c_{t-1} + i_t \cdot a_t \\
        h_t &= o_t \cdot \tanh(c_t)

    (The documentation of version 4 exchanged the parameters of :math:`a` and :math:`o` by mistake.)

    Sequences are given transposed, by time, sorted by their lengths in descending order (see
    :func:`~chainer.functions.transpose_sequence`). With several layers, the input of a layer is the
    output of the layer below it, after dropout in training mode.

    Args:
        n_layers (int): Number of layers :math:`S`.
        dropout_ratio (float): Dropout ratio, ``0.0 <= dropout_ratio < 1.0``.
        hx (~chainer.Variable or array): Initial hidden states of shape ``(S, B, N)``.
        cx (~chainer.Variable or array): Initial cell states, with the shape of ``hx``.
        ws (list of list of ~chainer.Variable or array): Weights. ``ws[i]`` are the weights of the
            ``i``-th layer, a list of 8 matrices, W_j in the equations. Shapes are ``(N, I)`` where
            they are multiplied with the input, ``(N, N)`` otherwise.
        bs (list of list of ~chainer.Variable or array): Biases likewise, each of shape ``(N,)``.
        xs (list of ~chainer.Variable or array): Input of each time: ``xs[t]`` has shape
            ``(B_t, I)`` with ``B_t`` sequences alive, and ``B_t >= B_{t + 1}``.

    Returns:
        tuple: ``hy``, ``cy`` and ``ys``: the last hidden states and the last cell states, with the
        shape of ``hx``, and a tuple with the hidden states of the last layer at each time,
        ``ys[t]`` of shape ``(B_t, N)``.

    Raises:
        InvalidType: If dtypes or shapes do not fit.
        ValueError: If numbers of weights or biases do not fit, or for the removed arguments
            ``train`` and ``use_cudnn``.
        TypeError: If ``xs`` is not a list or tuple.

    .. note::
        All hidden states have the same size. For different sizes use
        :func:`~chainer.functions.lstm`.

    .. seealso:: :class:`~chainer.links.NStepLSTM`

    Example:
        >>> xs = [np.ones((b, 3), np.float32) for b in [3, 2, 1]]  # lengths 3, 2 and 1
        >>> hx = np.ones((2, 3, 2), np.float32)
        >>> cx = np.ones_like(hx)
        >>> ws = [[np.ones((2, 3 if i == 0 and j < 4 else 2), np.float32)
        ...        for j in range(8)] for i in range(2)]
        >>> bs = [[np.ones(2, np.float32) for j in range(8)] for i in range(2)]
        >>> hy, cy, ys = F.n_step_lstm(2, 0.0, hx, cx, ws, bs, xs)
        >>> hy.shape
        (2, 3, 2)
        >>> [y.shape for y in ys]
        [(3, 2), (2, 2), (1, 2)]
    """
    return n_step_lstm_base(n_layers, dropout_ratio, hx, cx, ws, bs, xs, False, **kwargs)


def n_step_bilstm(
    n_layers: int,
    dropout_ratio: float,
    hx: Any,
    cx: Any,
    ws: Sequence[Sequence[Any]],
    bs: Sequence[Sequence[Any]],
    xs: Sequence[Any],
    **kwargs: Any,
) -> tuple[Any, ...]:
    r"""Stacked Bi-directional Long Short-Term Memory function.

    It runs :func:`n_step_lstm` over the sequences in both directions, with parameters of their own
    (:math:`W^f, b^f` forward and :math:`W^b, b^b` backward), and puts the hidden states of a time
    side by side: :math:`h_t = [h^f_t; h^b_t]`.

    Sequences are given transposed, by time, sorted by their lengths in descending order (see
    :func:`~chainer.functions.transpose_sequence`). With several layers, the input of a layer is the
    output of the layer below it, after dropout in training mode.

    Args:
        n_layers (int): Number of layers :math:`S`.
        dropout_ratio (float): Dropout ratio, ``0.0 <= dropout_ratio < 1.0``.
        hx (~chainer.Variable or array): Initial hidden states of shape ``(2S, B, N)``.
        cx (~chainer.Variable or array): Initial cell states, with the shape of ``hx``.
        ws (list of list of ~chainer.Variable or array): Weights. ``ws[2 * i]`` (forward) and ``ws[2
            * i + 1]`` (backward) are the weights of the ``i``-th layer, a list of 8 matrices, W^f_j
            and W^b_j in the equations. Shapes are ``(N, I)`` where they are multiplied with the
            input, ``(N, 2N)`` where they are multiplied with the output of a layer below, and ``(N,
            N)`` otherwise.
        bs (list of list of ~chainer.Variable or array): Biases likewise, each of shape ``(N,)``.
        xs (list of ~chainer.Variable or array): Input of each time: ``xs[t]`` has shape
            ``(B_t, I)`` with ``B_t`` sequences alive, and ``B_t >= B_{t + 1}``.

    Returns:
        tuple: ``hy``, ``cy`` and ``ys``: the last hidden states and the last cell states, with the
        shape of ``hx``, and a tuple with the hidden states of the last layer at each time,
        ``ys[t]`` of shape ``(B_t, 2N)``.

    Raises:
        InvalidType: If dtypes or shapes do not fit.
        ValueError: If numbers of weights or biases do not fit, or for the removed arguments
            ``train`` and ``use_cudnn``.
        TypeError: If ``xs`` is not a list or tuple.

    .. seealso:: :class:`~chainer.links.NStepBiLSTM`

    Example:
        >>> xs = [np.ones((b, 3), np.float32) for b in [3, 2, 1]]  # lengths 3, 2 and 1
        >>> hx = np.ones((4, 3, 2), np.float32)
        >>> cx = np.ones_like(hx)
        >>> ws = [[np.ones((2, 3 if i < 2 and j < 4 else 4 if j < 4 else 2), np.float32)
        ...        for j in range(8)] for i in range(4)]
        >>> bs = [[np.ones(2, np.float32) for j in range(8)] for i in range(4)]
        >>> hy, cy, ys = F.n_step_bilstm(2, 0.0, hx, cx, ws, bs, xs)
        >>> hy.shape
        (4, 3, 2)
        >>> [y.shape for y in ys]
        [(3, 4), (2, 4), (1, 4)]
    """
    return n_step_lstm_base(n_layers, dropout_ratio, hx, cx, ws, bs, xs, True, **kwargs)


def n_step_lstm_base(
    n_layers: int,
    dropout_ratio: float,
    hx: Any,
    cx: Any,
    ws: Sequence[Sequence[Any]],
    bs: Sequence[Sequence[Any]],
    xs: Sequence[Any],
    use_bi_direction: bool,
    **kwargs: Any,
) -> tuple[Any, ...]:
    """Base function for stacked LSTM of one or two directions.

    Args:
        n_layers (int): Number of layers.
        dropout_ratio (float): Dropout ratio.
        hx (~chainer.Variable or array): Initial hidden states.
        cx (~chainer.Variable or array): Initial cell states.
        ws (list of list of ~chainer.Variable or array): Weights.
        bs (list of list of ~chainer.Variable or array): Biases.
        xs (list of ~chainer.Variable or array): Input of each time.
        use_bi_direction (bool): Whether there are two directions.

    Returns:
        tuple: ``hy``, ``cy`` and ``ys``.

    .. seealso:: :func:`n_step_lstm`, :func:`n_step_bilstm`
    """
    refuse_removed_arguments(kwargs)
    node_class = NStepBiLSTM if use_bi_direction else NStepLSTM
    return apply_n_step(node_class, n_layers, dropout_ratio, (hx, cx), ws, bs, xs)
