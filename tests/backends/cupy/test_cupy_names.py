"""What the framework calls in CuPy exists there, with the arguments that are given.

All code that gets an array namespace is looked through, not only that of the CuPy backend:
reference kernels and functions run on CuPy arrays, too.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from chainer.backends.cupy import library
from tests.backends.cupy import cupy_api

ROOT = Path(library.__file__).resolve().parents[2]

#: What array namespaces are called in our code.
NAMESPACES = frozenset({"xp", "_xp", "cupy", "_cupy"})

#: What the table does not list.
_OTHERS = frozenset({"__version__", "__version__.split", *cupy_api.MODULES})


def uses(tree: ast.AST) -> Iterator[tuple[str, ast.Call | None]]:
    """Yields the names below a namespace in a piece of code, and their calls."""
    calls = {id(node.func): node for node in ast.walk(tree) if isinstance(node, ast.Call)}
    inner = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and id(node) not in inner:
            path = dotted(node)
            start = next((i for i, part in enumerate(path) if part in NAMESPACES), None)
            if start is not None and "backends" not in path and path[start + 1 :]:
                yield ".".join(path[start + 1 :]), calls.get(id(node))


def dotted(node: ast.expr) -> list[str]:
    """Returns the parts of ``a.b.c``."""
    parts = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if isinstance(node, ast.Name):
        parts.append(node.id)
    return parts[::-1]


def problem(table: dict[str, str], name: str, call: ast.Call | None) -> str | None:
    """Returns what is wrong with a use, or None."""
    if name in _OTHERS or name == "__name__":  # every module has one
        return None
    if name not in table:
        return f"there is no cupy.{name}"
    text = table[name]
    if call is None or text == "?":
        return None
    keywords = [keyword.arg for keyword in call.keywords if keyword.arg is not None]
    unsure = len(keywords) < len(call.keywords)
    unsure = unsure or any(isinstance(argument, ast.Starred) for argument in call.args)
    if text.startswith("ufunc"):
        least, outputs = map(int, text.split()[1:])
        unknown = set(keywords) - cupy_api.UFUNC_KEYWORDS
        if unknown or (not unsure and not least <= len(call.args) <= least + outputs):
            return f"cupy.{name} ({text}) is called {ast.unparse(call)}"
        return None
    signature = cupy_api.parse(text)
    bind = signature.bind_partial if unsure else signature.bind
    arguments = [argument for argument in call.args if not isinstance(argument, ast.Starred)]
    try:
        bind(*arguments, **dict.fromkeys(keywords))
    except TypeError as error:
        return f"cupy.{name}{text} is called {ast.unparse(call)}: {error}"
    return None


def problems(table: dict[str, str]) -> list[str]:
    found = []
    for path in sorted(ROOT.rglob("*.py")):
        if not {"ideep", "testing"} & set(path.relative_to(ROOT).parts):
            for name, call in uses(ast.parse(path.read_text("utf-8"))):
                text = problem(table, name, call)
                if text is not None:
                    found.append(f"{path.relative_to(ROOT)}: {text}")
    return found


def test_names_and_arguments():
    assert problems(cupy_api.of_file()) == []


def test_names_and_arguments_of_an_installed_cupy():
    cupy = pytest.importorskip("cupy", exc_type=ImportError)
    assert problems(cupy_api.of_module(cupy)) == []


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("xp.no_such_thing(x)", "there is no cupy.no_such_thing"),
        ("self.xp.argsort(x, order='a')", "unexpected keyword argument 'order'"),
        ("xp.argsort(x, kind='stable')", None),
        ("xp.add(x, y, where=mask)", "cupy.add (ufunc 2 1) is called"),
        ("xp.add(x)", "cupy.add (ufunc 2 1) is called"),
        ("xp.add(x, y, out=x)", None),
        ("xp.random.random_sample(3, dtype='f')", None),
        ("xp.stack()", "missing a required argument"),
        ("xp.stack(*arrays)", None),
    ],
)
def test_what_is_found(code, text):
    ((name, call),) = uses(ast.parse(code))
    found = problem(cupy_api.of_file(), name, call)
    assert found is None if text is None else text in (found or "")
