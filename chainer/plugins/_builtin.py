"""The packs of Chainer itself.

``PACKS`` repeats ``[project.entry-points.chainer]`` of pyproject.toml, so that a checkout on
PYTHONPATH, which has no metadata, works as an installed one does; a test compares the two.
``FILLS`` says which registries each of them fills, so that the first use of a registry loads what
belongs to it and no more.
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
