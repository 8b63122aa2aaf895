"""Cases that time an import in fresh interpreters. Python 3.7 compatible, standard library only."""

from __future__ import annotations

import atexit
import os
import shutil
import subprocess
import sys
import tempfile

from bench_case import Case

# The clock starts after the interpreter: what is measured is the import alone, in a process that
# imported nothing else.
PROGRAM = """
import sys, time
sys.path.extend(sys.argv[1:])
start = time.perf_counter()
import {module}
print(time.perf_counter() - start)
"""


def cases(module):
    """Returns the cases of importing ``module``: alone and among 100 more distributions."""
    return {
        "no extra distributions": _importing(module, 0, 0),
        "100 extra distributions": _importing(module, 100, 10),
        "100 plugin distributions": _importing(module, 100, 100),
    }


def _importing(module, distributions, plugins):
    def prepare():
        arguments = [sys.executable, "-I", "-c", PROGRAM.format(module=module)]
        if distributions:
            arguments.append(_install(distributions, plugins))

        def step():
            return float(
                subprocess.run(arguments, stdout=subprocess.PIPE, check=True).stdout.split()[-1]
            )

        return Case([("", step)])

    return prepare


def _install(count, plugins):
    """Lays out distributions as an installer does, some of them plugins; returns their folder."""
    folder = tempfile.mkdtemp(prefix="bench-import-")
    atexit.register(shutil.rmtree, folder)
    for index in range(count):
        name = f"bench_extra_{index:03d}"
        group = "chainer" if index < plugins else "console_scripts"
        target = name if index < plugins else name + ":main"
        _write(
            os.path.join(folder, name + ".py"), '"""Sample module."""\n\n\ndef main():\n    pass\n'
        )
        information = os.path.join(folder, name + "-1.0.dist-info")
        os.mkdir(information)
        _write(
            os.path.join(information, "METADATA"),
            f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n",
        )
        _write(
            os.path.join(information, "entry_points.txt"),
            f"[{group}]\n{name} = {target}\n",
        )
        _write(os.path.join(information, "top_level.txt"), name + "\n")
        _write(os.path.join(information, "INSTALLER"), "pip\n")
        _write(os.path.join(information, "RECORD"), name + ".py,,\n")
    return folder


def _write(path, text):
    with open(path, "w") as file:
        file.write(text)
