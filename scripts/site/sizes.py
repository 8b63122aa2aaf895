"""Prints the size of the built site, the time to build it and the weight of its pages.

    python -m scripts.site.sizes site [SECONDS]

The weight of a page is its HTML and what it loads at once: styles, programs and pictures, before
compression. The index of the search is loaded when a reader searches. Exits with 1 if a page weighs
more than 600 kB.
"""

from __future__ import annotations

import posixpath
import sys
from pathlib import Path
from urllib.parse import unquote, urlsplit

from scripts.site.walk import loaded_by

#: Bytes of a page and of what it loads.
MAX_WEIGHT = 600_000


def weights(site: Path) -> dict[str, int]:
    """Returns the bytes that each page loads, by path.

    Args:
        site: Folder of the site.
    """
    found: dict[str, int] = {}
    for path in sorted(site.rglob("*.html")):
        here = path.relative_to(site).as_posix()
        files = {here}
        for address in loaded_by(path.read_text(encoding="utf-8")):
            parts = urlsplit(address)
            if parts.path and not parts.scheme and not parts.netloc:
                folder = posixpath.dirname(here)
                files.add(posixpath.normpath(posixpath.join(folder, unquote(parts.path))))
        found[here] = sum((site / file).stat().st_size for file in files if (site / file).is_file())
    return found


def main() -> int:
    """Prints the figures; returns the exit status."""
    site = Path(sys.argv[1])
    files = [path.stat().st_size for path in site.rglob("*") if path.is_file()]
    found = weights(site)
    print(f"size: {sum(files) / 1e6:.0f} MB in {len(files):,} files, {len(found):,} pages")
    if len(sys.argv) > 2:
        print(f"time to build: {float(sys.argv[2]):.0f} seconds")
    ordered = sorted(found.items(), key=lambda item: -item[1])
    print(f"weight of a page: {ordered[len(ordered) // 2][1] / 1e3:.0f} kB (median)")
    for page, weight in ordered[:3]:
        print(f"  {weight / 1e3:.0f} kB  {page}")
    heavy = [page for page, weight in ordered if weight > MAX_WEIGHT]
    for page in heavy:
        print(f"{page} weighs more than {MAX_WEIGHT / 1e3:.0f} kB: {found[page] / 1e3:.0f} kB")
    return bool(heavy)


if __name__ == "__main__":
    raise SystemExit(main())
