"""The pages of the guide: their programs run and print what the pages say."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from scripts.run_guide import GUIDE, PageError, blocks_of, run_page

PAGES = sorted(GUIDE.glob("*.md"))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_programs(page: Path) -> None:
    run_page(page)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_links_lead_to_pages(page: Path) -> None:
    for target in re.findall(r"\]\((?!https?:)([^)#]+\.md)", page.read_text(encoding="utf-8")):
        assert (page.parent / target).is_file(), target


def test_every_page_is_in_the_navigation() -> None:
    navigation = (GUIDE.parent.parent / "mkdocs.yml").read_text(encoding="utf-8")
    for page in [*PAGES, *GUIDE.parent.glob("*.md")]:
        name = page.relative_to(GUIDE.parent).as_posix()
        assert f": {name}\n" in navigation, f"mkdocs.yml does not list {name}"


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
