"""The public names that the reference of the site documents, from the registries and modules."""

from __future__ import annotations

import importlib
import inspect
from dataclasses import dataclass
from functools import lru_cache
from importlib import metadata

from chainer import plugins
from chainer.core.lazy import lazy_module
from chainer.core.registry import registries


@dataclass(frozen=True)
class Name:
    """A public name.

    Attributes:
        public: Name as programs write it, such as ``chainer.functions.relu``.
        canonical: Module and attribute that define it, such as
            ``chainer.functions.activation.relu.relu``.
        distribution: The distribution that supplies it.
        plugin: The plugin of that distribution that registers it; empty for names of modules.
    """

    public: str
    canonical: str
    distribution: str = "chainer"
    plugin: str = ""

    @property
    def origin(self) -> str:
        """A sentence about what supplies the name, in Markdown."""
        text = f"Supplied by the distribution `{self.distribution}`"
        text += f" {metadata.version(self.distribution)}"
        return f"{text}, plugin `{self.plugin}`." if self.plugin else f"{text}."


#: Section of the reference -> registry and module of the public names.
REGISTERED = {
    "Functions": ("functions", "chainer.functions"),
    "Links": ("links", "chainer.links"),
    "Distributions": ("distributions", "chainer.distributions"),
    "Optimizers": ("optimizers", "chainer.optimizers"),
    "Optimizer hooks": ("optimizer_hooks", "chainer.optimizer_hooks"),
    "Extensions": ("extensions", "chainer.training.extensions"),
    "Triggers": ("triggers", "chainer.training.triggers"),
    "Updaters": ("updaters", "chainer.training.updaters"),
    "Datasets": ("datasets", "chainer.datasets"),
    "Iterators": ("iterators", "chainer.iterators"),
    "Initializers": ("initializers", "chainer.initializers"),
    "Serializers": ("serializers", "chainer.serializers"),
    "Function hooks": ("function_hooks", "chainer.function_hooks"),
    "Link hooks": ("link_hooks", "chainer.link_hooks"),
}

#: Packs of this repository whose names the reference has, by the names of their plugins. They have
#: to be installed.
PACKS = ("chainermn", "onnx")

#: Packages whose classes and functions have pages -> the distribution that supplies them.
PACKAGES = {
    "chainer": "chainer",
    "chainermn": "chainermn",
    "onnx_chainer": "onnx-chainer",
}

#: Section of the reference -> modules whose classes and functions it lists.
MODULES = {
    "Core": ("chainer",),
    "Backends and devices": ("chainer.backend", "chainer.backends.cuda"),
    "Training": ("chainer.training", "chainer.training.extension", "chainer.training.util"),
    "Profiler": ("chainer.profiler",),
    "Schedules": ("chainer.training.schedules",),
    "Data": ("chainer.dataset",),
    "Image transforms": ("chainer.datasets.transforms",),
    "Computational graphs": ("chainer.computational_graph",),
    "Utilities": ("chainer.utils", "chainer.utils.type_check"),
    "Testing": ("chainer.testing", "chainer.gradient_check"),
    "Plugins": ("chainer.plugins", "chainer.kernel"),
    "Many machines": ("chainermn",),
    "ONNX": ("onnx_chainer",),
}


@lru_cache(maxsize=1)
def sections() -> dict[str, list[Name]]:
    """Returns the sections of the reference, and the names of each in alphabetical order."""
    for pack in PACKS:
        plugins.load(pack)
    found: dict[str, list[Name]] = {}
    for section, modules in MODULES.items():
        names = {name.public: name for module in modules for name in _names_of(module)}
        found[section] = [names[key] for key in sorted(names, key=str.lower)]
    for section, (kind, module) in REGISTERED.items():
        registry = getattr(registries, kind)
        names = [_registered(registry, module, name) for name in registry.names()]
        found[section] = sorted(
            (name for name in names if name is not None), key=lambda name: name.public.lower()
        )
    return found


@lru_cache(maxsize=1)
def main_names() -> dict[str, Name]:
    """Returns the name under which each object is documented, by the canonical name.

    An object with several public names is documented under the first one; under a registered one
    if there is one.
    """
    found: dict[str, Name] = {}
    everything = [name for names in sections().values() for name in names]
    for name in sorted(everything, key=lambda name: not name.plugin):
        found.setdefault(name.canonical, name)
    return found


@lru_cache(maxsize=1)
def link_targets() -> dict[str, str]:
    """Returns the canonical name of each public name: links lead to canonical names."""
    return {name.public: name.canonical for names in sections().values() for name in names}


def slug(section: str) -> str:
    """Returns the folder of a section in the reference."""
    return section.lower().replace(" ", "-")


@lru_cache(maxsize=1)
def _pages() -> dict[str, str]:
    return {
        name.public: f"reference/{slug(section)}/{name.public}.md"
        for section, names in sections().items()
        for name in names
    }


def page_of(public: str) -> str:
    """Returns the path of the page of a public name, from the root of the documentation."""
    return _pages()[public]


def value_of(public: str) -> object:
    """Returns the object of a public name."""
    module, _, attribute = public.rpartition(".")
    return getattr(importlib.import_module(module), attribute)


def _registered(registry: registries.Registry, module: str, name: str) -> Name | None:
    value = registry.get(name)
    canonical = _canonical(value)
    if canonical is None or not hasattr(importlib.import_module(module), name):
        return None
    provenance = registry.entry(name).provenance
    assert provenance is not None  # what the site documents comes from packs
    return Name(f"{module}.{name}", canonical, provenance.distribution, provenance.entry_point)


def _names_of(module_name: str) -> list[Name]:
    """Returns the classes and functions of a module that are written in Chainer.

    Those in its ``__all__``. Without it, a package has all its names, and another module those that
    it defines: what it imports for its own use is documented elsewhere.
    """
    module = importlib.import_module(module_name)
    listed = getattr(module, "__all__", None)
    has_all = listed is not None or hasattr(module, "__path__")
    own = (module_name, module.__name__)
    found: list[Name] = []
    for name in listed or dir(module):
        canonical = None if name.startswith("_") else _canonical(getattr(module, name, None))
        if canonical is not None and (has_all or canonical.rpartition(".")[0] in own):
            distribution = PACKAGES[module_name.partition(".")[0]]
            found.append(Name(f"{module_name}.{name}", canonical, distribution))
    return found


def _canonical(value: object) -> str | None:
    """Returns where a class or function is defined; None for other objects and other packages."""
    value = inspect.unwrap(value) if callable(value) else value
    if not (inspect.isclass(value) or inspect.isroutine(value)):
        return None
    module, qualified = getattr(value, "__module__", ""), getattr(value, "__qualname__", "")
    if module.partition(".")[0] not in PACKAGES or "<" in qualified:
        return None
    if value is lazy_module:  # machinery, which lazy modules have in their namespace
        return None
    return f"{module}.{qualified}"
