"""Pictures for pages of the reference, drawn from the code itself while the site is built.

A module draws one kind of thing. Its function ``draw(name, value)`` returns a figure, or None where
it has nothing to show for a name. Nothing is listed by name where a call tells as much: each
registered function of one array has a curve.
"""

from __future__ import annotations

from collections.abc import Callable

from scripts.site.names import Name, value_of
from scripts.site.pictures import curves, images, optimizers, random_numbers, schedules
from scripts.site.pictures.figures import Drawing, to_svg

DRAWERS: tuple[Callable[[Name, object], Drawing | None], ...] = (
    curves.draw,
    random_numbers.draw,
    schedules.draw,
    optimizers.draw,
    images.draw,
)


def picture(name: Name) -> tuple[str, str] | None:
    """Returns the picture for the page of a public name.

    Returns:
        tuple: The picture as SVG, and a sentence about it; None if no module draws it.
    """
    value = value_of(name.public)
    for draw in DRAWERS:
        drawing = draw(name, value)
        if drawing is not None:
            return to_svg(drawing.figure), drawing.caption
    return None
