"""Runs the tests of the packs, each in its folder: ``python scripts/test_packs.py -n auto``.

The arguments go to pytest. A pack may say how its tests run, in its pyproject.toml:

    [tool.chainer-tests]
    workers = 0            # they start processes themselves, or need much memory
    needs = "ideep4py"     # a module; the tests are skipped where it cannot be imported
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

import packs


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("-n", dest="workers", default="auto", help="processes (default: auto)")
    parser.add_argument("--only", nargs="+", metavar="FOLDER", help="folders in packs/")
    options, arguments = parser.parse_known_args()
    # Threads of BLAS in each of several processes make each other wait.
    environment = os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    failed = []
    for folder in packs.folders().values():
        if folder == packs.ROOT or (options.only and folder.name not in options.only):
            continue
        table = packs.settings(folder).get("tool", {}).get("chainer-tests", {})
        print(f"packs/{folder.name}", flush=True)
        module = table.get("needs")
        if module and subprocess.run([sys.executable, "-c", f"import {module}"]).returncode != 0:
            print(f"{module} does not work here: the tests of packs/{folder.name} are skipped")
            continue
        workers = str(table.get("workers", options.workers))
        command = [sys.executable, str(Path(__file__).with_name("run_tests.py")), "-n", workers]
        if subprocess.run([*command, *arguments], cwd=folder, env=environment).returncode != 0:
            failed.append(folder.name)
    if failed:
        print(f"failed: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
