"""Views whose columns are computed from the columns of another dataset."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any

from chainer.training.dataset.tabular.delegate_dataset import View
from chainer.training.dataset.tabular.indexing import KeyIndexes, Rows, count_rows, requested
from chainer.training.dataset.tabular.simple_views import call_with
from chainer.training.dataset.tabular.tabular_dataset import Column, Mode, TabularDataset


class _ComputedView(View):
    """Base of the two kinds of transformations.

    Args:
        dataset: Source.
        keys: Names of the columns of the result, or the only one.
        function: Function to call.
    """

    def __init__(
        self, dataset: TabularDataset, keys: str | tuple[str, ...], function: Callable[..., Any]
    ) -> None:
        super().__init__(dataset)
        self._keys = keys if isinstance(keys, tuple) else (keys,)
        self._function = function
        # The mode is not known before the function was called once.
        self._is_mode_known = False
        self._mode: Mode = None

    @property
    def keys(self) -> tuple[str, ...]:
        """Names of the columns."""
        return self._keys

    @property
    def mode(self) -> Mode:
        """Form of an example: what the function returns. It is called once to learn this."""
        if not self._is_mode_known:
            self.get_examples([0], None)
        return self._mode

    @abstractmethod
    def get_examples(self, indices: Rows, key_indices: KeyIndexes) -> tuple[Column, ...]:
        """Returns columns of some rows."""

    def _call(self, values: tuple[Any, ...]) -> Any:
        """Calls the function with one value or column for each column of the source.

        Returns:
            A tuple in the order of the keys, or a dictionary by them.

        Raises:
            ValueError: If the function returned something of another kind before.
        """
        mode = self.dataset.mode
        form: Any = values
        if mode is dict:
            form = dict(zip(self.dataset.keys, values))
        elif mode is None:
            # A tuple as the bare value is one argument.
            form = values[0]
        result = self._function(form) if mode is None else call_with(self._function, form)
        kind = next((kind for kind in (tuple, dict) if isinstance(result, kind)), None)
        if not self._is_mode_known:
            self._mode, self._is_mode_known = kind, True
        elif kind is not self._mode:
            raise ValueError(
                f"{getattr(self._function, '__name__', 'the function')} of a transformation must "
                "always return the same kind of example: "
                f"first {_describe(self._mode)}, now {_describe(kind)}"
            )
        return (result,) if kind is None else result

    def _pick(self, result: Any, key_index: int) -> Any:
        return result[self._keys[key_index] if self._mode is dict else key_index]


def _describe(mode: Mode) -> str:
    return "a bare value" if mode is None else f"a {mode.__name__}"


class TransformView(_ComputedView):
    """View whose examples are computed one by one.

    Args:
        dataset: Source.
        keys: Names of the columns of the result, or the only one.
        function: Takes an example and returns a tuple, a dictionary or a bare value.
    """

    def get_examples(self, indices: Rows, key_indices: KeyIndexes) -> tuple[Column, ...]:
        """Returns columns of some rows, as lists."""
        columns = self.dataset.get_examples(indices, None)
        # Without columns there is still one call for each row.
        rows = zip(*columns) if columns else [()] * count_rows(indices, len(self.dataset))
        results = [self._call(row) for row in rows]
        return tuple(
            [
                [self._pick(result, k) for result in results]
                for k in requested(key_indices, len(self._keys))
            ]
        )


class TransformBatchView(_ComputedView):
    """View whose columns are computed as a whole.

    Args:
        dataset: Source.
        keys: Names of the columns of the result, or the only one.
        function: Takes columns and returns columns.
    """

    def get_examples(self, indices: Rows, key_indices: KeyIndexes) -> tuple[Column, ...]:
        """Returns columns of some rows."""
        result = self._call(self.dataset.get_examples(indices, None))
        count = count_rows(indices, len(self.dataset))
        for column in result.values() if self._mode is dict else result:
            if len(column) != count:
                raise ValueError(
                    "transform_batch must return columns with one entry for each row: "
                    f"expected {count}, got {len(column)}"
                )
        return tuple([self._pick(result, k) for k in requested(key_indices, len(self._keys))])
