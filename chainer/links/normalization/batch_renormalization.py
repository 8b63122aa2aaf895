"""Batch renormalization layer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from chainer.core.arrays.backend import copied, copyto
from chainer.core.autograd.variable import Variable
from chainer.core.config.configuration import config
from chainer.core.typing import Array, DTypeLike, InitializerLike, ShapeLike, VariableLike
from chainer.functions.normalization.batch_normalization import fixed_batch_normalization
from chainer.functions.normalization.batch_renormalization import BatchRenormalizationFunction
from chainer.links.normalization.batch_normalization import BatchNormalization


class BatchRenormalization(BatchNormalization):
    """Batch renormalization layer on outputs of linear or convolution functions.

    Wraps :func:`chainer.functions.batch_renormalization` and
    :func:`chainer.functions.fixed_batch_renormalization`. It is an extension of batch normalization
    that makes the outputs of training and inference depend on individual examples rather than on
    the batch: the input is normalized by the statistics of the batch, then corrected, within
    bounds, towards the kept statistics.

    See `Batch Renormalization: Towards Reducing Minibatch Dependence in Batch-Normalized Models
    <https://arxiv.org/abs/1702.03275>`_.

    Args:
        size (int or tuple of ints): Size (or shape) of channel dimensions.
        rmax (float): Largest correction of the scale, at least 1.
        dmax (float): Largest correction of the mean, at least 0.
        decay (float): Decay rate of the moving averages.
        eps (float): Value added to the variance for numerical stability.
        dtype (numpy.dtype): Data type of the parameters and statistics;
            ``chainer.config.dtype`` by default, float32 if that is :data:`chainer.mixed16`.
        use_gamma (bool): Whether there is a scaling parameter; otherwise it is one.
        use_beta (bool): Whether there is a shifting parameter; otherwise it is zero.
        initial_gamma (initializer): Initializer of the scaling parameter; one by default.
        initial_beta (initializer): Initializer of the shifting parameter; zero by default.
        initial_avg_mean (initializer): Initializer of the kept mean; zero by default.
        initial_avg_var (initializer): Initializer of the kept variance; one by default.
        freeze_running_statistics (bool): Whether training leaves the kept statistics as they are.

    Attributes:
        rmax (float): Largest correction of the scale; may be changed during training.
        dmax (float): Largest correction of the mean; may be changed during training.

    It has the other attributes of :class:`~chainer.links.BatchNormalization`, too.

    Example:
        >>> x = np.random.randn(10, 3, 32, 32).astype(np.float32)
        >>> L.BatchRenormalization(3, rmax=3, dmax=5)(x).shape
        (10, 3, 32, 32)
    """

    # Release 7 has the corrections as attributes, which are always None.
    r = None
    d = None
    # Links restored from pickles of release 7 lack it.
    freeze_running_statistics = False
    #: Kept statistics before the call that F.forget will repeat.
    _previous: tuple[Array, Array] | None = None

    def __init__(
        self,
        size: ShapeLike,
        rmax: float = 1,
        dmax: float = 0,
        decay: float = 0.9,
        eps: float = 2e-5,
        dtype: DTypeLike = None,
        use_gamma: bool = True,
        use_beta: bool = True,
        initial_gamma: InitializerLike = None,
        initial_beta: InitializerLike = None,
        initial_avg_mean: InitializerLike = None,
        initial_avg_var: InitializerLike = None,
        *,
        freeze_running_statistics: bool = False,
    ) -> None:
        super().__init__(
            size,
            decay,
            eps,
            dtype,
            use_gamma,
            use_beta,
            initial_gamma,
            initial_beta,
            initial_avg_mean=initial_avg_mean,
            initial_avg_var=initial_avg_var,
        )
        self.rmax = rmax
        self.dmax = dmax
        self.freeze_running_statistics = freeze_running_statistics

    @property
    def printable_specs(self) -> Iterator[tuple[str, Any]]:
        """Pairs of name and value that describe the link when it is printed."""
        yield from super().printable_specs
        yield "rmax", self.rmax
        yield "dmax", self.dmax

    def forward(self, x: VariableLike, finetune: bool = False) -> Variable:
        """Normalizes the input.

        Args:
            x (Variable or array): Input of shape ``(B, C, ...)``, where ``C`` are the channel
                dimensions.
            finetune (bool): In training mode, whether to keep exact averages instead of moving
                ones.

        Returns:
            Variable: Output of the shape and dtype of ``x``.
        """
        return super().forward(x, finetune=finetune)

    def _normalize(
        self, x: VariableLike, gamma: VariableLike, beta: VariableLike, decay: float
    ) -> Variable:
        if config._will_recompute:
            self._previous = (copied(self.avg_mean), copied(self.avg_var))
        function = self._function(self.avg_mean, self.avg_var, decay)
        (y,) = function.apply((x, gamma, beta))
        if not self.freeze_running_statistics:
            # In place, because others may refer to the arrays.
            copyto(self.avg_mean, function.running_mean)
            copyto(self.avg_var, function.running_var)
        return y

    def _normalize_again(
        self, x: VariableLike, gamma: VariableLike, beta: VariableLike
    ) -> Variable:
        mean, var = self._previous or (self.avg_mean, self.avg_var)
        return self._function(mean, var, self.decay).apply((x, gamma, beta))[0]

    def _function(self, mean: Array, var: Array, decay: float) -> BatchRenormalizationFunction:
        return BatchRenormalizationFunction(
            self.eps, mean, var, decay, self.rmax, self.dmax, update_statistics=False
        )

    def _normalize_fixed(
        self, x: VariableLike, gamma: VariableLike, beta: VariableLike
    ) -> Variable:
        return fixed_batch_normalization(x, gamma, beta, self.avg_mean, self.avg_var, self.eps)
