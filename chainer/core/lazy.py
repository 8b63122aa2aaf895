"""Lazy references and lazy modules: an object is imported when it is first used.

``import chainer`` has to be quick, so the modules with many public names import nothing by
themselves. They list where a name is defined, and :func:`lazy_module` makes the attributes.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Protocol

from chainer.core.imports import import_module, patiently


class _Entry(Protocol):
    @property
    def loaded(self) -> bool: ...

    def load(self) -> Any: ...


class _Names(Protocol):
    """The part of a :class:`~chainer.core.registry.registry.Registry` that a lazy module uses."""

    def find(self, name: str) -> _Entry | None: ...

    def entry(self, name: str) -> _Entry: ...

    def get(self, name: str) -> Any: ...

    def names(self) -> list[str]: ...

    def load_all(self) -> None: ...

    def add_listener(self, listener: Callable[[str], object]) -> None: ...


def resolve(reference: Any, package: str | None = None) -> Any:
    """Returns the object behind a lazy reference.

    Args:
        reference: ``"package.module:attribute"``, where the attribute may be dotted, or
            ``"package.module"``. Anything but a string is returned as it is.
        package: Package that a reference with a leading dot is relative to.

    Raises:
        ImportError: If the module cannot be imported.
        AttributeError: If it has no such attribute.

    Example:
        >>> from chainer.core.lazy import resolve
        >>> resolve("math:sqrt")(4.0)
        2.0
    """
    if not isinstance(reference, str):
        return reference
    return patiently(lambda: _resolve(reference, package))


def _resolve(reference: str, package: str | None) -> Any:
    module, _, attribute = reference.partition(":")
    obj: Any = import_module(importlib.util.resolve_name(module, package))
    for part in attribute.split(".") if attribute else ():
        obj = getattr(obj, part)
    return obj


def lazy_module(
    module_globals: dict[str, Any],
    names: Mapping[str, str | Callable[[str], Any]] | None = None,
    *,
    registry: _Names | None = None,
    submodules: Iterable[str] = (),
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Returns ``__getattr__`` and ``__dir__`` for a module whose attributes are imported lazily.

    An attribute is looked up in ``names``, in the registry, and among the submodules of a package.
    The first access imports the object and stores it as an attribute of the module, so that every
    later access costs nothing. If the registry replaces or removes the entry, the stored attribute
    is dropped. No submodule of the same package may have the name: Python would put the module in
    its place as soon as the module is imported.

    Args:
        module_globals: ``globals()`` of the module.
        names: Name -> module that defines it; ``".linear"`` is relative to the package. Or a
            function that makes the object when it is called with the name.
        registry: Registry whose entries are attributes of the module, too.
        submodules: Submodules that ``dir()`` lists. All others can be accessed as well.

    Returns:
        tuple: The two functions.

    Example:
        In ``chainer/optimizers/__init__.py``::

            from chainer.core.lazy import lazy_module
            from chainer.core.registry import registries

            __getattr__, __dir__ = lazy_module(globals(), registry=registries.optimizers)
    """
    module_name: str = module_globals["__name__"]
    package: str | None = module_globals.get("__package__")
    defined_in: Mapping[str, str | Callable[[str], Any]] = names or {}
    stored: set[str] = set()

    def getattr_(name: str) -> Any:
        source = defined_in.get(name)
        if source is not None:
            value = source(name) if callable(source) else resolve(f"{source}:{name}", package)
            module_globals[name] = value
            return value
        if name == "__all__":  # asked for by `from module import *`
            return star_names()
        # Tools probe modules for names such as __wrapped__ or _repr_html_. That must not import
        # anything: looking for a name in a registry may load every installed plugin.
        if not name.startswith("_"):
            # Submodules come first. `from package import submodule` asks for the attribute while
            # the package holds its import lock; loading a pack then could end in a deadlock.
            if is_submodule(module_globals, name):
                return patiently(lambda: import_module(f"{module_name}.{name}"))
            if registry is not None:
                return from_registry(registry, name)
        raise AttributeError(f"module {module_name!r} has no attribute {name!r}")

    def from_registry(registry: _Names, name: str) -> Any:
        while True:
            value = registry.get(name)
            module_globals[name] = value
            stored.add(name)  # from now on, forget() drops the attribute
            # Another thread may have replaced the entry just before that.
            entry = registry.find(name)
            if entry is not None and entry.loaded and entry.load() is value:
                return value
            module_globals.pop(name, None)

    def star_names() -> list[str]:
        """Public attributes of the module, and all lazy names that can be imported."""
        listed = {*module_globals, *defined_in, *submodules}
        if registry is not None:
            registry.load_all()
            listed.update(name for name in registry.names() if loads(name))
        return sorted(name for name in listed if not name.startswith("_"))

    def loads(name: str) -> bool:
        # A plugin that was not asked for by name must not break the import of the other names. The
        # cause of the failure is raised when the name is used as an attribute of the module.
        try:
            getattr_(name)
        except ImportError:
            return False
        return True

    def dir_() -> list[str]:
        listed = {*module_globals, *defined_in, *submodules}
        if registry is not None:
            registry.load_all()
            listed.update(registry.names())
        return sorted(listed)

    def forget(name: str) -> None:
        # Attributes that the module itself defines stay.
        if name in stored:
            stored.discard(name)
            module_globals.pop(name, None)

    if registry is not None:
        registry.add_listener(forget)
    return getattr_, dir_


def is_submodule(module_globals: dict[str, Any], name: str) -> bool:
    """Returns whether a package has a submodule of this name, imported or not.

    Args:
        module_globals: ``globals()`` of the package, or of a module, which has none.
        name: Name of the submodule.
    """
    # A module that is not a package has no path to search.
    if "__path__" not in module_globals:
        return False
    return importlib.util.find_spec(f"{module_globals['__name__']}.{name}") is not None
