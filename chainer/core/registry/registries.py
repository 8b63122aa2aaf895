"""The registries of Chainer, one for each kind of thing that a user can name.

Plugins fill them through the hooks of :mod:`chainer.plugins.hookspecs`. A registry that has a
public module (``chainer.functions`` and the like) is visible there through
:func:`chainer.core.lazy.lazy_module`.
"""

from __future__ import annotations

from chainer.core.registry.registry import EntryProvider, Registry

backends = Registry("backends")
"""Array types: name -> :class:`~chainer.core.arrays.backend.Backend`."""

operations = Registry("operations")
"""Array-level operations: name -> :class:`~chainer.core.arrays.kernel.Operation`."""

kernels = Registry("kernels")
"""Implementations of operations: ``operation/provider/array type`` ->
:class:`~chainer.core.arrays.kernel.KernelDeclaration`."""

functions = Registry("functions")
"""``chainer.functions``."""

variable_methods = Registry("variable_methods", "method of Variable")
"""Operators and methods of :class:`~chainer.Variable` that are differentiable functions."""

function_hooks = Registry("function_hooks")
"""``chainer.function_hooks``."""

distributions = Registry("distributions")
"""``chainer.distributions``."""

links = Registry("links")
"""``chainer.links``."""

link_hooks = Registry("link_hooks")
"""``chainer.link_hooks``."""

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

onnx_converters = Registry("onnx_converters", "ONNX converter")
"""Converters of function nodes to ONNX, for the distribution ``onnx-chainer``."""

communicators = Registry("communicators")
"""Connections of the processes of a program, for the distribution ``chainermn``."""

# Written down rather than collected, so that the order is that of the command line and the pages.
ALL: dict[str, Registry] = {
    registry.kind: registry
    for registry in (
        backends,
        operations,
        kernels,
        functions,
        variable_methods,
        function_hooks,
        distributions,
        links,
        link_hooks,
        initializers,
        serializers,
        optimizers,
        optimizer_hooks,
        iterators,
        datasets,
        updaters,
        extensions,
        triggers,
        onnx_converters,
        communicators,
    )
}
"""All registries by kind."""


def set_provider(provider: EntryProvider | None) -> None:
    """Sets what adds entries to all registries when they are needed; the plugin host calls this.

    Args:
        provider: The provider; None removes the present one.
    """
    for registry in ALL.values():
        registry.set_provider(provider)
