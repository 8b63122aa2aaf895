"""The registries of Chainer, one for each kind of thing a user can name.

Packs fill them through the hooks of :mod:`chainer.plugins.hookspecs`. A registry that has a public
module (``chainer.functions`` and the like) becomes visible there through :func:`module_getattr`.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

from chainer.core.registry.registry import Registry, Source
from chainer.core.registry.submodules import is_submodule

backends = Registry("backends")
"""Array types: name -> :class:`~chainer.core.arrays.backend.Backend`."""

operations = Registry("operations")
"""Array-level operations: name -> :class:`~chainer.core.arrays.kernel.Operation`."""

kernels = Registry("kernels")
"""Implementations of operations: key -> :class:`~chainer.core.arrays.kernel.Kernel`; the key is
``operation/provider/array type``."""

functions = Registry("functions")
"""``chainer.functions``."""

variable_methods = Registry("variable_methods", "method of Variable")
"""Operators and methods of :class:`~chainer.Variable` that are differentiable functions."""

function_hooks = Registry("function_hooks")
"""``chainer.function_hooks``."""

links = Registry("links")
"""``chainer.links``."""

initializers = Registry("initializers")
"""``chainer.initializers``."""

serializers = Registry("serializers")
"""``chainer.serializers``."""

optimizers = Registry("optimizers")
"""``chainer.optimizers``."""

optimizer_hooks = Registry("optimizer_hooks")
"""``chainer.optimizer_hooks``."""

iterators = Registry("iterators")
"""``chainer.iterators``."""

datasets = Registry("datasets")
"""``chainer.datasets``."""

updaters = Registry("updaters")
"""``chainer.training.updaters``."""

extensions = Registry("extensions")
"""``chainer.training.extensions``."""

triggers = Registry("triggers")
"""``chainer.training.triggers``."""

ALL: dict[str, Registry] = {
    registry.kind: registry
    for registry in (
        backends,
        operations,
        kernels,
        functions,
        variable_methods,
        function_hooks,
        links,
        initializers,
        serializers,
        optimizers,
        optimizer_hooks,
        iterators,
        datasets,
        updaters,
        extensions,
        triggers,
    )
}
"""All registries by kind."""


def set_source(source: Source | None) -> None:
    """Installs what can bring more entries into the registries; the plugin host calls this.

    Args:
        source: The source; None removes the present one.
    """
    for registry in ALL.values():
        registry.set_source(source)


def module_getattr(
    registry: Registry, module_globals: dict[str, Any]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Returns ``__getattr__`` and ``__dir__`` for a module whose attributes come from a registry.

    The first access to a name imports the object and stores it as a plain attribute of the module;
    when the entry is replaced or removed, the stored attribute is dropped. Submodules of a package
    are found too. A name must not be that of a submodule of the same package: Python would put the
    module in its place as soon as it is imported.

    Args:
        registry: The registry.
        module_globals: ``globals()`` of the module.

    Returns:
        tuple: The two functions.

    Example:
        In ``chainer/optimizers/__init__.py``::

            from chainer.core.registry import registries

            __getattr__, __dir__ = registries.module_getattr(registries.optimizers, globals())
    """
    module_name: str = module_globals["__name__"]
    stored: set[str] = set()

    def forget(name: str) -> None:
        if name in stored:
            stored.discard(name)
            module_globals.pop(name, None)

    def getattr_(name: str) -> Any:
        # Tools probe modules for names such as __wrapped__ or _repr_html_; that must load nothing.
        if name.startswith("_"):
            raise AttributeError(f"module {module_name!r} has no attribute {name!r}")
        entry = registry.find(name)
        if entry is None:
            if is_submodule(module_globals, name):
                return importlib.import_module(f"{module_name}.{name}")
            entry = registry.entry(name)
        value = entry.load()
        stored.add(name)
        module_globals[name] = value
        return value

    def dir_() -> list[str]:
        registry.load_all()
        return sorted({*module_globals, *registry.names()})

    registry.add_listener(forget)
    return getattr_, dir_
