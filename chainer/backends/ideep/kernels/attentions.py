"""oneDNN kernel of attention whose scores exist all at once."""

from __future__ import annotations

from collections.abc import Iterator
from math import isfinite, prod
from typing import Any, NamedTuple

import numpy

from chainer.backends.ideep.kernels._base import IdeepKernel
from chainer.backends.operations.attentions import AttentionOptions, scaled_dot_product_attention
from chainer.core.arrays.backend import Backend
from chainer.core.typing import Array, Shape

#: Scores that are computed at once, of one text at least. More would need more memory, and be no
#: faster: 32 texts of 12 heads of 128 x 128 take 37.6 milliseconds, and 37.1 with all texts at once
#: (AMD EPYC with AVX2, one thread).
_SCORES = 1 << 18


class _Saved(NamedTuple):
    """Arrays that a forward pass keeps for the gradient.

    Attributes:
        weights: Softmax of the scores.
    """

    weights: Array


class AttentionKernel(IdeepKernel):
    """Kernel of ``scaled_dot_product_attention`` without dropout and causal mask."""

    def __init__(self, backend: Backend) -> None:
        super().__init__(backend)
        self._reference: Any = scaled_dot_product_attention.reference_for(backend)

    def forward(
        self,
        q: Array,
        k: Array,
        v: Array,
        mask: Array | None,
        keep: None,
        options: AttentionOptions,
        save: bool,
    ) -> tuple[Array, Any]:
        shape = (*q.shape[:-1], k.shape[-2])
        hidden = None if mask is None else _hidden(mask, len(shape))
        # In memory, y has the order of axes of q: transposing y back copies nothing.
        y = _empty((*q.shape[:-1], v.shape[-1]), q)
        weights = numpy.empty(shape, q.dtype) if save else None
        attention, scale = self.ops.attention, options.scale
        if prod(shape) <= _SCORES or shape[0] == 1:  # the usual case of few texts needs no slices
            attention(q, k, v, scale, out=y, added=hidden, weights=weights)
        else:
            for part in _parts(shape):
                attention(
                    q[part],
                    k[part],
                    v[part],
                    scale,
                    out=y[part],
                    added=hidden if hidden is None or len(hidden) == 1 else hidden[part],
                    weights=None if weights is None else weights[part],
                )
        # NaN is larger than all numbers here.
        if not isfinite(y.max()):
            # NumPy's kernel has other rules for NaN and infinity than oneDNN's softmax, and gives
            # zeros to a query that may attend to no key. The maximum shows all of these in a
            # fiftieth of the time of the rest. Only minus infinity it does not show: values of
            # minus infinity whose weights are not 0, for which both have the same rules.
            return self._reference.forward(q, k, v, mask, keep, options, save)
        return y, None if weights is None else _Saved(weights)

    def backward(
        self,
        inputs: tuple[Array, Array, Array, Array | None],
        keep: None,
        y: Array,
        gy: Array,
        residual: Any,
        options: AttentionOptions,
        mask_gradient: bool,
    ) -> tuple[Array, Array, Array, Array | None]:
        if not isinstance(residual, _Saved):
            return self._reference.backward(inputs, keep, y, gy, residual, options, mask_gradient)
        q, k, v, _ = inputs
        products, scale = self.ops.products, numpy.float32(options.scale)
        gq, gk, gv = (_empty(array.shape, array) for array in (q, k, v))
        values = v.swapaxes(-1, -2)
        # The mean of the gradients of the weights is also the dot product of output and gradient.
        mean = numpy.einsum("...d,...d->...", gy, y)[..., None]
        for part in _parts(residual.weights.shape):
            weights = residual.weights[part]
            products(weights.swapaxes(-1, -2), gy[part], out=gv[part])
            g = numpy.asarray(products(gy[part], values[part]))
            g -= mean[part]
            g *= weights
            products(g, k[part], out=gq[part])
            products(g.swapaxes(-1, -2), q[part], out=gk[part])
        gq *= scale
        gk *= scale
        return gq, gk, gv, None


def _empty(shape: Shape, like: Array) -> Array:
    """Returns an array with the order of axes of another one, and rows without gaps."""
    strides = like.strides
    if len(shape) == 4 and strides[0] >= strides[2] > strides[1] >= strides[3]:
        # Heads of a layer of a Transformer, without the calls below.
        first, second, third, last = shape
        return numpy.empty((first, third, second, last), like.dtype).swapaxes(1, 2)
    order = sorted(range(len(shape) - 1), key=lambda i: -strides[i])
    order.append(len(shape) - 1)
    memory = numpy.empty([shape[i] for i in order], like.dtype)
    return memory.transpose(numpy.argsort(order))


def _parts(scores: Shape) -> Iterator[slice]:
    """Yields slices of the first axis."""
    whole = scores[0]
    some = max(_SCORES * whole // prod(scores), 1)
    for first in range(0, whole, some):
        yield slice(first, first + some)


def _hidden(mask: Array, ndim: int) -> Array:
    """Returns minus infinity for keys that are hidden and 0 for others, with ``ndim`` axes."""
    hidden = numpy.where(mask, numpy.float32(0), numpy.float32(-numpy.inf))
    return hidden.reshape((1,) * (ndim - hidden.ndim) + hidden.shape)
