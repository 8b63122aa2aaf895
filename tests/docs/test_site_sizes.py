"""Weights of the pages of the site, and names for screen readers."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from scripts.site import sizes
from scripts.site.accessible import on_post_page


@pytest.fixture
def site(tmp_path: Path) -> Path:
    (tmp_path / "guide").mkdir()
    (tmp_path / "index.html").write_text("<h1>Start</h1>")
    (tmp_path / "guide" / "page.html").write_text(
        '<link rel="stylesheet" href="../site.css?1"><script src="../a.js"></script>'
        '<img src="../a%20b.png"><img src="../a%20b.png"><a href="../large.bin">large</a>'
        '<link rel="next" href="../large.bin">'
    )
    for name, size in {"site.css": 10, "a.js": 200, "a b.png": 3000, "large.bin": 10**6}.items():
        (tmp_path / name).write_bytes(bytes(size))
    return tmp_path


def test_a_page_weighs_what_it_loads(site: Path) -> None:
    html = (site / "guide" / "page.html").stat().st_size
    assert sizes.weights(site) == {"guide/page.html": html + 3210, "index.html": 14}


def test_a_heavy_page_fails(
    site: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["sizes", str(site), "12.4"])
    assert sizes.main() == 0
    shown = capsys.readouterr().out
    assert "size: 1 MB in 6 files, 2 pages" in shown and "time to build: 12 seconds" in shown
    (site / "a.js").write_bytes(bytes(600_000))
    assert sizes.main() == 1
    assert "guide/page.html weighs more than 600 kB: 603 kB" in capsys.readouterr().out


def test_the_search_has_a_name() -> None:
    page = '<div class="md-search" data-md-component="search" role="dialog">'
    assert on_post_page(page) == page[:-1] + ' aria-label="Search">'
    assert on_post_page("<p>") == "<p>"
