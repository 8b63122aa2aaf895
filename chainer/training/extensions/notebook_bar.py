"""Progress bars in notebooks, drawn by tqdm.

A notebook does not move its cursor, so that a bar for a terminal would be printed again and again.
``tqdm.auto`` draws a widget where the notebook has widgets, and a line of text elsewhere.
"""

from __future__ import annotations

import sys
import warnings
from typing import Any


class NotebookBar:
    """A bar in the output of a cell.

    Args:
        tqdm: The class ``tqdm.auto.tqdm``.
        leave: Whether the bar stays when it is closed.
    """

    def __init__(self, tqdm: Any, leave: bool) -> None:
        self._tqdm = tqdm
        self._leave = leave
        self._bar: Any = None
        self._output: Any = None

    def show(self, share: float | None, text: str) -> None:
        """Draws the bar, in place of the bar that was drawn before.

        Args:
            share: Share that is done, from 0 to 1; None if the length is not known.
            text: Text beside the bar.
        """
        if self._bar is None:
            # Speed and times are in the text: tqdm would count from its own start, which is wrong
            # for a training that was resumed.
            bar = "{desc}" if share is None else "{percentage:3.0f}%|{bar}| {desc}"
            total = None if share is None else 1.0
            self._bar = self._tqdm(
                total=total, bar_format=bar, leave=self._leave, file=sys.stdout, **self._options()
            )
            if (widget := getattr(self._bar, "container", None)) is not None:
                from IPython.display import display

                self._output = display(widget, display_id=True)
        self._bar.n = share or 0.0
        # Without a colon, which tqdm puts behind descriptions. It draws the bar.
        self._bar.set_description_str(text)

    def close(self) -> None:
        """Ends the bar; the next output is below it, or in its place."""
        if self._bar is None:
            return
        self._bar.close()
        if self._output is not None and self._leave:
            # Viewers without widgets show the text of the output in a saved notebook. It would
            # stay the text of the first moment.
            self._output.update(self._bar.container)
        self._bar = self._output = None

    def _options(self) -> dict[str, bool]:
        """Returns what a widget needs, so that it is shown as an output that can be replaced."""
        notebook = sys.modules.get("tqdm.notebook")
        widget = notebook is not None and issubclass(self._tqdm, notebook.tqdm_notebook)
        return {"display": False} if widget else {}


def notebook_bar(*, leave: bool = True) -> NotebookBar | None:
    """Returns a bar if the program runs in a notebook that has tqdm (the extra ``notebook``).

    Args:
        leave: Whether the bar stays when it is closed.
    """
    if not in_notebook():
        return None
    try:
        with warnings.catch_warnings():
            # It says that there are no widgets. Then the bar is a line of text.
            warnings.simplefilter("ignore")
            from tqdm.auto import tqdm
    except ImportError:
        return None
    return NotebookBar(tqdm, leave)


def in_notebook() -> bool:
    """Returns whether the program runs in a kernel of Jupyter; IPython in a terminal is none."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    return getattr(shell, "kernel", None) is not None
