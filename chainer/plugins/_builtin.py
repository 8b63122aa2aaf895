"""The packs of Chainer itself.

``PACKS`` repeats ``[project.entry-points.chainer]`` of pyproject.toml, because a checkout on
PYTHONPATH has no metadata. A test compares the two. ``FILLS`` lists the registries that each pack
fills, so that the first use of a registry loads only the packs that fill it.
"""

from __future__ import annotations

PACKS: dict[str, str] = {
    "numpy": "chainer.backends.numpy.pack",
    "cupy": "chainer.backends.cupy.pack",
    "ideep": "chainer.backends.ideep.pack",
    "functions": "chainer.functions.pack",
    "distributions": "chainer.distributions.pack",
    "links": "chainer.links.pack",
    "training": "chainer.training.pack",
}

FILLS: dict[str, frozenset[str]] = {
    "numpy": frozenset({"backends", "operations"}),
    "cupy": frozenset({"backends", "kernels"}),
    "ideep": frozenset({"backends", "kernels"}),
    "functions": frozenset({"functions", "variable_methods", "function_hooks"}),
    "distributions": frozenset({"distributions"}),
    "links": frozenset({"links", "link_hooks", "initializers", "serializers"}),
    "training": frozenset(
        {
            "optimizers",
            "optimizer_hooks",
            "iterators",
            "datasets",
            "updaters",
            "extensions",
            "triggers",
        }
    ),
}
