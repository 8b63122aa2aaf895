"""The subcommands of ``chainer``, one module each.

A module ``new_thing.py`` in this package is the subcommand ``new-thing``. It is found by its name,
and defines the members of :class:`Command`.
"""

from __future__ import annotations

import argparse
import importlib
import pkgutil
from typing import Protocol, cast


class Command(Protocol):
    """The members of the module of a subcommand."""

    HELP: str
    """One line for the list of subcommands."""

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Adds the arguments of the subcommand."""
        ...

    def run(self, options: argparse.Namespace) -> int:
        """Runs the subcommand.

        Args:
            options: The parsed arguments.

        Returns:
            int: Exit status: 0 if nothing is wrong, 1 if something is, 2 for wrong arguments.
        """
        ...


def find() -> dict[str, Command]:
    """Returns the subcommands by name, sorted."""
    names = sorted(module.name for module in pkgutil.iter_modules(__path__))
    return {
        name.replace("_", "-"): cast(Command, importlib.import_module(f"{__name__}.{name}"))
        for name in names
        if not name.startswith("_")
    }
