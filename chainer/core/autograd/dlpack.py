"""Exchange of arrays with other libraries without a copy, by the DLPack protocol."""

from __future__ import annotations

from typing import Any, Protocol

from chainer.core.arrays.backend import get_backend, get_device
from chainer.core.autograd.variable import Variable
from chainer.core.typing import DeviceLike

__all__ = ["from_dlpack"]

#: Type of device in the protocol -> the backend that takes such arrays unless a device is given:
#: memory of the host, CUDA memory, CUDA memory that the host sees as well.
_BACKENDS = {1: "numpy", 2: "cupy", 13: "cupy"}


class _Exporter(Protocol):
    """An array of any library."""

    def __dlpack__(self, **kwargs: Any) -> Any: ...
    def __dlpack_device__(self) -> tuple[int, int]: ...


def from_dlpack(x: _Exporter, device: DeviceLike = None) -> Variable:
    """Makes a Variable whose array shares the memory of an array of another library.

    Args:
        x: Array of any library that exports DLPack, such as a tensor of PyTorch or an array of JAX.
            A tensor of PyTorch must not require gradients: pass ``x.detach()``.
        device: Device of the array. By default it is ``'@numpy'`` for memory of the host, and the
            device of CuPy for memory of a GPU. A backend of a plugin, such as ``'@jax'``, must be
            named, and must see the memory of ``x``.

    Returns:
        Variable: A Variable with the shape and dtype of ``x``. Changes of one of the two arrays are
        visible in the other one. The array is read-only if the library says that ``x`` is, as JAX
        does.

    Raises:
        TypeError: If ``x`` does not export DLPack, or no backend is known for its device.
        BufferError: If its dtype or memory cannot be shared.

    Example:
        >>> x = np.zeros(3, np.float32)
        >>> v = chainer.from_dlpack(x)
        >>> x[1] = 5
        >>> v
        variable([0., 5., 0.])
    """
    if not (hasattr(x, "__dlpack__") and hasattr(x, "__dlpack_device__")):
        raise TypeError(f"x must be an array that exports DLPack, got {type(x).__name__}")
    if device is not None:
        place = get_device(device)
        with place:
            return Variable(place.backend.xp.from_dlpack(x))
    kind = int(x.__dlpack_device__()[0])
    name = _BACKENDS.get(kind)
    if name is None:
        raise TypeError(
            f"x is in the memory of a device of type {kind} of DLPack, for which no backend is "
            "known; name one: from_dlpack(x, device='@name')"
        )
    return Variable(get_backend(name).xp.from_dlpack(x))
