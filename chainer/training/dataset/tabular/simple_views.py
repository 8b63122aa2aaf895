"""Views that change the form of examples or how columns are converted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from chainer.training.dataset.tabular.delegate_dataset import View
from chainer.training.dataset.tabular.tabular_dataset import Columns, Mode, TabularDataset


class ModeView(View):
    """View whose examples have another form.

    Args:
        dataset: Source.
        mode: ``tuple`` or ``dict``.
    """

    def __init__(self, dataset: TabularDataset, mode: Mode) -> None:
        super().__init__(dataset)
        self._mode = mode

    @property
    def mode(self) -> Mode:
        """Form of an example."""
        return self._mode


class ConverterView(View):
    """View with another converter.

    Args:
        dataset: Source.
        converter: Takes columns as its arguments.
    """

    def __init__(self, dataset: TabularDataset, converter: Callable[..., Any]) -> None:
        super().__init__(dataset)
        self._converter = converter

    def convert(self, data: Columns) -> Any:
        """Makes arrays of columns by the converter."""
        return call_with(self._converter, data)


def call_with(function: Callable[..., Any], values: Columns) -> Any:
    """Calls a function with an example or with columns, in any form.

    Args:
        function: Function to call.
        values: A tuple (positional arguments), a dictionary (keyword arguments), or anything else
            (the only argument).
    """
    # The kind of the values decides, not the mode of a dataset: astuple and asdict change that.
    if isinstance(values, tuple):
        return function(*values)
    if isinstance(values, dict):
        return function(**values)
    return function(values)
