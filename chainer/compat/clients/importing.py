"""Loads the modules of the enabled packages with the removed names restored."""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import os
import sys
from collections.abc import Mapping, Sequence
from importlib.machinery import ModuleSpec, SourceFileLoader
from types import CodeType, ModuleType

from chainer.compat.clients import modules
from chainer.compat.clients.rewriting import GLOBALS, compile_source
from chainer.core.config.configuration import global_config

#: Environment variable with import names of packages, separated by commas.
VARIABLE = "CHAINER_COMPAT_CLIENTS"


class RestoringLoader(SourceFileLoader):
    """Loads a module from its source file, with the lookups of removed names replaced."""

    def get_code(self, fullname: str) -> CodeType:
        """Returns the code of the module.

        Bytecode files are neither read nor written: they contain the module as it is without the
        replacement.
        """
        path = self.get_filename(fullname)
        return compile_source(self.get_data(path), path)

    def exec_module(self, module: ModuleType) -> None:
        """Executes the code of the module; it finds the lookup functions among its globals."""
        vars(module).update(GLOBALS)
        super().exec_module(module)


class _ReplacementLoader(importlib.abc.Loader):
    """Loads one of our modules under the name of a module that an enabled package lacks."""

    def __init__(self, replacement: str) -> None:
        self._replacement = replacement

    def create_module(self, spec: ModuleSpec) -> None:
        return None

    def exec_module(self, module: ModuleType) -> None:
        source = importlib.import_module(self._replacement)
        for name in source.__all__:
            setattr(module, name, getattr(source, name))


class ClientFinder(importlib.abc.MetaPathFinder):
    """Finds the modules of the enabled packages before all other finders do."""

    def __init__(self) -> None:
        self.packages: set[str] = set()

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Returns the spec that the other finders have, with a loader that restores names."""
        if fullname.partition(".")[0] not in self.packages:
            return None
        spec = self._spec_of_others(fullname, path, target)
        if spec is None:
            replacement = modules.REPLACEMENTS.get(fullname)
            if replacement is None:
                return None
            return ModuleSpec(fullname, _ReplacementLoader(replacement))
        # Compiled modules and namespace packages have no source to change.
        if type(spec.loader) is SourceFileLoader:
            spec.loader = RestoringLoader(spec.loader.name, spec.loader.path)
        return spec

    def _spec_of_others(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None
    ) -> ModuleSpec | None:
        for finder in sys.meta_path:
            if finder is self:
                continue
            spec = finder.find_spec(fullname, path, target)
            if spec is not None:
                return spec
        return None


_finder = ClientFinder()


def enable(*packages: str, cast_inputs: bool = False) -> None:
    """Restores removed names for the modules of some packages.

    Args:
        packages (str): Import names of top-level packages, such as ``"chainercv"``. They must not
            be imported yet. A package that is enabled already may be named again.
        cast_inputs (bool): Whether to set ``chainer.global_config.cast_inputs``, for packages whose
            arrays become float64 with NumPy 2.

    Raises:
        ValueError: If a name does not belong to a top-level package.
        RuntimeError: If a package has been imported already.

    .. admonition:: Example

        >>> from chainer.compat import clients
        >>> clients.enable("some_old_package")
        >>> clients.enabled()
        ('some_old_package',)
        >>> clients.disable("some_old_package")

    """
    for package in packages:
        if not isinstance(package, str) or not package.isidentifier():
            raise ValueError(
                f"packages must be import names of top-level packages, got {package!r}"
            )
        if package not in _finder.packages and package in sys.modules:
            raise RuntimeError(
                f"{package} has been imported already; call "
                f'chainer.compat.clients.enable("{package}") before'
            )
    _add(packages)
    if cast_inputs:
        global_config.cast_inputs = True


def disable(*packages: str) -> None:
    """Ends :func:`enable` for some packages.

    Modules that are imported already keep the restored names.

    Args:
        packages (str): Import names of packages; all enabled ones by default.
    """
    _finder.packages -= set(packages or _finder.packages)
    if not _finder.packages and _finder in sys.meta_path:
        sys.meta_path.remove(_finder)


def enabled() -> tuple[str, ...]:
    """Returns the import names of the enabled packages, in alphabetical order."""
    return tuple(sorted(_finder.packages))


def enable_from_environment(environment: Mapping[str, str] = os.environ) -> None:
    """Enables the packages named by the environment variable ``CHAINER_COMPAT_CLIENTS``.

    A package that is being imported may be the one that imports Chainer, so a package in
    ``sys.modules`` is not an error here: the modules that it has still to import are affected.

    Args:
        environment (dict): The environment variables.
    """
    _add([name.strip() for name in environment.get(VARIABLE, "").split(",") if name.strip()])


def _add(packages: Sequence[str]) -> None:
    _finder.packages.update(packages)
    if _finder.packages and _finder not in sys.meta_path:
        sys.meta_path.insert(0, _finder)
