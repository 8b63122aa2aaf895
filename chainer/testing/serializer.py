"""Saving an object and loading it into another."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from typing import Any


def save_and_load(
    src: Any,
    dst: Any,
    filename: str,
    saver: Callable[[str, Any], Any],
    loader: Callable[[str, Any], Any],
) -> None:
    """Saves ``src`` and loads it to ``dst``, by way of a file in a temporary directory.

    Args:
        src: An object to save from.
        dst: An object to load into.
        filename (str): File name used during the save/load.
        saver (callable): ``saver(path, src)`` saves the source object.
        loader (callable): ``loader(path, dst)`` loads the file into the destination object.

    Example:
        >>> from chainer import serializers, testing
        >>> source, target = L.Linear(3, 2), L.Linear(3, 2)
        >>> testing.save_and_load(
        ...     source, target, "model.npz", serializers.save_npz, serializers.load_npz
        ... )
        >>> bool((source.W.array == target.W.array).all())
        True
    """
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, filename)
        saver(path, src)
        loader(path, dst)


def save_and_load_npz(src: Any, dst: Any) -> None:
    """Saves ``src`` to an NPZ file and loads it to ``dst``.

    Args:
        src: An object to save from.
        dst: An object to load into.

    Example:
        >>> from chainer import testing
        >>> source, target = L.Linear(3, 2), L.Linear(3, 2)
        >>> testing.save_and_load_npz(source, target)
        >>> bool((source.W.array == target.W.array).all())
        True
    """
    from chainer.links.serializers import load_npz, save_npz

    save_and_load(src, dst, "tmp.npz", save_npz, load_npz)


def save_and_load_hdf5(src: Any, dst: Any) -> None:
    """Saves ``src`` to an HDF5 file and loads it to ``dst``.

    Args:
        src: An object to save from.
        dst: An object to load into.

    Example:
        >>> from chainer import testing
        >>> source, target = L.Linear(3, 2), L.Linear(3, 2)
        >>> testing.save_and_load_hdf5(source, target)
        >>> bool((source.W.array == target.W.array).all())
        True
    """
    from chainer.links.serializers import load_hdf5, save_hdf5

    save_and_load(src, dst, "tmp.h5", save_hdf5, load_hdf5)
