"""The notebooks of the tutorials. ``make docs`` runs them and makes pages of them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = sorted((ROOT / "docs" / "tutorials").glob("*.ipynb"))


def test_there_are_six() -> None:
    names = [path.stem for path in NOTEBOOKS]
    assert names == ["cnn", "dcgan", "digits", "language-model", "own-backend", "own-function"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_is_kept_without_results(path: Path) -> None:
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    assert "".join(cells[0]["source"]).startswith("# ")
    for cell in cells:
        assert not cell.get("outputs") and cell.get("execution_count") is None
    assert f": tutorials/{path.stem}.md\n" in (ROOT / "mkdocs.yml").read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_runs(path: Path) -> None:
    pytest.importorskip("nbclient", reason="needs the extra docs")
    pytest.importorskip("ipykernel", reason="needs the extra docs")
    pytest.importorskip("latex2mathml", reason="needs the extra docs")
    from scripts.site.tutorials import page_of, run

    text, pictures = page_of(run(path), path.stem)
    assert len(pictures) >= 1
    for name in pictures:
        assert f"(pictures/{name})" in text
    assert "<Figure" not in text and ".ipynb)" in text


def test_formulas_links_and_output_of_a_page() -> None:
    nbformat = pytest.importorskip("nbformat", reason="needs the extra docs")
    pytest.importorskip("nbclient", reason="needs the extra docs")
    pytest.importorskip("latex2mathml", reason="needs the extra docs")
    pytest.importorskip("griffe", reason="needs the extra docs")
    from scripts.site.tutorials import page_of

    new = nbformat.v4
    code = new.new_code_cell("for i in (1, 2):\n    print(i)")
    code.outputs = [
        new.new_output("stream", name="stdout", text="1\n\n2\n"),
        new.new_output("display_data", data={"image/png": "AAEC", "text/plain": "<Figure>"}),
    ]
    notebook = new.new_notebook(
        cells=[new.new_markdown_cell("# Title\n\nWith $x^2$, see [next](cnn.ipynb)."), code]
    )
    text, pictures = page_of(notebook, "test")
    assert pictures == {"test-1.png": b"\0\1\2"}
    assert text.startswith("# Title\n\n[Download the notebook](test.ipynb)")
    assert "<math" in text and "[next](cnn.md)" in text
    assert "```python\nfor i in (1, 2):\n    print(i)\n```" in text
    assert "``` { .text .output .no-copy }\n1\n\n2\n```" in text
    assert "(pictures/test-1.png)" in text and "<Figure>" not in text
