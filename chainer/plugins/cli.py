"""The command ``chainer``.

Example:
    ::

        chainer info
        chainer plugins --all
        chainer kernels adam_update
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Sequence

from chainer.core.version import __version__
from chainer.plugins import commands
from chainer.plugins.errors import PluginError, PluginWarning


def build_parser() -> argparse.ArgumentParser:
    """Returns the parser of the command line."""
    parser = argparse.ArgumentParser(
        prog="chainer", description="Looks into an installation of Chainer and its plugins."
    )
    parser.add_argument("--version", action="version", version=f"chainer {__version__}")
    subparsers = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for name, command in commands.find().items():
        subparser = subparsers.add_parser(name, help=command.HELP, description=command.__doc__)
        command.add_arguments(subparser)
        subparser.set_defaults(run=command.run)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line.

    Args:
        arguments: Arguments without the program; those of the process by default.

    Returns:
        int: Exit status: 0 if all is well, 1 if something is wrong, 2 for wrong arguments.
    """
    options = build_parser().parse_args(arguments)
    with warnings.catch_warnings():
        # The commands show what is wrong with plugins themselves.
        warnings.simplefilter("ignore", PluginWarning)
        try:
            return options.run(options)
        except PluginError as error:
            print(f"chainer: {error}", file=sys.stderr)
            return 1


if __name__ == "__main__":
    sys.exit(main())
