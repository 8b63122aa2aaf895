"""Recurrent networks over whole sequences."""

from __future__ import annotations

from chainer.core.arrays.kernel import Operation


class NStepRNN(Operation):
    """Stacked recurrent network over a batch of sequences of different lengths.

    Sequences are sorted by length, longest first, and *packed* by time: ``x`` of shape ``(T, I)``
    holds first the elements of all sequences at time 0, then those at time 1 and so on.
    ``batch_sizes`` is a tuple with the number of sequences that are alive at each time; it does
    not increase, and ``T`` is its sum. ``hx`` and ``cx`` have shape ``(layers * directions, B,
    N)`` with ``B`` at least the first batch size. Sequences beyond it keep their state.

    ``mode`` is ``'lstm'``, ``'gru'``, ``'tanh'`` or ``'relu'``. Weights and biases are lists of
    lists, one for each layer and direction (the directions of a layer are neighbours), of 8, 6 or
    2 arrays: first those applied to the input of the layer, then those applied to the state, each
    of shape ``(N, input size)`` and ``(N,)``. The order of the gates is that of
    :func:`chainer.functions.n_step_lstm` and :func:`chainer.functions.n_step_gru`. The input of
    the second layer and of all that follow is the output of the previous layer, its directions
    side by side.

    With ``ratio`` positive, the input of each layer and direction but those of the first layer
    passes through dropout.

    ``select(x, hx, cx, mode=, layers=, directions=, batch_sizes=, ratio=)``. ``cx`` is None
    unless ``mode`` is ``'lstm'``.

    Methods:
        ``forward(x, hx, cx, ws, bs, mode, directions, batch_sizes, ratio) -> (y, hy, cy,
        residual)``: ``y`` of shape ``(T, directions * N)``. ``cy`` is None unless ``mode`` is
        ``'lstm'``. The residual is opaque.

        ``backward(x, hx, cx, ws, bs, residual, gys, ghy, gcy, mode, directions, batch_sizes,
        ratio) -> (gx, ghx, gcx, gws, gbs)``. ``gys`` is a list of the gradients of ``y`` at each
        time, which are often arrays of their own. Each of ``gys``, ``ghy`` and ``gcy`` may be
        None, for zeros.

        ``masks(residual) -> list``: for each layer and direction the factors dropout has
        multiplied its packed input with, or None. Gradients of gradients need it; a kernel that
        cannot tell raises RuntimeError.

    float16 is computed in float32.
    """

    name = "n_step_rnn"
    methods = ("forward", "backward", "masks")
    reference = "chainer.backends.numpy.kernels.rnns:NStepRNNKernel"


n_step_rnn = NStepRNN()
