"""Import circles: none in the engine, and the known ones elsewhere.

import-linter checks the layers of packages. A circle within a package works only because one of its
imports is inside a function, so it is easy to add one without noticing.
"""

import ast
from pathlib import Path

import pytest

import chainer

ROOT = Path(chainer.__file__).parents[1]
ENGINE = "chainer.core.autograd"


def module_path(name):
    """Returns the file of a module of ours, or None."""
    path = ROOT.joinpath(*name.split("."))
    for file in (path.with_suffix(".py"), path / "__init__.py"):
        if file.is_file():
            return file
    return None


def is_type_checking(node):
    return isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)


def import_statements(node):
    """Yields the imports of a module: those inside functions too, not those for checkers only."""
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        yield node
        return
    parts = node.orelse if is_type_checking(node) else ast.iter_child_nodes(node)
    for part in parts:
        yield from import_statements(part)


def imported_modules(source, package="chainer"):
    """Returns the modules of ours that a source text imports."""
    found = set()
    for statement in import_statements(ast.parse(source)):
        if isinstance(statement, ast.Import):
            names = [alias.name for alias in statement.names]
        else:
            assert statement.level == 0, "relative import"
            # ``from package import name`` imports a module if there is one of that name.
            names = [
                f"{statement.module}.{alias.name}"
                if module_path(f"{statement.module}.{alias.name}")
                else statement.module
                for alias in statement.names
            ]
        found.update(name for name in names if name.split(".")[0] == package)
    return found


def import_graph(start):
    """Returns module -> modules it imports, for the modules of a package and all they import."""
    folder = ROOT.joinpath(*start.split("."))
    pending = [f"{start}.{file.stem}" for file in folder.glob("*.py") if file.stem != "__init__"]
    graph = {}
    while pending:
        name = pending.pop()
        if name in graph:
            continue
        graph[name] = sorted(
            n for n in imported_modules(module_path(name).read_text()) if n != name
        )
        pending += graph[name]
    return graph


def circles(graph):
    """Returns the strongly connected components of more than one module (Tarjan's algorithm)."""
    index, low, stack, found = {}, {}, [], []

    def visit(node):
        index[node] = low[node] = len(index)
        stack.append(node)
        for other in graph.get(node, ()):
            if other not in index:
                visit(other)
            if other in stack:
                low[node] = min(low[node], low[other])
        if low[node] == index[node]:
            part = stack[stack.index(node) :]
            del stack[stack.index(node) :]
            if len(part) > 1:
                found.append(sorted(part))

    for node in sorted(graph):
        if node not in index:
            visit(node)
    return found


def test_engine():
    graph = import_graph(ENGINE)
    assert f"{ENGINE}.engine" in graph
    assert [part for part in circles(graph) if any(m.startswith(ENGINE) for m in part)] == []


def test_engine_imports_nothing_above_the_core():
    outside = {m for m in import_graph(ENGINE) if not m.startswith("chainer.core")}
    assert outside == set()


#: A module of each known circle -> the reason why it is there.
KNOWN = {
    "chainer.links.link": "Link.repeat() makes a Sequential, which is a Link.",
    "chainer.training.dataset.tabular.tabular_dataset": "Methods of datasets make views of them.",
}


def test_known_circles():
    files = [path for path in (ROOT / "chainer").rglob("*.py") if "templates" not in path.parts]
    names = [".".join(p.relative_to(ROOT).with_suffix("").parts) for p in files]
    graph = {}
    for path, name in zip(files, names, strict=True):
        name = name.removesuffix(".__init__")
        graph[name] = sorted(n for n in imported_modules(path.read_text()) if n != name)
    found = circles(graph)
    unknown = [circle for circle in found if not any(m in KNOWN for m in circle)]
    assert not unknown, f"a new import circle: {unknown}"
    assert len(found) <= len(KNOWN)


@pytest.mark.parametrize(
    ("graph", "expected"),
    [
        ({"a": ["b"], "b": ["c"], "c": []}, []),
        ({"a": ["b"], "b": ["c"], "c": ["a"], "d": ["a"]}, [["a", "b", "c"]]),
        ({"a": ["b"], "b": ["a"], "c": ["d"], "d": ["c"]}, [["a", "b"], ["c", "d"]]),
    ],
)
def test_circles_are_found(graph, expected):
    assert circles(graph) == expected


def test_imports_are_found():
    source = """
from typing import TYPE_CHECKING
import numpy
from chainer.core.autograd import variable
from chainer.core.autograd.variable import Variable
if TYPE_CHECKING:
    from chainer.core.autograd.function import Function
else:
    import chainer.core.typing
def f():
    from chainer.core.autograd.grad import grad
"""
    assert imported_modules(source) == {
        "chainer.core.autograd.variable",
        "chainer.core.autograd.grad",
        "chainer.core.typing",
    }
