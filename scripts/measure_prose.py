"""Counts two turns of phrase that make texts hard to read, in comments and docstrings.

    python scripts/measure_prose.py            counts per 1,000 words, for each package
    python scripts/measure_prose.py --list     the sentences, too

The turns are "that of" and "those of" in place of the noun ("its shape is that of x"), and
sentences that begin with "What" although they are not questions ("What is left is copied."). Both
make the reader look for the noun. Fluent writers use either at most 0.2 times in 1,000 words.
"""

from __future__ import annotations

import argparse
import ast
import io
import re
import sys
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

_OF = re.compile(r"\b(?:that|those) of\b", re.IGNORECASE)
#: A sentence begins a text or a line of a list, or follows a full stop or a colon.
_WHAT = re.compile(
    r"(?:^|[.:!?)]\s+|\n\s*\n\s*|\n\s*[-*]\s+|\|\s+)(What(?:ever)?\b[^.?!|]*[.?!|]?)", re.MULTILINE
)
_WORD = re.compile(r"[A-Za-z][A-Za-z'-]*")


@dataclass
class Counts:
    """What is counted in a set of files: words, and the two turns with their places."""

    words: int = 0
    that_of: list[str] = field(default_factory=list)
    what: list[str] = field(default_factory=list)

    def add(self, path: Path, root: Path = ROOT) -> None:
        """Adds a Python file or a page."""
        for line, text in prose(path):
            self.words += len(_WORD.findall(text))
            place = f"{path.relative_to(root)}:{line}"
            for match in _OF.finditer(text):
                self.that_of.append(
                    f"{_place(place, text, match.start())}: {_around(text, match.start())}"
                )
            for match in _WHAT.finditer(text):
                if not match.group(1).endswith("?"):
                    self.what.append(
                        f"{_place(place, text, match.start(1))}: {_around(text, match.start(1))}"
                    )

    def per_thousand(self) -> tuple[float, float]:
        """Returns how often each turn occurs in 1,000 words."""
        words = max(1, self.words)
        return 1000 * len(self.that_of) / words, 1000 * len(self.what) / words


def prose(path: Path) -> Iterator[tuple[int, str]]:
    """Yields line numbers and texts: docstrings and comments of code, pages without programs.

    Comment lines that follow each other are one text.
    """
    source = path.read_text(encoding="utf-8")
    if path.suffix == ".md":
        # Headings are not sentences: "What you need" is an ordinary one.
        without_code = re.sub(
            r"^```.*?^```|^#.*?$", lambda m: "\n" * m.group().count("\n"), source, flags=re.S | re.M
        )
        yield 1, without_code
        return
    for node in ast.walk(ast.parse(source)):
        # Strings that are statements: docstrings, also those of attributes.
        constant = node.value if isinstance(node, ast.Expr) else None
        if isinstance(constant, ast.Constant) and isinstance(constant.value, str):
            yield constant.lineno, constant.value
    start, last, lines = 0, -1, []
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type != tokenize.COMMENT:
            continue
        if lines and token.start[0] != last + 1:
            yield start, "\n".join(lines)
            lines = []
        if not lines:
            start = token.start[0]
        lines.append(token.string.lstrip("#: "))
        last = token.start[0]
    if lines:
        yield start, "\n".join(lines)


def count(folder: Path, patterns: tuple[str, ...] = ("*.py",)) -> Counts:
    """Returns the counts of a folder, without the templates of plugins."""
    counts = Counts()
    for pattern in patterns:
        for path in sorted(folder.rglob(pattern)):
            if "templates" not in path.parts:
                counts.add(path)
    return counts


def _place(place: str, text: str, position: int) -> str:
    path, _, line = place.rpartition(":")
    return f"{path}:{int(line) + text.count(chr(10), 0, position)}"


def _around(text: str, position: int) -> str:
    return " ".join(text[max(0, position - 60) : position + 80].split())


def main(argv: list[str] | None = None) -> int:
    """Runs the command line."""
    parser = argparse.ArgumentParser(description="Counts turns of phrase that are hard to read.")
    parser.add_argument("--list", action="store_true", help="print the sentences")
    parser.add_argument("folders", nargs="*", help="folders; all packages by default")
    options = parser.parse_args(argv)
    folders = options.folders or [
        *(
            str(p.relative_to(ROOT))
            for p in sorted((ROOT / "chainer").iterdir())
            if p.is_dir() and p.name != "__pycache__"
        ),
        "chainer",
        *(str(p.relative_to(ROOT)) for p in sorted((ROOT / "packs").iterdir()) if p.is_dir()),
        "packs",
        "docs",
    ]
    for name in folders:
        patterns = ("*.md",) if name == "docs" else ("*.py",)
        counts = count(ROOT / name, patterns)
        of, what = counts.per_thousand()
        print(
            f"{name:28} {counts.words:7} words, that/those of {len(counts.that_of):4} ({of:.2f}), "
            f"What {len(counts.what):4} ({what:.2f})"
        )
        if options.list:
            print("\n".join(f"  {line}" for line in [*counts.that_of, *counts.what]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
