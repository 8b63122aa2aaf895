"""Writes the type stubs (``.pyi``) of the modules whose attributes exist only at run time.

Type checkers and editors do not run code, so they need stubs in two cases:

- ``chainer.functions``, ``chainer`` and the like get their attributes from a registry or a table
  (``chainer.core.lazy.lazy_module``);
- ``chainer.optimizers`` and the like are second names of modules that are implemented elsewhere
  (``chainer._aliases``).

All stubs are in ``stubs/chainer-stubs``, a partial stub package as in PEP 561, which checkers read
together with ``chainer``. The wheel contains both. There are no stubs beside the code: pyright does
not read them if there is a partial stub package.

    python scripts/make_stubs.py            writes the stubs
    python scripts/make_stubs.py --check    exits with 1 if a stub is outdated
"""

from __future__ import annotations

import argparse
import ast
import importlib
import importlib.util
import pkgutil
import sys
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import chainer  # noqa: E402
from chainer import _aliases  # noqa: E402
from chainer.plugins import _builtin  # noqa: E402

HEADER = "# Written by scripts/make_stubs.py. Do not edit.\n"
WIDTH = 100

#: The stub package.
STUB_PACKAGE = Path("stubs", "chainer-stubs")

#: Hook of a pack -> module whose attributes are what the hook registers.
SHOWN_BY = {
    "chainer_functions": "chainer.functions",
    "chainer_function_hooks": "chainer.functions.hooks",
    "chainer_link_hooks": "chainer.links.hooks",
    "chainer_distributions": "chainer.distributions",
    "chainer_links": "chainer.links",
    "chainer_serializers": "chainer.links.serializers",
    "chainer_optimizers": "chainer.training.optimizers",
    "chainer_optimizer_hooks": "chainer.training.optimizers.hooks",
    "chainer_iterators": "chainer.training.iterators",
    "chainer_datasets": "chainer.training.datasets",
    "chainer_updaters": "chainer.training.updaters",
    "chainer_extensions": "chainer.training.extensions",
    "chainer_triggers": "chainer.training.triggers",
    "chainer_operations": "chainer.backends.operations",
}

#: Modules whose attributes are listed in a table of theirs, ``_NAMES`` (name -> module).
TABLES = ("chainer.core.utils", "chainer.testing", "chainer.training")

OTHERS = """
# Installed packs register more names.
def __getattr__(name: str) -> Any: ...
"""


class _Collector:
    """A replacement for a registry that remembers what a pack registers."""

    def __init__(self) -> None:
        self.targets: dict[str, str] = {}

    def register(self, name: str, target: str) -> None:
        self.targets[name] = target


def reexport(module: str, names: Iterable[str]) -> str:
    """Returns the import that shows names of a module under the same names."""
    items = [f"{name} as {name}" for name in sorted(names)]
    line = f"from {module} import {', '.join(items)}\n"
    if len(line) <= WIDTH + 1:
        return line
    return f"from {module} import (\n" + "".join(f"    {item},\n" for item in items) + ")\n"


def reexports(names: dict[str, str]) -> str:
    """Returns the imports that show names, given the module of each."""
    modules = sorted(set(names.values()))
    return "".join(reexport(m, [n for n in names if names[n] == m]) for m in modules)


def exists(module: str) -> bool:
    """Returns whether a module exists, given its canonical or its second name."""
    canonical = _aliases.ALIASES.get(module, module)
    try:
        return importlib.util.find_spec(canonical) is not None
    except ModuleNotFoundError:  # a package above it is missing
        return False


def submodules(package: str) -> list[str]:
    """Returns the names of the public submodules of a package; none for a plain module."""
    spec = importlib.util.find_spec(package)
    locations = (spec and spec.submodule_search_locations) or []
    names = [m.name for m in pkgutil.iter_modules(locations)]
    return [n for n in names if not n.startswith(("_", "test_")) and n != "conftest"]


def registered() -> dict[str, str]:
    """Returns the stub of every module that shows a registry, by module name."""
    stubs: dict[str, str] = {}
    for pack in _builtin.PACKS.values():
        for hook, function in vars(importlib.import_module(pack)).items():
            if hook not in SHOWN_BY:
                continue
            collector = _Collector()
            function(collector)
            names = {name: target.partition(":")[0] for name, target in collector.targets.items()}
            module = SHOWN_BY[hook]
            # If a registered name is also that of a submodule, the attribute is the object.
            below = {m: module for m in submodules(module) if m not in names and m != "pack"}
            stubs[module] = "from typing import Any\n\n" + reexports(names | below) + OTHERS
    missing = set(SHOWN_BY.values()) - set(stubs)
    if missing:
        raise LookupError(f"no pack of ours fills {sorted(missing)}")
    return stubs


def front_door() -> str:
    """Returns the stub of ``chainer`` itself."""
    source = Path(chainer.__file__).read_text(encoding="utf-8")
    names = dict(chainer._LAZY)
    for node in ast.parse(source).body:
        if isinstance(node, ast.ImportFrom) and str(node.module).startswith("chainer.core."):
            names.update({alias.name: str(node.module) for alias in node.names})
    values = {name: getattr(chainer, name) for name in chainer.__all__ if name not in names}
    existing = [m for m in sorted(chainer._SUBMODULES) if exists(f"chainer.{m}")]
    # If the canonical module has the same name, checkers are led there: editors show its source.
    for module in existing:
        canonical = _aliases.ALIASES.get(f"chainer.{module}", "")
        same = canonical.endswith(f".{module}")
        names[module] = canonical.rpartition(".")[0] if same else "chainer"
    return (
        reexports(names)
        + "\n"
        + "".join(f"{name}: {type(value).__name__}\n" for name, value in sorted(values.items()))
    )


def table(name: str) -> str:
    """Returns the stub of a module whose attributes are listed in a table."""
    module = importlib.import_module(name)
    names = {
        n: importlib.util.resolve_name(m, name)
        for n, m in module._NAMES.items()
        # Private names are for programs of earlier releases, a function makes a module.
        if isinstance(m, str) and not n.startswith("_")
    }
    return reexports(names | dict.fromkeys(module._SUBMODULES, name))


def alias(canonical: str) -> str:
    """Returns the stub of a second name of a module."""
    shown = submodules(canonical)
    text = f"from {canonical} import *\n" + (reexport(canonical, shown) if shown else "")
    if canonical in SHOWN_BY.values():  # `import *` leaves __getattr__ behind
        text = f"from typing import Any\n\n{text}{OTHERS}"
    return text


def aliases() -> dict[Path, str]:
    """Returns the stubs of all second names, by path.

    A package gets a folder, so that checkers find the modules below it as well.
    """
    texts: dict[Path, str] = {}
    for name, canonical in _aliases.ALIASES.items():
        path = STUB_PACKAGE.joinpath(*name.split(".")[1:])
        below = _aliases.DOCUMENTED_SUBMODULES.get(name, ())
        texts[path / "__init__.pyi" if below else path.with_suffix(".pyi")] = alias(canonical)
        for module in below:
            texts[path / f"{module}.pyi"] = alias(f"{canonical}.{module}")
    return texts


def all_stubs() -> dict[Path, str]:
    """Returns the text of every stub, by path relative to the repository."""
    stubs = {"chainer": front_door(), **registered(), **{name: table(name) for name in TABLES}}
    texts = {
        STUB_PACKAGE.joinpath(*name.split(".")[1:], "__init__.pyi"): text
        for name, text in stubs.items()
    }
    texts |= aliases()
    texts = {path: f"{HEADER}\n{text}" for path, text in texts.items()}
    # As PEP 561 has it: what is not in this package is in `chainer` itself.
    texts[STUB_PACKAGE / "py.typed"] = "partial\n"
    return texts


def differences() -> list[Path]:
    """Returns the stubs that are missing, outdated or not needed."""
    stubs = all_stubs()
    wrong = [
        path
        for path, text in stubs.items()
        if not (ROOT / path).exists() or (ROOT / path).read_text(encoding="utf-8") != text
    ]
    present = [
        path.relative_to(ROOT)
        for folder in (ROOT / "chainer", ROOT / "stubs")
        for path in folder.rglob("*.pyi")
    ]
    return wrong + [path for path in present if path not in stubs]


def main(argv: list[str] | None = None) -> int:
    """Runs the command line."""
    parser = argparse.ArgumentParser(description="Writes the type stubs of Chainer.")
    parser.add_argument("--check", action="store_true", help="write nothing, only compare")
    check = parser.parse_args(argv).check
    stubs = all_stubs()
    for path in differences():
        print(f"{'outdated' if check else 'written' if path in stubs else 'removed'}: {path}")
        if check:
            continue
        if path in stubs:
            (ROOT / path).parent.mkdir(parents=True, exist_ok=True)
            (ROOT / path).write_text(stubs[path], encoding="utf-8")
        else:
            (ROOT / path).unlink()
    return int(check and bool(differences()))


if __name__ == "__main__":
    sys.exit(main())
