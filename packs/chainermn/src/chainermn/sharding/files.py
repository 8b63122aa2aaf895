"""Checkpoints of sharded models: each process writes the layers that it owns.

Parameters and states are written whole, under their names, so any number of processes can load
them, and each takes the layers that it owns then. Rank 0 writes its persistent values.
"""

from __future__ import annotations

import json
import os
import re
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy

from chainer.serializers import save_safetensors
from chainermn.optimizers.sharded import set_state, state_of
from chainermn.sharding.persistent import load_persistent_values, persistent_values

_INDEX = "complete.json"
_PERSISTENT = ":persistent"
_SHARD = re.compile(r"shard-[0-9]+\.[0-9]+-of-[0-9]+\.npz")


def save_sharded(folder: str | os.PathLike[str], optimizer: Any) -> None:
    """Saves a sharded model and the states of its optimizer, in parallel. Collective.

    Each process writes one file. A file ``complete.json``, written when all are on the disk, makes
    the checkpoint valid; an older checkpoint in the folder stays valid until then. Persistent
    values, such as running statistics, are those of rank 0.

    Args:
        folder (str): Folder that all processes see.
        optimizer (FullyShardedOptimizer): The optimizer.
    """
    comm = optimizer.communicator
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    before = _index(folder) if (folder / _INDEX).exists() else {"files": [], "number": 0}
    number = comm.bcast_obj(before["number"] + 1)
    arrays: dict[str, Any] = {}
    for unit in optimizer.units:
        if unit.is_own:
            for name, param in unit.named:
                _collect(arrays, name, param)
    if comm.rank == 0:
        params = {name for name, _ in optimizer.target.namedparams(include_uninit=True)}
        for name, value in persistent_values(optimizer.target, params).items():
            arrays[name + _PERSISTENT] = value
    # Each checkpoint has names of its own: files of the older one stay until the index is replaced.
    names = [f"shard-{number}.{rank}-of-{comm.size}.npz" for rank in range(comm.size)]
    _write(folder / names[comm.rank], lambda file: numpy.savez(file, **arrays))
    # All files are on the disk before the index names them.
    comm.barrier()
    if comm.rank == 0:
        meta = {"files": names, "number": number, "t": int(optimizer.t)}
        _write(folder / _INDEX, lambda file: file.write(json.dumps(meta).encode()))
        for name in before["files"]:
            (folder / name).unlink(missing_ok=True)
    comm.barrier()


def load_sharded(folder: str | os.PathLike[str], optimizer: Any) -> None:
    """Loads what :func:`save_sharded` has written, on any number of processes. Collective.

    Args:
        folder (str): The folder.
        optimizer (FullyShardedOptimizer): The optimizer, set up with a model of the same layers.

    Raises:
        FileNotFoundError: If there is no complete checkpoint.
        ValueError: If parameters have other names or shapes, or the index is damaged.
    """
    folder = Path(folder)
    index = _index(folder)
    with optimizer.gathered():
        params = {name: param for unit in optimizer.units for name, param in unit.named}
        # Before anything is changed, so that a wrong checkpoint leaves the model as it was.
        _check_shapes(folder, index, {name: param.shape for name, param in params.items()})
        for name, values in _entries(folder, index):
            param = params[name]
            param.array[...] = param.device.send(values["array"])
            if param.update_rule is not None:
                state = values["t"], values["state"], values["master"]
                set_state(param.update_rule, param, state)
        load_persistent_values(optimizer.target, _persistent_entries(folder, index))
    optimizer.drop_other_states()
    optimizer.actual_optimizer.t = index["t"]


def export_sharded(folder: str | os.PathLike[str], file: str | os.PathLike[str]) -> None:
    """Writes parameters and persistent values of a sharded checkpoint into one safetensors file.

    One process does it, which need not have the model: a tool for afterwards.

    Args:
        folder (str): Folder of :func:`save_sharded`.
        file (str): The file. :func:`chainer.serializers.load_safetensors` reads it.

    Raises:
        FileNotFoundError: If there is no complete checkpoint.
    """
    folder = Path(folder)
    whole = _Arrays()
    for name, values in _entries(folder, _index(folder)):
        whole.arrays[name.lstrip("/")] = values["array"]
    for name, value in _persistent_entries(folder, _index(folder)).items():
        whole.arrays[name.lstrip("/")] = value
    save_safetensors(file, whole)


class _Arrays:
    """Arrays by name, as a link saves them."""

    def __init__(self) -> None:
        self.arrays: dict[str, Any] = {}

    def serialize(self, serializer: Any) -> None:
        """Saves the arrays.

        Args:
            serializer: Serializer.
        """
        for name, array in sorted(self.arrays.items()):
            *parents, last = name.split("/")
            target = serializer
            for parent in parents:
                target = target[parent]
            target(last, array)


def _collect(arrays: dict[str, Any], name: str, param: Any) -> None:
    arrays[f"{name}:array"] = _host(param)
    rule = param.update_rule
    if rule is None:
        return
    t, state, master = state_of(rule)
    arrays[f"{name}:t"] = numpy.asarray(t)
    for key, value in (state or {}).items():
        arrays[f"{name}:state:{key}"] = numpy.asarray(value)
    if master is not None:
        arrays[f"{name}:master"] = master


def _host(param: Any) -> Any:
    from chainer.backend import backend_of

    return backend_of(param.array).to_host(param.array)


def _entries(folder: Path, index: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yields each parameter with its values, one at a time."""
    for file in index["files"]:
        with numpy.load(folder / file, allow_pickle=False) as arrays:
            names = [key[: -len(":array")] for key in arrays.files if key.endswith(":array")]
            for name in names:
                begin = f"{name}:state:"
                states = {k[len(begin) :]: arrays[k] for k in arrays.files if k.startswith(begin)}
                # A rule without updates has no state yet.
                t = int(arrays[f"{name}:t"]) if f"{name}:t" in arrays.files else 0
                master = f"{name}:master"
                yield (
                    name,
                    {
                        "array": arrays[f"{name}:array"],
                        "t": t,
                        "state": states or None,
                        "master": arrays[master] if master in arrays.files else None,
                    },
                )


def _persistent_entries(folder: Path, index: dict[str, Any]) -> dict[str, Any]:
    """Returns the persistent values; a checkpoint of an earlier version has none."""
    values: dict[str, Any] = {}
    for file in index["files"]:
        with numpy.load(folder / file, allow_pickle=False) as arrays:
            for key in arrays.files:
                if key.endswith(_PERSISTENT):
                    values[key[: -len(_PERSISTENT)]] = arrays[key]
    return values


def _check_shapes(
    folder: Path, index: dict[str, Any], expected: dict[str, tuple[int, ...]]
) -> None:
    """Raises ValueError unless a checkpoint has parameters of given names and shapes."""
    found: dict[str, tuple[int, ...]] = {}
    for file in index["files"]:
        with zipfile.ZipFile(folder / file) as archive:
            for entry in archive.namelist():
                name, is_array, _ = entry.partition(":array.npy")
                if is_array:
                    found[name] = _shape(archive, entry)
    for name, shape in found.items():
        if expected.get(name) != shape:
            had = expected.get(name, "no such parameter")
            raise ValueError(f"{folder} has {name} of shape {shape}, the model has {had}")
    missing = sorted(expected.keys() - found.keys())
    if missing:
        raise ValueError(f"{folder} has no parameter {missing[0]}")


def _shape(archive: zipfile.ZipFile, entry: str) -> tuple[int, ...]:
    """Returns the shape of an array without its values, which may take gigabytes."""
    with archive.open(entry) as file:
        is_old = numpy.lib.format.read_magic(file) == (1, 0)
        read = numpy.lib.format.read_array_header_1_0
        shape, _, _ = read(file) if is_old else numpy.lib.format.read_array_header_2_0(file)
    return shape


def _index(folder: Path) -> dict[str, Any]:
    path = folder / _INDEX
    try:
        index = json.loads(path.read_text())
    except FileNotFoundError:
        raise FileNotFoundError(
            f"{folder} has no complete sharded checkpoint: {_INDEX} is missing"
        ) from None
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path} is damaged: {error}") from error
    # Files that the index names are read, and removed by the next checkpoint: none but our own.
    if not (
        isinstance(index, dict)
        and isinstance(index.get("files"), list)
        and all(isinstance(name, str) and _SHARD.fullmatch(name) for name in index["files"])
        and all(isinstance(index.get(key), int) for key in ("number", "t"))
    ):
        raise ValueError(f"{path} is not the index of a sharded checkpoint")
    return index


def _write(path: Path, fill: Any) -> None:
    """Writes a file so that its name exists only when it is complete and on the disk."""
    descriptor, temporary = tempfile.mkstemp(prefix="tmp-" + path.name, dir=path.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            fill(file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise
