"""Makes the environments of peers.

They are Chainer 7.8.1 and 4.3.1, PyTorch, JAX and transformers, and for ``benchmarks traps`` also
MLX and tinygrad.

Usage::

    python scripts/setup_peers.py [--folder .peers] [--only chainer7 torch ...] [--force]

An environment that is there and has what it needs is left alone. A Python 3.7 is looked for in the
environment variable CHAINER_BENCH_PYTHON37 (path of an interpreter), as ``python3.7`` on PATH and
among pyenv's versions. Where there is none, this is said, the exit status is still 0, and the
benchmarks print "peer not available" for that column. PyTorch, JAX with optax, MLX and tinygrad get
an environment of their own only where the current interpreter lacks them; CHAINER_BENCH_TORCH may
hold another requirement than ``torch`` (words are passed to pip as they are). ``models`` (PyTorch
with torchvision, timm, transformers, peft and the exporter to ONNX, for ``make test-models``,
``benchmarks models`` and ``packs/onnx/tests/test_torchvision.py``), ``mlx`` and ``tinygrad`` are
made only if ``--only`` names them.

Exit status: 0; 1 when an installation failed.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import shlex
import shutil
import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

#: What upstream needs, and why the pins: the last releases for Python 3.7, older where upstream's
#: code asks for it.
UPSTREAM = [
    "setuptools<60",  # pkg_resources, imported by upstream, without deprecation warnings
    "numpy==1.16.*",  # what upstream and ideep4py were built and tested against
    "protobuf<3.21",  # upstream's generated Caffe module needs the old runtime
    "h5py<3",
    "scipy<1.6",
    "pillow<10",
    "matplotlib<3.5",
    "typing_extensions",
    "filelock",
    "pytest<7.5",  # runs test suites that are written for upstream
    "mock",
]

REQUIREMENTS = {
    "chainer7": ["chainer==7.8.1", "ideep4py==2.0.0.post3", *UPSTREAM],
    "chainer4": ["chainer==4.3.1", *UPSTREAM],
}

#: Program that shows, run by a peer's interpreter, that the peer works.
PROOFS = {
    "chainer7": "import chainer, ideep4py; assert chainer.__version__ == '7.8.1'",
    "chainer4": "import chainer; assert chainer.__version__ == '4.3.1'",
    "torch": "import torch, numpy",
    "jax": "import jax, optax, numpy",
    "models": "import torch, torchvision, timm, transformers, peft, onnx, onnxscript, numpy",
    "mlx": "import mlx.core, mlx.nn, numpy",
    "tinygrad": "import tinygrad, numpy",
}

#: Packages that the current interpreter may have already, by environment.
SHARED = {
    "torch": ("torch",),
    "jax": ("jax", "optax"),
    # torchvision by one command with torch, which it is built for. torch.onnx needs the last two.
    "models": ("torch", "torchvision", "timm", "transformers", "peft", "onnx", "onnxscript"),
    "mlx": ("mlx",),
    "tinygrad": ("tinygrad",),
}

#: Environments that are made only if they are asked for: no benchmark of the usual run needs them.
ON_REQUEST = {"models", "mlx", "tinygrad"}


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument(
        "--folder", type=Path, default=ROOT / ".peers", help="where the environments go"
    )
    parser.add_argument(
        "--only",
        nargs="+",
        choices=list(PROOFS),
        default=[name for name in PROOFS if name not in ON_REQUEST],
        help="these peers alone",
    )
    parser.add_argument("--force", action="store_true", help="make them anew")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    failed = [
        name for name in options.only if not set_up(name, options.folder / name, options.force)
    ]
    return 1 if failed else 0


def set_up(name: str, environment: Path, force: bool = False) -> bool:
    """Makes one environment unless it works already; returns False when the installation failed."""
    if force and environment.exists():
        shutil.rmtree(environment)
    if works(name, environment):
        print(f"{name}: ready, {environment}")
        return True
    if name in SHARED:
        if all([importlib.util.find_spec(package) is not None for package in SHARED[name]]):
            print(f"{name}: the current interpreter has it; no environment needed")
            return True
        venv.create(environment, clear=True, with_pip=True)
        requirements = [*SHARED[name], "numpy"]
        if "torch" in requirements:
            requirements[:1] = shlex.split(os.environ.get("CHAINER_BENCH_TORCH", "torch"))
        elif name == "mlx":
            requirements[0] = "mlx[cpu]"  # outside of macOS, mlx alone has no backend
    else:
        python = find_python37()
        if python is None:
            print(
                f"{name}: no Python 3.7 found (CHAINER_BENCH_PYTHON37, python3.7 on PATH, pyenv); "
                "the benchmarks will say 'peer not available'"
            )
            return True
        if (
            subprocess.run(
                [python, "-m", "venv", "--clear", str(environment)], check=False
            ).returncode
            != 0
        ):
            print(f"{name}: {python} could not make {environment}", file=sys.stderr)
            return False
        requirements = REQUIREMENTS[name]
    print(f"{name}: installing {' '.join(requirements)}", flush=True)
    # setuptools and wheel first: upstream is a source distribution that is built here.
    first = [item for item in requirements if item.startswith("setuptools")] + ["wheel"]
    for items in (first, requirements):
        command = [str(_python(environment)), "-m", "pip", "install", "--quiet", *items]
        if subprocess.run(command, check=False).returncode != 0:
            print(f"{name}: installation failed", file=sys.stderr)
            return False
    if not works(name, environment):
        print(f"{name}: installed, but this fails: {PROOFS[name]}", file=sys.stderr)
        return False
    print(f"{name}: ready, {environment}")
    return True


def works(name: str, environment: Path) -> bool:
    """Whether the environment is there and its packages can be imported."""
    python = _python(environment)
    if not python.exists():
        return False
    proof = subprocess.run(
        [str(python), "-I", "-c", PROOFS[name]], capture_output=True, check=False
    )
    return proof.returncode == 0


def find_python37() -> str | None:
    """Returns the path of a Python 3.7 interpreter, or ``None``."""
    candidates = [os.environ.get("CHAINER_BENCH_PYTHON37"), shutil.which("python3.7")]
    roots = [os.environ.get("PYENV_ROOT"), str(Path.home() / ".pyenv")]
    for root in roots:
        if root:
            found = sorted(Path(root).glob("versions/3.7*/bin/python"), reverse=True)
            candidates += [str(path) for path in found]
    for candidate in candidates:
        if candidate and _is_python37(candidate):
            return candidate
    return None


def _is_python37(python: str) -> bool:
    """Whether it is a Python 3.7 that runs (pyenv puts shims on PATH that do not)."""
    try:
        answer = subprocess.run(
            [python, "-c", "import sys, venv; print('%d.%d' % sys.version_info[:2])"],
            capture_output=True,
            text=True,
            check=False,
        )
    except OSError as error:
        print(f"{python}: {error}", file=sys.stderr)
        return False
    return answer.stdout.strip() == "3.7"


def _python(environment: Path) -> Path:
    return environment / "bin" / "python"


if __name__ == "__main__":
    sys.exit(main())
