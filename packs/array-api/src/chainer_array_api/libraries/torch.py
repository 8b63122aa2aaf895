"""PyTorch: tensors of the CPU, or of CUDA devices."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from chainer.device import Device

from chainer_array_api.array import Array
from chainer_array_api.backend import ArrayAPIBackend
from chainer_array_api.functions import operands
from chainer_array_api.functions.operands import Backend

if TYPE_CHECKING:
    from chainer.typing import ArrayLike, DTypeLike


def _special(name: str) -> Callable[[Backend, Any], Array]:
    """Returns a function of ``torch.special`` that the standard does not have."""

    def function(b: Backend, x: ArrayLike) -> Array:
        special = getattr(b.nx.special, name)
        return b.array_class(special(operands.array(b, x).native))

    return function


_OWN = {
    **{name: name for name in ("add", "subtract", "multiply", "divide", "maximum", "minimum")},
    **{"equal": "eq", "not_equal": "ne", "less": "lt", "less_equal": "le"},
    **{"greater": "gt", "greater_equal": "ge"},
    **{name: name for name in ("exp", "log", "sqrt", "tanh", "abs", "negative", "square")},
}


class TorchBackend(ArrayAPIBackend):
    """Tensors of PyTorch. Gradients are Chainer's own: tensors never require any.

    Device 0 is the CPU, those from 1 on are the CUDA devices.
    """

    name = "torch"
    namespace = "array_api_compat.torch"
    native_types = ("torch:Tensor",)
    install = "pip install torch"
    # Tensors have no negative strides.
    steps_backwards = False
    slices_as_numpy = True
    functions = {
        name: _special(name) for name in ("erf", "erfc", "erfinv", "erfcx", "gammaln", "digamma")
    }

    def find_devices(self) -> Sequence[Any]:
        torch = self.nx
        count = torch.cuda.device_count()
        return [torch.device("cpu"), *[torch.device("cuda", i) for i in range(count)]]

    def wrap_native(self, native: Any) -> Array:
        # PyTorch refuses to change a tensor in place that requires a gradient.
        return super().wrap_native(native.detach() if native.requires_grad else native)

    def in_host_memory(self, native: Any) -> bool:
        return native.device.type == "cpu"

    def host_view(self, native: Any) -> Any:
        return native.numpy()

    def host_copy(self, native: Any) -> Any:
        return native.cpu().numpy()

    def is_contiguous(self, native: Any) -> bool:
        return native.is_contiguous()

    def repeats_elements(self, native: Any) -> bool:
        strides = zip(native.stride(), native.shape, strict=True)
        return any(step == 0 and n > 1 for step, n in strides)

    def owner(self, native: Any) -> Any:
        return native if native._base is None else native._base

    def may_share_memory(self, first: ArrayLike, second: ArrayLike) -> bool:
        return first.untyped_storage().data_ptr() == second.untyped_storage().data_ptr()

    def elementwise(self, name: str) -> Callable[..., Any]:
        if name not in _OWN:
            return super().elementwise(name)
        # The functions of array_api_compat would promote dtypes once more.
        return getattr(importlib.import_module("torch"), _OWN[name])

    def can_write(self, out: ArrayLike, dtype: DTypeLike, operands: list[Any]) -> bool:
        if out.dtype != dtype:
            return False
        shape, memory = out.shape, out.untyped_storage().data_ptr()
        for x in operands:
            if x is out or x.__class__ is float:
                continue
            # Elements at other places of the same memory could be overwritten before they are read.
            if x.shape != shape or x.untyped_storage().data_ptr() == memory:
                return False
        return True

    def gather(self, native: Any, indices: list[Any]) -> Any:
        return native[tuple(indices)]

    def scatter(self, native: Any, indices: list[Any], values: ArrayLike, add: bool) -> None:
        native.index_put_(tuple(indices), values, accumulate=add)

    def synchronize(self, device: Device) -> None:
        native = self.native_devices[device.index or 0]
        if native.type == "cuda":
            self.nx.cuda.synchronize(native)


backend = TorchBackend()
