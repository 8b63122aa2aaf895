"""Pictures for pages of the reference, drawn from the code itself while the site is built.

A module draws one kind of thing. Its function ``draw(name, value)`` returns a figure, or None where
it has nothing to show for a name. Nothing is listed by name where a call tells as much: each
registered function of one array has a curve.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from functools import cache
from html import escape

from scripts.site.names import Name, main_names, sections, value_of
from scripts.site.pictures import (
    curves,
    events,
    images,
    matrices,
    optimizers,
    random_numbers,
    schedules,
)
from scripts.site.pictures.figures import Drawing, to_svg

DRAWERS: tuple[Callable[[Name, object], Drawing | None], ...] = (
    curves.draw,
    random_numbers.draw,
    schedules.draw,
    optimizers.draw,
    images.draw,
    matrices.draw,
    events.draw,
)


@cache
def picture(name: Name) -> tuple[str, str] | None:
    """Returns the picture for the page of a public name.

    Returns:
        tuple: The picture as SVG, and a sentence about it; None if no module draws it. A link has
            the picture of the function of that name.
    """
    value = value_of(name.public)
    for draw in DRAWERS:
        drawing = draw(name, value)
        if drawing is not None:
            return to_svg(drawing.figure), drawing.caption
    function = _function_of_links().get(name.public)
    return None if function is None else picture(function)


@cache
def _function_of_links() -> dict[str, Name]:
    """Returns the functions with the names of links, such as ``layer_normalization``."""
    documented = main_names()
    functions = {
        _letters(name): name
        for name in sections()["Functions"]
        if documented[name.canonical] == name and inspect.isroutine(value_of(name.public))
    }
    pairs = ((name.public, functions.get(_letters(name))) for name in sections()["Links"])
    return {public: function for public, function in pairs if function is not None}


def _letters(name: Name) -> str:
    """Returns the last part of a name without what differs between functions and links."""
    return name.public.rpartition(".")[2].replace("_", "").lower()


def path_of(name: Name) -> str:
    """Returns the path of the file of a picture in the folder of the reference."""
    return f"pictures/{name.public}.svg"


def figure(name: Name) -> str:
    """Returns the picture of a name with its caption, as HTML; empty if there is none."""
    drawn = picture(name)
    if drawn is None:
        return ""
    caption = drawn[1]
    text = re.sub(r"`([^`]*)`", r"<code>\1</code>", escape(caption, quote=False))
    alt = escape(caption.replace("`", ""))
    image = f'<img src="../{path_of(name)}" alt="{alt}" loading="lazy">'
    return f'<figure class="drawn">{image}<figcaption>{text}</figcaption></figure>'
