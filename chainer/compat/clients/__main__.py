"""Runs a program with removed names restored for some packages.

Usage::

    python -m chainer.compat.clients --packages chainercv,chainerrl program.py [ARGUMENTS ...]
"""

from __future__ import annotations

import argparse
import os
import runpy
import sys

from chainer.compat.clients import importing


def main(arguments: list[str] | None = None) -> None:
    """Enables the packages, and runs the program as ``__main__``.

    Args:
        arguments (list of str): Command line; by default the process's.
    """
    parser = argparse.ArgumentParser(
        prog="python -m chainer.compat.clients", description=(__doc__ or "").split("\n", 1)[0]
    )
    parser.add_argument(
        "--packages", required=True, help="import names of packages, separated by commas"
    )
    parser.add_argument("program", help="Python file")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="arguments of the program")
    options = parser.parse_args(arguments)
    importing.enable(*options.packages.split(","))
    # Programs import modules beside them, as with `python program.py`.
    sys.path.insert(0, os.path.dirname(os.path.abspath(options.program)))
    sys.argv = [options.program, *options.arguments]
    runpy.run_path(options.program, run_name="__main__")


if __name__ == "__main__":
    main()
