"""``chainer new-plugin``: writes a complete, working plugin to start from.

The folder NAME contains a distribution with an entry point of group ``chainer``, typed source with
one example of the kind, tests that use Chainer's testing kit, and a file for continuous
integration. It can be installed and passes its tests without a change.

With ``--json`` prints an object with the keys ``directory`` (of the new project), ``distribution``,
``module``, ``plugin`` (name of the entry point), ``kind`` and ``files``.
"""

from __future__ import annotations

import argparse
import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path

from chainer.core.installation import installation, pip_of, quoted
from chainer.plugins import scaffold
from chainer.plugins.commands._output import print_json
from chainer.plugins.plugin_names import PluginNames, plugin_names

HELP = "write a new plugin to start from"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of the subcommand."""
    kinds = scaffold.kinds()
    parser.add_argument(
        "name", metavar="NAME", help="name of the distribution, such as chainer-swish"
    )
    parser.add_argument(
        "--kind",
        required=True,
        choices=kinds,
        metavar="KIND",
        help="what the plugin supplies, see below",
    )
    # The kinds are the folders of the templates: a new one needs no change here.
    lines = [f"  {kind:<13} {scaffold.about(kind)}" for kind in kinds]
    parser.epilog = "\n".join(["kinds, and what the written example is:", *lines])
    parser.add_argument(
        "--directory",
        default=".",
        metavar="D",
        help="folder in which the project's folder NAME is made (default: the current one)",
    )
    parser.add_argument(
        "--license", choices=scaffold.LICENSES, default=scaffold.LICENSES[0], help="default: MIT"
    )
    parser.add_argument(
        "--author", default="", help="holder of the copyright (default: the authors of NAME)"
    )
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(options: argparse.Namespace) -> int:
    """Writes the project and prints the next steps."""
    try:
        # All files are made in memory first, so that a wrong name leaves no half-written folder.
        names = plugin_names(options.name)
        files = scaffold.render(options.kind, names, options.license, options.author)
        folder = Path(options.directory).expanduser() / names.distribution
        scaffold.write(files, folder)
    except (ValueError, OSError) as error:
        print(f"chainer new-plugin: {error}", file=sys.stderr)
        return 2
    if options.json:
        print_json(
            {
                "directory": str(folder.absolute()),
                "distribution": names.distribution,
                "module": names.module,
                "plugin": names.plugin,
                "kind": options.kind,
                "files": list(files),
            }
        )
    else:
        _print_next_steps(options.kind, names, folder, files)
    return 0


def next_steps(distribution: str, folder: Path, project: str) -> list[str]:
    """Returns the commands that install and test the written project.

    Args:
        distribution: Name of the distribution.
        folder: The project.
        project: Its pyproject.toml.
    """
    table = tomllib.loads(project)["project"]
    requirements = [*table["dependencies"], *table["optional-dependencies"]["test"]]
    words = [*installation().extra_arguments(requirements), "-e", ".[test]"]
    pip = pip_of(sys.executable)
    # In an environment that is not activated, a shell finds other programs or none.
    python = "" if pip == "pip" else f"{quoted(sys.executable)} -m "
    chainer = "chainer" if pip == "pip" else f"{python}chainer.plugins.cli"
    return [
        f"cd {quoted(str(folder))}",
        " ".join([pip, "install", *map(quoted, words)]),
        f"{python}pytest",
        f"{chainer} doctor {distribution}",
    ]


def _print_next_steps(
    kind: str, names: PluginNames, folder: Path, files: Mapping[str, str]
) -> None:
    print(f"{folder}: a plugin of kind {kind}, {len(files)} files")
    for file in files:
        print(f"  {file}")
    steps = next_steps(names.distribution, folder, files["pyproject.toml"])
    print("\n".join(["Next:", *(f"  {step}" for step in steps)]))
