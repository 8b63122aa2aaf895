"""Gives parts of the theme names that screen readers read, and lets long titles break at dots."""

from __future__ import annotations

import re
from typing import Any

#: The search of the theme is a dialog without a name.
_SEARCH = 'data-md-component="search" role="dialog"'

_TITLE = re.compile(r"(?<=<h1)[^>]*>.*?(?=</h1>)", re.DOTALL)

#: A dot in a name, outside of tags.
_DOT = re.compile(r"\.(?=\w)(?![^<]*>)")


def on_post_page(output: str, **kwargs: Any) -> str:
    """Called by MkDocs with the HTML of each page."""
    output = output.replace(_SEARCH, f'{_SEARCH} aria-label="Search"')
    return _TITLE.sub(lambda match: _DOT.sub(".<wbr>", match[0]), output, count=1)
