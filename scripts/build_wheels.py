"""Builds wheels and source archives of chainer and of every pack, and checks their pages.

    make wheels                 # dist/, for pip install --find-links dist "chainer[jax]"
    make wheels RELEASE=1       # for a package index

Each wheel is built from its source archive. Without RELEASE=1 the wheel of chainer records the
folder, so that the commands in messages name it. Run by the interpreter of an environment that has
``build``, ``twine`` and the packages that build the projects (``--requirements`` prints them).
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

import packs

#: What this script itself needs.
TOOLS = ("build>=1.2", "twine>=6")


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--out", type=Path, default=packs.ROOT / "dist", help="folder to write to")
    parser.add_argument("--release", action="store_true", help="for a package index")
    parser.add_argument(
        "--requirements", action="store_true", help="print what has to be installed, and stop"
    )
    options = parser.parse_args()
    if options.requirements:
        print("\n".join(requirements()))
        return 0
    out = options.out.resolve()
    out.mkdir(parents=True, exist_ok=True)
    environment = dict(os.environ)
    environment.pop("CHAINER_WHEELS_FOLDER", None)
    if not options.release:
        environment["CHAINER_WHEELS_FOLDER"] = str(out)
    for name, folder in packs.folders().items():
        # Archives of another version would be found, too, and the newest of them installed.
        for old in (*out.glob(f"{name.replace('-', '_')}-*"), *out.glob(f"{name}-*.tar.gz")):
            old.unlink()
        # Without isolation: one environment builds all, in seconds.
        command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(out)]
        done = subprocess.run(
            [*command, str(folder)], env=environment, capture_output=True, text=True, check=False
        )
        if done.returncode != 0:
            print(f"{done.stdout}{done.stderr}\nbuilding {name} failed", file=sys.stderr)
            return 1
        print(done.stdout.strip().splitlines()[-1], flush=True)
    archives = sorted(str(path) for path in out.iterdir() if path.suffix in (".whl", ".gz"))
    # Whether indexes can show the README and the rest of the metadata.
    check = [sys.executable, "-m", "twine", "--no-color", "check", "--strict", *archives]
    done = subprocess.run(check, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        print(done.stdout + done.stderr, file=sys.stderr)
        return 1
    print(f"{len(archives)} files in {out} pass twine check --strict")
    return 0


def requirements() -> list[str]:
    """Returns the tools and what the projects name under ``[build-system]``."""
    found = dict.fromkeys(TOOLS)
    for folder in packs.folders().values():
        found |= dict.fromkeys(packs.settings(folder)["build-system"]["requires"])
    return list(found)


if __name__ == "__main__":
    sys.exit(main())
