"""The pages of the reference that list settings: configuration, environment, command line, types.

They are made from the declarations in the code: configuration entries, environment variables, the
parser of the command ``chainer`` and the type aliases of ``chainer.typing``.
"""

from __future__ import annotations

import argparse
import inspect
from collections.abc import Callable, Iterator
from functools import lru_cache

from chainer.core import typing
from chainer.core.config.entries import ConfigEntry, declared
from chainer.core.config.variables import VARIABLES, EnvironmentVariable
from chainer.plugins.cli import build_parser
from scripts.site import names
from scripts.site.pack_variables import PACK_VARIABLES
from scripts.site.roles import to_markdown

_CONFIGURATION = """\
# Configuration

Settings of the process and of the thread. `chainer.config.NAME` is the value in the present thread,
`chainer.global_config.NAME` the one of all threads that have not set their own. Inside of
`with chainer.using_config(NAME, value):` the present thread has another value.
`chainer.config.show()` prints all values. A program may keep settings of its own there, whose names
begin with `user_`.
"""

_ENVIRONMENT = """\
# Environment variables

Those of configuration entries set the initial value of the entry, when `chainer` is imported. See
also [Configuration](configuration.md).
"""

_COMMANDS = """\
# Command line

The command `chainer` comes with the distribution `chainer`. `chainer --help` and
`chainer COMMAND --help` print what is written here. The exit status is 0 if nothing is wrong, 1 if
something is, and 2 for wrong arguments.
"""

_TYPES = """\
# Types of arguments

Names in signatures that say what an argument may be, from `chainer.typing`. Programs with type
annotations can import them.
"""
_TYPE_OPTIONS = """\
    options:
      heading: "{name}"
      heading_level: 2
      show_bases: false
      members: false
"""


@lru_cache(maxsize=1)
def link_targets() -> dict[str, str]:
    """Returns where links to each public name, configuration entry and environment variable lead.

    Returns:
        dict: Identifiers of names, and addresses in the reference of the others.
    """
    variables = {
        variable.name: f"environment-variables.html#{variable.name}" for _, variable in _variables()
    }
    entries = {
        f"chainer.config.{name}": f"configuration.html#chainer.config.{name}"
        for name in declared
        if not name.startswith("_")  # not for programs, without a section
    }
    return names.link_targets() | variables | entries


def configuration() -> str:
    """Returns the page of the configuration entries."""
    rows = ["| entry | default | environment variable |", "|---|---|---|"]
    parts: list[str] = []
    for name, entry in sorted(declared.items()):
        if name.startswith("_"):  # not for programs
            continue
        anchor = f"chainer.config.{name}"
        rows.append(f"| [`{name}`](#{anchor}) | `{entry.default}` | {_variable_of(entry)} |")
        parts += [
            f"## chainer.config.{name} {{#{anchor}}}",
            entry.about,
            f"- Values: {entry.accepted_values()}\n"
            f"- Default: `{entry.default}`\n"
            f"- Environment variable: {_variable_of(entry)}\n"
            "- Supplied by the distribution `chainer`",
        ]
    return "\n".join([_CONFIGURATION, *rows, "", "\n\n".join(parts)])


def environment() -> str:
    """Returns the page of the environment variables."""
    rows = ["| variable | what it changes | distribution |", "|---|---|---|"]
    parts: list[str] = []
    for distribution, variable in _variables():
        rows.append(
            f"| [`{variable.name}`](#{variable.name}) | {variable.about} | {distribution} |"
        )
        parts += [
            f"## {variable.name} {{#{variable.name}}}",
            variable.about,
            f"- Values: {variable.accepted}\n"
            f"- Default: {variable.default}\n"
            f"- Supplied by the distribution `{distribution}`",
        ]
    return "\n".join([_ENVIRONMENT, *rows, "", "\n\n".join(parts)])


def command_line() -> str:
    """Returns the page of the command line."""
    rows = ["| command | what it does |", "|---|---|"]
    parts: list[str] = []
    for name, summary, parser in _commands():
        rows.append(f"| [`chainer {name}`](#chainer-{name}) | {summary} |")
        parts += [
            f"## chainer {name} {{#chainer-{name}}}",
            # Links of docstrings begin in the folders of the names; this page is above them.
            to_markdown(inspect.cleandoc(parser.description or ""), link_targets()).replace(
                'href="../', 'href="'
            ),
            f"```text\n{_usage(parser)}\n```",
            "\n".join(["| argument | meaning |", "|---|---|", *_arguments(parser)]),
            "Supplied by the distribution `chainer`.",
        ]
    return "\n".join([_COMMANDS, *rows, "", "\n\n".join(parts)])


def types() -> str:
    """Returns the page of the type aliases. Signatures link to its headings."""
    parts = [_TYPES]
    for name in sorted(typing.__all__):
        # Rendered by mkdocstrings, which knows what signatures refer to.
        parts.append(f"::: {typing.__name__}.{name}\n{_TYPE_OPTIONS.format(name=name)}")
    return "\n".join(parts)


#: Title of a page -> its file in the reference, and the function that returns its text.
SETTINGS: dict[str, tuple[str, Callable[[], str]]] = {
    "Configuration": ("configuration.md", configuration),
    "Environment variables": ("environment-variables.md", environment),
    "Command line": ("command-line.md", command_line),
    "Types of arguments": ("types.md", types),
}


def _variable_of(entry: ConfigEntry) -> str:
    if not entry.variable:
        return "none"
    return f"[`{entry.variable}`](environment-variables.md#{entry.variable})"


def _variables() -> list[tuple[str, EnvironmentVariable]]:
    """Returns all variables with the distributions that read them, sorted by name."""
    found = [("chainer", variable) for variable in VARIABLES]
    for name, entry in declared.items():
        if entry.variable:
            about = f"Initial value of [`chainer.config.{name}`](configuration.md#chainer.config."
            about += f"{name}). {entry.about}"
            # Truth values are written as numbers in the environment.
            accepted = "0 or 1" if isinstance(entry.default, bool) else entry.accepted_values()
            accepted = accepted.removesuffix(" or None")
            if name == "kernels":
                accepted = "names, separated by commas"
            default = f"`{entry.default}` in the configuration"
            variable = EnvironmentVariable(entry.variable, accepted, default, about)
            found.append(("chainer", variable))
    for distribution, variables in PACK_VARIABLES.items():
        found += [(distribution, variable) for variable in variables]
    return sorted(found, key=lambda pair: pair[1].name)


def _commands() -> Iterator[tuple[str, str, argparse.ArgumentParser]]:
    """Yields name, summary and parser of each subcommand."""
    parser = build_parser()
    # argparse has no public way to list subcommands.
    (subparsers,) = [a for a in parser._actions if isinstance(a, argparse._SubParsersAction)]
    summaries = {action.dest: action.help or "" for action in subparsers._choices_actions}
    for name, subparser in sorted(subparsers.choices.items()):
        yield name, summaries[name], subparser


def _usage(parser: argparse.ArgumentParser) -> str:
    """Returns the usage, in lines of the same width wherever the site is built."""
    formatter = argparse.HelpFormatter(parser.prog, width=88)
    formatter.add_usage(parser.usage, parser._actions, parser._mutually_exclusive_groups)
    return formatter.format_help().strip()


def _arguments(parser: argparse.ArgumentParser) -> Iterator[str]:
    for action in parser._actions:
        name = action.metavar if isinstance(action.metavar, str) else action.dest
        value = "" if action.nargs == 0 else f" {name if action.metavar else name.upper()}"
        if action.option_strings:
            shown = ", ".join(f"`{option}{value}`" for option in action.option_strings)
        else:
            shown = f"`{name}`"
        text = (action.help or "").replace("%(default)s", str(action.default)).replace("|", "\\|")
        if action.choices and str(next(iter(action.choices))) not in text:
            text += f" (one of {', '.join(map(str, action.choices))})"
        yield f"| {shown} | {text} |"
