"""Looks for a distribution in other environments on this machine."""

from __future__ import annotations

import os
import shutil
import site
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from chainer.plugins.discovery import normalize

_SITES = ("lib/python3*/site-packages", "lib/python3*/dist-packages", "Lib/site-packages")
_PYTHONS = ("bin/python", "bin/python3", "Scripts/python.exe", "python.exe")


class Place(NamedTuple):
    """A distribution in another environment.

    Attributes:
        distribution: Name and version.
        folder: The folder it is installed in.
        python: The interpreter of that environment; None if it was not found.
    """

    distribution: str
    folder: str
    python: str | None


def other_environments(name: str) -> list[Place]:
    """Returns where else a distribution is installed.

    Looked through are the environment that is activated (``VIRTUAL_ENV``, ``CONDA_PREFIX``), those
    of the interpreters on ``PATH``, ``.venv`` and ``venv`` in the current folder, the installation
    that a virtual environment was made from, and the user's site folder.

    Args:
        name: Name of the distribution.
    """
    seen = {os.path.realpath(entry or ".") for entry in sys.path}
    places: list[Place] = []
    for folder, python in _folders():
        real = os.path.realpath(folder)
        if real in seen:
            continue
        seen.add(real)
        places += [Place(found, str(folder), python) for found in _find(folder, name)]
    return places


def _folders() -> Iterator[tuple[Path, str | None]]:
    for prefix in _prefixes():
        python = next((prefix / p for p in _PYTHONS if (prefix / p).exists()), None)
        for pattern in _SITES:
            for folder in sorted(prefix.glob(pattern)):
                yield folder, None if python is None else str(python)
    yield Path(site.getusersitepackages()), None


def _prefixes() -> Iterator[Path]:
    for variable in ("VIRTUAL_ENV", "CONDA_PREFIX"):
        if os.environ.get(variable):
            yield Path(os.environ[variable])
    yield Path(".venv").absolute()
    yield Path("venv").absolute()
    for folder in os.environ.get("PATH", "").split(os.pathsep):
        for name in ("python", "python3"):
            found = shutil.which(name, path=folder)
            if found is not None:
                yield Path(found).absolute().parent.parent
                yield Path(os.path.realpath(found)).parent.parent
    yield Path(sys.base_prefix)


def _find(folder: Path, name: str) -> Iterator[str]:
    wanted = normalize(name)
    for suffix in (".dist-info", ".egg-info"):
        for entry in sorted(folder.glob("*" + suffix)):
            found, _, version = entry.name.removesuffix(suffix).partition("-")
            if normalize(found) == wanted:
                yield f"{found} {version}".strip()
