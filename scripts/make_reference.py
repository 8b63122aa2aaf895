"""Writes ``docs/operations.md``, the reference of array-level operations, from the registry.

python scripts/make_reference.py            writes the page
python scripts/make_reference.py --check    exits with 1 when the page is not what would be written
"""

from __future__ import annotations

import argparse
import inspect
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from chainer.core.arrays.kernel import Operation  # noqa: E402
from chainer.core.registry import registries  # noqa: E402

PAGE = ROOT / "docs" / "operations.md"

HEAD = """\
<!-- Written by scripts/make_reference.py from the docstrings of the operations. Do not edit. -->

# Operations

What a kernel of each array-level operation has to do. A kernel is an object with the methods named
here; `select` is called with the arrays and attributes named here, and so is the kernel's
`supports`. [Add a kernel](add-a-kernel.md) shows how to write and declare one, and `chainer kernels
NAME` lists those there are. Every operation has a reference kernel in NumPy's API, which serves all
backends that have nothing better.

| operation | methods | reference | providers of other kernels |
|---|---|---|---|
"""


def _providers(name: str) -> str:
    found: set[str] = set()
    for key in registries.kernels.names():
        operation, provider, _ = key.split("/")
        provenance = registries.kernels.entry(key).provenance
        # Kernels of other distributions that happen to be installed are not ours to list.
        if operation == name and provenance and provenance.distribution == "chainer":
            found.add(provider)
    return ", ".join(sorted(found)) or "-"


def _row(operation: Operation) -> str:
    name = operation.name
    reference = operation.reference.rpartition(":")[2]
    methods = ", ".join(f"`{method}`" for method in operation.methods)
    return f"| [{name}](#{name}) | {methods} | `{reference}` | {_providers(name)} |"


def _markdown(text: str, operations: dict[str, str]) -> str:
    """Turns a docstring into Markdown: references to operations, literals, headings."""

    def reference(match: re.Match[str]) -> str:
        name = operations.get(match[1])
        return f"[{name}](#{name})" if name else f"`{match[1]}`"

    text = re.sub(r":(?:class|func|meth|data|mod):`~?([^`]+)`", reference, text)
    text = text.replace("``", "`")
    lines = []
    for line in text.splitlines():
        heading = re.fullmatch(r"(\w[\w ]*):", line)
        lines.append(f"**{heading[1]}**\n" if heading else re.sub(r"^    ", "", line))
    return "\n".join(lines)


def _section(operation: Operation, names: dict[str, str]) -> str:
    text = _markdown(inspect.cleandoc(type(operation).__doc__ or ""), names)
    if operation.in_place:
        text += "\n\nThe methods write to the arrays they get."
    scalars = getattr(operation, "scalars", None)
    if scalars is not None:  # the numbers of a step of an optimizer
        varying = getattr(operation, "varying", ())
        fields = ", ".join(
            f"`{field}`" + (" (may vary)" if field in varying else "") for field in scalars._fields
        )
        about = _markdown(inspect.cleandoc(scalars.__doc__ or ""), names).partition("\n\n")
        explained = re.sub(r"\*\*Attributes\*\*\n+", "", about[2]).strip()
        text += f"\n\nFields of `{scalars.__name__}`: {fields}."
        if explained:
            text += "\n\n" + "\n".join(f"- {line}" for line in explained.splitlines())
    return f"## {operation.name}\n\n{text}\n"


def page() -> str:
    """Returns the text of the page."""
    loaded = [registries.operations.get(name) for name in sorted(registries.operations.names())]
    ours = [op for op in loaded if type(op).__module__.startswith("chainer.")]
    rows = "\n".join(_row(operation) for operation in ours)
    names = {type(operation).__name__: operation.name for operation in ours}
    return HEAD + rows + "\n\n" + "\n".join(_section(operation, names) for operation in ours)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing")
    check = parser.parse_args().check
    text = page()
    if PAGE.exists() and PAGE.read_text(encoding="utf-8") == text:
        return 0
    if check:
        print(f"outdated: {PAGE.relative_to(ROOT)}; run: python scripts/make_reference.py")
        return 1
    PAGE.write_text(text, encoding="utf-8")
    print(f"written: {PAGE.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
