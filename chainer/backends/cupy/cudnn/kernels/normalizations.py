"""Kernel of batch normalisation, for arrays whose channels lie last."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy

from chainer.backends.cupy.cudnn import layouts
from chainer.backends.cupy.cudnn.layouts import TensorSpec
from chainer.backends.cupy.cudnn.plans import Signature
from chainer.backends.cupy.cudnn.sessions import CudnnKernel, on_device_of_first, session
from chainer.core.typing import Array, DTypeLike

Axes = tuple[int, ...]
Sizes = tuple[int, ...]

#: Numbers of the tensors.
X, Y, GAMMA, BETA, EPS, MEAN, INV_STD, GX, GGAMMA, GBETA = range(1, 11)

FORWARD = "batch normalization"
BACKWARD = "gradient of batch normalization"


def build_forward(graph: Any, signature: Signature, tensor: Any) -> None:
    """Adds the normalisation with the statistics of the batch to a graph."""
    y, mean, inv_std, *_ = graph.batchnorm(
        input=tensor(X),
        scale=tensor(GAMMA),
        bias=tensor(BETA),
        in_running_mean=None,
        in_running_var=None,
        epsilon=tensor(EPS),
        momentum=None,
    )
    tensor(Y, y)
    tensor(MEAN, mean)
    tensor(INV_STD, inv_std)


def build_backward(graph: Any, signature: Signature, tensor: Any) -> None:
    """Adds the gradients to a graph; ``Y`` is the gradient of the output."""
    gx, ggamma, gbeta = graph.batchnorm_backward(
        grad=tensor(Y),
        input=tensor(X),
        scale=tensor(GAMMA),
        mean=tensor(MEAN),
        inv_variance=tensor(INV_STD),
    )
    tensor(GX, gx)
    tensor(GGAMMA, ggamma)
    tensor(GBETA, gbeta)


def signature_of(what: str, shape: Sizes, dtype: DTypeLike) -> Signature:
    """Returns the signature of one of the two computations.

    Args:
        what: ``FORWARD`` or ``BACKWARD``.
        shape: Shape of the input.
        dtype: Data type of the input; parameters and statistics are float32.
    """
    image = layouts.spec(shape, dtype, layouts.LAST)
    channels = layouts.spec((1, shape[1], *[1] * (len(shape) - 2)), "float32", layouts.LAST)
    one = (1,) * len(shape)
    if what == FORWARD:
        tensors = {
            X: image,
            GAMMA: channels,
            BETA: channels,
            EPS: TensorSpec(one, one, "float32", by_value=True),
            Y: image,
            MEAN: channels,
            INV_STD: channels,
        }
    else:
        tensors = {
            X: image,
            Y: image,
            GAMMA: channels,
            MEAN: channels,
            INV_STD: channels,
            GX: image,
            GGAMMA: channels,
            GBETA: channels,
        }
    return Signature(what, tuple(tensors.items()))


@lru_cache(maxsize=64)
def _on_host(value: float) -> numpy.ndarray[Any, Any]:
    """Returns a number at an address of the host, which lives on while plans read it."""
    return numpy.array([value], numpy.float32)


class BatchNormalizationKernel(CudnnKernel):
    """Kernel of ``batch_normalization``.

    cuDNN may keep running statistics as well. Here they follow from those of the batch: the
    configuration of a plan would depend on them, and on their dtype, for little work.
    """

    @on_device_of_first
    def forward(
        self,
        x: Array,
        gamma: Array,
        beta: Array,
        running_mean: Array,
        running_var: Array,
        eps: float,
        decay: float,
        axis: Axes,
    ) -> tuple[Array, Array, Array, Array]:
        xp = self.xp
        x = layouts.arranged(xp, x, layouts.LAST)
        y = layouts.empty(xp, x.shape, x.dtype, layouts.LAST)
        mean, inv_std = xp.empty(gamma.shape, "float32"), xp.empty(gamma.shape, "float32")
        scale, bias = self._parameter(gamma), self._parameter(beta)
        pointers = {
            X: x.data.ptr,
            GAMMA: scale.data.ptr,
            BETA: bias.data.ptr,
            EPS: _on_host(float(eps)).ctypes.data,
            Y: y.data.ptr,
            MEAN: mean.data.ptr,
            INV_STD: inv_std.data.ptr,
        }
        self._run(FORWARD, x, pointers, build_forward)
        if running_mean is not None:
            count = x.size // x.shape[1]
            var = xp.reciprocal(inv_std * inv_std)
            var -= eps
            var *= (1 - decay) * count / max(count - 1, 1)
            for running, statistic in ((running_mean, mean * (1 - decay)), (running_var, var)):
                running *= decay
                running += statistic.astype(running.dtype, copy=False)
        return y, mean, inv_std, None

    @on_device_of_first
    def backward(
        self,
        x: Array,
        gamma: Array,
        gy: Array,
        mean: Array,
        inv_std: Array,
        residual: Any,
        axis: Axes,
    ) -> tuple[Array, Array, Array]:
        xp = self.xp
        x = layouts.arranged(xp, x, layouts.LAST)
        gy = layouts.arranged(xp, gy, layouts.LAST)
        gx = layouts.empty(xp, x.shape, x.dtype, layouts.LAST)
        ggamma, gbeta = xp.empty(gamma.shape, "float32"), xp.empty(gamma.shape, "float32")
        scale = self._parameter(gamma)
        pointers = {
            X: x.data.ptr,
            Y: gy.data.ptr,
            GAMMA: scale.data.ptr,
            MEAN: mean.data.ptr,
            INV_STD: inv_std.data.ptr,
            GX: gx.data.ptr,
            GGAMMA: ggamma.data.ptr,
            GBETA: gbeta.data.ptr,
        }
        self._run(BACKWARD, x, pointers, build_backward)
        return gx, ggamma.astype(gamma.dtype, copy=False), gbeta.astype(gamma.dtype, copy=False)

    def _parameter(self, array: Array) -> Array:
        return layouts.arranged(self.xp, array.astype("float32", copy=False), layouts.FIRST)

    def _run(self, what: str, x: Array, pointers: dict[int, int], build: Any) -> None:
        session(x.data.device_id).run(
            (what, x.shape, x.dtype.char),
            pointers,
            lambda: signature_of(what, x.shape, x.dtype),
            build,
        )
