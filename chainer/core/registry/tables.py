"""Name tables of packages: how the rooms tell their packs what they supply.

A package lists ``MODULES = {"relu": ("relu", "ReLU")}``: module -> public names in it. Reading the
table imports the package, not its modules.
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
        registry: Registry, or the view of one that a hook gets.
        packages: Packages with a table ``MODULES``.
    """
    for package in packages:
        modules: Mapping[str, Sequence[str]] = package.MODULES
        for module, names in modules.items():
            for name in names:
                registry.register(name, f"{package.__name__}.{module}:{name}")
