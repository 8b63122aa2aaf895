"""Runs the notebooks of the tutorials, docs/tutorials/*.ipynb, and makes pages of them.

    python -m scripts.site.tutorials                            runs all
    python -m scripts.site.tutorials docs/tutorials/cnn.ipynb   runs one

The notebooks are kept without results. They run in a temporary folder, with warnings as errors; an
error in a cell is an error of the run.
"""

from __future__ import annotations

import os
import re
import sys
import tempfile
import time
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbconvert import MarkdownExporter

from scripts.site.roles import formula

ROOT = Path(__file__).resolve().parents[2]
TUTORIALS = ROOT / "docs" / "tutorials"

#: Seconds that one cell may take, on a busy machine as well.
MAX_SECONDS = 300

_FORMULA = re.compile(r"\$([^$\n]+)\$")


def run(notebook: Path) -> nbformat.NotebookNode:
    """Returns a notebook with the results of its cells.

    Args:
        notebook: The file. It is not changed.

    Raises:
        nbclient.exceptions.CellExecutionError: If a cell fails.
    """
    node = nbformat.read(notebook, as_version=4)
    environment = {
        **{k: v for k, v in os.environ.items() if not k.startswith(("CHAINER_", "PYTEST"))},
        "PYTHONPATH": str(ROOT),
        "PYTHONWARNINGS": "error::UserWarning,error::DeprecationWarning:__main__",
        "MPLBACKEND": "module://matplotlib_inline.backend_inline",
        # The networks are small: threads of the BLAS library would wait for each other.
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
    }
    with tempfile.TemporaryDirectory() as folder:
        client = NotebookClient(
            node,
            kernel_name="python3",
            # No warning that the kernel talks to this process over a port of this machine.
            extra_arguments=["--log-level=ERROR"],
            timeout=MAX_SECONDS,
            startup_timeout=MAX_SECONDS,
            resources={"metadata": {"path": folder}},
        )
        client.execute(env=environment)
    return node


def page_of(node: nbformat.NotebookNode, name: str) -> tuple[str, dict[str, bytes]]:
    """Returns the page of a notebook with results, in Markdown, and its pictures by file name.

    Args:
        node: The notebook.
        name: Name of its file, without the suffix.
    """
    for cell in node.cells:
        if cell.cell_type == "markdown":
            cell.source = _FORMULA.sub(lambda m: formula(m[1]), cell.source)
            cell.source = re.sub(r"\]\(([\w-]+)\.ipynb\)", r"](\1.md)", cell.source)
    exporter = MarkdownExporter()
    text, resources = exporter.from_notebook_node(
        node, resources={"unique_key": name, "output_files_dir": "pictures"}
    )
    # What cells print is indented text in the export; as a block it can have a style of its own.
    text = re.sub(
        r"(?:^    .*\n(?:\s*\n(?=    ))?)+",
        lambda m: "``` { .text .output .no-copy }\n" + _dedent(m[0]).rstrip() + "\n```\n",
        text,
        flags=re.MULTILINE,
    )
    pictures = {Path(path).name: data for path, data in resources["outputs"].items()}
    title, _, rest = text.partition("\n")
    note = f"[Download the notebook]({name}.ipynb){{download}}, or read it with its results here."
    return f"{title}\n\n{note}\n{rest}", pictures


def _dedent(text: str) -> str:
    return "".join(line.removeprefix("    ") for line in text.splitlines(keepends=True))


def main() -> None:
    """Runs the notebooks named on the command line, or all."""
    for notebook in [Path(name) for name in sys.argv[1:]] or sorted(TUTORIALS.glob("*.ipynb")):
        start = time.perf_counter()
        run(notebook)
        print(f"{notebook.name}: ok, {time.perf_counter() - start:.0f} s", flush=True)


if __name__ == "__main__":
    main()
