"""The packages that Chainer up to release 7 installed or contained, and that others rely on.

Packages such as ChainerCV import six or filelock without requiring them, because every installation
of Chainer had them. Chainer 8 does not need them: ``pip install "chainer[clients]"`` installs them.
The import error of a missing one says so. ``chainermn`` and ``onnx_chainer``, which release 7
contains, are distributions of their own.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from importlib.abc import MetaPathFinder
else:  # importing importlib.abc takes 15 ms
    MetaPathFinder = object

#: Import names of the packages in the extra ``chainer[clients]``.
MODULES = frozenset(
    {"filelock", "google.protobuf", "pkg_resources", "setuptools", "six", "typing_extensions"}
)

#: Import names of packages that release 7 contains, and the extras that install them.
PACKS = {"chainermn": "mpi", "onnx_chainer": "onnx"}

#: Function of importlib that looks for a module on behalf of an import statement.
_IMPORT_STATEMENT = "_find_and_load_unlocked"


class MissingDependencyFinder(MetaPathFinder):
    """Finder that finds nothing, and explains the import error of a missing dependency.

    It is the last one in ``sys.meta_path``, so it is asked only when an import fails.
    """

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Raises ModuleNotFoundError for a package of the tables; returns None for others."""
        # The parent package ``google`` of protobuf belongs to other distributions, too.
        known = fullname in MODULES or fullname in PACKS
        if not known or self._found_by_others(fullname, path, target):
            return None
        # importlib.util.find_spec() asks whether a module exists, and expects None.
        if sys._getframe(2).f_code.co_name != _IMPORT_STATEMENT:
            return None
        from chainer.core.installation import install_command  # only for the message

        if fullname in PACKS:
            raise ModuleNotFoundError(
                f"No module named '{fullname}'; Chainer 7 contained it, now it is a distribution "
                f"of its own: {install_command(f'chainer[{PACKS[fullname]}]')}",
                name=fullname,
            )
        raise ModuleNotFoundError(
            f"No module named '{fullname}'; Chainer up to release 7 installed it, and packages "
            f"written for Chainer may need it: {install_command('chainer[clients]')}",
            name=fullname,
        )

    def _found_by_others(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None
    ) -> bool:
        """Whether a finder that was added after this one finds the module."""
        others = sys.meta_path[sys.meta_path.index(self) + 1 :]
        return any(finder.find_spec(fullname, path, target) is not None for finder in others)


def install() -> None:
    """Adds the finder to ``sys.meta_path``, once."""
    if not any(isinstance(finder, MissingDependencyFinder) for finder in sys.meta_path):
        sys.meta_path.append(MissingDependencyFinder())
