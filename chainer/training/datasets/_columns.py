"""Base of datasets that consist of columns of the same length."""

from __future__ import annotations

from chainer.core.utils.repr_texts import dataset_text


class Columns:
    """Base of datasets that put the examples of other datasets side by side."""

    _length: int

    def __repr__(self) -> str:
        return f"<{dataset_text(self)}>"

    def __len__(self) -> int:
        """Returns the number of data points."""
        return self._length
