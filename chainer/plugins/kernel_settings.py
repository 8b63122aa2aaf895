"""What the configuration says of kernels, and which backend they are for."""

from __future__ import annotations

from chainer.core.arrays.backend import Backend
from chainer.core.arrays.kernel import Kernel
from chainer.core.config.configuration import threads
from chainer.core.registry import registries


def setting(kernel: Kernel) -> str:
    """Returns what the configuration says of a kernel: ``on``, ``always``, ``auto`` or ``never``.

    Args:
        kernel: The kernel. One of the backend's own provider is always on.
    """
    provider = kernel.provider
    switched = provider in ("cudnn", "ideep")  # by configuration entries of their own
    if kernel.unconditional or (not switched and provider in registries.backends.names()):
        return "on"
    return threads.state.policy.setting(provider)


def array_type_name(array_type: type | str) -> str:
    """Returns ``'module:Class'`` for an array class or such a name."""
    if isinstance(array_type, str):
        return array_type
    return f"{array_type.__module__}:{array_type.__qualname__}"


def is_for(kernel: Kernel, backend: Backend) -> bool:
    """Tells whether a kernel works on the arrays of a backend.

    Args:
        kernel: The kernel.
        backend: The backend.
    """
    return array_type_name(kernel.array_type) in map(array_type_name, backend.array_types)


def loaded_kernels() -> list[Kernel]:
    """Returns the kernels of all installed plugins."""
    registries.kernels.load_all()
    return [registries.kernels.get(name) for name in registries.kernels.names()]
