"""Optional packages, which are imported when they are first needed."""

from __future__ import annotations

import importlib
from typing import Any

from chainer.utils import install_command


def require(module: str, extra: str | None = None) -> Any:
    """Imports a package that some of the functions need.

    Args:
        module: Name of the module.
        extra: The extra of onnx-chainer that installs it; None if onnx-chainer itself does.

    Returns:
        The module.

    Raises:
        ImportError: If the package is not installed. The message says how to install it.
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        name = "onnx-chainer" if extra is None else f"onnx-chainer[{extra}]"
        package = module.partition(".")[0]
        raise ImportError(
            f"{package} is not installed; install it with: {install_command(name)}"
        ) from error
