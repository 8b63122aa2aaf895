"""Files of weights in a project, and the models that they fit."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from chainer import Link, serializers

#: Endings of files of weights, of pickles, and names of snapshots, which have no ending.
_ARCHIVES, _PICKLES = (".npz", ".h5", ".hdf5", ".safetensors"), (".pkl", ".pickle", ".model")
#: Where a model may be in a file: alone, or in the snapshot of a trainer.
_PLACES = ("", "updater/model:main/", "updater/model:main/predictor/", "predictor/")


@dataclass
class WeightFile:
    """A file of a project.

    Attributes:
        path: The file.
        place: Where the model is in it; None if it fits no model.
        model: Index of the model that it fits.
        remark: Why it was not loaded.
    """

    path: Path
    place: str | None = None
    model: int | None = None
    remark: str = ""


def files_of(folder: Path) -> list[Path]:
    """Returns the files of a folder that may have weights or models, the newest first."""
    found = [
        path
        for path in folder.rglob("*")
        if path.is_file()
        and (path.suffix in (*_ARCHIVES, *_PICKLES) or path.name.startswith("snapshot"))
    ]
    return sorted(found, key=lambda path: -path.stat().st_mtime)


def match_files(paths: Sequence[Path], models: Sequence[Link]) -> list[WeightFile]:
    """Loads files into the models that they fit. The newest file of a model wins.

    Pickles are not read: reading one can run any program.

    Args:
        paths: The files, the newest first.
        models: The models; they are changed.
    """
    results: list[WeightFile] = []
    filled: set[int] = set()
    for path in paths:
        result = WeightFile(path)
        results.append(result)
        if path.suffix in _PICKLES:
            result.remark = (
                "a pickle is not read, because it can run any program; if you trust it, load it "
                "and save it with chainer.serializers.save_npz"
            )
            continue
        for i, model in enumerate(models):
            place = _place_of(path, model)
            if place is None:
                continue
            result.place, result.model = place, i
            if i in filled:
                result.remark = "a newer file was taken"
            else:
                _load(path, model, place)
                filled.add(i)
            break
        else:
            result.remark = "it fits no model that the program called"
    return results


def _place_of(path: Path, model: Link) -> str | None:
    """Returns where in a file a model is: all parameters must be there, with their shapes."""
    for place in _PLACES:
        try:
            # The copy takes the values, and the model stays as it is if they do not fit.
            _load(path, model.copy("copy"), place)
        except Exception:
            # Of any format, with anything in it: a file that cannot be loaded does not fit.
            continue
        return place
    return None


def _load(path: Path, model: Link, place: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if path.suffix in (".h5", ".hdf5"):
            serializers.load_hdf5(str(path), model, path=place)
        elif path.suffix == ".safetensors":
            if place:
                raise ValueError("files of safetensors have models alone")
            serializers.load_safetensors(str(path), model)
        else:
            serializers.load_npz(str(path), model, place)
    finite: Any = all([np.isfinite(p.array).all() for p in model.params() if p.array is not None])
    if not finite:
        raise ValueError(f"{path} has numbers that are not finite")
