"""Types words into the search of the built site: the page that is meant is among the first three.

    python -m scripts.site.queries site             words of the tables, some of foreign names
    python -m scripts.site.queries site --all       all words of the tables
    python -m scripts.site.queries site words.txt   the lines of a file

A line of a file is what is typed. Behind an arrow may stand the page that is meant, a name or a
path: ``to numpy -> guide/variables``. The page that comes first is printed for each line.
Exits with 1 and prints what was found instead if a page is missed. It needs the extra
``browser-test`` and Chromium.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from scripts.site.aliases import foreign_words, pages
from scripts.site.names import page_of
from scripts.site.typed import TYPED

#: Searches for names and titles of our own, which need no alias.
OWN = {
    "relu": "reference/functions/chainer.functions.relu",
    "convolution_2d": "reference/functions/chainer.functions.convolution_2d",
    "Adam": "reference/optimizers/chainer.optimizers.Adam",
    "softmax": "reference/functions/chainer.functions.softmax",
    "Classifier": "reference/links/chainer.links.Classifier",
    "first steps": "guide/first-steps",
    "StandardUpdater": "reference/updaters/chainer.training.updaters.StandardUpdater",
}

#: How many results may stand before the page that is meant, counting it.
BEST = 3

#: Milliseconds between looks at the results, and for which they stay as they are in the end.
LOOK, STABLE = 50, 200


def queries(step: int = 8) -> dict[str, str]:
    """Returns what is typed -> the page that is meant, without its suffix.

    Args:
        step: Of the words of the table of foreign names, one in so many: each takes a while.
    """
    found = dict(OWN)
    for words, meant in TYPED.items():
        found[words] = path_of(meant)
    from_table = {word for words in foreign_words().values() for word in words}
    for page, words in pages().items():
        for word in words:
            if word not in from_table:
                found.setdefault(word, page.removesuffix(".md"))
    for page, words in pages().items():
        for word in sorted(from_table & set(words))[::step]:
            found.setdefault(word, page.removesuffix(".md"))
    return found


def path_of(meant: str) -> str:
    """Returns the path of a page without its suffix, for a path or a public name."""
    is_name = meant.startswith(("chainer.", "chainermn."))
    return (page_of(meant) if is_name else meant).removesuffix(".md")


def read_queries(file: Path) -> dict[str, str]:
    """Returns the lines of a file: what is typed -> the page that is meant, or an empty text."""
    lines = (line.strip() for line in file.read_text(encoding="utf-8").splitlines())
    parts = (line.partition("->") for line in lines if line)
    return {words.strip(): path_of(meant.strip()) for words, _, meant in parts}


def results(page: Page, words: str) -> list[str]:
    """Returns the addresses of the first results."""
    box = page.locator("input.md-search__input")
    # The last letter alone is typed: each one starts a search.
    box.evaluate("(box, start) => { box.value = start; }", words[:-1])
    box.press_sequentially(words[-1])
    _wait_until_stable(page)
    addresses: list[str] = page.locator(".md-search-result__list").evaluate(
        "list => [...list.querySelectorAll('.md-search-result__link')].slice(0, 12)"
        ".map(link => link.getAttribute('href') || '')"
    )
    # A section leads to its page, the words that are marked there are not of interest.
    plain = [address.split("#")[0].split("?")[0] for address in addresses]
    return list(dict.fromkeys(plain))[:BEST]


def _wait_until_stable(page: Page) -> None:
    """Waits until the list of results no longer changes."""
    before, since = "", 0
    for _ in range(200):
        page.wait_for_timeout(LOOK)
        now = page.locator(".md-search-result__list").inner_html()
        since = since + LOOK if now == before else 0
        if now and since >= STABLE:
            return
        before = now


def _name_of(address: str) -> str:
    return address.rpartition("/")[2].removesuffix(".html")


def main() -> int:
    """Runs all searches; returns the exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("site", type=Path)
    parser.add_argument("file", type=Path, nargs="?", help="what is typed, a line each")
    parser.add_argument("--all", action="store_true", help="all words of the tables")
    args = parser.parse_args()
    asked = read_queries(args.file) if args.file else queries(1 if args.all else 8)
    failed = 0
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        page.goto((args.site.resolve() / "index.html").as_uri())
        page.locator("input.md-search__input").click()
        page.locator("input.md-search__input").press_sequentially("relu")
        page.wait_for_selector(".md-search-result__item", timeout=60_000)
        for words, meant in asked.items():
            found = results(page, words)
            short = [_name_of(address) for address in found]
            if args.file:
                print(f"{words!r}: {short[0] if short else 'nothing'}", flush=True)
            if meant and not any(f"/{meant}.html" in address for address in found):
                failed += 1
                print(f"{words!r}: {meant} is not among {short}", flush=True)
        browser.close()
    meaning = sum(1 for meant in asked.values() if meant)
    print(f"{meaning - failed} of {meaning} searches find their page among the first {BEST}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
