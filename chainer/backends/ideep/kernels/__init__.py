"""The table of the kernels on oneDNN. Nothing here imports ideep4py."""

from __future__ import annotations

from collections.abc import Iterator

import numpy

from chainer.backends.ideep.kernels._speedups import SPEEDUPS
from chainer.core.arrays.kernel import Kernel

MDARRAY = "ideep4py:mdarray"

_PACKAGE = "chainer.backends.ideep.kernels"
_CHECKS = f"{_PACKAGE}._checks"
_MISSING = "chainer.backends.ideep.library:missing"

#: Operation -> (module and class of the implementation, function of ``_checks`` that decides).
_BY_OPERATION = {
    "relu": ("activations:ReLUKernel", "elementwise"),
    "leaky_relu": ("activations:LeakyReLUKernel", "large_elementwise"),
    "sigmoid": ("activations:SigmoidKernel", "elementwise"),
    "elu": ("activations:ELUKernel", "elu"),
    "softmax": ("activations:SoftmaxKernel", "softmax"),
    "log_softmax": ("activations:LogSoftmaxKernel", "softmax"),
    "convolution_nd": ("convolutions:ConvolutionNDKernel", "convolution"),
    "linear": ("linears:LinearKernel", "linear"),
    "max_pooling_nd": ("poolings:MaxPoolingNDKernel", "pooling"),
    "average_pooling_nd": ("poolings:AveragePoolingNDKernel", "pooling"),
    "batch_normalization": ("normalizations:BatchNormalizationKernel", "normalization"),
    "fixed_batch_normalization": ("normalizations:FixedBatchNormalizationKernel", "normalization"),
    "layer_normalization": ("normalizations:LayerNormalizationKernel", "row_normalization"),
    "local_response_normalization": (
        "response_normalizations:ResponseNormalizationKernel",
        "response_normalization",
    ),
    "softmax_cross_entropy": ("cross_entropies:SoftmaxCrossEntropyKernel", "cross_entropy"),
}

#: Kernels of functions that convert their inputs to NumPy arrays first.
_FOR_NUMPY = {
    "gelu": ("gelus:GELUKernel", "gelu"),
    "lstm_cell": ("lstm_cells:LSTMCellKernel", "lstm_cell"),
    "n_step_rnn": ("rnns:NStepRNNKernel", "recurrence"),
    "scaled_dot_product_attention": ("attentions:AttentionKernel", "attention"),
}

#: Kernels that pay only for arrays with a blocked layout.
_FOR_MDARRAYS = {
    "concat": ("joining:ConcatKernel", "joining"),
    "dropout": ("dropouts:DropoutKernel", "elementwise"),
    "split_axis": ("joining:SplitAxisKernel", "joining"),
}

#: Updates of parameters. A call of ``to_intel64()`` asks for them, whatever ``use_ideep`` is.
_UPDATES = {
    "sgd_update": ("optimizer_updates:SGDKernel", "update"),
    "momentum_sgd_update": ("optimizer_updates:MomentumSGDKernel", "update"),
    "adam_update": ("optimizer_updates:AdamKernel", "adam_update"),
}


def declarations() -> Iterator[Kernel]:
    """Yields the declaration of every kernel of this package."""
    for operation, entry in _BY_OPERATION.items():
        for array_type in (numpy.ndarray, MDARRAY):
            yield _declaration(operation, array_type, *entry)
    for operation, entry in _FOR_NUMPY.items():
        yield _declaration(operation, numpy.ndarray, *entry)
    for operation, entry in _FOR_MDARRAYS.items():
        yield _declaration(operation, MDARRAY, *entry)
    for operation, entry in _UPDATES.items():
        yield _declaration(operation, MDARRAY, *entry, unconditional=True)


def _declaration(
    operation: str, array_type: type | str, place: str, check: str, unconditional: bool = False
) -> Kernel:
    # Arrays in oneDNN's layouts are served in any case, because no other provider reads them.
    measured = array_type is numpy.ndarray and operation in SPEEDUPS
    return Kernel(
        operation,
        array_type,
        "ideep",
        load=f"{_PACKAGE}.{place}",
        supports=f"{_CHECKS}:{check}",
        unavailable=_MISSING,
        unconditional=unconditional,
        speedup=SPEEDUPS[operation] if measured else None,
    )
