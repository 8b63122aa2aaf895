"""Gated recurrent unit over whole sequences."""

from __future__ import annotations

from typing import Any

from chainer.functions.rnn._n_step import BaseNStepRNN, Inputs, State, Weights, apply_n_step
from chainer.functions.rnn._n_step_composition import gru_step as _gru
from chainer.functions.rnn._n_step_documentation import by_use_of_directions, documented

# Programs import one step of the cell by this name.
__all__ = ["NStepBiGRU", "NStepGRU", "_gru", "n_step_bigru", "n_step_gru", "n_step_gru_base"]


class NStepGRU(BaseNStepRNN, mode="gru"):
    """Stacked uni-directional GRU."""


@documented("gru", 1, "NStepGRU")
def n_step_gru(
    n_layers: int, dropout_ratio: float, hx: State, ws: Weights, bs: Weights, xs: Inputs
) -> tuple[Any, ...]:
    r"""Stacked Uni-directional Gated Recurrent Unit function.

    It computes hidden states :math:`h_t` for each time :math:`t` from input :math:`x_t`:

    .. math::

        r_t &= \sigma(W_0 x_t + W_3 h_{t-1} + b_0 + b_3) \\
        z_t &= \sigma(W_1 x_t + W_4 h_{t-1} + b_1 + b_4) \\
        h'_t &= \tanh(W_2 x_t + b_2 + r_t \cdot (W_5 h_{t-1} + b_5)) \\
        h_t &= (1 - z_t) \cdot h'_t + z_t \cdot h_{t-1}
    """
    return apply_n_step(NStepGRU, n_layers, dropout_ratio, (hx,), ws, bs, xs)


class NStepBiGRU(BaseNStepRNN, mode="gru", directions=2):
    """Stacked bi-directional GRU."""


@documented("gru", 2, "NStepBiGRU")
def n_step_bigru(
    n_layers: int, dropout_ratio: float, hx: State, ws: Weights, bs: Weights, xs: Inputs
) -> tuple[Any, ...]:
    r"""Stacked Bi-directional Gated Recurrent Unit function.

    It runs :func:`n_step_gru` over the sequences in both directions, with parameters of their own
    (:math:`W^f, b^f` forward and :math:`W^b, b^b` backward), and puts the hidden states of a time
    side by side: :math:`h_t = [h^f_t; h^b_t]`.
    """
    return apply_n_step(NStepBiGRU, n_layers, dropout_ratio, (hx,), ws, bs, xs)


n_step_gru_base = by_use_of_directions(n_step_gru, n_step_bigru)
