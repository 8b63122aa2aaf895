"""The peers of a run: whose interpreter, which framework, or why there is none."""

from __future__ import annotations

import importlib.util
import os
import sys
from dataclasses import dataclass, replace
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

#: Packages whose versions are printed for a peer of each framework.
PACKAGES = {
    "chainer": ["chainer", "numpy"],
    "torch": ["torch", "numpy"],
    "transformers": ["transformers", "torch", "numpy"],
    "jax": ["jax", "optax", "numpy"],
    "numpy": ["numpy"],
    "onnxruntime": ["onnxruntime", "onnx", "numpy"],
}

#: Names of all peers, in the order of the columns.
NAMES = [
    "ours",
    "ours-ideep",
    "ours-numba",
    "ours-fast",
    "before",
    "numpy",
    "onnxruntime",
    "torch",
    "torch-compile",
    "torch-steps",
    "transformers",
    "transformers-bfloat16",
    "jax",
    "upstream",
    "upstream-ideep",
    "upstream4",
]

#: Peers of ``benchmarks traps`` alone.
COMPILERS = ["mlx", "tinygrad"]

#: Peers of a run that names none.
DEFAULT_NAMES = ["ours", "ours-ideep", "ours-numba", "numpy", "torch", "upstream", "upstream-ideep"]


@dataclass(frozen=True)
class Peer:
    """One column of a table.

    Attributes:
        name: Heading of the column.
        framework: ``"chainer"``, ``"torch"``, ``"transformers"``, ``"jax"``, ``"numpy"`` or
            ``"onnxruntime"``: takes programs of ``with_<framework>``.
        python: Interpreter that runs its worker.
        ideep: Whether iDeep is to be used.
        kernels: Provider of kernels that is on, or ``None``.
        compiles: Whether PyTorch's compiler is to be used.
        steps: Whether recurrent layers of PyTorch run step by step, as the programs with Chainer.
        accelerates: Whether the one switch, ``chainer.config.accelerate``, is on.
        dtype: Data type of the weights of transformers; float32 if empty.
        unavailable: Why the peer cannot be run, or ``None``.
    """

    name: str
    framework: str
    python: str
    ideep: bool = False
    unavailable: str | None = None
    kernels: str | None = None
    compiles: bool = False
    steps: bool = False
    accelerates: bool = False
    dtype: str = ""

    @property
    def packages(self) -> list[str]:
        """Packages whose versions say what this peer is."""
        more = ["ideep4py"] if self.ideep or self.accelerates else []
        more += [self.kernels] if self.kernels else ["numba"] if self.accelerates else []
        return PACKAGES.get(self.framework, []) + more

    def environment(self, threads: int) -> dict[str, str]:
        """Returns the environment variables of a worker whose libraries use that many threads."""
        environment = thread_environment(threads)
        environment["CHAINER_KERNELS"] = self.kernels or ""
        environment["CHAINER_ACCELERATE"] = "auto" if self.accelerates else "never"
        environment["CHAINER_BENCH_COMPILE"] = "1" if self.compiles else ""
        environment["CHAINER_BENCH_STEPS"] = "1" if self.steps else ""
        environment["CHAINER_BENCH_DTYPE"] = self.dtype
        environment["HF_HUB_OFFLINE"] = "1"
        if self.framework in ("jax", "chainer"):
            # XLA takes all processors unless it is told otherwise.
            flags = f"--xla_cpu_multi_thread_eigen={'true' if threads > 1 else 'false'}"
            environment["XLA_FLAGS"] = f"{flags} {environment.get('XLA_FLAGS', '')}".strip()
            environment["PJRT_NPROC"] = str(threads)
            # By chance, glibc returns the memory of temporary results to the system after each
            # call of a program of XLA: the README of chainer-jax tells why.
            environment["MALLOC_ARENA_MAX"] = "1"
        return environment


def find_peer(
    name: str,
    ours: str = sys.executable,
    folder: Path = ROOT / ".peers",
    before: str | None = None,
) -> Peer:
    """Returns the peer of that name.

    Args:
        name: One of :data:`NAMES` or :data:`COMPILERS`.
        ours: Interpreter whose environment holds the Chainer under test (``ours``, ``ours-ideep``,
            ``ours-numba``, ``numpy``, ``onnxruntime``).
        folder: Where ``scripts/setup_peers.py`` made the peers' environments.
        before: Interpreter whose environment holds an earlier state of this project (``before``).

    Raises:
        ValueError: There is no peer of that name.
    """
    if name in ("ours", "ours-ideep"):
        return Peer(name, "chainer", ours, ideep=name == "ours-ideep")
    if name == "ours-numba":
        return Peer(name, "chainer", ours, kernels="numba")
    if name == "ours-fast":
        return Peer(name, "chainer", ours, accelerates=True)
    if name == "before":
        reason = None if before else "name its interpreter: --before PYTHON"
        return Peer(name, "chainer", before or "", unavailable=reason)
    if name in ("numpy", "onnxruntime"):
        return Peer(name, name, ours)
    if name in ("torch", "torch-compile", "torch-steps", "jax", *COMPILERS):
        framework = name.partition("-")[0]
        own = _python(folder / framework)
        if not own.exists() and importlib.util.find_spec(framework) is not None:
            found = Peer(name, framework, sys.executable)
        else:
            found = _in_environment(name, framework, folder / framework)
        return replace(found, compiles=name == "torch-compile", steps=name == "torch-steps")
    if name in ("transformers", "transformers-bfloat16"):
        python = _python(folder / "models")
        command = "python scripts/setup_peers.py --only models"
        missing = None if python.exists() else f"no environment at {python}; run: {command}"
        dtype = name.partition("-")[2]
        return Peer(name, "transformers", str(python), unavailable=missing, dtype=dtype)
    if name in ("upstream", "upstream-ideep"):
        return _in_environment(name, "chainer", folder / "chainer7", name == "upstream-ideep")
    if name == "upstream4":
        return _in_environment(name, "chainer", folder / "chainer4")
    raise ValueError(f"peer: expected one of {', '.join(NAMES)}; got {name!r}")


def thread_environment(threads: int) -> dict[str, str]:
    """Returns the environment variables of a worker whose libraries use that many threads."""
    environment = dict(os.environ)
    for library in ("OMP", "OPENBLAS", "MKL", "NUMEXPR", "NUMBA"):
        environment[f"{library}_NUM_THREADS"] = str(threads)
    return environment


def _python(environment: Path) -> Path:
    return environment / "bin" / "python"


def _in_environment(name: str, framework: str, environment: Path, ideep: bool = False) -> Peer:
    python = _python(environment)
    reason = None
    if not python.exists():
        reason = f"no environment at {environment}; run: python scripts/setup_peers.py"
    return Peer(name, framework, str(python), ideep, reason)
