"""The subcommands of ``chainer``, one module each.

A module ``new_thing.py`` here is the subcommand ``new-thing``; nothing else lists it. It has the
members of :class:`Command`.
"""

from __future__ import annotations

import argparse
import importlib
import pkgutil
from typing import Protocol, cast


class Command(Protocol):
    """What a module of a subcommand defines."""

    HELP: str
    """One line for the list of subcommands."""

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Adds the arguments of the subcommand."""
        ...

    def run(self, options: argparse.Namespace) -> int:
        """Does the work and returns the exit status: 0 if all is well, 1 if something is wrong."""
        ...


def find() -> dict[str, Command]:
    """Returns the subcommands by name, sorted."""
    names = sorted(module.name for module in pkgutil.iter_modules(__path__))
    return {
        name.replace("_", "-"): cast(Command, importlib.import_module(f"{__name__}.{name}"))
        for name in names
        if not name.startswith("_")
    }
