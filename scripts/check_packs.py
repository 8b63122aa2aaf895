"""Checks the packs of this repository: they import public modules only, and no function is complex.

    python scripts/check_packs.py

A pack is written against the interfaces that any plugin has. The public modules are the second
names in ``chainer/_aliases.py``, everything below :data:`OPEN`, and :data:`PUBLIC`;
docs/plugin-api.md lists them. A name with a leading underscore is private everywhere.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from chainer._aliases import ALIASES  # noqa: E402
from scripts.measure_code import complexity, functions  # noqa: E402

#: Packages whose modules are all public, as in earlier releases.
OPEN = (
    "chainer.functions",
    "chainer.links",
    "chainer.distributions",
    "chainer.training.extensions",
    "chainer.training.triggers",
    "chainer.training.updaters",
    "chainer.plugins",
    "chainer.testing",
    # Operations are contracts, and packs derive kernels from the reference.
    "chainer.backends.operations",
    "chainer.backends.numpy.kernels",
)

#: Further public modules.
PUBLIC = (
    "chainer",
    "chainer.backends",
    "chainer.backends.compute_dtypes",
    "chainer.backends.cuda",
    "chainer.backends.intel64",
    "chainer.training",
    "chainer.training.extension",
    "chainer.training.trainer",
    "chainer.training.trigger",
    "chainer.training.updater",
)

#: Greatest cyclomatic complexity of a function.
MOST_COMPLEX = 20


def is_public(module: str) -> bool:
    """Returns whether a pack may import a module of ``chainer``."""
    if any(part.startswith("_") for part in module.split(".")):
        return False
    names = (*OPEN, *ALIASES)
    return module in PUBLIC or any(f"{module}.".startswith(f"{name}.") for name in names)


def private_imports(source: str) -> Iterator[tuple[int, str]]:
    """Yields line numbers and names of the private modules and names of Chainer that are used."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.split(".")[0] == "chainer" and not is_public(alias.name):
                    yield node.lineno, alias.name
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "chainer":
            module = str(node.module)
            for alias in node.names:
                is_dunder = alias.name == "__version__"
                if not is_public(module) or (alias.name.startswith("_") and not is_dunder):
                    yield node.lineno, f"{module}.{alias.name}"
        elif isinstance(node, ast.Attribute):
            # chainer.core.something, after `import chainer`.
            name = ast.unparse(node)
            if name.startswith(("chainer.core.", "chainer._")) and name != "chainer.__version__":
                yield node.lineno, name


def complex_functions(source: str) -> Iterator[tuple[str, int]]:
    """Yields the functions above the limit, with their complexity."""
    for name, function in functions(ast.parse(source)):
        if (count := complexity(function)) > MOST_COMPLEX:
            yield name, count


def main() -> int:
    """Prints the findings, and returns 1 if there are some."""
    findings: list[str] = []
    for path in sorted(ROOT.glob("packs/*/src/**/*.py")):
        source, name = path.read_text(encoding="utf-8"), path.relative_to(ROOT)
        for line, imported in private_imports(source):
            findings.append(f"{name}:{line}: {imported} is private (docs/plugin-api.md)")
        for function, count in complex_functions(source):
            findings.append(f"{name}: {function} has complexity {count}, at most {MOST_COMPLEX}")
    print("\n".join(findings) or "Packs: public imports only, no complex function.")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
