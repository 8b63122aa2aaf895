"""``chainer board``: a web page with the curves of trainings, while they go on.

It shows each folder, at most three levels below the given one, that has a log of LogReport: its
curves, last values, pictures, snapshots, and the hyperparameters in a file ``args`` or
``hyperparameters.json``, if the program writes one. ``LogReport(about=True)`` adds the
hyperparameters of the optimizers, and what the process has used. The page is served on this machine
only.
"""

from __future__ import annotations

import argparse
import sys
import webbrowser
from pathlib import Path

HELP = "show the logs and plots of trainings on a local web page"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of the subcommand."""
    parser.add_argument(
        "folder",
        type=Path,
        nargs="?",
        default=Path("result"),
        help="folder with runs, or of one run (result)",
    )
    parser.add_argument("--port", type=int, default=8008, help="port (8008); 0 for a free one")
    parser.add_argument("--log", default="log", help="name of the log files (log)")
    parser.add_argument("--open", action="store_true", help="open the page in a browser")


def run(options: argparse.Namespace) -> int:
    """Serves the page until Ctrl-C."""
    from chainer.plugins.board.server import BoardServer

    if not options.folder.is_dir():
        print(f"chainer board: {options.folder} is not a folder", file=sys.stderr)
        return 1
    if not 0 <= options.port < 1 << 16:
        print(f"chainer board: --port must be from 0 to 65535, got {options.port}", file=sys.stderr)
        return 1
    try:
        server = BoardServer(options.folder, options.port, options.log)
    except OSError as error:
        print(
            f"chainer board: port {options.port}: {error.strerror}; choose another one by --port",
            file=sys.stderr,
        )
        return 1
    with server:
        print(f"{server.url} (Ctrl-C ends it)", flush=True)
        if options.open:
            webbrowser.open(server.url)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            print()
    return 0
