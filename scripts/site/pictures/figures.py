"""How all pictures look: small, without a background, in colors for light and dark pages."""

from __future__ import annotations

import io
import re
from dataclasses import dataclass
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

#: Colors that contrast with white and with the dark scheme of the site.
MAIN, SECOND, NEUTRAL = "#4f6bed", "#e07b39", "#8a8f98"

_STYLE: dict[Any, object] = {
    "axes.edgecolor": NEUTRAL,
    "axes.labelcolor": NEUTRAL,
    "axes.titlecolor": NEUTRAL,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.grid": True,
    "axes.titlesize": 9,
    "axes.labelsize": 9,
    "font.family": "sans-serif",
    "font.size": 9,
    "grid.color": NEUTRAL,
    "grid.alpha": 0.25,
    "legend.frameon": False,
    "legend.labelcolor": NEUTRAL,
    "lines.linewidth": 1.8,
    "path.simplify_threshold": 0.3,
    # Text stays text: small files, and fonts of the page.
    "svg.fonttype": "none",
    # The same names in every build.
    "svg.hashsalt": "chainer",
    "xtick.color": NEUTRAL,
    "ytick.color": NEUTRAL,
}


@dataclass(frozen=True)
class Drawing:
    """A picture.

    Attributes:
        figure: The picture.
        caption: A sentence that says what it shows, in Markdown. It is also the text for readers
            who do not see the picture, so it does not refer to colors alone.
    """

    figure: Figure
    caption: str


def new_axes(columns: int = 1, height: float = 2.6) -> list[Axes]:
    """Returns the axes of a new figure, side by side."""
    with matplotlib.rc_context(_STYLE):
        figure = Figure(figsize=(2.4 + 2.4 * columns, height), layout="constrained")
        return [figure.add_subplot(1, columns, i + 1) for i in range(columns)]


def drawing(axes: list[Axes], caption: str) -> Drawing:
    """Returns the figure of the axes with its caption."""
    figure = axes[0].figure
    assert isinstance(figure, Figure)
    return Drawing(figure, caption)


def show_image(axes: Axes, image: object, title: str) -> None:
    """Shows an array as a picture, without ticks."""
    axes.imshow(image, cmap="viridis", interpolation="nearest")  # pyright: ignore
    axes.set(title=title, xticks=[], yticks=[])
    axes.grid(False)


def text_of(value: object) -> str:
    """Returns an argument for the text of a call: of a larger array its shape only."""
    if isinstance(value, np.ndarray):
        return repr(value.tolist()) if value.size < 8 else f"array of shape {value.shape}"
    return repr(value)


def to_svg(figure: Figure) -> str:
    """Returns a figure as SVG for a page of HTML, without the lines of an XML file."""
    file = io.StringIO()
    with matplotlib.rc_context(_STYLE):
        figure.savefig(
            file, format="svg", transparent=True, metadata={"Date": None, "Creator": None}
        )
    text = file.getvalue()
    text = text[text.index("<svg") :]
    # Numbers of a hundredth of a point are enough.
    return re.sub(r"(\d+\.\d\d)\d+", r"\1", text)
