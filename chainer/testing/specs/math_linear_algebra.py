"""Products of matrices, inverses, determinants, Fourier transforms."""

# pyright: basic
from __future__ import annotations

import warnings

import numpy as np

from chainer.testing.op_spec import ErrorInput, OpSpec, Sample, Tolerance
from chainer.testing.specs.inputs import invalid_type, invalid_value


def _transposed(x, flag):
    return np.swapaxes(x, -1, -2) if flag and x.ndim > 1 else x


def _matmul(a, b, transa=False, transb=False):
    return np.matmul(_transposed(a, transa), _transposed(b, transb))


def _batch_matmul(a, b, transa=False, transb=False):
    # The function takes a batch of vectors for a batch of columns.
    a, b = (x[..., None] if x.ndim == 2 else x for x in (a, b))
    return _matmul(a, b, transa, transb)


def _deprecated_batch_matmul(F, *args, **kwargs):
    with warnings.catch_warnings():
        # The function is deprecated; another test expects the warning.
        warnings.simplefilter("ignore", DeprecationWarning)
        return F.batch_matmul(*args, **kwargs)


def _regular(draw, *shape):
    """Matrices far from singular ones."""
    return draw((*shape, shape[-1])) * 0.3 + np.eye(shape[-1])


def _matrices(draw):
    return [Sample(_regular(draw, 3)), Sample(_regular(draw, 1))]


def _batches(draw):
    return [Sample(_regular(draw, 2, 3)), Sample(_regular(draw, 0, 2), kind="empty")]


def _ones(*shapes):
    return [np.ones(shape, "f") for shape in shapes]


def _fourier(name):
    transform = getattr(np.fft, name)

    def reference(real, imag):
        y = transform(real + 1j * imag)
        return y.real, y.imag

    return OpSpec(
        name,
        reference=reference,
        call=lambda F, real, imag: getattr(F, name)((real, imag)),
        covers=(name,),
        samples=lambda draw: [
            Sample(draw((4,)), draw((4,))),
            Sample(draw((2, 5)), draw((2, 5))),
            Sample(draw((0, 3)), draw((0, 3)), kind="empty"),
        ],
        errors=lambda draw: [invalid_type("shape", *_ones((3,), (4,)))],
    )


# Gradients of inverses multiply what half precision loses.
_ROUGH = {"float16": Tolerance((2e-2, 2e-2), (1e-1, 1e-1), (5e-1, 5e-1))}

SPECS = (
    OpSpec(
        "matmul",
        reference=_matmul,
        samples=lambda draw: [
            Sample(draw((2, 3)), draw((3, 4))),
            Sample(draw((3, 2)), draw((3, 4)), transa=True),
            Sample(draw((2, 3)), draw((4, 3)), transb=True),
            Sample(draw((3, 2)), draw((4, 3)), transa=True, transb=True),
            Sample(draw((3,)), draw((3,))),
            Sample(draw((3,)), draw((3, 2))),
            Sample(draw((3,)), draw((2, 3)), transa=True, transb=True),
            Sample(draw((2, 3)), draw((3,))),
            Sample(draw((3, 2)), draw((3,)), transa=True),
            Sample(draw((2, 3, 4)), draw((2, 4, 3))),
            Sample(draw((2, 4, 3)), draw((2, 5, 4)), transa=True, transb=True),
            Sample(draw((2, 3, 4)), draw((4, 2))),
            Sample(draw((2, 3, 4)), draw((2, 4)), transb=True),
            Sample(draw((2, 4, 3)), draw((4, 2)), transa=True),
            Sample(draw((2, 3, 4)), draw((4,))),
            Sample(draw((4,)), draw((2, 4, 3))),
            Sample(draw((3, 4)), draw((2, 4, 3))),
            Sample(draw((2, 1, 3, 4)), draw((3, 4, 2))),
            Sample(draw((0, 3)), draw((3, 2)), kind="empty"),
            # A sum of nothing: the product is not empty, but zeros.
            Sample(draw((2, 0)), draw((0, 3)), kind="empty"),
            Sample(draw((0, 2, 3)), draw((3, 2)), kind="empty"),
            Sample(draw((2, 3, 0)), draw((0, 2)), kind="empty"),
        ],
        errors=lambda draw: [
            invalid_type(
                r"(?s)MatMul.*in_types\[0\]\.shape\[-1\] == in_types\[1\]\.shape\[-2\]",
                *_ones((2, 3), (2, 3)),
            ),
            invalid_type(r"shape\[:-2\]", *_ones((2, 1, 2), (3, 2, 2))),
            invalid_type("ndim >= 1", *_ones((), (2, 2))),
            invalid_type("kind == f", np.arange(3), np.arange(3)),
        ],
    ),
    OpSpec(
        "operator_matmul",
        reference=np.matmul,
        call=lambda F, a, b: F.identity(a) @ b,
        samples=lambda draw: [
            Sample(draw((2, 3)), draw((3, 4))),
            Sample(draw((2, 3, 4)), draw((2, 4, 3))),
            Sample(draw((0, 3)), draw((3, 2)), kind="empty"),
        ],
    ),
    OpSpec(
        "batch_matmul",
        reference=_batch_matmul,
        call=_deprecated_batch_matmul,
        covers=("batch_matmul",),
        samples=lambda draw: [
            Sample(draw((2, 3, 4)), draw((2, 4, 5))),
            Sample(draw((2, 4, 3)), draw((2, 5, 4)), transa=True, transb=True),
            Sample(draw((2, 3)), draw((2, 3)), transa=True),
            Sample(draw((2, 3)), draw((2, 3)), transb=True),
            Sample(draw((2, 3, 4)), draw((2, 4))),
            Sample(draw((2, 4)), draw((2, 1, 3))),
            Sample(draw((0, 2, 3)), draw((0, 3, 2)), kind="empty"),
        ],
        errors=lambda draw: [
            invalid_type(r"shape\[1\] == 1", *_ones((2, 3), (2, 3))),
            invalid_type(r"shape\[2\]", *_ones((2, 1, 3), (2, 2, 3))),
            invalid_type("ndim >= 2", *_ones((3,), (3,))),
        ],
    ),
    OpSpec(
        "tensordot",
        reference=lambda a, b, axes=2: np.tensordot(a, b, axes),
        samples=lambda draw: [
            Sample(draw((2, 3, 4)), draw((3, 4, 2))),
            Sample(draw((2, 3)), draw((3, 4)), axes=1),
            Sample(draw((2, 3)), draw((4,)), axes=0),
            Sample(draw((2, 3, 4)), draw((4, 2, 3)), axes=((0, 2), (1, 0))),
            Sample(draw((2, 3, 4)), draw((4, 2, 3)), axes=([2, 0], [0, 1])),
            Sample(draw((2, 3, 4)), draw((3, 5)), axes=(1, 0)),
            Sample(draw((2, 3)), draw((2, 3)), axes=((-1, 0), (1, -2))),
            Sample(draw((2, 0)), draw((0, 3)), axes=1, kind="empty"),
        ],
        errors=lambda draw: [
            invalid_value("shape mismatch", *_ones((2, 3), (4, 3)), axes=1),
            invalid_value("axes count mismatch", *_ones((2, 3), (4, 3)), axes=((0, 1), (1,))),
            invalid_value("dot-axes count", *_ones((3,), (3,)), axes=2),
            invalid_value("pair of sequence", *_ones((3,), (3,)), axes="xy"),
            ErrorInput(*_ones((3,), (3,)), axes=(0, 1), error=IndexError, match="axis of b"),
        ],
    ),
    OpSpec(
        "inv",
        reference=np.linalg.inv,
        samples=_matrices,
        errors=lambda draw: [
            invalid_type(r"shape", *_ones((2, 3))),
            invalid_value("singular", *_ones((2, 2)), debug=True),
        ],
        tolerances=_ROUGH,
    ),
    OpSpec(
        "batch_inv",
        reference=np.linalg.inv,
        samples=_batches,
        errors=lambda draw: [
            invalid_type("shape", *_ones((2, 2, 3))),
            invalid_value("singular", *_ones((1, 2, 2)), debug=True),
        ],
        tolerances=_ROUGH,
    ),
    OpSpec(
        "det",
        reference=np.linalg.det,
        samples=_matrices,
        errors=lambda draw: [
            invalid_type("shape", *_ones((2, 3))),
            invalid_type(r"a\.ndim >= 2\nActual: 0 < 2", *_ones(())),
            invalid_type(r"prod\(x\.shape\)", *_ones((2, 3, 3))),
        ],
        tolerances=_ROUGH,
    ),
    OpSpec(
        "batch_det",
        reference=np.linalg.det,
        samples=_batches,
        errors=lambda draw: [invalid_type("shape", *_ones((2, 2, 3)))],
        tolerances=_ROUGH,
    ),
    _fourier("fft"),
    _fourier("ifft"),
)
