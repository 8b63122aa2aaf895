"""PyTorch, imported at first use, and its tensors as arrays without copies."""

from __future__ import annotations

from typing import Any

import numpy as np
from chainer.typing import Array
from chainer.utils import install_command


def torch() -> Any:
    """Returns the module ``torch``.

    Raises:
        ImportError: If PyTorch is not installed, with the command that installs it.
    """
    try:
        import torch
    except ImportError as error:
        raise ImportError(f"PyTorch is not installed: {install_command('torch')}") from error
    return torch


def as_array(tensor: Any, name: str = "tensor") -> np.ndarray:
    """Returns an array on the memory of a tensor.

    Args:
        tensor (torch.Tensor): A tensor on the CPU.
        name (str): Its name in the error.

    Raises:
        TypeError: If the tensor is not on the CPU, or NumPy has no such type.
    """
    if tensor.device.type != "cpu":
        raise TypeError(f"{name} must be on the CPU, but it is on {tensor.device}: use .cpu()")
    try:
        return tensor.detach().numpy()
    except (TypeError, RuntimeError) as error:
        raise TypeError(
            f"{name} is a {tensor.layout} tensor of {tensor.dtype}, which NumPy cannot share; "
            "dense tensors of float32, for example, can be shared"
        ) from error


def as_tensor(array: Array, name: str = "array") -> Any:
    """Returns a tensor on the memory of an array.

    PyTorch has no negative strides and no read-only memory, so that such arrays are copied.

    Args:
        array (numpy.ndarray): The array.
        name (str): Its name in the error.

    Raises:
        TypeError: If the array is not of NumPy, or PyTorch has no such type.
    """
    if not isinstance(array, (np.ndarray, np.generic)):
        raise TypeError(
            f"{name} must be an array of NumPy, got {type(array).__name__}: use link.to_cpu()"
        )
    array = np.asarray(array)
    if not array.flags.writeable or any([stride < 0 for stride in array.strides]):
        array = array.copy()
    return torch().from_numpy(array)


def shares_memory(tensor: Any, array: Array) -> bool:
    """Returns whether a tensor and an array of NumPy are the same memory, seen alike."""
    return (
        array is not None
        and tensor.data_ptr() == array.__array_interface__["data"][0]
        and tuple(tensor.shape) == array.shape
        and tensor.element_size() == array.dtype.itemsize
    )
