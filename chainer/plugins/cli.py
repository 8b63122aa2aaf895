"""The command ``chainer``.

Example:
    ::

        chainer info
        chainer plugins
        chainer kernels softmax --shape 8,10 --attribute axis=1
        chainer new-plugin chainer-swish --kind functions
        chainer doctor chainer-swish
"""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from collections.abc import Sequence

from chainer.core.version import __version__
from chainer.plugins import commands
from chainer.plugins.commands._output import did_you_mean
from chainer.plugins.errors import PluginError, PluginWarning


def build_parser() -> argparse.ArgumentParser:
    """Returns the parser of the command line."""
    parser = argparse.ArgumentParser(
        prog="chainer",
        description="Shows what is in an installation of Chainer and its plugins.",
    )
    parser.add_argument("--version", action="version", version=f"chainer {__version__}")
    subparsers = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for name, command in commands.find().items():
        subparser = subparsers.add_parser(
            name,
            help=command.HELP,
            description=command.__doc__,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        command.add_arguments(subparser)
        subparser.set_defaults(run=command.run)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line.

    Args:
        arguments: Arguments without the name of the program; by default the process's.

    Returns:
        int: Exit status: 0 if nothing is wrong, 1 if something is, 2 for wrong arguments.
    """
    given = sys.argv[1:] if arguments is None else list(arguments)
    known = commands.find()
    if given and not given[0].startswith("-") and given[0] not in known:
        hint = did_you_mean(given[0], known)
        print(f"chainer: no command {given[0]!r}{hint}", file=sys.stderr)
        print(f"commands are {', '.join(known)}; see chainer --help", file=sys.stderr)
        return 2
    parser = build_parser()
    if not given:
        parser.print_help(sys.stderr)
        return 2
    options = parser.parse_args(given)
    with warnings.catch_warnings():
        # The commands themselves show which plugins failed.
        warnings.simplefilter("ignore", PluginWarning)
        try:
            status = options.run(options)
            sys.stdout.flush()
            return status
        except PluginError as error:
            print(f"chainer: {error}", file=sys.stderr)
            return 1
        except BrokenPipeError:
            # The reader of a pipe has stopped, as in `chainer kernels | head`. The remaining output
            # is discarded; otherwise the interpreter would print an error when it exits.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 1


if __name__ == "__main__":
    sys.exit(main())
