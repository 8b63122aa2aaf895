"""Figures without pyplot: nothing of matplotlib's global state is used or changed."""

from __future__ import annotations

import warnings
from typing import Any

from chainer.core.installation import install_command
from chainer.core.utils import installed
from chainer.core.utils.atomic_file import replacing


def _missing() -> str:
    return (
        "matplotlib is not installed on your environment, so nothing will be plotted at this time. "
        f"Please install matplotlib to plot figures:\n\n  $ {install_command('chainer[plot]')}\n"
    )


def is_available() -> bool:
    """Tells whether matplotlib is installed."""
    return installed.is_installed("matplotlib")


def warn_missing() -> None:
    """Warns that nothing is plotted without matplotlib."""
    warnings.warn(_missing(), stacklevel=4)


class Figures:
    """The little of ``matplotlib.pyplot`` that the extensions use, drawing to files only."""

    def subplots(self, nrows: int = 1, ncols: int = 1, **kwargs: Any) -> tuple[Any, Any]:
        """Makes a figure and its axes; takes the arguments of ``pyplot.subplots``."""
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure

        figure_arguments = {key: kwargs.pop(key) for key in ("figsize", "dpi") if key in kwargs}
        figure = Figure(**figure_arguments)
        FigureCanvasAgg(figure)
        return figure, figure.subplots(nrows, ncols, **kwargs)

    def close(self, figure: Any) -> None:
        """Does nothing: without pyplot, no global list keeps the figure."""


def save_figure(figure: Any, path: str, **kwargs: Any) -> None:
    """Writes a figure to a file, whose suffix tells the format (PNG without one)."""
    # The temporary file has another suffix, from which matplotlib cannot tell the format.
    suffix = path.rpartition(".")[2].lower() if "." in path.rpartition("/")[2] else "png"
    with replacing(path) as temporary:
        figure.savefig(temporary, format=suffix, bbox_inches="tight", **kwargs)
