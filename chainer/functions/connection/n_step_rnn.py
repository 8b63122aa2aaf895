"""Simple recurrent network over whole sequences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from chainer.functions.connection._n_step import (
    BaseNStepRNN,
    apply_n_step,
    refuse_removed_arguments,
)


class NStepRNNTanh(BaseNStepRNN):
    """Stacked uni-directional network with tanh."""

    mode = "tanh"


class NStepBiRNNTanh(BaseNStepRNN):
    """Stacked bi-directional network with tanh."""

    mode = "tanh"
    directions = 2


class NStepRNNReLU(BaseNStepRNN):
    """Stacked uni-directional network with relu."""

    mode = "relu"


class NStepBiRNNReLU(BaseNStepRNN):
    """Stacked bi-directional network with relu."""

    mode = "relu"
    directions = 2


_CLASSES: dict[tuple[str, bool], type[BaseNStepRNN]] = {
    ("tanh", False): NStepRNNTanh,
    ("tanh", True): NStepBiRNNTanh,
    ("relu", False): NStepRNNReLU,
    ("relu", True): NStepBiRNNReLU,
}


def n_step_rnn(
    n_layers: int,
    dropout_ratio: float,
    hx: Any,
    ws: Sequence[Sequence[Any]],
    bs: Sequence[Sequence[Any]],
    xs: Sequence[Any],
    activation: str = "tanh",
    **kwargs: Any,
) -> tuple[Any, ...]:
    r"""Stacked Uni-directional RNN function for sequence inputs.

    It computes hidden states :math:`h_t` for each time :math:`t` from input :math:`x_t`, with an
    activation function :math:`f`:

    .. math::

        h_t = f(W_0 x_t + W_1 h_{t-1} + b_0 + b_1)

    Sequences are given transposed, by time, sorted by their lengths in descending order (see
    :func:`~chainer.functions.transpose_sequence`). With several layers, the input of a layer is the
    output of the layer below it, after dropout in training mode.

    Args:
        n_layers (int): Number of layers :math:`S`.
        dropout_ratio (float): Dropout ratio, ``0.0 <= dropout_ratio < 1.0``.
        hx (~chainer.Variable or array): Initial hidden states of shape ``(S, B, N)``.
        ws (list of list of ~chainer.Variable or array): Weights. ``ws[i]`` are the weights of the
            ``i``-th layer, a list of 2 matrices, W_j in the equations. Shapes are ``(N, I)`` where
            they are multiplied with the input, ``(N, N)`` otherwise.
        bs (list of list of ~chainer.Variable or array): Biases likewise, each of shape ``(N,)``.
        xs (list of ~chainer.Variable or array): Input of each time: ``xs[t]`` has shape
            ``(B_t, I)`` with ``B_t`` sequences alive, and ``B_t >= B_{t + 1}``.
        activation (str): Name of the activation function, ``tanh`` or ``relu``.

    Returns:
        tuple: ``hy`` and ``ys``: the last hidden states, with the shape of ``hx``, and a tuple with
        the hidden states of the last layer at each time, ``ys[t]`` of shape ``(B_t, N)``.

    Raises:
        InvalidType: If dtypes or shapes do not fit.
        ValueError: If numbers of weights or biases do not fit, or for the removed arguments
            ``train`` and ``use_cudnn``.
        TypeError: If ``xs`` is not a list or tuple.

    .. seealso:: :class:`~chainer.links.NStepRNNTanh`, :class:`~chainer.links.NStepRNNReLU`

    Example:
        >>> xs = [np.ones((b, 3), np.float32) for b in [3, 2, 1]]  # lengths 3, 2 and 1
        >>> hx = np.ones((2, 3, 2), np.float32)
        >>> ws = [[np.ones((2, 3 if i == 0 and j < 1 else 2), np.float32)
        ...        for j in range(2)] for i in range(2)]
        >>> bs = [[np.ones(2, np.float32) for j in range(2)] for i in range(2)]
        >>> hy, ys = F.n_step_rnn(2, 0.0, hx, ws, bs, xs)
        >>> hy.shape
        (2, 3, 2)
        >>> [y.shape for y in ys]
        [(3, 2), (2, 2), (1, 2)]
    """
    return n_step_rnn_base(n_layers, dropout_ratio, hx, ws, bs, xs, activation, False, **kwargs)


def n_step_birnn(
    n_layers: int,
    dropout_ratio: float,
    hx: Any,
    ws: Sequence[Sequence[Any]],
    bs: Sequence[Sequence[Any]],
    xs: Sequence[Any],
    activation: str = "tanh",
    **kwargs: Any,
) -> tuple[Any, ...]:
    r"""Stacked Bi-directional RNN function for sequence inputs.

    It runs :func:`n_step_rnn` over the sequences in both directions, with parameters of their own
    (:math:`W^f, b^f` forward and :math:`W^b, b^b` backward), and puts the hidden states of a time
    side by side: :math:`h_t = [h^f_t; h^b_t]`.

    Sequences are given transposed, by time, sorted by their lengths in descending order (see
    :func:`~chainer.functions.transpose_sequence`). With several layers, the input of a layer is the
    output of the layer below it, after dropout in training mode.

    Args:
        n_layers (int): Number of layers :math:`S`.
        dropout_ratio (float): Dropout ratio, ``0.0 <= dropout_ratio < 1.0``.
        hx (~chainer.Variable or array): Initial hidden states of shape ``(2S, B, N)``.
        ws (list of list of ~chainer.Variable or array): Weights. ``ws[2 * i]`` (forward) and ``ws[2
            * i + 1]`` (backward) are the weights of the ``i``-th layer, a list of 2 matrices, W^f_j
            and W^b_j in the equations. Shapes are ``(N, I)`` where they are multiplied with the
            input, ``(N, 2N)`` where they are multiplied with the output of a layer below, and ``(N,
            N)`` otherwise.
        bs (list of list of ~chainer.Variable or array): Biases likewise, each of shape ``(N,)``.
        xs (list of ~chainer.Variable or array): Input of each time: ``xs[t]`` has shape
            ``(B_t, I)`` with ``B_t`` sequences alive, and ``B_t >= B_{t + 1}``.
        activation (str): Name of the activation function, ``tanh`` or ``relu``.

    Returns:
        tuple: ``hy`` and ``ys``: the last hidden states, with the shape of ``hx``, and a tuple with
        the hidden states of the last layer at each time, ``ys[t]`` of shape ``(B_t, 2N)``.

    Raises:
        InvalidType: If dtypes or shapes do not fit.
        ValueError: If numbers of weights or biases do not fit, or for the removed arguments
            ``train`` and ``use_cudnn``.
        TypeError: If ``xs`` is not a list or tuple.

    .. seealso:: :class:`~chainer.links.NStepBiRNNTanh`, :class:`~chainer.links.NStepBiRNNReLU`

    Example:
        >>> xs = [np.ones((b, 3), np.float32) for b in [3, 2, 1]]  # lengths 3, 2 and 1
        >>> hx = np.ones((4, 3, 2), np.float32)
        >>> ws = [[np.ones((2, 3 if i < 2 and j < 1 else 4 if j < 1 else 2), np.float32)
        ...        for j in range(2)] for i in range(4)]
        >>> bs = [[np.ones(2, np.float32) for j in range(2)] for i in range(4)]
        >>> hy, ys = F.n_step_birnn(2, 0.0, hx, ws, bs, xs)
        >>> hy.shape
        (4, 3, 2)
        >>> [y.shape for y in ys]
        [(3, 4), (2, 4), (1, 4)]
    """
    return n_step_rnn_base(n_layers, dropout_ratio, hx, ws, bs, xs, activation, True, **kwargs)


def n_step_rnn_base(
    n_layers: int,
    dropout_ratio: float,
    hx: Any,
    ws: Sequence[Sequence[Any]],
    bs: Sequence[Sequence[Any]],
    xs: Sequence[Any],
    activation: str,
    use_bi_direction: bool,
    **kwargs: Any,
) -> tuple[Any, ...]:
    """Base function for stacked simple networks of one or two directions.

    Args:
        n_layers (int): Number of layers.
        dropout_ratio (float): Dropout ratio.
        hx (~chainer.Variable or array): Initial hidden states.
        ws (list of list of ~chainer.Variable or array): Weights.
        bs (list of list of ~chainer.Variable or array): Biases.
        xs (list of ~chainer.Variable or array): Input of each time.
        activation (str): ``tanh`` or ``relu``.
        use_bi_direction (bool): Whether there are two directions.

    Returns:
        tuple: ``hy`` and ``ys``.

    .. seealso:: :func:`n_step_rnn`, :func:`n_step_birnn`
    """
    refuse_removed_arguments(kwargs)
    node_class = _CLASSES.get((activation, bool(use_bi_direction)))
    if node_class is None:
        raise ValueError(f'Invalid activation: "{activation}". Please select from [tanh,relu]')
    return apply_n_step(node_class, n_layers, dropout_ratio, (hx,), ws, bs, xs)
