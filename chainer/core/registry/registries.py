"""The registries of Chainer, one for each kind of thing that a user can name.

Plugins fill them through the hooks of :mod:`chainer.plugins.hookspecs`. A registry that has a
public module (``chainer.functions`` and the like) is visible there through
:func:`chainer.core.lazy.lazy_module`.
"""

from __future__ import annotations

from chainer.core.registry.registry import EntryProvider, Registry
from chainer.core.registry.requirements import (
    complete_backend,
    instance_of,
    is_callable,
    subclass_of,
)

backends = Registry("backends", requirement=complete_backend)
"""Array types: name -> :class:`~chainer.core.arrays.backend.Backend`."""

operations = Registry(
    "operations",
    requirement=instance_of("chainer.core.arrays.kernel:Operation", "chainer.kernel.Operation"),
)
"""Array-level operations: name -> :class:`~chainer.core.arrays.kernel.Operation`."""

kernels = Registry(
    "kernels",
    requirement=instance_of(
        "chainer.core.arrays.kernel:KernelDeclaration", "chainer.kernel.KernelDeclaration"
    ),
)
"""Implementations of operations: ``operation/provider/array type`` ->
:class:`~chainer.core.arrays.kernel.KernelDeclaration`."""

functions = Registry(
    "functions",
    requirement=is_callable,
    underscores=False,
)
"""``chainer.functions``."""

variable_methods = Registry("variable_methods", "method of Variable", requirement=is_callable)
"""Operators and methods of :class:`~chainer.Variable` that are differentiable functions."""

function_hooks = Registry(
    "function_hooks",
    requirement=subclass_of(
        "chainer.core.autograd.function_hook:FunctionHook", "chainer.FunctionHook"
    ),
    underscores=False,
)
"""``chainer.function_hooks``."""

distributions = Registry(
    "distributions",
    requirement=subclass_of(
        "chainer.distributions.distribution:Distribution", "chainer.Distribution"
    ),
    underscores=False,
)
"""``chainer.distributions``."""

links = Registry(
    "links", requirement=subclass_of("chainer.links.link:Link", "chainer.Link"), underscores=False
)
"""``chainer.links``."""

link_hooks = Registry(
    "link_hooks",
    requirement=subclass_of("chainer.links.link_hook:LinkHook", "chainer.LinkHook"),
    underscores=False,
)
"""``chainer.link_hooks``."""

initializers = Registry(
    "initializers",
    requirement=is_callable,
    underscores=False,
)
"""``chainer.initializers``."""

serializers = Registry(
    "serializers",
    requirement=is_callable,
    underscores=False,
)
"""``chainer.serializers``."""

optimizers = Registry(
    "optimizers",
    requirement=subclass_of("chainer.training.optimizers.optimizer:Optimizer", "chainer.Optimizer"),
    underscores=False,
)
"""``chainer.optimizers``."""

optimizer_hooks = Registry(
    "optimizer_hooks",
    requirement=is_callable,
    underscores=False,
)
"""``chainer.optimizer_hooks``."""

iterators = Registry(
    "iterators",
    requirement=is_callable,
    underscores=False,
)
"""``chainer.iterators``."""

datasets = Registry(
    "datasets",
    requirement=is_callable,
    underscores=False,
)
"""``chainer.datasets``."""

updaters = Registry(
    "updaters",
    requirement=is_callable,
    underscores=False,
)
"""``chainer.training.updaters``."""

extensions = Registry(
    "extensions",
    requirement=is_callable,
    underscores=False,
)
"""``chainer.training.extensions``."""

triggers = Registry(
    "triggers",
    requirement=is_callable,
    underscores=False,
)
"""``chainer.training.triggers``."""

onnx_converters = Registry("onnx_converters", "ONNX converter", requirement=is_callable)
"""Converters of function nodes to ONNX, for the distribution ``onnx-chainer``."""

onnx_operators = Registry("onnx_operators", "ONNX operator", requirement=is_callable)
"""Functions that compute operators of ONNX, for the distribution ``onnx-chainer``."""

communicators = Registry("communicators")
"""Connections of the processes of a program, for the distribution ``chainermn``."""

model_architectures = Registry(
    "model_architectures",
    "model architecture",
    requirement=subclass_of("chainer.links.link:Link", "chainer.Link"),
)
"""Published models, by the ``model_type`` of their files, for ``chainer-models``."""

# An explicit list, because the command line and the pages of the documentation use this order.
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
        onnx_operators,
        communicators,
        model_architectures,
    )
}
"""All registries by kind."""


def set_provider(provider: EntryProvider | None) -> None:
    """Sets the provider that adds entries to all registries. The plugin host calls this.

    Args:
        provider: The provider; None removes the present one.
    """
    for registry in ALL.values():
        registry.set_provider(provider)
