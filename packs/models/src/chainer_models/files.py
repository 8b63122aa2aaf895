"""The tensors of a folder: one file of safetensors, or several with an index."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from chainer.serializers import FileFormatError, SafetensorsFile, open_safetensors
from chainer.typing import HostArray

from chainer_models.errors import ModelFileError
from chainer_models.options import read_json

#: Name of the file if there is one, and of the index if there are several.
WEIGHTS, INDEX = "model.safetensors", "model.safetensors.index.json"


class Tensors(Mapping[str, HostArray]):
    """The tensors of a folder by name; they are mapped, and read when they are used.

    Args:
        folder: The folder.

    Raises:
        ModelFileError: If the files are damaged or do not fit each other.
        FileNotFoundError: If there is no file of weights.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        if (folder / INDEX).exists():
            self._places = _read_index(folder / INDEX)
            files = {name: folder / name for name in sorted(set(self._places.values()))}
        elif (folder / WEIGHTS).exists():
            files = {WEIGHTS: folder / WEIGHTS}
            self._places = {}
        else:
            raise FileNotFoundError(f"{folder} has neither {WEIGHTS} nor {INDEX}{_others(folder)}")
        self._files = {name: _open(path) for name, path in files.items()}
        if not self._places:
            self._places = dict.fromkeys(self._files[WEIGHTS], WEIGHTS)
        for name, file in self._places.items():
            if name not in self._files[file]:
                raise ModelFileError(
                    f"{folder / INDEX} says that {file} has {name!r}, which it lacks"
                )

    def __getitem__(self, name: str) -> HostArray:
        return self._files[self._places[name]][name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)

    def shape(self, name: str) -> tuple[int, ...]:
        """Returns the shape of a tensor; nothing is read.

        Args:
            name: Name of the tensor.
        """
        return self._files[self._places[name]].shape(name)


def _open(path: Path) -> SafetensorsFile:
    try:
        # Arrays may be changed in memory; the file stays as it is.
        return open_safetensors(path, writable=True)
    except FileNotFoundError as error:
        raise ModelFileError(f"{path} is missing, although the index names it") from error
    except FileFormatError as error:
        # Files of a model have one class of error, whichever of them is damaged.
        raise ModelFileError(str(error)) from error
    except OSError as error:  # such as a folder, or links in a circle
        raise ModelFileError(f"{path} cannot be read: {error.strerror}") from error


def _read_index(path: Path) -> dict[str, str]:
    """Returns tensor -> file; files are in the folder of the index."""
    places = read_json(path).get("weight_map")
    if not isinstance(places, dict) or not places:
        raise ModelFileError(f"{path} has no 'weight_map' of tensors and files")
    for name, file in places.items():
        # A path would lead out of the folder.
        # Characters that are not printable are no part of a name, and some no system can open.
        if not isinstance(file, str) or not file.isprintable() or "/" in file or "\\" in file:
            raise ModelFileError(
                f"{path} must name files beside it, got {file!r} for the tensor {name!r}"
            )
        if not file.endswith(".safetensors"):
            raise ModelFileError(f"{path} must name files of safetensors, got {file!r}")
    return places


def _others(folder: Path) -> str:
    """Returns a hint about files of another format."""
    found = [*folder.glob("*.bin"), *folder.glob("*.pt"), *folder.glob("*.pth")]
    if not found:
        return ""
    return (
        f". {found[0].name} is a pickle, which can run any program when it is read, so it is not "
        "supported: save the model as safetensors with the library that wrote it"
    )
