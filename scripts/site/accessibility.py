"""Checks pages of the built site with axe-core, in a browser without a window.

    .venv-docs/bin/python -m scripts.site.accessibility site [axe.min.js]

Prints the findings on ten pages, in light and dark colors and at two widths, and exits with 1 if
one of them is serious or critical. axe-core (https://github.com/dequelabs/axe-core) is not kept
here: without a path, ``npm pack`` fetches it. It needs the extra ``browser-test`` and Chromium.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, sync_playwright

from scripts.site.screenshots import WIDTHS

PAGES = (
    "index.html",
    "guide/first-steps.html",
    "guide/variables.html",
    "recipes/index.html",
    "recipes/csv.html",
    "tutorials/digits.html",
    "add-a-kernel.html",
    "operations.html",
    "reference/configuration.html",
    "reference/functions/chainer.functions.convolution_2d.html",
)

#: The package of axe-core that ``npm pack`` fetches.
AXE = "axe-core@4"

#: Findings of these degrees fail the check; the others are printed.
SERIOUS = ("serious", "critical")


def axe_program(path: Path | None) -> str:
    """Returns the program of axe-core.

    Args:
        path: File ``axe.min.js``, or None to fetch it.

    Raises:
        FileNotFoundError: If there is neither a path nor npm.
    """
    if path is not None:
        return path.read_text(encoding="utf-8")
    if shutil.which("npm") is None:
        raise FileNotFoundError("npm is not installed; give the path of axe.min.js")
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["npm", "pack", "--silent", AXE], cwd=folder, check=True)
        (archive,) = Path(folder).glob("axe-core-*.tgz")
        with tarfile.open(archive) as files:
            member = files.extractfile("package/axe.min.js")
            assert member is not None
            return member.read().decode()


def findings(page: Page, axe: str) -> list[dict[str, Any]]:
    """Returns what axe-core finds on the page that is open."""
    page.evaluate(axe)
    return page.evaluate("axe.run(document).then(result => result.violations)")


def describe(finding: dict[str, Any], most: int = 3) -> str:
    """Returns a finding as text, with the first elements that have it."""
    lines = [f"  {finding['impact']}: {finding['id']}: {finding['help']}"]
    for node in finding["nodes"][:most]:
        why = (node["any"] or node["all"] or node["none"])[0]["message"]
        lines.append(f"    {' '.join(map(str, node['target']))}\n      {why}")
    if len(finding["nodes"]) > most:
        lines.append(f"    and {len(finding['nodes']) - most} more")
    return "\n".join(lines)


def main() -> int:
    """Checks the pages; returns the exit status."""
    site = Path(sys.argv[1]).resolve()
    axe = axe_program(Path(sys.argv[2]) if len(sys.argv) > 2 else None)
    serious = 0
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        for width in WIDTHS:
            for scheme in ("light", "dark"):
                # axe-core is evaluated as the page's own program would be, whatever its policy.
                context = browser.new_context(
                    viewport={"width": width, "height": 800}, color_scheme=scheme, bypass_csp=True
                )
                page = context.new_page()
                for path in PAGES:
                    page.goto((site / path).as_uri())
                    found = findings(page, axe)
                    serious += sum(finding["impact"] in SERIOUS for finding in found)
                    print(f"{path} ({width}, {scheme}): {len(found) or 'no'} findings")
                    for finding in found:
                        print(describe(finding))
                context.close()
        browser.close()
    print(f"{serious} serious findings on {len(PAGES)} pages")
    return bool(serious)


if __name__ == "__main__":
    raise SystemExit(main())
