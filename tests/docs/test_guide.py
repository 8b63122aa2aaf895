"""The guide and the recipes: their programs run and print what the pages say."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest

from scripts.run_guide import (
    GUIDE,
    RECIPES,
    PageError,
    blocks_of,
    missing_package,
    run_page,
    with_outputs,
)

PAGES = sorted([*GUIDE.glob("*.md"), *RECIPES.glob("*.md")])


def page_name(page: Path) -> str:
    return f"{page.parent.name}-{page.stem}"


def _with_marks(page: Path) -> object:
    """Marks a page that ``make docs`` runs in any case: it has the packages of all other pages."""
    needs_more = "\nneeds: " in page.read_text(encoding="utf-8")
    return pytest.param(page, marks=() if needs_more else pytest.mark.slow)


@pytest.mark.parametrize("page", [_with_marks(page) for page in PAGES], ids=page_name)
def test_programs(page: Path) -> None:
    missing = missing_package(page.read_text(encoding="utf-8"))
    if missing:
        pytest.skip(f"{missing} is not installed")
    run_page(page)


@pytest.mark.parametrize("page", PAGES, ids=page_name)
def test_links_lead_to_pages(page: Path) -> None:
    for target in re.findall(r"\]\((?!https?:)([^)#]+\.md)", page.read_text(encoding="utf-8")):
        file = page.parent / target
        # The tutorials are notebooks.
        assert file.is_file() or file.with_suffix(".ipynb").is_file(), target


#: Recipes without a picture -> the reason.
WITHOUT_PICTURE = {
    "index": "lists the recipes",
    "clusters": "prints commands and variables of schedulers, and computes nothing",
    "many-processes": "one process runs it in the tests; times by processes are in the guide",
    "own-backend": "shows that a computation stops at an error",
    "weight-files": "reads files back and compares them: the numbers are equal",
    "export-to-pytorch": "needs PyTorch; the site is built without it",
    "mlflow": "needs MLflow, which draws the curves on its own page",
    "chainerrl": "needs ChainerRL; the site is built without it",
    "detection": "needs ChainerCV; the site is built without it",
}


@pytest.mark.parametrize("page", sorted(RECIPES.glob("*.md")), ids=page_name)
def test_recipes_have_a_picture_or_a_reason(page: Path) -> None:
    drawn = "](pictures/" in page.read_text(encoding="utf-8")
    assert drawn is (page.stem not in WITHOUT_PICTURE)


#: What texts write before a name -> the module that has it.
MODULES = {
    **{"F": "chainer.functions", "L": "chainer.links", "D": "chainer.distributions"},
    **{"extensions": "chainer.training.extensions", "serializers": "chainer.serializers"},
    **{
        f"chainer.{name}": f"chainer.{name}"
        for name in ("functions", "links", "optimizers", "iterators", "datasets", "initializers")
    },
    "chainer": "chainer",
}
_PREFIX = "|".join(re.escape(each) for each in sorted(MODULES, key=len, reverse=True))
_NAME = re.compile(rf"(?<![\w.])({_PREFIX})\.([A-Za-z_]\w*)")


@pytest.mark.parametrize("page", PAGES, ids=page_name)
def test_names_in_texts_exist(page: Path) -> None:
    if page.stem == "coming-from-pytorch":
        pytest.skip("names of PyTorch, too")
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.M)
    for code in re.findall(r"`([^`\n]+)`", text):
        for module, name in _NAME.findall(code):
            assert hasattr(importlib.import_module(MODULES[module]), name), f"{module}.{name}"


@pytest.mark.parametrize(
    ("page", "module"), [("functions", "functions"), ("optimizers", "optimizers")]
)
def test_names_in_tables_exist(page: str, module: str) -> None:
    rows = re.findall(r"^\| (.*) \|$", (GUIDE / f"{page}.md").read_text(encoding="utf-8"), re.M)
    names = [name for row in rows for name in re.findall(r"`(\w+)`", row)]
    assert len(names) > 15
    found = importlib.import_module(f"chainer.{module}")
    assert [name for name in names if not hasattr(found, name)] == []


def test_every_page_is_in_the_navigation() -> None:
    navigation = (GUIDE.parent.parent / "mkdocs.yml").read_text(encoding="utf-8")
    for page in [*PAGES, *GUIDE.parent.glob("*.md")]:
        name = page.relative_to(GUIDE.parent).as_posix()
        assert f" {name}\n" in navigation, f"mkdocs.yml does not list {name}"


def test_the_program_of_the_start_page(capsys: pytest.CaptureFixture[str]) -> None:
    """Twelve lines, whose result is printed by the last one."""
    (block,) = blocks_of((GUIDE.parent / "index.md").read_text(encoding="utf-8"))
    assert len([line for line in block.code.splitlines() if line]) == 12
    exec(block.code, {"__name__": "__main__"})
    assert re.fullmatch(r"loss 0\.0\d\d, accuracy (0\.9\d\d|1\.000)\n", capsys.readouterr().out)


def test_wrong_output_is_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("```python\nprint(1 + 1)\n```\n\n```text\n3\n```\n", encoding="utf-8")
    with pytest.raises(PageError, match=r"line 2: the code prints\n2\n\nbut the page says\n3"):
        run_page(page)


def test_missing_picture_is_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("```python\nx = 1\n```\n\n![a curve](pictures/x.png)\n", encoding="utf-8")
    with pytest.raises(PageError, match=r"does not save the picture x\.png"):
        run_page(page)


def test_output_belongs_to_the_block_before() -> None:
    first, second = blocks_of(
        "```python\na\n```\n\n```text\n1\n```\n\n```python\nb\n```\n\nwords\n\n```text\n2\n```\n"
    )
    assert (first.printed, second.printed) == ("1\n", None)


def test_outputs_of_the_run_replace_dots(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    text = "```python\nprint(0.25)\n```\n\n```text\n0...\n```\n"
    page.write_text(text, encoding="utf-8")
    run_page(page, tmp_path / "pictures")
    shown = with_outputs(text, tmp_path / "pictures" / "page.json")
    assert shown == text.replace("0...", "0.25")


def test_page_that_needs_a_missing_package() -> None:
    assert missing_package("---\nneeds: no_such_package\n---\n") == "no_such_package"
    assert missing_package("---\nneeds: numpy\n---\n") is None
    assert missing_package("# A page\n") is None
