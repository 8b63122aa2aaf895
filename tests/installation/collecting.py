"""Finds the commands that pages, docstrings and messages print.

A command of a page is a line after ``$`` in a block, an indented line that starts with ``pip`` or
``make``, or such a line between backquotes. A message's command is a call of ``install_command``
with constants; :func:`literal_commands` finds those that are written without it.
"""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

#: Programs of this repository, and pip. Other programs (git, mpiexec, nvidia-smi) are the reader's.
PROGRAMS = ("pip", "make", "chainer", "pytest", "python -m chainer", "python -m pip")

_PROGRAM = "|".join(re.escape(program) for program in PROGRAMS)
_BLOCK = re.compile(rf"^(?:\$ |    )((?:\w+=\S+ )*(?:{_PROGRAM}) [^\n]*)", re.MULTILINE)
_INLINE = re.compile(rf"`+((?:{_PROGRAM}) [^`]+?)`+", re.DOTALL)
#: What a file has that may print a command in a docstring. Parsing all files takes seconds, in each
#: process that collects tests.
_MAYBE = re.compile(rf"(?:^\s*(?:\$ )?(?:\w+=\S+ )*|`)(?:{_PROGRAM}) ", re.MULTILINE)
#: A comment after a command.
_COMMENT = re.compile(r"\s{2,}#.*$|\s+#\s.*$")


@dataclass(frozen=True)
class Command:
    """A command and where it is printed."""

    line: str
    source: str

    def __str__(self) -> str:
        return f"{self.source}: {self.line}"


def pages() -> list[Path]:
    """Returns the pages that users read."""
    found = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "SECURITY.md"]
    found += sorted((ROOT / "docs").glob("**/*.md"))
    found += sorted((ROOT / "packs").glob("*/README.md"))
    found += sorted((ROOT / "examples").glob("**/*.md"))
    return found


def source_files() -> list[Path]:
    """Returns the modules of chainer and of the packs, with their examples."""
    found = [*(ROOT / "chainer").glob("**/*.py"), *(ROOT / "examples").glob("**/*.py")]
    found += (ROOT / "packs").glob("*/src/**/*.py")
    found += (ROOT / "packs").glob("*/examples/**/*.py")
    return sorted(found)


def commands_of(text: str, source: str) -> Iterator[Command]:
    """Yields the commands in a page or docstring."""
    for pattern in (_BLOCK, _INLINE):
        for match in pattern.finditer(text):
            line = _COMMENT.sub("", " ".join(match[1].split())).strip()
            # `pip install ...`: a form of commands, not a command.
            if "..." not in line:
                yield Command(line, source)


@functools.cache
def page_commands() -> tuple[Command, ...]:
    """Returns the commands of all pages."""
    return tuple(c for path in pages() for c in commands_of(path.read_text("utf-8"), _name(path)))


@functools.cache
def docstring_commands() -> tuple[Command, ...]:
    """Returns the commands of all docstrings."""
    found: list[Command] = []
    for path, tree in _trees(_MAYBE):
        for node in ast.walk(tree):
            if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)):
                found += commands_of(ast.get_docstring(node) or "", _name(path))
    return tuple(found)


@functools.cache
def message_requirements() -> tuple[tuple[str, ...], ...]:
    """Returns the arguments of the calls of ``install_command`` in messages."""
    found: list[tuple[str, ...]] = []
    for _, tree in _trees(re.compile("install_command")):
        for node in ast.walk(tree):
            if not isinstance(node, ast.Call):
                continue
            name = getattr(node.func, "attr", getattr(node.func, "id", None))
            words = [a.value for a in node.args if isinstance(a, ast.Constant)]
            if name == "install_command" and words and len(words) == len(node.args):
                found.append(tuple(str(word) for word in words))
    return tuple(dict.fromkeys(found))


def literal_commands() -> list[str]:
    """Returns the strings of the code, except docstrings, that contain a command of pip."""
    found: list[str] = []
    for path, tree in _trees(re.compile("pip")):
        docstrings = {
            id(node.body[0].value)
            for node in ast.walk(tree)
            if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef))
            and node.body
            and isinstance(node.body[0], ast.Expr)
        }
        for node in ast.walk(tree):
            if not isinstance(node, ast.Constant) or not isinstance(node.value, str):
                continue
            if "pip install" in node.value and id(node) not in docstrings:
                found.append(f"{_name(path)}:{node.lineno}: {node.value.strip()}")
    return found


def _trees(pattern: re.Pattern[str]) -> Iterator[tuple[Path, ast.Module]]:
    """Yields the syntax trees of the source files in whose text a pattern is found."""
    for path in source_files():
        text = path.read_text("utf-8")
        if pattern.search(text):
            yield path, ast.parse(text)


def _name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()
