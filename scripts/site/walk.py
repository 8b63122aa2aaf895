"""Walks the built site: dead links, pages that no link reaches, public names without a page.

References to unknown names are found, too, and pages that load scripts, styles or pictures from
elsewhere: the site works offline.

    python -m scripts.site.walk site

Exits with 1 and prints what is wrong, if something is.
"""

from __future__ import annotations

import posixpath
import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

#: Pages that are not meant to be reached by links: the answer for missing pages, and the source of
#: the navigation.
_ALONE = frozenset(("404.html", "reference/SUMMARY.html"))

#: A reference to a name whose page the build did not find: it warns of it, and keeps the brackets.
_UNRESOLVED = re.compile(r"\[<code>([^<]+)</code>\]\[")


class _Page(HTMLParser):
    """The links and the anchors of a page, and the addresses that it loads."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: set[str] = set()
        self.anchors: set[str] = set()
        self.loads: set[str] = set()
        self.unresolved = sorted(set(_UNRESOLVED.findall(text)))
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        for name in ("href", "src"):
            if values.get(name):
                self.links.add(str(values[name]))
        loaded = values.get("src") or (values.get("href") if _is_style(tag, values) else "") or ""
        if loaded:
            self.loads.add(loaded)
        self.anchors.update(str(values[name]) for name in ("id", "name") if values.get(name))

    @property
    def loaded_from_elsewhere(self) -> list[str]:
        return sorted(address for address in self.loads if urlsplit(address).netloc)


def loaded_by(text: str) -> set[str]:
    """Returns the addresses that a page loads: styles, programs and pictures.

    Args:
        text: HTML of the page.
    """
    return _Page(text).loads


def _is_style(tag: str, values: dict[str, str | None]) -> bool:
    return tag == "link" and values.get("rel") in ("stylesheet", "icon", "preload", "modulepreload")


def problems(site: Path, names: list[str]) -> list[str]:
    """Returns what is wrong with a site, one text each.

    Args:
        site: Folder of the site.
        names: Public names that need an anchor in the reference.
    """
    pages = {
        path.relative_to(site).as_posix(): _Page(path.read_text(encoding="utf-8"))
        for path in sorted(site.rglob("*.html"))
    }
    files = frozenset(p.relative_to(site).as_posix() for p in site.rglob("*") if p.is_file())
    found: list[str] = []
    reached = {"index.html"}
    waiting = ["index.html"]
    while waiting:
        here = waiting.pop()
        for target in _targets(files, here, pages[here].links):
            if target in pages and target not in reached:
                reached.add(target)
                waiting.append(target)
    for here, page in pages.items():
        if here == "404.html":  # its links begin at the root of a server
            continue
        found += [
            f"{here}: loads {address} from elsewhere" for address in page.loaded_from_elsewhere
        ]
        found += [f"{here}: nothing is known of {name}" for name in page.unresolved]
        for link in sorted(page.links):
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = _resolved(files, here, parts.path)
            if target is None:
                found.append(f"{here}: dead link {link}")
            elif parts.fragment and target in pages:
                anchors = pages[target].anchors
                if unquote(parts.fragment) not in anchors and parts.fragment != "__skip":
                    found.append(f"{here}: no anchor for {link}")
    found += [f"{page}: no link leads here" for page in pages if page not in reached | _ALONE]
    stems = {Path(page).name.removesuffix(".html") for page in pages}
    found += [f"{name}: has no page" for name in names if name not in stems]
    return found


def _targets(files: frozenset[str], here: str, links: set[str]) -> set[str]:
    paths = (urlsplit(link) for link in links)
    resolved = (_resolved(files, here, p.path) for p in paths if not p.scheme and not p.netloc)
    return {target for target in resolved if target is not None}


def _resolved(files: frozenset[str], here: str, path: str) -> str | None:
    """Returns the file that a link of a page leads to; None if there is none in the site."""
    if not path:
        return here
    # By text: a site has a million links, and asking the file system takes long.
    file = posixpath.normpath(posixpath.join(posixpath.dirname(here), unquote(path)))
    if file in files:
        return file
    index = "index.html" if file == "." else f"{file}/index.html"
    return index if index in files else None


def main() -> int:
    """Walks the site that the command line names."""
    from scripts.site.names import main_names

    names = sorted({name.public for name in main_names().values()})
    wrong = problems(Path(sys.argv[1]), names)
    print("\n".join(wrong) or f"site: {len(names)} names, no dead link, every page is reached")
    return bool(wrong)


if __name__ == "__main__":
    raise SystemExit(main())
