"""A fully connected layer whose weight is a product of two thin matrices."""

from __future__ import annotations

from typing import Any

import chainer
import chainer.functions as F
from chainer import initializers


class LowRankLinear(chainer.Link):
    """Fully connected layer ``y = (x V^T) U^T + b`` with ``rank * (in_size + out_size)`` weights.

    Args:
        in_size: Size of the input vectors; None: inferred at the first call.
        out_size: Size of the output vectors.
        rank: Number of rows of ``V``, at least 1.
        initialV: Initializer of ``V``; LeCun's normal distribution by default.
        initialU: Initializer of ``U``; the same by default.
        initial_bias: Initializer of the bias; zeros by default.

    Attributes:
        V (chainer.Parameter): Matrix of shape ``(rank, in_size)``.
        U (chainer.Parameter): Matrix of shape ``(out_size, rank)``.
        b (chainer.Parameter): Bias of shape ``(out_size,)``.

    Raises:
        ValueError: If ``rank`` is less than 1.
    """

    def __init__(
        self,
        in_size: int | None,
        out_size: int,
        rank: int,
        initialV: Any = None,
        initialU: Any = None,
        initial_bias: Any = 0,
    ) -> None:
        super().__init__()
        if rank < 1:
            raise ValueError(f"rank must be 1 or more, got {rank}")
        self.out_size = out_size
        self.rank = rank
        initialV = initializers.LeCunNormal() if initialV is None else initialV
        initialU = initializers.LeCunNormal() if initialU is None else initialU
        # What is assigned here belongs to the link: it is saved, moved and optimized with it.
        with self.init_scope():
            # A parameter whose shape is None gets its array from initialize(), in forward().
            self.V = chainer.Parameter(initialV, None if in_size is None else (rank, in_size))
            self.U = chainer.Parameter(initialU, (out_size, rank))
            self.b = chainer.Parameter(initial_bias, out_size)

    def forward(self, x: Any) -> chainer.Variable:
        """Applies the layer.

        Args:
            x (Variable or array): Vectors, shape ``(B, in_size)``.

        Returns:
            Variable: Vectors, shape ``(B, out_size)``.
        """
        if self.V.array is None:
            self.V.initialize((self.rank, x.shape[1]))
        return F.linear(F.linear(x, self.V), self.U, self.b)
