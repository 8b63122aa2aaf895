"""Affine transformation."""

from __future__ import annotations

from typing import ClassVar

from chainer.core.arrays.kernel import JoinedRows, Operation, Recording


class Linear(Operation):
    """Affine transformation ``y = x W^T + b``.

    ``select(x, W, b)``: ``x`` of shape ``(N, I)``, ``W`` of shape ``(O, I)``, ``b`` of shape
    ``(O,)`` or None. Dtypes are floating point; ``W`` may have another
    dtype than ``x``, ``b`` may not.

    Methods:
        ``forward(x, W, b) -> y`` of shape ``(N, O)`` and the dtype of ``x``.

        ``backward_data(gy, W) -> gx`` of shape ``(N, I)`` and the dtype of ``gy``.

        ``backward_weight(x, gy, dtype) -> gW`` of shape ``(O, I)`` and the given dtype.

        ``weight_gradient_sum(total)``, which a kernel may have: returns None, or an object that
        adds gradients to an array of the shape of ``W``. Its ``add(x, gy)`` returns whether it
        takes a gradient, and ``finish()`` completes the sum. Such a kernel returns new arrays from
        ``backward_weight``.

        ``bias_gradient_sum(total)``, too: the same for the bias, with ``add(gy)``.

    float16 is accumulated in float32.
    """

    name = "linear"
    methods = ("forward", "backward_data", "backward_weight")
    reference = "chainer.backends.numpy.kernels.linears:LinearKernel"
    recording = Recording.STEPS
    pure = True
    joined_rows: ClassVar = {
        "forward": JoinedRows((0,)),
        "backward_data": JoinedRows((0,)),
        "backward_weight": JoinedRows((0, 1), adds=True),
    }


linear = Linear()
