"""Types words into the search of the built site: the page that is meant is among the first three.

    python -m scripts.site.queries site

Exits with 1 and prints what was found instead. It needs the extra ``browser-test`` and Chromium.
"""

from __future__ import annotations

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


def queries() -> dict[str, str]:
    """Returns what is typed -> the page that is meant, without its suffix."""
    found = dict(OWN)
    for words, meant in TYPED.items():
        is_name = meant.startswith(("chainer.", "chainermn."))
        found[words] = (page_of(meant) if is_name else meant).removesuffix(".md")
    from_table = {word for words in foreign_words().values() for word in words}
    for page, words in pages().items():
        for word in words:
            if word not in from_table:
                found.setdefault(word, page.removesuffix(".md"))
    # Of the words of the table, one in eight: each takes half a second.
    for page, words in pages().items():
        for word in sorted(from_table & set(words))[::8]:
            found.setdefault(word, page.removesuffix(".md"))
    return found


def results(page: Page, words: str) -> list[str]:
    """Returns the addresses of the first results."""
    box = page.locator("input.md-search__input")
    # The last letter alone is typed: each one starts a search.
    box.fill(words[:-1])
    box.press_sequentially(words[-1])
    _wait_until_stable(page)
    links = page.locator(".md-search-result__item > a, .md-search-result__link")
    found: list[str] = []
    for i in range(min(links.count(), 12)):
        address = (links.nth(i).get_attribute("href") or "").split("#")[0].split("?")[0]
        if address not in found:
            found.append(address)
    return found[:BEST]


def _wait_until_stable(page: Page) -> None:
    """Waits until the list of results no longer changes."""
    before = ""
    for _ in range(40):
        page.wait_for_timeout(200)
        now = page.locator(".md-search-result__list").inner_html()
        if now == before and now:
            return
        before = now


def main() -> int:
    """Runs all searches; returns the exit status."""
    site = Path(sys.argv[1]).resolve()
    failed = 0
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        page.goto((site / "index.html").as_uri())
        page.locator("input.md-search__input").click()
        page.locator("input.md-search__input").press_sequentially("relu")
        page.wait_for_selector(".md-search-result__item", timeout=60_000)
        for words, meant in queries().items():
            found = results(page, words)
            if not any(f"/{meant}.html" in address for address in found):
                failed += 1
                short = [address.rpartition("/")[2] for address in found]
                print(f"{words!r}: {meant} is not among {short}", flush=True)
        browser.close()
    print(f"{len(queries()) - failed} of {len(queries())} searches find their page")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
