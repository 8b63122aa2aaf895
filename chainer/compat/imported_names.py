"""Names that modules of release 7 have because they import them, such as ``chainer.backend.cuda``.

Programs and packages rely on some of them: ``from chainer.backend import cuda`` works in release 7,
whose module ``chainer.backend`` imports ``cuda``. Our modules import other things. Each one gets a
``__getattr__`` that looks for a missing attribute in the table ``imported_names.txt``; the table is
read when the first attribute is missing, and a module is imported when its name is used.
"""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import ModuleType
from typing import TYPE_CHECKING, Any

from chainer import _aliases
from chainer.core.lazy import resolve

if TYPE_CHECKING:
    from importlib.abc import MetaPathFinder
else:  # importing importlib.abc takes 15 ms
    MetaPathFinder = object

_PREFIX = "chainer."


@functools.cache
def names_by_module() -> Mapping[str, Mapping[str, str]]:
    """Returns the table: canonical name of a module -> attribute -> what it refers to.

    A reference has the form that :func:`chainer.core.lazy.resolve` takes.
    """
    # Without pathlib: "import chainer" reads this module, and that import takes milliseconds.
    with open(f"{os.path.dirname(__file__)}/imported_names.txt", encoding="utf-8") as file:
        text = file.read()
    aliases = _aliases.AliasFinder(_aliases.ALIASES)
    targets: dict[str, str] = {}
    table: dict[str, dict[str, str]] = {}
    for line in text.splitlines():
        module, colon, names = line.partition(": ")
        if not line or line.startswith("#"):
            continue
        if not colon:
            name, _, target = line.partition(" ")
            targets[name] = target
            continue
        # The canonical name of a second name may be a second name itself.
        while canonical := aliases.canonical_name(module):
            module = canonical
        # Two modules of release 7 may be one module here.
        attributes = table.setdefault(module, {})
        for word in names.split():
            name, _, target = word.partition("=")
            attributes[name] = target or targets[name]
    return table


def add_names(module: ModuleType) -> None:
    """Makes the names of release 7 attributes of a module that was imported.

    Args:
        module: A module of this package. Its own attributes, also those that it finds by a
            ``__getattr__`` of its own, are as before.
    """
    attributes = vars(module)
    own_getattr, own_dir = attributes.get("__getattr__"), attributes.get("__dir__")
    if isinstance(own_getattr, _Fallback):
        return

    def list_names() -> list[str]:
        own_names = attributes if own_dir is None else own_dir()
        return sorted({*own_names, *names_by_module().get(module.__name__, ())})

    attributes["__getattr__"] = _Fallback(module.__name__, attributes, own_getattr)
    attributes["__dir__"] = list_names


class _Fallback:
    """The ``__getattr__`` of a module.

    Args:
        module: Name of the module.
        attributes: Its attributes. A name that was found becomes one.
        own_getattr: The ``__getattr__`` that the module itself defines, or None.
    """

    def __init__(
        self, module: str, attributes: dict[str, Any], own_getattr: Callable[[str], Any] | None
    ) -> None:
        self._module = module
        self._attributes = attributes
        self._own_getattr = own_getattr

    def __call__(self, name: str) -> Any:
        if self._own_getattr is not None:
            try:
                return self._own_getattr(name)
            except AttributeError:
                if name.startswith("__") or name not in self._names():
                    raise
        elif name.startswith("__") or name not in self._names():
            # The text of Python for a module without __getattr__.
            raise AttributeError(f"module {self._module!r} has no attribute {name!r}")
        try:
            value = resolve(self._names()[name])
        except ImportError as error:
            # A package that release 7 requires and this one does not, such as six.
            raise AttributeError(
                f"module {self._module!r} has no attribute {name!r}: {error}"
            ) from error
        self._attributes[name] = value
        return value

    def _names(self) -> Mapping[str, str]:
        return names_by_module().get(self._module, {})


class NamesFinder(MetaPathFinder):
    """Finds the modules of this package as the standard finder does, and adds the names to them."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Returns the spec of a module of this package; None for others.

        Args:
            fullname: Dotted name of a module.
            path: Where to look.
            target: Not used.
        """
        if not fullname.startswith(_PREFIX):
            return None
        spec = PathFinder.find_spec(fullname, path)
        # An archive or another kind of loader is left alone: only these names are missing then.
        if spec is not None and type(spec.loader) is SourceFileLoader:
            spec.loader = _Loader(spec.loader.name, spec.loader.path)
        return spec


class _Loader(SourceFileLoader):
    def exec_module(self, module: ModuleType) -> None:
        super().exec_module(module)
        add_names(module)


def install() -> None:
    """Adds the names to all modules of this package, imported already or not; once."""
    if any(isinstance(finder, NamesFinder) for finder in sys.meta_path):
        return
    # Behind the finder of second names, before the one of files.
    sys.meta_path.insert(1, NamesFinder())
    for name, module in list(sys.modules.items()):
        if name == "chainer" or name.startswith(_PREFIX):
            add_names(module)
