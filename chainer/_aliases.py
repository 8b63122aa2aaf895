"""Public module names whose code lives in a room of the house.

``chainer.optimizers`` is the very module object ``chainer.training.optimizers``, and so is
everything below it (``chainer.optimizers.adam`` is ``chainer.training.optimizers.adam``), whichever
name is imported first. Imports, ``isinstance`` and pickles therefore agree. A module knows itself
by the name of its home.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Mapping, Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from importlib.abc import Loader, MetaPathFinder
else:  # importing importlib.abc takes 15 ms
    Loader = MetaPathFinder = object

ALIASES: dict[str, str] = {
    "chainer.backend": "chainer.core.arrays.backend",
    "chainer.computational_graph": "chainer.training.computational_graph",
    "chainer.configuration": "chainer.core.config.configuration",
    "chainer.cuda": "chainer.backends.cuda",
    "chainer.dataset": "chainer.training.dataset",
    "chainer.datasets": "chainer.training.datasets",
    "chainer.device": "chainer.core.arrays.device",
    "chainer.device_resident": "chainer.core.arrays.device_resident",
    "chainer.distribution": "chainer.distributions.distribution",
    "chainer.exporters": "chainer.links.caffe.exporters",
    "chainer.function": "chainer.core.autograd.function",
    "chainer.function_hook": "chainer.core.autograd.function_hook",
    "chainer.function_hooks": "chainer.functions.hooks",
    "chainer.function_node": "chainer.core.autograd.function_node",
    "chainer.gradient_check": "chainer.testing.gradient_check",
    "chainer.initializer": "chainer.links.initializer",
    "chainer.initializers": "chainer.links.initializers",
    "chainer.iterators": "chainer.training.iterators",
    "chainer.kernel": "chainer.core.arrays.kernel",
    "chainer.link": "chainer.links.link",
    "chainer.link_hook": "chainer.links.link_hook",
    "chainer.link_hooks": "chainer.links.hooks",
    "chainer.links.connection.gru": "chainer.links.rnn.gru",
    "chainer.links.connection.lstm": "chainer.links.rnn.lstm",
    "chainer.links.connection.mgu": "chainer.links.rnn.mgu",
    "chainer.links.connection.n_step_gru": "chainer.links.rnn.n_step_gru",
    "chainer.links.connection.n_step_lstm": "chainer.links.rnn.n_step_lstm",
    "chainer.links.connection.n_step_rnn": "chainer.links.rnn.n_step_rnn",
    "chainer.links.connection.peephole": "chainer.links.rnn.peephole",
    "chainer.links.connection.tree_lstm": "chainer.links.rnn.tree_lstm",
    "chainer.links.connection.zoneoutlstm": "chainer.links.rnn.zoneoutlstm",
    "chainer.optimizer": "chainer.training.optimizer",
    "chainer.optimizer_hooks": "chainer.training.optimizer_hooks",
    "chainer.optimizers": "chainer.training.optimizers",
    "chainer.reporter": "chainer.core.reporting.reporter",
    "chainer.sequential": "chainer.links.sequential",
    "chainer.serializer": "chainer.links.serializer",
    "chainer.serializers": "chainer.links.serializers",
    "chainer.types": "chainer.core.types",
    "chainer.typing": "chainer.core.typing",
    "chainer.utils": "chainer.core.utils",
    "chainer.utils.sparse": "chainer.core.autograd.sparse",
    "chainer.variable": "chainer.core.autograd.variables",
    "chainer.warnings": "chainer.core.warnings",
}
"""Second name of a module -> its canonical name, under which it is implemented."""

DOCUMENTED_SUBMODULES: dict[str, tuple[str, ...]] = {
    "chainer.dataset": ("convert", "dataset_mixin", "download", "iterator"),
    "chainer.datasets": (
        "image_dataset",
        "mnist",
        "sub_dataset",
        "transform_dataset",
        "tuple_dataset",
    ),
    "chainer.exporters": ("caffe",),
    "chainer.optimizers": (
        "ada_delta",
        "ada_grad",
        "adam",
        "corrected_momentum_sgd",
        "momentum_sgd",
        "msvag",
        "nesterov_ag",
        "rmsprop",
        "rmsprop_graves",
        "sgd",
        "smorms3",
    ),
    "chainer.utils": ("argument", "atomic_file", "conv", "conv_nd", "type_check", "walker_alias"),
}
"""Modules below a second name that programs import by that name, for type checkers.

At run time every module below a second name can be imported; this table only decides which of them
have a type stub.
"""


def top_level() -> list[str]:
    """Returns the second names that are attributes of ``chainer`` itself, without the prefix."""
    names = [name.removeprefix("chainer.") for name in ALIASES]
    return [name for name in names if "." not in name]


class AliasFinder(MetaPathFinder):
    """Finds modules under their public names.

    Args:
        aliases: Public name -> home. All public names begin with the same package.
    """

    def __init__(self, aliases: Mapping[str, str]) -> None:
        self.aliases = dict(aliases)
        self._prefix = next(iter(self.aliases)).partition(".")[0] + "."

    def home(self, name: str) -> str | None:
        """Returns the name of the home of a public module name, or None if it lives where it says.

        Args:
            name: Dotted module name; modules below a public name are found, too.
        """
        head, rest = name, ""
        while head:
            if head in self.aliases:
                return self.aliases[head] + rest
            head, _, last = head.rpartition(".")
            rest = f".{last}{rest}"
        return None

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Returns a spec for a public name; None for all others."""
        if not fullname.startswith(self._prefix):
            return None
        home = self.home(fullname)
        return None if home is None else ModuleSpec(fullname, _AliasLoader(home))


class _AliasLoader(Loader):
    """Puts the module of the home into ``sys.modules`` under the public name."""

    def __init__(self, home: str) -> None:
        self._home = home

    def create_module(self, spec: ModuleSpec) -> None:
        """Leaves making an empty module to the import system."""

    def exec_module(self, module: ModuleType) -> None:
        # The import system made an empty module for the public name. It is replaced, as any module
        # may replace itself, and not filled: so the real one keeps its own __spec__ and __loader__.
        # It goes away before the import, so that a circular import finds the real module, half done
        # as it is.
        name = module.__name__
        del sys.modules[name]
        try:
            real = importlib.import_module(self._home)
        except ModuleNotFoundError as error:
            sys.modules[name] = module  # the import system removes it
            if not f"{self._home}.".startswith(f"{error.name}."):
                raise
            raise ModuleNotFoundError(
                f"No module named {name!r} (which is {self._home!r})", name=name
            ) from error
        except BaseException:
            sys.modules[name] = module
            raise
        sys.modules[name] = real


def install() -> None:
    """Makes the public names importable. Has no effect the second time."""
    # First, because the finder of files would find chainer.optimizers.adam by the path of its
    # parent and load it a second time. Other packages pay one str.startswith per import.
    if not any(isinstance(finder, AliasFinder) for finder in sys.meta_path):
        sys.meta_path.insert(0, AliasFinder(ALIASES))
