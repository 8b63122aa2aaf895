"""The hooks a pack may implement.

A pack is a module (or object) named by an entry point of group ``chainer``. Its functions of these
names are called: one hook for each registry, which gets a
:class:`~chainer.plugins.staging.PackRegistry` to register names in, and some events. Every hook is
optional. Arguments a pack does not need may be left out; arguments are only ever added. A pack must
be light: it names what it supplies as ``"module:attribute"`` and imports none of it.

Example:
    A whole pack, ``chainer_swish/pack.py``::

        chainer_api = 1

        def chainer_functions(registry):
            registry.register("swish2", "chainer_swish.functions:swish2")

    and its entry point in ``pyproject.toml``::

        [project.entry-points.chainer]
        swish = "chainer_swish.pack"
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pluggy

if TYPE_CHECKING:
    from chainer.plugins.staging import PackRegistry

PREFIX = "chainer_"
"""Names of all hooks begin like this, and with the name of a registry go on."""

hookspec = pluggy.HookspecMarker("chainer")
hookimpl = pluggy.HookimplMarker("chainer")


@hookspec
def chainer_backends(registry: PackRegistry) -> None:
    """Registers array types: name -> :class:`~chainer.backend.Backend` instance."""


@hookspec
def chainer_operations(registry: PackRegistry) -> None:
    """Registers array-level operations: name -> :class:`~chainer.kernel.Operation`."""


@hookspec
def chainer_kernels(registry: PackRegistry) -> None:
    """Registers implementations of operations.

    Call ``chainer.kernel.register_kernel(Kernel(...), registry)`` for each. A kernel for an
    array type that has one already serves only those who enable its provider.
    """


@hookspec
def chainer_functions(registry: PackRegistry) -> None:
    """Registers functions: they become attributes of ``chainer.functions``."""


@hookspec
def chainer_variable_methods(registry: PackRegistry) -> None:
    """Registers functions behind operators and methods of :class:`~chainer.Variable`."""


@hookspec
def chainer_function_hooks(registry: PackRegistry) -> None:
    """Registers function hooks: they become attributes of ``chainer.function_hooks``."""


@hookspec
def chainer_distributions(registry: PackRegistry) -> None:
    """Registers :class:`~chainer.Distribution` classes: attributes of ``chainer.distributions``."""


@hookspec
def chainer_links(registry: PackRegistry) -> None:
    """Registers :class:`~chainer.Link` classes: attributes of ``chainer.links``."""


@hookspec
def chainer_link_hooks(registry: PackRegistry) -> None:
    """Registers :class:`~chainer.LinkHook` classes: attributes of ``chainer.link_hooks``."""


@hookspec
def chainer_initializers(registry: PackRegistry) -> None:
    """Registers :class:`~chainer.Initializer` classes: attributes of ``chainer.initializers``."""


@hookspec
def chainer_serializers(registry: PackRegistry) -> None:
    """Registers what saves and loads: attributes of ``chainer.serializers``."""


@hookspec
def chainer_optimizers(registry: PackRegistry) -> None:
    """Registers :class:`~chainer.Optimizer` classes: attributes of ``chainer.optimizers``."""


@hookspec
def chainer_optimizer_hooks(registry: PackRegistry) -> None:
    """Registers hooks of optimizers: attributes of ``chainer.optimizer_hooks``."""


@hookspec
def chainer_iterators(registry: PackRegistry) -> None:
    """Registers :class:`~chainer.dataset.Iterator` classes: attributes of ``chainer.iterators``."""


@hookspec
def chainer_datasets(registry: PackRegistry) -> None:
    """Registers datasets and functions that fetch them: attributes of ``chainer.datasets``."""


@hookspec
def chainer_updaters(registry: PackRegistry) -> None:
    """Registers updaters: attributes of ``chainer.training.updaters``."""


@hookspec
def chainer_extensions(registry: PackRegistry) -> None:
    """Registers trainer extensions: attributes of ``chainer.training.extensions``."""


@hookspec
def chainer_triggers(registry: PackRegistry) -> None:
    """Registers trainer triggers: attributes of ``chainer.training.triggers``."""


@hookspec
def chainer_trainer_start(trainer: Any) -> None:
    """Called when a trainer begins to run, before its extensions are initialised.

    Events reach only plugins that the user asked for: registered at run time, loaded with
    ``chainer.plugins.load``, or named in ``CHAINER_ENABLE_PLUGINS``. Installing a package changes
    nothing.
    """


@hookspec
def chainer_trainer_end(trainer: Any) -> None:
    """Called when a trainer has stopped, also after an error.

    See :func:`chainer_trainer_start` for who is called.
    """
