"""``MODULES`` tables: the public names that a package supplies.

A package defines ``MODULES = {"relu": ("relu", "ReLU")}``: module -> public names in it. The plugin
that registers the names reads the table. That imports the package, but not its modules.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import Any, Protocol


class _Registrar(Protocol):
    def register(self, name: str, target: Any) -> None: ...


def register_table(registry: _Registrar, *packages: ModuleType) -> None:
    """Registers the names of packages under lazy references.

    Args:
        registry: A registry, or the view of one that a hook gets.
        packages: Packages that define a table ``MODULES``.
    """
    for package in packages:
        modules: Mapping[str, Sequence[str]] = package.MODULES
        for module, names in modules.items():
            for name in names:
                registry.register(name, f"{package.__name__}.{module}:{name}")
