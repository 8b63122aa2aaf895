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

#: Seconds that a program which tells its version may take, on a machine that does nothing else.
_SECONDS = 60.0


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


def find_launcher(given: str | None = None, timeout: float | None = None) -> Launcher:
    """Returns the launcher that belongs to the MPI of mpi4py.

    It is looked for in the environment of the interpreter, where the wheel with the MPI is
    installed, and on the ``PATH``.

    Args:
        given: Program to use, from the user.
        timeout: Seconds that each program which is asked for its version may take; by default 60,
            times the load of each core where it is more than one.

    Raises:
        LaunchError: If mpi4py has no MPI, no launcher belongs to it, or one does not answer in
            time; the message tells which library and which launchers were found.
    """
    library = library_version(timeout)
    wanted = family_of(library)
    candidates = _candidates() if given is None else [given]
    seen: list[str] = []
    for path in candidates:
        family = _family_of_program(path, timeout)
        if family is not None and family == wanted:
            return Launcher(path, family)
        seen.append(f"{path} ({family or 'unknown MPI'})")
    found = ", ".join(seen) or "none"
    raise LaunchError(
        f"mpi4py uses {library.splitlines()[0]}, and no mpiexec of that MPI was found; launchers "
        f"found: {found}. Install the wheel with both, {install_command('chainermn[mpich]')}, or "
        "name the launcher by --mpiexec"
    )


def library_version(timeout: float | None = None) -> str:
    """Returns the text in which the MPI library of mpi4py tells its version.

    Args:
        timeout: Seconds that it may take; see :func:`find_launcher`.

    Raises:
        LaunchError: If mpi4py or the library is missing, or takes too long.
    """
    # In another process: MPI must not be initialized in this one, and sees no variables of an
    # outer launcher.
    environment = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("PMI_", "PMIX_", "OMPI_", "HYDI_"))
    }
    done = _ask([sys.executable, "-c", _ASK], "the MPI of mpi4py", timeout, environment)
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


def _ask(
    command: list[str], what: str, timeout: float | None, environment: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Runs a program that tells a version."""
    load = _load_of_a_core()
    seconds = _SECONDS * max(1.0, load) if timeout is None else timeout
    try:
        return subprocess.run(
            command, capture_output=True, text=True, env=environment, timeout=seconds
        )
    except subprocess.TimeoutExpired:
        raise LaunchError(
            f"{what} did not tell its version within {seconds:g} seconds, at a load of "
            f"{load:.1f} for each core. Give it more by --start-timeout"
        ) from None


def _load_of_a_core() -> float:
    """Returns how many programs want a core, in the mean of the last minute; 0 if unknown."""
    if not hasattr(os, "getloadavg"):  # Windows
        return 0.0
    return os.getloadavg()[0] / (os.cpu_count() or 1)


def _family_of_program(path: str, timeout: float | None) -> str | None:
    try:
        done = _ask([path, "--version"], path, timeout)
    except OSError:
        return None
    return family_of(done.stdout + done.stderr)
