"""Base of the losses that compare the correct class with sampled classes."""

from __future__ import annotations

from typing import Any

import numpy

from chainer.backends.compute_dtypes import compute_dtype
from chainer.backends.operations.embeddings import embedding
from chainer.core.arrays.chunks import chunk_bytes, chunks
from chainer.core.arrays.kernel import Operation
from chainer.core.autograd.variable import Variable
from chainer.core.typing import Array, ArrayGrads, Arrays, Indexes
from chainer.functions.rules import KernelFunction, Ops, Value, Values, gradients_of_composition


class SampledLoss(KernelFunction):
    """Loss of scores ``W[ids] x``, the correct class in column 0 of ``ids``.

    The inputs begin with ``x, t, W``. Subclasses say which classes are scored, how the scores make
    a loss, and how differentiable functions would compute it.

    Attributes:
        operation: Operation from scores to losses and slopes.
        reduce: ``'no'``, ``'sum'`` or ``'mean'``.
    """

    operation: Operation
    reduce: str
    retained_inputs = (0, 2)

    def classes(self, inputs: tuple[Any, ...]) -> tuple[Any, Any]:
        """Returns the scored classes, shape ``(N, 1 + K)``, and which samples count (or None).

        The correct class of samples that do not count is -1.
        """
        raise NotImplementedError

    def compose(self, scores: Variable) -> Variable:
        """Returns the loss of each sample, computed by differentiable functions."""
        raise NotImplementedError

    def forward(self, inputs: Arrays) -> Arrays:
        x, W = inputs[0], inputs[2]
        # NumPy takes a microsecond to find a common type.
        dtype = x.dtype if x.dtype == W.dtype else numpy.result_type(x.dtype, W.dtype)
        self._dtype = compute_dtype(x.dtype, W.dtype)
        self._ids, self._used = self.classes(inputs)
        self._rows = embedding.select(self._ids, W, ignore_label=None)
        rows = self._gather(W, self._ids)
        self._scores = self.xp.matmul(rows, x.astype(rows.dtype, copy=False)[:, :, None])[:, :, 0]
        del rows  # a vector for each score: as large as all else together
        self._kernel = self.operation.select(self._scores)
        losses = self._kernel.forward(self._scores)
        if self._used is not None:
            losses *= self._used
        if self.reduce != "no":
            losses = losses.sum()
            if self.reduce == "mean":
                losses = losses / max(len(x), 1)
        return (self.xp.asarray(losses, dtype=dtype),)

    def _gather(self, W: Array, ids: Array) -> Any:
        return self._rows.forward(ids, W, None).astype(self._dtype, copy=False)

    def backward_arrays(self, target_input_indexes: Indexes, grad_outputs: ArrayGrads) -> Arrays:
        x, W = self.retained_input_arrays
        slopes = self._kernel.backward(self._scores)
        scale: Array = grad_outputs[0]
        scale = scale.astype(slopes.dtype, copy=False)
        if self.reduce == "mean":
            scale = scale * (1.0 / max(len(x), 1))
        if self._used is not None:
            scale = scale * self._used
        slopes *= scale if scale.ndim == 0 else scale[:, None]
        gradients: dict[int, Any] = {}
        if 2 in target_input_indexes:  # first: it takes the most memory
            gW = self._gradient_of_weights(x, slopes, W.shape)
            gradients[2] = gW.astype(W.dtype, copy=False)
        if 0 in target_input_indexes:
            gradients[0] = self._gradient_of_vectors(x, slopes, W).astype(x.dtype, copy=False)
        return tuple([gradients.get(i) for i in target_input_indexes])

    def _gradient_of_vectors(self, x: Array, slopes: Array, W: Array) -> Any:
        if self.xp is not numpy:
            return self.xp.matmul(slopes[:, None], self._gather(W, self._ids))[:, 0]
        gx = numpy.empty(x.shape, slopes.dtype)
        row_bytes = slopes.shape[1] * W[:1].nbytes
        for part in chunks(len(x), row_bytes, chunk_bytes(W.nbytes, 128)):
            rows = self._gather(W, self._ids[part])
            gx[part] = numpy.matmul(slopes[part, None], rows)[:, 0]
            del rows  # before there are others
        return gx

    def _gradient_of_weights(self, x: Array, slopes: Array, shape: tuple[int, int]) -> Any:
        backward_outer = getattr(self._rows, "backward_outer", None)
        if backward_outer is not None:
            return backward_outer(self._ids, slopes, x.astype(slopes.dtype, copy=False), shape)
        g_rows = slopes[:, :, None] * x[:, None, :]
        return self._rows.backward(self._ids, g_rows, shape, None)

    def gradients(self, ops: Ops, targets: Indexes, *values: Value) -> Values:
        x, W, gy = values
        dtypes = (x.dtype, W.dtype)
        if x.dtype != W.dtype:
            x, W = ops.cast(x, gy.dtype), ops.cast(W, gy.dtype)
        ignored = None if self._used is None else -1

        def loss(x: Variable, W: Variable) -> tuple[Variable]:
            rows = ops.embed_id(self._ids, W, ignored)
            losses = self.compose(ops.matmul(rows, ops.expand_dims(x, 2)).reshape(self._ids.shape))
            if self._used is not None:
                losses = losses * self._used
            if self.reduce == "no":
                return (losses,)
            return (ops.sum(losses) * (1.0 / max(len(x), 1) if self.reduce == "mean" else 1.0),)

        gx, gW = gradients_of_composition(loss, (x, W), (0, 1), (gy,))
        if gx.dtype != dtypes[0] or gW.dtype != dtypes[1]:
            # Each gradient has the dtype of its input.
            gx, gW = ops.cast(gx, dtypes[0]), ops.cast(gW, dtypes[1])
        return tuple([{0: gx, 2: gW}[i] for i in targets])
