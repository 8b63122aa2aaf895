"""The import of cuDNN and its front end at first use, with the reason where it fails."""

from __future__ import annotations

import importlib
import os
from functools import cache
from types import ModuleType
from typing import Any

from chainer.backends.cupy.library import cuda_commands
from chainer.backends.optional_modules import Found, usable
from chainer.core.installation import install_command
from chainer.core.utils import installed

#: Oldest cuDNN whose graphs our tests try.
_MINIMUM = 90000
#: Compiled method behind the public one without underscore, which checks its arguments in Python.
#: It takes pointers, workspace, index and handle.
EXECUTE = "_execute_plan_at_index"
#: Attributes that the kernels use; older releases of the front end lack some of them.
_NEEDED = (
    "_compiled_module",
    "create_handle",
    "destroy_handle",
    "numerical_note",
    "pygraph",
    "set_stream",
)


@cache
def find() -> Found:
    """Imports ``cudnn``, the module of the package nvidia-cudnn-frontend.

    Returns:
        tuple: ``(cudnn, None)``, or ``(None, reason)`` where it cannot be used.
    """
    if os.environ.get("CHAINER_CUDNN", "1") == "0":
        return None, "the environment variable CHAINER_CUDNN is 0"
    if not installed.is_installed("cudnn"):
        return None, f"No module named 'cudnn'; install it with {cuda_commands()}"
    try:
        cudnn = importlib.import_module("cudnn")
        version = cudnn.backend_version()
    except Exception as error:  # a missing libcudnn raises OSError, ImportError or RuntimeError
        return None, f"cudnn is installed but does not work: {type(error).__name__}: {error}"
    lacking = [name for name in _NEEDED if not hasattr(cudnn, name)]
    if not lacking and not hasattr(graph_class(cudnn), EXECUTE):
        lacking = [f"pygraph.{EXECUTE}"]
    if lacking:
        return None, (
            f"the module cudnn has no {', '.join(lacking)}; "
            f"upgrade it with {install_command('--upgrade', 'nvidia-cudnn-frontend')}"
        )
    if version < _MINIMUM:
        return None, f"cuDNN {version} is too old; version {_MINIMUM} or later is needed"
    return cudnn, None


def require() -> ModuleType:
    """Returns the module ``cudnn``, or raises RuntimeError with what is missing."""
    return usable(find(), "cuDNN is not available.\nReason: ")


def missing() -> str | None:
    """Returns None where cuDNN works, else what is missing."""
    return find()[1]


def graph_class(cudnn: ModuleType) -> Any:
    """Returns the class of graphs.

    In older releases ``cudnn.pygraph`` is the compiled class. In later ones it is a Python layer
    over it, whose method ``execute`` takes 40 microseconds, more than a small convolution.
    """
    return getattr(cudnn._compiled_module, "backend_graph", cudnn.pygraph)


def bare_handle(handle: Any) -> int:
    """Returns the number of a handle. In older releases of the front end a handle is a number."""
    return getattr(handle, "backend_handle", handle)
