"""Function hook that marks functions for CUDA profilers."""

from __future__ import annotations

from typing import Any

from chainer.backends import cuda
from chainer.core.autograd.function_hook import FunctionHook
from chainer.functions.hooks._report import function_name


class CUDAProfileHook(FunctionHook):
    """Function hook that puts an NVTX range around each function, for Nsight and ``nvprof``.

    Raises:
        RuntimeError: If there is no CUDA; the message says what is missing.

    Example:
        On a GPU. Functions are ranges in the timeline of NVIDIA's profiler:

        >>> from chainer.backends import cuda
        >>> x = cuda.to_gpu(np.array([-1, 1], np.float32))
        >>> with chainer.function_hooks.CUDAProfileHook():
        ...     y = F.relu(x)
        >>> y.array
        array([0., 1.], dtype=float32)
    """

    name = "CUDAProfileHook"

    def __init__(self) -> None:
        cuda.check_cuda_available()

    def _push(self, text: str) -> None:
        cuda.cupy.cuda.nvtx.RangePush(text)

    def _pop(self) -> None:
        cuda.cupy.cuda.nvtx.RangePop()

    def forward_preprocess(self, function: Any, in_data: tuple[Any, ...]) -> None:
        """Begins the range."""
        self._push(f"{function_name(function)}.forward")

    def forward_postprocess(self, function: Any, in_data: tuple[Any, ...]) -> None:
        """Ends the range."""
        self._pop()

    def backward_preprocess(
        self, function: Any, in_data: tuple[Any, ...], out_grad: tuple[Any, ...]
    ) -> None:
        """Begins the range."""
        self._push(f"{function_name(function)}.backward")

    def backward_postprocess(
        self, function: Any, in_data: tuple[Any, ...], out_grad: tuple[Any, ...]
    ) -> None:
        """Ends the range."""
        self._pop()
