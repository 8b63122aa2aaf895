"""Tells what a kernel lacks: a setting, its backend, its library or its code."""

from __future__ import annotations

from chainer.core.arrays.backend import Backend
from chainer.core.arrays.kernel import KernelDeclaration
from chainer.core.config.configuration import threads
from chainer.core.lazy import resolve
from chainer.core.registry import registries
from chainer.core.registry.requirements import describe_error


def setting(kernel: KernelDeclaration) -> str:
    """Returns the setting of a kernel: ``'on'``, ``'always'``, ``'auto'`` or ``'never'``.

    Args:
        kernel: The kernel. One of the backend's own provider is always on.
    """
    policy = threads.state.policy
    switched = policy.switch_of(kernel.provider) is not None
    if kernel.unconditional or (not switched and kernel.provider in registries.backends.names()):
        return "on"
    return policy.setting(kernel.provider)


def array_type_name(array_type: type | str) -> str:
    """Returns ``'module:Class'`` for an array class or such a name."""
    if isinstance(array_type, str):
        return array_type
    return f"{array_type.__module__}:{array_type.__qualname__}"


def is_for(kernel: KernelDeclaration, backend: Backend) -> bool:
    """Returns whether a kernel works on the arrays of a backend.

    Args:
        kernel: The kernel.
        backend: The backend.
    """
    return array_type_name(kernel.array_type) in map(array_type_name, backend.array_types)


def loaded_kernels() -> list[KernelDeclaration]:
    """Returns the kernels of all installed plugins."""
    registries.kernels.load_all()
    return [registries.kernels.get(name) for name in registries.kernels.names()]


def library_problem(kernel: KernelDeclaration) -> str | None:
    """Returns what the provider of a kernel says that is missing here; None if it works.

    Args:
        kernel: The kernel.
    """
    try:
        # Asked here, not at import: it may import a large library such as CuPy.
        return resolve(kernel.unavailable)()
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # the code of a plugin; it must not end the command
        return describe_error(error)


def code_problem(kernel: KernelDeclaration) -> str | None:
    """Returns why the code of a kernel cannot be imported; None if it can.

    Args:
        kernel: The kernel, whose library must be installed.
    """
    try:
        resolve(kernel.load)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # the code of a plugin; it must not end the command
        return f"{kernel.load!r} cannot be imported: {describe_error(error)}"
    return None
