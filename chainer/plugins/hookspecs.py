"""The hooks that a pack may implement.

A pack is a module (or object) named by an entry point of group ``chainer``. Its functions with the
names of hooks are called. There is one hook for each registry, which gets a
:class:`~chainer.plugins.staging.PackRegistry` to register names in, and some hooks for events.
An entry with ``override=True`` replaces a name only if the user enabled the plugin. Every
hook is optional. A pack may leave out arguments that it does not need; later versions only add
arguments. A pack must be light: it refers to what it supplies as ``"module:attribute"`` and
does not import it.

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

from typing import TYPE_CHECKING

import pluggy

# For checkers only: a pack that imports this module must stay light.
if TYPE_CHECKING:
    from chainer.plugins.staging import PackRegistry
    from chainer.training.trainer import Trainer

PREFIX = "chainer_"
"""Prefix of all hooks. The name of a registry, or of an event, follows."""

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

    Call ``chainer.kernel.register_kernel(KernelDeclaration(...), registry)`` for each. If the array
    type has a kernel already, another one is used only if the user enables its provider.
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
    """Registers functions and classes that save and load: attributes of ``chainer.serializers``."""


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
def chainer_onnx_converters(registry: PackRegistry) -> None:
    """Registers converters to ONNX, by the names of the classes of function nodes.

    The distribution ``onnx-chainer`` asks for them when an export meets the function.
    """


@hookspec
def chainer_onnx_operators(registry: PackRegistry) -> None:
    """Registers functions that compute operators of ONNX, by the names of the operators.

    Names of other domains than ONNX's own begin with the domain and a dot, such as
    ``"com.example.Swish2"``. The distribution ``onnx-chainer`` asks for them when it loads a model
    that has the operator.
    """


@hookspec
def chainer_communicators(registry: PackRegistry) -> None:
    """Registers communicators: name -> class, called with a communicator of mpi4py.

    ``chainermn.create_communicator`` of the distribution ``chainermn`` makes them by name.
    """


@hookspec
def chainer_model_architectures(registry: PackRegistry) -> None:
    """Registers architectures of published models: ``model_type`` -> class.

    The class derives from ``chainer_models.Model`` of the distribution ``chainer-models``, which
    makes it of the options in a file ``config.json``.
    """


@hookspec
def chainer_trainer_start(trainer: Trainer) -> None:
    """Called when a trainer begins to run, before its extensions are initialized.

    Event hooks are called only for plugins that the user enabled: registered at run time, enabled
    by ``chainer.plugins.enable`` or ``chainer.config.enable_plugins``, or named in
    ``CHAINER_ENABLE_PLUGINS``. Installing a package does not change what a program does.
    """


@hookspec
def chainer_trainer_end(trainer: Trainer) -> None:
    """Called when a trainer has stopped, also after an error.

    See :func:`chainer_trainer_start` for the plugins it is called for.
    """
