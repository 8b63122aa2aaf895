"""Screenshots of the built site, to look at, from a browser without a window.

    python -m scripts.site.screenshots site pictures

``make docs-pictures`` runs it. Takes the start page, one page of each kind and the results of a
search, at two widths, in light and dark colors. The pages are opened as files, without a server.
Exits with 1 if the search finds nothing or if a page has an error. It needs the extra
``browser-test`` and Chromium.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

PAGES = {
    "start": "index.html",
    "guide": "guide/variables.html",
    "guide-with-outputs": "guide/first-steps.html",
    "guide-with-tables": "guide/coming-from-pytorch.html",
    "captured-steps": "guide/captured-steps.html",
    "board": "guide/board.html",
    "recipes": "recipes/index.html",
    "recipe": "recipes/notebook.html",
    "recipe-csv": "recipes/csv.html",
    "recipe-gan": "recipes/gan.html",
    "recipe-detection": "recipes/detection.html",
    "recipe-physics": "recipes/physics.html",
    "tutorial": "tutorials/digits.html",
    "plugin": "add-a-plugin.html",
    "differences": "differences-from-7.html",
    "performance": "performance.html",
    "architecture": "architecture.html",
    "reference": "reference/index.html",
    "functions": "reference/functions/index.html",
    "function": "reference/functions/chainer.functions.convolution_2d.html",
    "activation": "reference/functions/chainer.functions.elu.html",
    "link": "reference/links/chainer.links.Convolution2D.html",
    "distribution": "reference/distributions/chainer.distributions.Gamma.html",
    "optimizer": "reference/optimizers/chainer.optimizers.Adam.html",
    "extension": "reference/extensions/chainer.training.extensions.snapshot.html",
    "trigger": "reference/triggers/chainer.training.triggers.EarlyStoppingTrigger.html",
    "dataset": "reference/datasets/chainer.datasets.get_mnist.html",
    "transform": "reference/image-transforms/chainer.datasets.transforms.RandomCrop.html",
    "iterator": "reference/iterators/chainer.iterators.MultiprocessIterator.html",
    "initializer": "reference/initializers/chainer.initializers.HeNormal.html",
    "serializer": "reference/serializers/chainer.serializers.load_npz.html",
    "hook": "reference/function-hooks/chainer.function_hooks.TimerHook.html",
    "variable": "reference/core/chainer.Variable.html",
    "kernel": "reference/plugins/chainer.kernel.KernelDeclaration.html",
    "configuration": "reference/configuration.html",
    "command-line": "reference/command-line.html",
}
WIDTHS = (1300, 400)
SEARCHED = "convolution"


def search(page: Page) -> int:
    """Types a word into the search box; returns the number of results."""
    box = page.locator("input.md-search__input")
    if not box.is_visible() or page.viewport_size["width"] < 960:  # a button, on narrow screens
        page.locator("header label[for=__search]").first.click()
    box.click()
    box.press_sequentially(SEARCHED, delay=20)
    page.wait_for_selector(".md-search-result__item", timeout=60_000)
    return page.locator(".md-search-result__item").count()


def main() -> int:
    """Takes the screenshots; returns the exit status."""
    site, out = Path(sys.argv[1]).resolve(), Path(sys.argv[2])
    out.mkdir(parents=True, exist_ok=True)
    errors: list[str] = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        for width in WIDTHS:
            for scheme in ("light", "dark"):
                context = browser.new_context(
                    viewport={"width": width, "height": 800}, color_scheme=scheme
                )
                page = context.new_page()
                page.on("pageerror", lambda error: errors.append(str(error)))
                page.on("requestfailed", lambda request: errors.append(f"not found: {request.url}"))
                for name, path in PAGES.items():
                    page.goto((site / path).as_uri())
                    page.wait_for_timeout(300)
                    page.screenshot(path=out / f"{name}-{width}-{scheme}.png")
                page.goto((site / "index.html").as_uri())
                found = search(page)
                page.wait_for_timeout(300)
                page.screenshot(path=out / f"search-{width}-{scheme}.png")
                print(f"{width} {scheme}: {found} results for {SEARCHED!r}")
                context.close()
        browser.close()
    print("\n".join(errors) or f"no errors; the pictures are in {out}")
    return bool(errors)


if __name__ == "__main__":
    raise SystemExit(main())
