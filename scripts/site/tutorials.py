"""Runs the notebooks of the tutorials, docs/tutorials/*.ipynb, and makes pages of them.

    python -m scripts.site.tutorials                            runs all
    python -m scripts.site.tutorials docs/tutorials/cnn.ipynb   runs one

The notebooks are kept without results. They run in a temporary folder, with warnings as errors; an
error in a cell is an error of the run.
"""

from __future__ import annotations

import base64
import os
import re
import sys
import tempfile
import time
from pathlib import Path

import nbformat
from nbclient import NotebookClient

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
    pictures: dict[str, bytes] = {}
    parts: list[str] = []
    for cell in node.cells:
        if cell.cell_type == "markdown":
            text = _FORMULA.sub(lambda m: formula(m[1]), cell.source)
            parts.append(re.sub(r"\]\(([\w-]+)\.ipynb\)", r"](\1.md)", text))
            continue
        parts.append(f"```python\n{cell.source}\n```")
        for output in cell.outputs:
            data = output.get("data", {})
            if "image/png" in data:
                file = f"{name}-{len(pictures) + 1}.png"
                pictures[file] = base64.b64decode(data["image/png"])
                parts.append(f"![What the cell above draws](pictures/{file})")
            elif text := output.get("text") or data.get("text/plain"):
                parts.append(f"``` {{ .text .output .no-copy }}\n{text.rstrip()}\n```")
    note = f"[Download the notebook]({name}.ipynb){{download}}, or read it with its results here."
    title, _, rest = "\n\n".join(parts).partition("\n")
    return f"{title}\n\n{note}\n{rest}\n", pictures


def main() -> None:
    """Runs the notebooks named on the command line, or all."""
    for notebook in [Path(name) for name in sys.argv[1:]] or sorted(TUTORIALS.glob("*.ipynb")):
        start = time.perf_counter()
        run(notebook)
        print(f"{notebook.name}: ok, {time.perf_counter() - start:.0f} s", flush=True)


if __name__ == "__main__":
    main()
