"""Second names of modules: public names for modules that are implemented elsewhere in ``chainer``.

``chainer.optimizers`` is the same module object as ``chainer.training.optimizers``, its canonical
name, and the same holds for the modules below it: ``chainer.optimizers.adam`` is
``chainer.training.optimizers.adam``. It does not matter which name is imported first. So imports,
``isinstance`` and pickles agree. The ``__name__`` of a module is its canonical name.

This module is the only place where the names are written. The attributes of ``chainer`` and the
type stubs (``scripts/make_stubs.py``) are made from it.
"""

from __future__ import annotations

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
    # Private, but client libraries read ``chainer._backend.Device``.
    "chainer._backend": "chainer.core.arrays.device",
    "chainer._backprop": "chainer.core.autograd.grad",
    "chainer._backprop_utils": "chainer.core.autograd.backprop_utils",
    "chainer._environment_check": "chainer.core.environment_check",
    "chainer._runtime_info": "chainer.core.runtime_info",
    "chainer._version": "chainer.core.version",
    "chainer.array": "chainer.functions.array",
    "chainer.backend": "chainer.core.arrays.backend",
    # The recorder of a backend, and backpropagation that tells when a gradient is complete: for
    # packs.
    "chainer.backends.recorder": "chainer.core.arrays.recorder",
    "chainer.backprop": "chainer.core.autograd.backprop",
    "chainer.basic_math": "chainer.functions.math.basic_math",
    "chainer.computational_graph": "chainer.core.autograd.computational_graph",
    "chainer.configuration": "chainer.core.config.configuration",
    # Public as chainer.utils.sparse. Sparse matrices contain Variables, which are above the
    # utilities in the order of imports.
    "chainer.core.utils.sparse": "chainer.core.autograd.sparse",
    # Modules of release 7 whose names belong to functions here.
    "chainer.core.utils.experimental": "chainer.core.utils._experimental",
    "chainer.core.utils.nondeterministic": "chainer.core.utils._nondeterministic",
    "chainer.cuda": "chainer.backends.cuda",
    "chainer.dataset": "chainer.training.dataset",
    "chainer.dataset.tabular.from_data": "chainer.training.dataset.tabular.data_sources",
    "chainer.datasets": "chainer.training.datasets",
    "chainer.device": "chainer.core.arrays.device",
    "chainer.device_resident": "chainer.core.arrays.device_resident",
    "chainer.distribution": "chainer.distributions.distribution",
    "chainer.exporters": "chainer.links.caffe.exporters",
    "chainer.function": "chainer.core.autograd.function",
    "chainer.function_hook": "chainer.core.autograd.function_hook",
    "chainer.function_hooks": "chainer.functions.hooks",
    "chainer.function_node": "chainer.core.autograd.function_node",
    "chainer.functions.activation.lstm": "chainer.functions.rnn.lstm",
    "chainer.functions.activation.slstm": "chainer.functions.rnn.slstm",
    "chainer.functions.activation.tree_lstm": "chainer.functions.rnn.tree_lstm",
    "chainer.functions.array.fliplr": "chainer.functions.array.flip",
    "chainer.functions.array.flipud": "chainer.functions.array.flip",
    "chainer.functions.connection.n_step_gru": "chainer.functions.rnn.n_step_gru",
    "chainer.functions.connection.n_step_lstm": "chainer.functions.rnn.n_step_lstm",
    "chainer.functions.connection.n_step_rnn": "chainer.functions.rnn.n_step_rnn",
    "chainer.functions.math.erfc": "chainer.functions.math.erf",
    "chainer.gradient_check": "chainer.testing.gradient_check",
    "chainer.graph_optimizations": "chainer.training.capturing",
    "chainer.initializer": "chainer.links.initializer",
    "chainer.initializers": "chainer.links.initializers",
    "chainer.iterators": "chainer.training.iterators",
    "chainer.kernel": "chainer.core.arrays.kernel",
    # Calls without a graph, for packs whose functions are called hundreds of times for a token.
    "chainer.known_calls": "chainer.core.autograd.known_calls",
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
    "chainer.memory_layouts": "chainer.core.autograd.memory_layouts",
    "chainer.optimizer": "chainer.training.optimizers.optimizer",
    "chainer.optimizer_hooks": "chainer.training.optimizers.hooks",
    "chainer.optimizers": "chainer.training.optimizers",
    "chainer.profiler": "chainer.functions.hooks.profiler",
    "chainer.reporter": "chainer.core.reporting.reporter",
    "chainer.sequential": "chainer.links.sequential",
    "chainer.serializer": "chainer.links.serializer",
    "chainer.serializers": "chainer.links.serializers",
    "chainer.testing._bundle": "chainer.testing.bundle",
    "chainer.testing._distribution_test": "chainer.testing.distribution_test",
    "chainer.training._updater": "chainer.training.updater",
    "chainer.training.accumulator": "chainer.training.extensions.accumulator",
    "chainer.training.schedules": "chainer.training.optimizers.schedules",
    "chainer.training.triggers.interval_trigger": "chainer.training.trigger",
    "chainer.training.util": "chainer.training.trigger",
    "chainer.types": "chainer.core.types",
    "chainer.typing": "chainer.core.typing",
    "chainer.utils": "chainer.core.utils",
    "chainer.variable": "chainer.core.autograd.variables",
    "chainer.warnings": "chainer.core.warnings",
}
"""Second name of a module -> its canonical name, under which it is implemented."""

DOCUMENTED_SUBMODULES: dict[str, tuple[str, ...]] = {
    "chainer.dataset": ("convert", "dataset_mixin", "download", "iterator", "tabular"),
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
    "chainer.utils": (
        "argument",
        "atomic_file",
        "conv",
        "conv_nd",
        "meta",
        "sparse",
        "type_check",
        "walker_alias",
    ),
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
    """Finds modules under their second names.

    Args:
        aliases: Second name -> canonical name. All second names begin with the same package.
    """

    def __init__(self, aliases: Mapping[str, str]) -> None:
        self.aliases = dict(aliases)
        self._prefix = next(iter(self.aliases)).partition(".")[0] + "."

    def canonical_name(self, name: str) -> str | None:
        """Returns the canonical name of a module, given its second name; None if it has only one.

        Args:
            name: Dotted name of a module, which may be below a second name.
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
        """Returns a spec for a second name; None for other names.

        Args:
            fullname: Dotted name of a module.
            path: Not used.
            target: Not used.
        """
        if not fullname.startswith(self._prefix):
            return None
        canonical = self.canonical_name(fullname)
        return None if canonical is None else ModuleSpec(fullname, _AliasLoader(canonical))


class _AliasLoader(Loader):
    """Puts the module of a canonical name into ``sys.modules`` under its second name."""

    def __init__(self, canonical: str) -> None:
        self._canonical = canonical

    def create_module(self, spec: ModuleSpec) -> None:
        """Leaves the creation of an empty module to the import system."""

    def exec_module(self, module: ModuleType) -> None:
        # The import system has made an empty module for the second name. The real module replaces
        # it in sys.modules, as any module may replace itself. (If its contents were copied into the
        # empty module, there would be two modules.) The empty one is removed before the import, so
        # that a circular import finds the real module, although it is not complete yet.
        from chainer.core.imports import import_module, patiently

        name = module.__name__
        del sys.modules[name]
        try:
            real = patiently(lambda: import_module(self._canonical))
        except ModuleNotFoundError as error:
            sys.modules[name] = module  # the import system expects it there and removes it
            if not f"{self._canonical}.".startswith(f"{error.name}."):
                raise
            raise ModuleNotFoundError(
                f"No module named {name!r} (which is {self._canonical!r})", name=name
            ) from error
        except BaseException:
            sys.modules[name] = module
            raise
        sys.modules[name] = real


def install() -> None:
    """Makes the second names importable. A second call has no effect."""
    # At the front of the list: the finder of files would find chainer.optimizers.adam in the folder
    # of its parent and load it a second time. For other packages an import costs one
    # str.startswith() more.
    if not any(isinstance(finder, AliasFinder) for finder in sys.meta_path):
        sys.meta_path.insert(0, AliasFinder(ALIASES))
