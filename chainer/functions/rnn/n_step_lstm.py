"""Long short-term memory over whole sequences."""

from __future__ import annotations

from typing import Any

from chainer.functions.rnn._n_step import BaseNStepRNN, Inputs, State, Weights, apply_n_step
from chainer.functions.rnn._n_step_composition import lstm_step as _lstm
from chainer.functions.rnn._n_step_documentation import by_use_of_directions, documented

# Programs import one step of the cell by this name.
__all__ = ["NStepBiLSTM", "NStepLSTM", "_lstm", "n_step_bilstm", "n_step_lstm", "n_step_lstm_base"]


class NStepLSTM(BaseNStepRNN, mode="lstm"):
    """Stacked uni-directional LSTM."""


@documented("lstm", 1, "NStepLSTM")
def n_step_lstm(
    n_layers: int, dropout_ratio: float, hx: State, cx: State, ws: Weights, bs: Weights, xs: Inputs
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
    All hidden states have the same size. For different sizes use :func:`~chainer.functions.lstm`.
    """
    return apply_n_step(NStepLSTM, n_layers, dropout_ratio, (hx, cx), ws, bs, xs)


class NStepBiLSTM(BaseNStepRNN, mode="lstm", directions=2):
    """Stacked bi-directional LSTM."""


@documented("lstm", 2, "NStepBiLSTM")
def n_step_bilstm(
    n_layers: int, dropout_ratio: float, hx: State, cx: State, ws: Weights, bs: Weights, xs: Inputs
) -> tuple[Any, ...]:
    r"""Stacked Bi-directional Long Short-Term Memory function.

    It runs :func:`n_step_lstm` over the sequences in both directions, with parameters of their own
    (:math:`W^f, b^f` forward and :math:`W^b, b^b` backward), and puts the hidden states of a time
    side by side: :math:`h_t = [h^f_t; h^b_t]`.
    """
    return apply_n_step(NStepBiLSTM, n_layers, dropout_ratio, (hx, cx), ws, bs, xs)


n_step_lstm_base = by_use_of_directions(n_step_lstm, n_step_bilstm)
