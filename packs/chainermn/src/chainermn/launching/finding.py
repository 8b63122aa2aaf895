"""Finds the ``mpiexec`` that belongs to the MPI of mpi4py."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from chainer.utils import install_command
from chainermn.mpi import file_of_wheel

#: Prints the version of the library that this interpreter uses.
_ASK = "from chainermn.mpi import load_mpi; print(load_mpi().Get_library_version())"


class LaunchError(RuntimeError):
    """Processes cannot be started."""


class Launcher(NamedTuple):
    """A launcher of MPI.

    Attributes:
        path: The program ``mpiexec``.
        family: ``mpich`` (also Intel MPI) or ``openmpi``.
    """

    path: str
    family: str


def find_launcher(given: str | None = None) -> Launcher:
    """Returns the launcher that belongs to the MPI of mpi4py.

    It is looked for in the environment of the interpreter, where the wheel with the MPI is
    installed, and on the ``PATH``.

    Args:
        given: Program to use, from the user.

    Raises:
        LaunchError: If mpi4py has no MPI, or no launcher belongs to it; the message tells which
            library and which launchers were found.
    """
    library = library_version()
    wanted = family_of(library)
    candidates = _candidates() if given is None else [given]
    seen: list[str] = []
    for path in candidates:
        family = _family_of_program(path)
        if family is not None and family == wanted:
            return Launcher(path, family)
        seen.append(f"{path} ({family or 'unknown MPI'})")
    found = ", ".join(seen) or "none"
    raise LaunchError(
        f"mpi4py uses {library.splitlines()[0]}, and no mpiexec of that MPI was found; launchers "
        f"found: {found}. Install the wheel with both, {install_command('chainermn[mpich]')}, or "
        "name the launcher by --mpiexec"
    )


def library_version() -> str:
    """Returns the text in which the MPI library of mpi4py tells its version.

    Raises:
        LaunchError: If mpi4py or the library is missing.
    """
    # In another process: MPI must not be initialized in this one, and sees no variables of an
    # outer launcher.
    environment = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("PMI_", "PMIX_", "OMPI_", "HYDI_"))
    }
    done = subprocess.run(
        [sys.executable, "-c", _ASK], capture_output=True, text=True, env=environment, timeout=60
    )
    if done.returncode:
        lines = done.stderr.strip().splitlines() or ["no output"]
        text = next(
            (line for line in lines if "chainermn needs" in line or "MPI" in line), lines[-1]
        )
        raise LaunchError(f"MPI does not work here: {text}")
    return done.stdout


def family_of(text: str) -> str | None:
    """Returns the family of an MPI by its version text."""
    lower = text.lower()
    if any(word in lower for word in ("open mpi", "openrte", "prrte", "open-mpi")):
        return "openmpi"
    if any(word in lower for word in ("mpich", "hydra", "intel", "mvapich")):
        return "mpich"
    return None


def _candidates() -> list[str]:
    places: list[str | None] = [
        str(Path(sys.executable).parent / "mpiexec"),
        str(Path(sys.prefix) / "bin" / "mpiexec"),
    ]
    for name in ("mpiexec", "mpiexec.hydra", "mpirun"):
        found = file_of_wheel(name)
        places.append(None if found is None else str(found))
    places.append(shutil.which("mpiexec"))
    existing = [path for path in places if path is not None and os.access(path, os.X_OK)]
    return list(
        dict.fromkeys(
            os.path.realpath(os.path.dirname(p)) + "/" + os.path.basename(p) for p in existing
        )
    )


def _family_of_program(path: str) -> str | None:
    try:
        done = subprocess.run([path, "--version"], capture_output=True, text=True, timeout=30)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return family_of(done.stdout + done.stderr)
