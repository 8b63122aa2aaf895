"""Docstrings, comments, messages and pages are written in plain English (CONTRIBUTING, "Language").

The test finds words that made earlier texts hard to read, and British spellings. A word that is
right in a sentence, such as a term of a library, can be excepted in :data:`EXCEPTIONS`.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

from scripts.measure_prose import Counts, count

ROOT = Path(__file__).parent.parent.parent

#: Packages and pages that are covered. New directories are added here.
COVERED = (
    "chainer/__init__.py",
    "chainer/_aliases.py",
    "chainer/backends",
    "chainer/core",
    "chainer/distributions",
    "chainer/functions",
    "chainer/links",
    "chainer/plugins",
    "chainer/testing",
    "chainer/training",
    "benchmarks",
    "examples",
    "scripts",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "README.md",
    "docs",
    "packs/array-api",
    "packs/chainermn",
    "packs/ideep4py",
    "packs/jax",
    "packs/numba",
    "packs/onnx",
    "packs/torch",
    "tests/backends",
    "tests/behavior",
    "tests/core",
    "tests/comparison",
    "tests/docs",
    "tests/functions",
    "tests/gpu",
    "tests/plugins",
    "tests/strict_backend",
    "tests/testing",
    "tests/training/dataset",
    "tests/training/datasets",
    "tests/training/iterators",
)

#: What is banned -> what to write instead.
BANNED = {
    r"somebody|nobody|whoever|whom": "the user, a plugin, no code, another package, ...",
    r"rooms?|houses?": "package",
    r"homes?(?! director)": "canonical module, device, directory",
    r"strangers?": "third party",
    r"(?<!there )(?:is|are|was|were) no(?! longer| more| less)": "is not a",
    r"(?:found|finds?) out": "inferred, determined",
    r"lies? (?:in|on|there|here|outside|inside|elsewhere|next|below|above)|lying": "is in, has",
    r"(?:stand|stands|standing) (?:in )?for": "represents, means",
    r"shall": "must, will",
    r"dearer|midst|as taken|looks? on": "other words",
    r"claim(?:s|ed|ing|ants?)?": "register, own, statement",
    r"keeps? off": "avoid",
    # American spelling
    r"\w*(?:general|global|initial|local|material|memor|minim|maxim|normal|optim|organ|parallel"
    r"|parameter|penal|quant|random|recogn|regular|serial|special|standard|summar|symbol|synchron"
    r"|token|util|vector|visual|factor|categor|equal|emphas|final|real|author|custom|character)"
    r"is(?:e|es|ed|ing|er|ers|ation|ations)": "-ize",
    r"analys(?:e|ed|es|ing)": "analyze",
    r"\w*(?:behaviour|colour|favour|honour|neighbour)\w*": "-or",
    r"centred?|licence|cancelled|cancelling|labelled|modelled|travelled": "American spelling",
    r"misspelt|spelt|learnt|whilst|amongst": "American spelling",
}

#: Path -> words that are right there.
EXCEPTIONS: dict[str, frozenset[str]] = {
    # Names that people try, in the spelling that they try.
    "chainer/core/foreign_names/tables.py": frozenset({"layer_normalisation"}),
    "docs/guide/coming-from-pytorch.md": frozenset({"layer_normalisation"}),
    # The variable $HOME, and the name of the dataset: Street View House Numbers.
    "chainer/training/dataset/download.py": frozenset({"home"}),
    "chainer/training/datasets/svhn.py": frozenset({"house"}),
    # The variable $HOME, and paths of an image.
    "docs/recipes/clusters.md": frozenset({"home"}),
    # The list of banned words itself.
    "CONTRIBUTING.md": frozenset(
        {
            "somebody",
            "nobody",
            "whoever",
            "room",
            "house",
            "home",
            "is no",
            "found out",
            "stands for",
        }
    ),
    # Messages of other programs, names and titles.
    "benchmarks/workers/with_chainer/bench_chainer.py": frozenset({"initialised"}),
    "examples/characters/train_characters.py": frozenset({"house"}),
    "chainer/functions/loss/dice_loss.py": frozenset({"generalised"}),
}

#: Packages whose comments and docstrings are counted by ``scripts/measure_prose.py``.
COUNTED = (
    "chainer/backends",
    "chainer/compat",
    "chainer/core",
    "chainer/distributions",
    "chainer/functions",
    "chainer/links",
    "chainer/plugins",
    "chainer/testing",
    "chainer/training/dataset",
    "chainer/training/datasets",
    "chainer/training/extensions",
    "chainer/training/iterators",
    "chainer/training/optimizers",
    "chainer/training/triggers",
    "chainer/training/updaters",
    "packs/array-api",
    "packs/chainermn",
    "packs/ideep4py",
    "packs/jax",
    "packs/numba",
    "packs/onnx",
    "packs/torch",
)

#: How often each turn may occur in 1,000 words. Well-written libraries have 0 to 0.2.
MOST_PER_THOUSAND = 0.35

_PATTERN = re.compile("|".join(rf"\b(?:{pattern})\b" for pattern in BANNED), re.IGNORECASE)


def covered_files() -> list[Path]:
    """Returns the Python files and pages that are covered."""
    files: list[Path] = []
    for name in COVERED:
        path = ROOT / name
        assert path.exists(), f"{name} of COVERED does not exist"
        if path.is_file():
            files.append(path)
        else:
            files += sorted(path.rglob("*.py")) + sorted(path.rglob("*.md"))
    # This file lists the words that are banned.
    return [path for path in files if path != Path(__file__)]


def lines_of_prose(path: Path) -> Iterator[tuple[int, str]]:
    """Yields line numbers and texts: docstrings, messages and comments of code; whole pages."""
    source = path.read_text(encoding="utf-8")
    if path.suffix == ".md":
        yield from enumerate(source.splitlines(), 1)
        return
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            for offset, line in enumerate(node.value.splitlines()):
                yield node.lineno + offset, line
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string


def instead_of(word: str) -> str:
    """Returns what to write instead of a banned word."""
    return next(
        advice
        for pattern, advice in BANNED.items()
        if re.fullmatch(pattern.replace("(?<!there )", ""), word, re.IGNORECASE)
    )


@pytest.mark.parametrize("path", covered_files(), ids=lambda path: str(path.relative_to(ROOT)))
def test_plain_english(path: Path) -> None:
    name = str(path.relative_to(ROOT))
    allowed = EXCEPTIONS.get(name, frozenset())
    complaints = [
        f"{name}:{number}: {match.group()!r} -> {instead_of(match.group())}: {line.strip()}"
        for number, line in lines_of_prose(path)
        for match in _PATTERN.finditer(line)
        if match.group().lower() not in allowed
    ]
    assert not complaints, "\n".join(complaints)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Nobody knows", ["Nobody"]),
        ("it is no array", ["is no"]),
        ("there is no such name, and it is no longer used", []),
        ("what lies in blocks", ["lies in"]),
        ("the behaviour of normalised values", ["behaviour", "normalised"]),
        ("otherwise, raise and advise", []),
        ("a noise in the home directory", []),
    ],
)
def test_banned_words_are_found(text: str, found: list[str]) -> None:
    assert [match.group() for match in _PATTERN.finditer(text)] == found
    assert all(instead_of(word) for word in found)


@pytest.mark.parametrize("package", [*COUNTED, "chainer"])
def test_nouns_are_named(package: str) -> None:
    """ "That of" and "What ..." make the reader look for the noun; write the noun itself."""
    counts = count(ROOT / package)
    of, what = counts.per_thousand()
    assert of < MOST_PER_THOUSAND, "\n".join(counts.that_of)
    assert what < MOST_PER_THOUSAND, "\n".join(counts.what)


def test_pages_name_their_nouns() -> None:
    counts = count(ROOT / "docs", ("*.md",))
    of, what = counts.per_thousand()
    assert max(of, what) < MOST_PER_THOUSAND, "\n".join(counts.that_of + counts.what)


def test_counted_turns(tmp_path: Path) -> None:
    module = tmp_path / "module.py"
    module.write_text(
        '"""What it makes is lost. Its shape is that of x.\n\n    What it is: a number.\n"""\n'
        "value = 1  # What happens here? It depends on what is left.\n"
        "# A comment\n# of two lines. What follows is copied.\n"
    )
    counts = Counts()
    counts.add(module, tmp_path)
    assert [place.split(": ")[0] for place in counts.that_of] == ["module.py:1"]
    assert [place.split(": ")[0] for place in counts.what] == [
        "module.py:1",
        "module.py:3",
        "module.py:7",
    ]
