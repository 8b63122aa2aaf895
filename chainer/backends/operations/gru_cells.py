"""Cells of gated recurrent units, with their products."""

from __future__ import annotations

from chainer.core.arrays.kernel import Operation


class GRUCell(Operation):
    """One step of gated recurrent units whose reset gate comes before the product.

    ``select(h, x, W_r, W_z, W, U_r, U_z, U)``: states ``h`` of shape ``(B, n)``, inputs ``x`` of
    shape ``(B, I)``, three weights of shape ``(n, I)`` and three of shape ``(n, n)``, all of one
    dtype, floating point.

    Methods:
        ``forward(h, x, weights, biases) -> (h_next, saved)``: ``weights`` is the tuple of the six
        weights, ``biases`` the tuple of their biases of shape ``(n,)``, named ``b`` and ``d`` here.
        ``r = sigmoid(W_r x + b_r + U_r h + d_r)``, ``z = sigmoid(W_z x + b_z + U_z h + d_z)``,
        ``a = tanh(W x + b + U (r h) + d)``, ``h_next = (1 - z) h + z a``; ``saved`` is opaque and
        given to ``backward``.

        ``backward(h, x, weights, saved, gh_next) -> (gh, gx, sources, rh)``: ``gh`` and ``gx`` are
        the gradients of ``h`` and ``x``; ``sources`` of shape ``(3, B, n)`` has the gradients of
        the arguments of the two sigmoids and of tanh, from which the gradients of the weights and
        the biases follow; ``rh`` is ``r h``, which ``U`` multiplies.

        ``bias_gradient_sums(totals)``, which a kernel may have: returns None, or a function of
        ``sources`` that adds the sums of their rows to the gradients of the six biases, the arrays
        ``totals``, and rounds as NumPy does.
    """

    name = "gru_cell"
    reference = "chainer.backends.numpy.kernels.gru_cells:GRUCellKernel"
    pure = True


gru_cell = GRUCell()
