"""One line about a registered name or a plugin, for the tables of the command line.

A name that was not used yet is not imported: importing all functions takes seconds, and the module
of a plugin may need a library that is missing. Its docstring is read from the source file.
"""

from __future__ import annotations

import ast
import importlib.util
import inspect
import re
import sys
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import NamedTuple

from chainer.core.arrays.kernel_declaration import KernelDeclaration
from chainer.core.registry import registries
from chainer.core.registry.entry import Entry
from chainer.plugins.records import PluginRecord

#: Statements such as ``from .other import name`` or ``name = Class()`` that are followed.
_MAX_STEPS = 4


def describe(entry: Entry) -> str:
    """Returns the first sentence of the docstring of an entry's object; empty if there is none.

    Args:
        entry: The entry. Its object is not imported.
    """
    target = entry.target
    if isinstance(target, KernelDeclaration):
        operation = registries.operations.find(target.operation)
        own = _of_target(target.load)
        return own or ("" if operation is None else describe(operation))
    return _of_target(target)


def _of_target(target: object) -> str:
    if not isinstance(target, str):
        return first_sentence(_docstring(target))
    module, _, attribute = target.partition(":")
    # Not getattr(), which imports the names of a lazy module.
    value = vars(sys.modules[module]).get(attribute) if module in sys.modules else None
    return first_sentence(_from_source(module, attribute) if value is None else _docstring(value))


def describe_plugin(record: PluginRecord) -> str:
    """Returns what a plugin is for: a sentence of its author, and what it registered.

    Args:
        record: The plugin.
    """
    text = ""
    if record.builtin:
        # All of Chainer's own are of one distribution, whose summary tells nothing about each.
        text = _from_source_of(record.target)
    elif record.distribution:
        text = _summary(record.distribution)
    registered = record.summary()
    return f"{text} ({registered})" if text and registered else text or registered


def _from_source_of(module: str) -> str:
    path = _source_file(module)
    return "" if path is None else first_sentence(ast.get_docstring(ast.parse(path.read_bytes())))


def _summary(distribution: str) -> str:
    try:
        headers = metadata.metadata(distribution)
    except metadata.PackageNotFoundError:
        return ""
    return headers["Summary"].strip() if "Summary" in headers else ""


def first_sentence(text: str | None) -> str:
    """Returns the first sentence of a docstring in one line, without marks of reStructuredText.

    Args:
        text: The docstring.
    """
    paragraph = " ".join((text or "").strip().partition("\n\n")[0].split())
    # :class:`~chainer.Link` -> chainer.Link, ``x`` -> x
    paragraph = re.sub(r":[\w:]+:`~?([^`<]*?)(?:\s*<[^>]*>)?`", r"\1", paragraph).replace("``", "")
    # Before a capital letter: "e.g. arrays" and "0.5" go on.
    return re.split(r"\.\s+(?=[A-Z])", paragraph, maxsplit=1)[0].removesuffix(".")


def _docstring(value: object) -> str | None:
    if inspect.isclass(value) or inspect.isroutine(value) or inspect.ismodule(value):
        return value.__doc__
    # Of an instance, such as a backend or an operation, the class says what it is.
    return None if type(value).__module__ == "builtins" else type(value).__doc__


class _Definition(NamedTuple):
    """How a module defines a name.

    Attributes:
        statement: The class or function, or the import; None for an assignment.
        source: The name that is imported or assigned.
        is_instance: Whether the assigned value is made by calling ``source``.
    """

    statement: ast.stmt | None
    source: str = ""
    is_instance: bool = False


def _from_source(module: str, attribute: str) -> str | None:
    """Returns the docstring of an attribute of a module that is not imported."""
    must_be_class = False
    for _ in range(_MAX_STEPS):
        path = _source_file(module)
        found = None if path is None else _definitions(path).get(attribute)
        if path is None or found is None:
            return None
        if isinstance(found.statement, ast.ImportFrom):
            package = module if path.name == "__init__.py" else module.rpartition(".")[0]
            relative = "." * found.statement.level + (found.statement.module or "")
            module = importlib.util.resolve_name(relative, package)
        elif isinstance(found.statement, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            # The docstring of a function that makes an object does not describe the object.
            if must_be_class and not isinstance(found.statement, ast.ClassDef):
                return None
            return ast.get_docstring(found.statement)
        attribute = found.source
        must_be_class |= found.is_instance
    return None


@cache
def _definitions(path: Path) -> dict[str, _Definition]:
    """Returns what defines each name of a module."""
    found: dict[str, _Definition] = {}
    try:
        statements = ast.parse(path.read_bytes()).body
    except (OSError, SyntaxError, ValueError):  # it may belong to a broken plugin
        return found
    for statement in statements:
        if isinstance(statement, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            found[statement.name] = _Definition(statement)
        elif isinstance(statement, ast.ImportFrom):
            for alias in statement.names:
                found[alias.asname or alias.name] = _Definition(statement, alias.name)
        elif isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
            # backend = NumpyBackend() and batch_matmul = other_name
            value = statement.value
            source = value.func if isinstance(value, ast.Call) else value
            if isinstance(source, ast.Name):
                made = _Definition(None, source.id, isinstance(value, ast.Call))
                found[statement.targets[0].id] = made
    return found


def _source_file(module: str) -> Path | None:
    """Returns the source file of a module, without importing a package."""
    first, *rest = module.split(".")
    try:
        spec = importlib.util.find_spec(first)
    except (ImportError, ValueError):
        return None
    if spec is None or (rest and spec.submodule_search_locations is None):
        return None
    if not rest:
        return None if spec.origin is None else _python_file(Path(spec.origin))
    for folder in spec.submodule_search_locations or ():
        base = Path(folder).joinpath(*rest)
        for path in (base.with_name(f"{base.name}.py"), base / "__init__.py"):
            if path.is_file():
                return path
    return None


def _python_file(path: Path) -> Path | None:
    return path if path.suffix == ".py" else None
