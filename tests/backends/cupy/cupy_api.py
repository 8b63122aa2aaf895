"""The functions of CuPy and their parameters, for machines without CuPy.

``cupy_api.txt`` has a line for each: its name, a tab, and its parameters as Python writes them,
``ufunc 2 1`` for a ufunc with two inputs and one output, or ``?`` where CuPy does not tell. To make
the file anew, with CuPy installed (no GPU is needed)::

    python -m tests.backends.cupy.cupy_api
"""

from __future__ import annotations

import importlib
import inspect
import warnings
from pathlib import Path
from types import ModuleType
from typing import Any

FILE = Path(__file__).with_suffix(".txt")
MODULES = (
    "",
    "random",
    "linalg",
    "fft",
    "cuda",
    "cuda.nccl",
    "cuda.nvtx",
    "cuda.runtime",
    "testing",
)

#: Keywords of ufuncs that are not operands.
UFUNC_KEYWORDS = frozenset({"out", "dtype", "casting"})


def describe(value: Any) -> str:
    """Returns the parameters of something of CuPy as a line of the file has them."""
    if type(value).__name__ == "ufunc":
        return f"ufunc {value.nin} {value.nout}"
    try:
        return _plain(inspect.signature(value))
    except (TypeError, ValueError):
        return "?"


def _plain(signature: inspect.Signature) -> str:
    """Leaves out what cannot be read back: annotations and the values of defaults."""
    parameters = [
        p.replace(
            annotation=inspect.Parameter.empty,
            default=p.empty if p.default is p.empty else None,
        )
        for p in signature.parameters.values()
    ]
    return str(inspect.Signature(parameters))


def parse(text: str) -> inspect.Signature:
    """Returns the signature that :func:`describe` wrote."""
    namespace: dict[str, Any] = {}
    exec(f"def function{text}: pass", namespace)
    return inspect.signature(namespace["function"])


def of_module(cupy: ModuleType) -> dict[str, str]:
    """Returns the table of an installed CuPy."""
    table = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for module in MODULES:
            found = importlib.import_module(f"{cupy.__name__}.{module}".rstrip("."))
            start = f"{module}." if module else ""
            for name in sorted(vars(found)):
                value = getattr(found, name)
                if name.startswith("_") or inspect.ismodule(value):
                    continue
                table[start + name] = describe(value)
                if type(value).__name__ == "ufunc":
                    for method in ("at", "reduce", "accumulate", "outer", "reduceat"):
                        table[f"{start}{name}.{method}"] = "?"
    return table


def of_file() -> dict[str, str]:
    """Returns the table in the file."""
    lines = [line for line in FILE.read_text().splitlines() if not line.startswith("#")]
    return dict(line.split("\t") for line in lines)


def main() -> None:
    """Writes the file."""
    cupy: Any = importlib.import_module("cupy")
    lines = [f"{name}\t{text}" for name, text in of_module(cupy).items()]
    head = f"# CuPy {cupy.__version__}, written by {Path(__file__).name}"
    FILE.write_text("\n".join([head, *lines]) + "\n")


if __name__ == "__main__":
    main()
