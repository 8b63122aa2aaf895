"""Writes the public names of a release, with which later versions are compared.

    python scripts/record_public_names.py         # tests/data/public_names_8.0.txt
    python scripts/record_public_names.py --check # what is missing since, if anything

A line is a name, and for what can be called its parameters: ``=`` marks a default, and ``/`` and
``*`` have their meaning in Python. tests/plugins/test_stability.py compares; what the comparison
allows is the promise in docs/plugin-api.md.
"""

from __future__ import annotations

import argparse
import importlib
import inspect
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent

RECORD = ROOT / "tests" / "data" / "public_names_8.0.txt"

#: Modules whose attributes are public.
NAMESPACES = (
    "chainer",
    "chainer.dataset",
    "chainer.datasets",
    "chainer.distributions",
    "chainer.functions",
    "chainer.initializers",
    "chainer.iterators",
    "chainer.link_hooks",
    "chainer.links",
    "chainer.optimizer_hooks",
    "chainer.optimizers",
    "chainer.plugins",
    "chainer.plugins.hookspecs",
    "chainer.serializers",
    "chainer.testing",
    "chainer.training",
    "chainer.training.extensions",
    "chainer.training.triggers",
    "chainer.training.updaters",
    "chainer.typing",
    "chainer.utils",
)

#: Names that modules have for their own use.
FOREIGN = {"Any", "TYPE_CHECKING", "annotations"}

#: Classes from which plugins derive, or whose objects they get: their members are public, too.
CONTRACTS = (
    "chainer.Chain",
    "chainer.Distribution",
    "chainer.FunctionHook",
    "chainer.FunctionNode",
    "chainer.Initializer",
    "chainer.Link",
    "chainer.LinkHook",
    "chainer.Optimizer",
    "chainer.Parameter",
    "chainer.UpdateRule",
    "chainer.Variable",
    "chainer.backend.Backend",
    "chainer.core.arrays.kernel_declaration:KernelDeclaration",
    "chainer.core.arrays.kernel:Operation",
    "chainer.core.registry.registry:Registry",
    "chainer.dataset.DatasetMixin",
    "chainer.dataset.Iterator",
    "chainer.training.Extension",
    "chainer.training.Trainer",
    "chainer.training.Updater",
)


def lines() -> Iterator[str]:
    """Yields the lines of the record, in order."""
    found: dict[str, str] = {}
    for name in NAMESPACES:
        module = importlib.import_module(name)
        for attribute in dir(module):
            value = (
                None
                if attribute.startswith("_") or attribute in FOREIGN
                else getattr(module, attribute, None)
            )
            # chainer.utils.experimental is a function, and a module that can be called once a
            # program imports it by this name.
            if inspect.ismodule(value) and callable(value):
                value = getattr(value, attribute)
            # Modules that are attributes because something imports them are not promised.
            if value is not None and not inspect.ismodule(value):
                found[f"{name}.{attribute}"] = parameters(value)
    for path in CONTRACTS:
        owner = resolve(path)
        for attribute in dir(owner):
            if not attribute.startswith("_"):
                # By the name of the class alone: modules of the core may be split.
                name = f"{owner.__name__}.{attribute}"
                found[name] = parameters(inspect.getattr_static(owner, attribute))
    for name in sorted(found):
        yield name + found[name]


def resolve(path: str) -> Any:
    """Returns the object of a dotted path; a colon may end the module."""
    module, colon, rest = path.partition(":")
    if not colon:
        module, _, rest = path.rpartition(".")
    value: Any = importlib.import_module(module)
    for part in rest.split("."):
        value = getattr(value, part)
    return value


def parameters(value: Any) -> str:
    """Returns the parameters as the record writes them; an empty text for what is not called."""
    if isinstance(value, (staticmethod, classmethod)):
        value = value.__func__
    if not callable(value):
        return ""
    try:
        signature = inspect.signature(value)
    except (TypeError, ValueError):  # implemented in C
        return ""
    words: list[str] = []
    previous = None
    for parameter in signature.parameters.values():
        if parameter.kind is parameter.KEYWORD_ONLY and "*" not in "".join(words):
            words.append("*")
        if previous == parameter.POSITIONAL_ONLY and parameter.kind != previous:
            words.append("/")
        stars = {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}.get(parameter.kind, "")
        default = "" if parameter.default is parameter.empty else "="
        words.append(stars + parameter.name + default)
        previous = parameter.kind
    return f"({', '.join(words)})"


def missing(recorded: list[str]) -> list[str]:
    """Returns what programs for the recorded release lack now, one sentence each."""
    now = dict(map(split, lines()))
    found = []
    for line in recorded:
        name, old = split(line)
        if name not in now:
            found.append(f"{name} is gone")
            continue
        if not old:
            continue
        problem = broken_call(words_of(old), words_of(now[name]))
        problem = problem if now[name] else "it cannot be called"
        if problem:
            found.append(f"{line} is now {name}{now[name]}: {problem}")
    return found


def split(line: str) -> tuple[str, str]:
    """Returns the name and the parameters of a line."""
    name, bracket, rest = line.partition("(")
    return name, bracket + rest


def words_of(text: str) -> list[str]:
    """Returns the parameters of a line as a list."""
    return [word for word in re.split(r",\s*", text.strip("()")) if word]


def broken_call(old: list[str], new: list[str]) -> str:
    """Returns why a call that worked may fail; an empty text if none can.

    Args:
        old: Parameters of the release.
        new: Parameters now.
    """
    names = [word.strip("*=") for word in new]
    takes_any = any(word.startswith("**") for word in new)
    before = [word.strip("=") for word in positional(old)]
    after = [word.strip("=") for word in positional(new)]
    takes_more = any(re.match(r"\*\w", word) for word in new)
    if after[: len(before)] != before and not (takes_more and before[: len(after)] == after):
        return "the positional parameters differ"
    for word in old:
        name = word.strip("*=")
        if word.startswith("*") or word == "/":
            continue
        if name not in names and not takes_any:
            return f"{name} is gone"
        if word.endswith("=") and name in new:
            return f"{name} has no default any more"
    for word in new:
        is_new = word.strip("=") not in {w.strip("=") for w in old}
        if is_new and not word.endswith("=") and not word.startswith("*") and word != "/":
            return f"{word} is new and has no default"
    return ""


def positional(words: list[str]) -> list[str]:
    """Returns the parameters that may be given by position."""
    end = next((i for i, word in enumerate(words) if word.startswith("*")), len(words))
    return [word for word in words[:end] if word != "/"]


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--check", action="store_true", help="compare, and write nothing")
    options = parser.parse_args()
    if not options.check:
        RECORD.write_text("\n".join(lines()) + "\n", encoding="utf-8")
        return 0
    found = missing(RECORD.read_text(encoding="utf-8").splitlines())
    print("\n".join(found) or "nothing is missing")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
