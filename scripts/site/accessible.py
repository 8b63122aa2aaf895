"""Gives parts of the theme names that screen readers read."""

from __future__ import annotations

from typing import Any

#: The search of the theme is a dialog without a name.
_SEARCH = 'data-md-component="search" role="dialog"'


def on_post_page(output: str, **kwargs: Any) -> str:
    """Called by MkDocs with the HTML of each page."""
    return output.replace(_SEARCH, f'{_SEARCH} aria-label="Search"')
