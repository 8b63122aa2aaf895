"""Installs Chainer from this clone, with extras, and with the packs that the extras name.

    python scripts/install.py --extras jax,numba

Without an active environment it makes ``.venv`` and installs there. The packs come from ``packs/``;
all is installed in one command, because pip would look for a pack in an index otherwise.

``--packs`` installs every pack with its extra ``--pack-extra``, each by a command of its own. The
tools that build them are installed, too: later commands may have ``--no-build-isolation``. Some
packs need libraries that not every machine has (an MPI, oneDNN). Their pyproject.toml says so,
``[tool.chainer] may-lack-requirements = true``: they are then installed without them, and their
tests are skipped. For any other pack a failure is an error.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import venv
from pathlib import Path

import packs


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--extras", default="", help="extras of chainer, separated by commas")
    parser.add_argument("--packs", action="store_true", help="install every pack as well")
    parser.add_argument("--pack-extra", default="test", help="extra of the packs (default: test)")
    parser.add_argument("--quiet", action="store_true", help="less output of pip")
    options = parser.parse_args()
    extras = ",".join(part.strip() for part in options.extras.split(",") if part.strip())
    known = packs.settings(packs.ROOT)["project"]["optional-dependencies"]
    unknown = [extra for extra in extras.split(",") if extra and extra not in known]
    if unknown:
        print(f"unknown extra: {', '.join(unknown)}; there are {', '.join(known)}", file=sys.stderr)
        return 2
    python = environment()
    pip = [str(python), "-m", "pip", "install", *(["--quiet"] if options.quiet else [])]
    module = packs.installation()
    # In the environment of this interpreter, where nothing may be installed yet.
    here = module.Installation("checkout", packs.ROOT, editable=True)
    words = here.arguments(f"chainer[{extras}]" if extras else "chainer")
    if subprocess.run([*pip, *words], check=False).returncode != 0:
        return 1
    if options.packs and not install_packs(pip, options.pack_extra):
        return 1
    if python != Path(sys.executable):
        print(f"installed in {python.parent.parent}; activate it: . {python.parent}/activate")
    return 0


def install_packs(pip: list[str], extra: str) -> bool:
    """Installs every pack with an extra; returns False if one cannot be installed at all."""
    # Without them pip makes an environment with these tools for each pack: five seconds of eight.
    tools = {
        t for f in packs.folders().values() for t in packs.settings(f)["build-system"]["requires"]
    }
    # Hatchling asks for it when it builds what is installed with -e.
    tools.add("editables>=0.3")
    if subprocess.run([*pip, *sorted(tools)], check=False).returncode != 0:
        return False
    pip = [*pip, "--no-build-isolation"]
    for name, folder in packs.folders().items():
        if folder == packs.ROOT:
            continue
        has = extra in packs.settings(folder)["project"].get("optional-dependencies", {})
        path = f"{folder}[{extra}]" if has else str(folder)
        if subprocess.run([*pip, "-e", path], check=False).returncode == 0:
            continue
        tools = packs.settings(folder).get("tool", {})
        if not tools.get("chainer", {}).get("may-lack-requirements", False):
            print(f"{name} cannot be installed", file=sys.stderr)
            return False
        print(f"{name}: its requirements are not available here; it is installed without them")
        if subprocess.run([*pip, "--no-deps", "-e", str(folder)], check=False).returncode != 0:
            return False
    return True


def environment() -> Path:
    """Returns the interpreter to install for: the active environment's, or the one of .venv."""
    conda = os.environ.get("CONDA_PREFIX")
    if sys.prefix != sys.base_prefix or (conda and Path(conda) == Path(sys.prefix)):
        return Path(sys.executable)
    folder = packs.ROOT / ".venv"
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    if not python.exists():
        venv.create(folder, with_pip=True)
    return python


if __name__ == "__main__":
    sys.exit(main())
