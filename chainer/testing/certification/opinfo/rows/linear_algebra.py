"""Products and decompositions."""

from __future__ import annotations

from typing import Any

from chainer.testing.certification.opinfo.row import Arguments, Difference, Row


def _bilinear(F: Any, x: Any, y: Any, W: Any, b: Any = None) -> Any:
    """Adapts F.bilinear: PyTorch has the axis of the outputs first, and any batch axes."""
    shape = x.shape[:-1]
    flat = [F.reshape(v, (-1, v.shape[-1])) for v in (x, y)]
    z = F.reshape(F.bilinear(*flat, F.transpose(W, (1, 2, 0))), (*shape, W.shape[0]))
    return z if b is None else z + F.broadcast_to(b, z.shape)


def _cholesky(F: Any, a: Any, upper: bool) -> Any:
    y = F.cholesky(a)
    return F.swapaxes(y, -1, -2) if upper else y


def _other_lengths(given: Arguments) -> bool:
    a, b = given.args[:2]
    dims = given.get(2, "dims", 2)
    if isinstance(dims, int):
        return False
    return any(a.shape[i] != b.shape[j] for i, j in zip(*dims, strict=True))


def _hidden_sum(given: Arguments) -> bool:
    inputs, _, output = given.args[1].partition("->")
    return "..." in inputs and "..." not in output


_MATRIX = Difference(
    "one matrix: the function for many begins with batch_", lambda given: given.args[0].ndim != 2
)
_MATRICES = Difference("an array of matrices has three axes", lambda given: given.args[0].ndim != 3)

ROWS = (
    Row("matmul", "matmul"),
    Row("batch_matmul", "bmm"),
    Row(
        "tensordot",
        "tensordot",
        lambda F, a, b, dims=2: F.tensordot(a, b, dims),
        differences=(Difference("axes of length 1 are not repeated", _other_lengths),),
    ),
    Row(
        "einsum",
        "einsum",
        lambda F, operands, text: F.einsum(text, *operands),
        differences=(Difference("the axes of an ellipsis are not summed", _hidden_sum),),
    ),
    Row(
        "linear",
        "nn.functional.linear",
        lambda F, x, W, b=None: F.linear(x, W, b, x.ndim - 1),
        differences=(
            Difference("the input has a batch axis", lambda given: given.args[0].ndim == 1),
        ),
    ),
    Row("bilinear", "nn.functional.bilinear", _bilinear),
    Row("cholesky", "linalg.cholesky", _cholesky, differences=(_MATRIX,)),
    Row("inv", "linalg.inv", differences=(_MATRIX,)),
    Row("batch_inv", "linalg.inv", differences=(_MATRICES,)),
    Row("det", "linalg.det", differences=(_MATRIX,)),
    Row("batch_det", "linalg.det", differences=(_MATRICES,)),
)
