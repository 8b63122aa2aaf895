"""Decorrelated batch normalization layer."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy

# The functions are called by these names, as in release 7: programs patch them.
from chainer import functions
from chainer.core.arrays.backend import copyto
from chainer.core.autograd.variable import Variable
from chainer.core.config.configuration import config
from chainer.core.config.dtype import get_dtype
from chainer.core.typing import Array, DTypeLike, VariableLike
from chainer.links.link import Link
from chainer.links.serializer import AbstractSerializer, Deserializer


class DecorrelatedBatchNormalization(Link):
    """Decorrelated batch normalization layer.

    The channels are divided into groups. In training mode, each group is centered and multiplied by
    a matrix so that its channels are not correlated and have variance 1 over the batch (ZCA
    whitening); moving averages of the means and matrices are kept. In fine-tuning mode the kept
    statistics are exact averages over the batches seen. In test mode (``config.train`` False) the
    kept statistics are applied. There are no parameters.

    See `Decorrelated Batch Normalization <https://arxiv.org/abs/1804.08450>`_. Wraps
    :func:`chainer.functions.decorrelated_batch_normalization` and
    :func:`chainer.functions.fixed_decorrelated_batch_normalization`.

    Args:
        size (int): Number of channels.
        groups (int): Number of groups, a divisor of ``size``.
        decay (float): Decay rate of the moving averages.
        eps (float): Value added to the variances for numerical stability.
        dtype (numpy.dtype): Data type of the statistics.

    Attributes:
        avg_mean (array): Kept means, shape ``(groups, size // groups)``; a persistent value.
        avg_projection (array): Kept matrices, shape
            ``(groups, size // groups, size // groups)``; a persistent value.
        N (int): Number of batches given for fine-tuning; a persistent value.
        decay (float): Decay rate of the moving averages.
        eps (float): Value added to the variances.
        groups (int): Number of groups.

    Example:
        >>> link = L.DecorrelatedBatchNormalization(4, groups=2)
        >>> x = np.random.RandomState(0).randn(50, 4).astype(np.float32)
        >>> y = link(x).array[:, :2]  # the first group
        >>> bool(np.allclose(y.T @ y / 50, np.eye(2), atol=1e-3))
        True
    """

    def __init__(
        self,
        size: int,
        groups: int = 16,
        decay: float = 0.9,
        eps: float = 2e-5,
        dtype: DTypeLike = numpy.float32,
    ) -> None:
        super().__init__()
        dtype = get_dtype(dtype)
        channels = size // groups
        self.N = 0
        self.register_persistent("N")
        self.decay = decay
        self.eps = eps
        self.groups = groups
        self.avg_mean: Array = numpy.zeros((groups, channels), dtype)
        self.register_persistent("avg_mean")
        # The identity: before any training the projection leaves its input as it is.
        self.avg_projection: Array = numpy.tile(numpy.eye(channels, dtype=dtype), (groups, 1, 1))
        self.register_persistent("avg_projection")

    @property
    def printable_specs(self) -> Iterator[tuple[str, Any]]:
        """Pairs of name and value that describe the link when it is printed."""
        yield "size", self.avg_mean.size
        yield "groups", self.groups
        yield "decay", self.decay
        yield "eps", self.eps
        yield "dtype", self.avg_mean.dtype

    def forward(self, x: VariableLike, *, finetune: bool = False) -> Variable:
        """Normalizes the input.

        Args:
            x (Variable or array): Input of shape ``(B, size, ...)``.
            finetune (bool): In training mode, whether to keep exact averages instead of moving
                ones.

        Returns:
            Variable: Output of the shape of ``x``.

        Raises:
            InvalidType: If ``groups`` is not a divisor of the number of channels.
        """
        if not config.train:
            return functions.fixed_decorrelated_batch_normalization(
                x, self.avg_mean, self.avg_projection, self.groups
            )
        if config.in_recomputing:
            # F.forget calls the link a second time with the same input.
            return functions.decorrelated_batch_normalization(x, groups=self.groups, eps=self.eps)
        decay = self.decay
        if finetune:
            self.N += 1
            decay = 1.0 - 1.0 / self.N
        return functions.decorrelated_batch_normalization(
            x,
            groups=self.groups,
            eps=self.eps,
            running_mean=self.avg_mean,
            running_projection=self.avg_projection,
            decay=decay,
        )

    def start_finetuning(self) -> None:
        """Resets the count of batches for fine-tuning; to be called before fine-tuning again."""
        self.N = 0

    def serialize(self, serializer: AbstractSerializer) -> None:
        """Serializes the link; files of releases before 7 can be loaded.

        Args:
            serializer (AbstractSerializer): Serializer or deserializer.

        Raises:
            ValueError: If loaded statistics have a wrong number of axes.
        """
        if not isinstance(serializer, Deserializer):
            super().serialize(serializer)
            return
        self.N = serializer("N", self.N)
        for name in ("avg_mean", "avg_projection"):
            # With None the deserializer returns the array as it was saved.
            loaded = serializer(name, None)
            if loaded is not None:
                copyto(getattr(self, name), self._with_groups(name, numpy.asarray(loaded)))

    def _with_groups(self, name: str, loaded: Array) -> Array:
        """Returns a loaded statistic with an axis of groups, which old releases did not have."""
        ndim = getattr(self, name).ndim
        if loaded.ndim == ndim:
            return loaded
        if loaded.ndim != ndim - 1:
            raise ValueError(
                f"unexpected shape of {name}: expected {getattr(self, name).shape}, got "
                f"{loaded.shape}"
            )
        if self.groups != 1:
            warnings.warn(
                "Found moving statistics of old DecorrelatedBatchNormalization, whose algorithm "
                "was different from the paper.",
                stacklevel=2,
            )
        return numpy.broadcast_to(loaded, (self.groups, *loaded.shape))
