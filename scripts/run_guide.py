"""Runs the programs of the guide and of the recipes, and compares what they print with the pages.

    python scripts/run_guide.py                       all pages
    python scripts/run_guide.py docs/guide/models.md  one page
    python scripts/run_guide.py --pictures            keep the pictures for the site

Pictures are kept in the folder pictures beside the page. A page with a line ``needs: package`` at
its top is left out where the package is not installed. With the line ``warnings: of others`` the
warnings of the packages that it needs are not errors.

The ``python`` blocks of a page are one program. A ``text`` block right after a ``python`` block is
what that block prints; ``...`` matches anything. Programs run in a temporary folder, with warnings
as errors. Each picture that a page shows is a file that its program saves.
"""

from __future__ import annotations

import argparse
import contextlib
import doctest
import importlib.util
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
GUIDE = ROOT / "docs" / "guide"
RECIPES = ROOT / "docs" / "recipes"

#: Pages that run at once: processes of one thread each.
_JOBS = min(os.cpu_count() or 1, 4)

_BLOCK = re.compile(r"^```(python|text)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_NEEDS = re.compile(r"^needs: (\w+)$", re.MULTILINE)
_WARNINGS_OF_OTHERS = re.compile(r"^warnings: of others$", re.MULTILINE)
_PICTURE = re.compile(r"!\[[^\]]*\]\(pictures/([^)]+)\)")


@dataclass
class Block:
    """A block of code of a page.

    Attributes:
        line: Line of the page where the code starts.
        code: The code.
        printed: What the page says that it prints; None if the page does not say.
    """

    line: int
    code: str
    printed: str | None = None


class PageError(Exception):
    """A program of a page failed, or it does not do what the page says."""


def blocks_of(text: str) -> list[Block]:
    """Returns the blocks of code of a page."""
    blocks: list[Block] = []
    end = 0
    for match in _BLOCK.finditer(text):
        language, body = match.groups()
        if language == "python":
            blocks.append(Block(text.count("\n", 0, match.start()) + 2, body))
        # Only white space between the code and its output.
        elif blocks and not text[end : match.start()].strip():
            blocks[-1].printed = body
        end = match.end()
    return blocks


def pictures_of(text: str) -> list[str]:
    """Returns the names of the pictures that a page shows."""
    return _PICTURE.findall(text)


def missing_package(text: str) -> str | None:
    """Returns the package that the program of a page needs and that is not installed."""
    needed = _NEEDS.search(text)
    if needed is None or importlib.util.find_spec(needed[1]) is not None:
        return None
    return needed[1]


#: File in which a run leaves what the blocks of its page print.
_OUTPUTS = "outputs-of-the-page.json"


def with_outputs(text: str, outputs: Path) -> str:
    """Returns a page that shows what its program printed in a run, instead of ``...``.

    Args:
        text: The page.
        outputs: The file that the run left, see :func:`run_page`.
    """
    # By the code: what an older version of the page printed is not shown.
    printed: dict[str, str] = json.loads(outputs.read_text(encoding="utf-8"))
    parts, end, output = [], 0, None
    for match in _BLOCK.finditer(text):
        between = text[end : match.start()]
        parts.append(between)
        block = match.group()
        if match[1] == "python":
            output = printed.get(match[2])
        elif output is not None and not between.strip() and "..." in match[2]:
            block = f"```text\n{output.rstrip()}\n```"
        parts.append(block)
        end = match.end()
    return "".join([*parts, text[end:]])


def run_blocks(page: Path) -> None:
    """Runs the blocks of a page in this process and folder; raises PageError."""
    # A program may import a file that it wrote, as it can when a user runs it in a folder.
    sys.path.insert(0, "")
    outputs: dict[str, str] = {}
    namespace = {"__name__": "__main__"}
    checker = doctest.OutputChecker()
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    for block in blocks_of(page.read_text(encoding="utf-8")):
        # Errors show the line of the page.
        code = compile("\n" * (block.line - 1) + block.code, str(page), "exec")
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            exec(code, namespace)
        printed = output.getvalue()
        outputs[block.code] = printed
        if block.printed is not None and not checker.check_output(block.printed, printed, flags):
            raise PageError(
                f"{page.name}, line {block.line}: the code prints\n{printed}\n"
                f"but the page says\n{block.printed}"
            )
    Path(_OUTPUTS).write_text(json.dumps(outputs), encoding="utf-8")


def run_page(page: Path, pictures: Path | None = None) -> None:
    """Runs the program of a page in a process and a temporary folder of its own.

    Args:
        page: The page.
        pictures: Folder that the pictures of the page are copied to, if any, and what its
            blocks print, as a JSON file with the name of the page.

    Raises:
        PageError: If the program fails, prints something else, or does not save a picture.
    """
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("CHAINER_", "PYTEST"))}
    # Other pages run at the same time.
    threads = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    environment = threads | clean | {"PYTHONPATH": str(ROOT), "MPLBACKEND": "agg"}
    text = page.read_text(encoding="utf-8")
    warnings = "ignore" if _WARNINGS_OF_OTHERS.search(text) else "error"
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [sys.executable, "-W", warnings, __file__, "--here", str(page.resolve())],
            cwd=folder,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=300,
        )
        if done.returncode != 0:
            raise PageError(f"{page.name} failed:\n{done.stdout}")
        if pictures is not None:
            pictures.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(Path(folder) / _OUTPUTS, pictures / f"{page.stem}.json")
        for name in pictures_of(text):
            drawn = Path(folder) / name
            if not drawn.is_file():
                raise PageError(f"{page.name}: the program does not save the picture {name}")
            if pictures is not None:
                shutil.copyfile(drawn, pictures / name)


def main() -> None:
    """Runs the pages named on the command line, or all."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("pages", nargs="*", type=Path)
    parser.add_argument("--pictures", action="store_true", help="keep the pictures for the site")
    parser.add_argument("--jobs", type=int, default=_JOBS, help=f"pages at once ({_JOBS})")
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    pages: list[Path] = args.pages or sorted([*GUIDE.glob("*.md"), *RECIPES.glob("*.md")])
    if args.here:
        for page in pages:
            run_blocks(page)
        return

    def run(page: Path) -> str:
        missing = missing_package(page.read_text(encoding="utf-8"))
        if missing:
            return f"{page.name}: left out, as {missing} is not installed"
        run_page(page, page.parent / "pictures" if args.pictures else None)
        return f"{page.name}: ok"

    # Threads wait for the processes of the pages.
    with ThreadPoolExecutor(args.jobs) as pool:
        for text in pool.map(run, pages):
            print(text, flush=True)


if __name__ == "__main__":
    try:
        main()
    except PageError as error:
        sys.exit(str(error))
