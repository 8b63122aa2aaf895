"""Prints figures of the code: types, comments, complexity, repetition, lines.

    python scripts/measure_code.py              all packages of chainer/
    python scripts/measure_code.py --functions  the functions above the limits of complexity, too
    python scripts/measure_code.py --packs      the packs instead
    python scripts/measure_code.py --since REV  lines of chainer/functions at a commit, and now
                                                (of another folder: --folder chainer/links)

Counted are the Python files of ``chainer/`` without the templates of plugins. A package is a folder
directly below ``chainer/`` or ``chainer/core/``.
"""

from __future__ import annotations

import argparse
import ast
import io
import subprocess
import sys
import tokenize
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "chainer"

#: Limits of cyclomatic complexity: functions above them are counted.
LIMITS = (15, 20)
#: What a method of a kernel may take besides ``self``. What a call is about travels as one object.
MOST_KERNEL_ARGUMENTS = 7

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_BRANCHES = (
    ast.If,
    ast.For,
    ast.AsyncFor,
    ast.While,
    ast.IfExp,
    ast.ExceptHandler,
    ast.Assert,
    ast.comprehension,
    ast.match_case,
)


@dataclass
class Figures:
    """What is counted in a package."""

    files: int = 0
    lines: int = 0
    code_lines: int = 0
    comment_lines: int = 0
    arguments: int = 0
    any_arguments: int = 0
    type_ignores: int = 0
    doubled_gradients: list[str] = field(default_factory=list)
    complexities: dict[str, int] = field(default_factory=dict)
    #: Public methods of kernels, with the number of their arguments besides ``self``.
    kernel_arguments: dict[str, int] = field(default_factory=dict)

    def __iadd__(self, other: Figures) -> Figures:
        for name, value in vars(other).items():
            if isinstance(value, dict):
                getattr(self, name).update(value)
            else:
                setattr(self, name, getattr(self, name) + value)
        return self

    @property
    def any_share(self) -> float:
        """Percentage of bare ``Any`` among the annotated arguments."""
        return 100 * self.any_arguments / max(1, self.arguments)

    @property
    def comment_share(self) -> float:
        """Comment lines for each 100 lines of code."""
        return 100 * self.comment_lines / max(1, self.code_lines)

    def above(self, limit: int) -> dict[str, int]:
        """Returns the functions whose complexity is above a limit, the largest first."""
        found = {name: n for name, n in self.complexities.items() if n > limit}
        return dict(sorted(found.items(), key=lambda item: -item[1]))


def complexity(function: ast.AST) -> int:
    """Returns the cyclomatic complexity of a function; nested functions count on their own."""
    count = 1
    pending = list(ast.iter_child_nodes(function))
    while pending:
        node = pending.pop()
        if isinstance(node, (*_FUNCTIONS, ast.ClassDef)):
            continue
        if isinstance(node, _BRANCHES):
            count += 1
        if isinstance(node, ast.comprehension):
            count += len(node.ifs)
        if isinstance(node, ast.BoolOp):
            count += len(node.values) - 1
        pending += ast.iter_child_nodes(node)
    return count


def argument_types(function: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[ast.expr]:
    """Yields the annotations of the arguments of a function, those of ``**kwargs`` excluded.

    ``**kwargs: Any`` is what the language offers for arguments that are passed on.
    """
    arguments = function.args
    named = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    for argument in [*named, *([arguments.vararg] if arguments.vararg else [])]:
        if argument.annotation is not None:
            yield argument.annotation


def kernel_methods(tree: ast.Module) -> Iterator[tuple[str, int]]:
    """Yields the public methods of the classes of a module, with the number of their arguments."""
    for node in tree.body:
        if not isinstance(node, ast.ClassDef):
            continue
        for method in node.body:
            if isinstance(method, _FUNCTIONS) and not method.name.startswith("_"):
                given = method.args
                named = [*given.posonlyargs, *given.args, *given.kwonlyargs]
                yield f"{node.name}.{method.name}", len(named) - 1


def functions(tree: ast.AST, prefix: str = "") -> Iterator[tuple[str, ast.AST]]:
    """Yields the functions of a module with their qualified names."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, (*_FUNCTIONS, ast.ClassDef)):
            name = f"{prefix}{node.name}"
            if isinstance(node, _FUNCTIONS):
                yield name, node
            yield from functions(node, f"{name}.")
        else:
            yield from functions(node, prefix)


def measure(source: str, name: str) -> Figures:
    """Returns the figures of a module.

    Args:
        source: Its text.
        name: Its name, for the lists of functions and classes.
    """
    figures = Figures(files=1, lines=len(source.splitlines()))
    tree = ast.parse(source)
    documented: set[int] = set()  # lines of docstrings
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Expr)
            and isinstance(node.value, ast.Constant)
            and isinstance(node.value.value, str)
        ):
            documented.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
        if isinstance(node, ast.ClassDef):
            methods = {item.name for item in node.body if isinstance(item, _FUNCTIONS)}
            if {"backward", "backward_arrays"} <= methods:
                figures.doubled_gradients.append(f"{name}:{node.name}")
    if "kernels" in Path(name).parts:
        for method, count in kernel_methods(tree):
            figures.kernel_arguments[f"{name}:{method}"] = count
    for qualified, function in functions(tree):
        figures.complexities[f"{name}:{qualified}"] = complexity(function)
        assert isinstance(function, _FUNCTIONS)
        for annotation in argument_types(function):
            figures.arguments += 1
            figures.any_arguments += isinstance(annotation, ast.Name) and annotation.id == "Any"
    code: set[int] = set()
    comments: set[int] = set()
    skipped = (tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER)
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            comments.add(token.start[0])
            figures.type_ignores += "type: ignore" in token.string
        elif token.type not in skipped:
            code.update(range(token.start[0], token.end[0] + 1))
    figures.code_lines = len(code - documented)
    figures.comment_lines = len(comments)
    return figures


def package_of(path: Path) -> str:
    """Returns the package of a file: ``core/arrays``, ``functions``, or ``.`` for the top level."""
    parts = path.relative_to(PACKAGE).parts[:-1]
    return "/".join(parts[: 2 if parts[:1] == ("core",) else 1]) or "."


def measure_all() -> dict[str, Figures]:
    """Returns the figures of all packages by name."""
    packages: dict[str, Figures] = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        if "templates" not in path.parts:
            name = str(path.relative_to(PACKAGE))
            figures = packages.setdefault(package_of(path), Figures())
            figures += measure(path.read_text(encoding="utf-8"), name)
    return packages


def measure_packs() -> dict[str, Figures]:
    """Returns the figures of the sources of all packs by name."""
    packs: dict[str, Figures] = {}
    for path in sorted(ROOT.glob("packs/*/src/**/*.py")):
        name = path.relative_to(ROOT / "packs")
        figures = packs.setdefault(name.parts[0], Figures())
        figures += measure(path.read_text(encoding="utf-8"), str(name))
    return packs


def report(packages: dict[str, Figures]) -> str:
    """Returns the table of all packages and their sum."""
    total = Figures()
    for figures in packages.values():
        total += figures
    columns: str = "package files lines Any% comments/100 ignores >15 >20 twice arguments"
    rows: list[list[str]] = [columns.split()]
    for name, figures in [*packages.items(), ("all", total)]:
        rows.append(
            [
                name,
                str(figures.files),
                str(figures.lines),
                f"{figures.any_share:.1f}",
                f"{figures.comment_share:.1f}",
                str(figures.type_ignores),
                *(str(len(figures.above(limit))) for limit in LIMITS),
                str(len(figures.doubled_gradients)),
                str(max(figures.kernel_arguments.values(), default=0)),
            ]
        )
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [
        "  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]) for row in rows
    ]
    legend = """
Any%          share of bare Any among annotated arguments
comments/100  comment lines for each 100 lines of code
ignores       comments with "type: ignore"
>15, >20      functions above that cyclomatic complexity
twice         classes that define both backward and backward_arrays
arguments     most arguments of a public method of a kernel, without self"""
    return "\n".join([*lines, legend])


def top_level() -> str:
    """Returns the entries of ``chainer/`` with the number of Python files in each."""
    ignored = {"__pycache__"}
    counts = Counter(path.relative_to(PACKAGE).parts[0] for path in PACKAGE.rglob("*.py"))
    names = sorted(path.name for path in PACKAGE.iterdir() if path.name not in ignored)
    return "chainer/: " + ", ".join(f"{name} ({counts[name]})" for name in names)


def lines_since(revision: str, folder: str = "chainer/functions") -> str:
    """Compares the lines of a folder, and those of code, with an earlier commit.

    Files that did not exist then are counted apart: they are what came since, and say nothing about
    whether the code of that time became shorter.

    Args:
        revision: The commit, as git names it.
        folder: Folder relative to the root of the repository.

    Returns:
        str: One line of text.

    Raises:
        subprocess.CalledProcessError: If git does not know the commit.
    """
    listed = _git("ls-tree", "-r", "--name-only", revision, folder).splitlines()
    before, kept, new = Figures(), Figures(), Figures()
    for name in listed:
        if _is_code(name):
            before += measure(_git("show", f"{revision}:{name}"), name)
    for name in _git("ls-files", folder).splitlines():
        if _is_code(name) and (ROOT / name).exists():
            figures = kept if name in listed else new
            figures += measure((ROOT / name).read_text(), name)
    return (
        f"{folder}: {before.lines} lines ({before.code_lines} of code) in {before.files} files at "
        f"{revision}; now {kept.lines} ({kept.code_lines}) in those of them that are left, "
        f"and {new.lines} ({new.code_lines}) in files that came since"
    )


def _is_code(name: str) -> bool:
    return name.endswith(".py")


def _git(*arguments: str) -> str:
    command = ["git", "-C", str(ROOT), *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def main(argv: list[str] | None = None) -> int:
    """Runs the command line."""
    parser = argparse.ArgumentParser(description="Prints figures of the code.")
    parser.add_argument("--functions", action="store_true", help="list the complex functions")
    parser.add_argument("--since", metavar="REV", help="compare lines of a folder with a commit")
    parser.add_argument(
        "--folder",
        default="chainer/functions",
        help="folder that --since compares (default: %(default)s)",
    )
    parser.add_argument("--packs", action="store_true", help="measure packs/ instead of chainer/")
    options = parser.parse_args(argv)
    if options.since:
        print(lines_since(options.since, options.folder))
        return 0
    packages = measure_packs() if options.packs else measure_all()
    print(("" if options.packs else top_level() + "\n\n") + report(packages))
    if options.functions:
        for figures in packages.values():
            for name, count in figures.above(min(LIMITS)).items():
                print(f"{count:4}  {name}")
        print(f"\nmethods of kernels with {MOST_KERNEL_ARGUMENTS} arguments or more:")
        for figures in packages.values():
            for name, count in figures.kernel_arguments.items():
                if count >= MOST_KERNEL_ARGUMENTS:
                    print(f"{count:4}  {name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
