"""``chainer info``: versions, backends and plugins, as a bug report needs them.

With ``--json`` prints an object with the keys ``runtime`` (name -> version), ``accelerate``
(whether ``chainer.config.accelerate`` is on, and which providers it uses or would use) and
``plugins`` (as ``chainer plugins --json``). Plugins are loaded: only that shows whether they work.
"""

from __future__ import annotations

import argparse

from chainer import plugins
from chainer.core.arrays.acceleration import advice
from chainer.core.config.configuration import threads
from chainer.core.registry import registries
from chainer.core.runtime_info import runtime_info
from chainer.plugins.commands._output import print_json
from chainer.plugins.commands.plugins import as_dict, print_plugins

HELP = "show versions, array backends (and why one is unavailable) and plugins"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of the subcommand."""
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(options: argparse.Namespace) -> int:
    """Prints versions, backends and plugins."""
    for registry in registries.ALL.values():
        registry.load_all()
    info = runtime_info()
    records = plugins.records()
    accelerate = advice(threads.state.policy)
    if options.json:
        rows = [as_dict(record) for record in records]
        print_json({"runtime": info, "accelerate": accelerate, "plugins": rows})
        return 0
    for name, value in info.items():
        print(f"{name}: {value}")
    print(f"Accelerate: {accelerate}")
    print()
    print_plugins(records)
    return 0
