"""Dataset whose examples are made from the examples of another dataset."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from chainer.core.arguments import wrong_type
from chainer.core.typing import DatasetLike
from chainer.core.utils.argument import explained_keywords
from chainer.training.dataset.dataset_mixin import DatasetMixin

if TYPE_CHECKING:
    from chainer.core.typing import DatasetLike


class TransformDataset(DatasetMixin):
    """Dataset that indexes the base dataset and transforms the data.

    This dataset wraps the base dataset by modifying the behavior of the base dataset's
    :meth:`__getitem__`. Arrays returned by :meth:`__getitem__` of the base dataset with integer as
    an argument are transformed by the given function ``transform``. Also, :meth:`__len__` returns
    the integer returned by the base dataset's :meth:`__len__`.

    The function ``transform`` takes, as an argument, ``in_data``, which is the output of the base
    dataset's :meth:`__getitem__`, and returns the transformed arrays as output. Please see the
    following example. Since ``in_data`` directly refers to the item in the dataset, take care that
    ``transform`` not modify it. For example, note that the line ``img = img - 0.5`` below is
    correct since it makes a copy of ``img``. However, it would be incorrect to use ``img -= 0.5``
    since that would update the contents of the item in the dataset in place, corrupting it.

    >>> import numpy as np
    >>> from chainer.datasets import TransformDataset, TupleDataset
    >>> dataset = TupleDataset(np.ones((3, 2), np.float32), [0, 1, 2])
    >>> def transform(in_data):
    ...     img, label = in_data
    ...     img = img - 0.5  # scale to [-0.5, 0.5]
    ...     return img, label
    >>> dataset = TransformDataset(dataset, transform)
    >>> dataset[2]
    (array([0.5, 0.5], dtype=float32), 2)

    Args:
        dataset: The underlying dataset. The index of this dataset corresponds to the index of the
            base dataset. This object needs to support functions :meth:`__getitem__` and
            :meth:`__len__` as described above.
        transform (callable): A function that is called to transform values returned by the
            underlying dataset's :meth:`__getitem__`.
    """

    @explained_keywords
    def __init__(self, dataset: DatasetLike, transform: Callable[[Any], Any]) -> None:
        if not callable(transform):
            raise wrong_type("transform", "a function of an example", transform)
        self._dataset = dataset
        self._transform = transform

    def __len__(self) -> int:
        """Returns the number of data points."""
        return len(self._dataset)

    def get_example(self, i: int) -> Any:
        """Returns the i-th example, transformed.

        Args:
            i (int): The index of the example.

        Returns:
            The result of ``transform`` for the i-th example of the base dataset.
        """
        # Computed each time: the transformation may be random.
        return self._transform(self._dataset[i])
