"""Batch normalization layer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy

from chainer.core.autograd.parameter import Parameter
from chainer.core.autograd.variable import Variable
from chainer.core.config.configuration import config
from chainer.core.typing import DTypeLike, InitializerLike, VariableLike
from chainer.core.utils.argument import parse_kwargs
from chainer.functions.normalization.batch_normalization import (
    batch_normalization,
    fixed_batch_normalization,
)
from chainer.links.initializers import generate_array, get_initializer
from chainer.links.link import Link


class BatchNormalization(Link):
    """Batch normalization layer on outputs of linear or convolution functions.

    Wraps :func:`chainer.functions.batch_normalization` and
    :func:`chainer.functions.fixed_batch_normalization`. In training mode the input is normalized by
    the statistics of the batch, and moving averages of them are kept. In fine-tuning mode the kept
    statistics are exact averages over the batches seen. In test mode (``config.train`` False) the
    input is normalized by the kept statistics.

    See `Batch Normalization: Accelerating Deep Network Training by Reducing Internal Covariate
    Shift <https://arxiv.org/abs/1502.03167>`_.

    Args:
        size (int or tuple of ints): Size (or shape) of channel dimensions. If None or omitted (with
            ``axis`` given or not), it is found out at the first call.
        decay (float): Decay rate of the moving averages.
        eps (float): Value added to the variance for numerical stability.
        dtype (numpy.dtype): Data type of the parameters and statistics.
        use_gamma (bool): Whether there is a scaling parameter; otherwise it is one.
        use_beta (bool): Whether there is a shifting parameter; otherwise it is zero.
        initial_gamma (initializer): Initializer of the scaling parameter; one by default.
        initial_beta (initializer): Initializer of the shifting parameter; zero by default.
        axis (int or tuple of int): Axes over which the statistics are taken; by default the first
            axis and those after the channel dimensions.
        initial_avg_mean (initializer): Initializer of the kept mean; zero by default.
        initial_avg_var (initializer): Initializer of the kept variance; one by default.

    Attributes:
        gamma (Parameter): Scaling parameter.
        beta (Parameter): Shifting parameter.
        avg_mean (array): Kept mean; a persistent value.
        avg_var (array): Kept variance; a persistent value.
        N (int): Number of batches given for fine-tuning; a persistent value.
        decay (float): Decay rate of the moving averages.
        eps (float): Value added to the variance.

    Example:
        >>> bn = L.BatchNormalization(3)
        >>> x = np.random.randn(10, 3, 32, 32).astype(np.float32)
        >>> y = bn(x)
        >>> bool(np.allclose(y.array.mean(axis=(0, 2, 3)), 0, atol=1e-5))
        True
    """

    gamma: Any = None
    beta: Any = None
    avg_mean: Any = None
    avg_var: Any = None

    def __init__(
        self,
        size: Any = None,
        decay: float = 0.9,
        eps: float = 2e-5,
        dtype: DTypeLike = numpy.float32,
        use_gamma: bool = True,
        use_beta: bool = True,
        initial_gamma: InitializerLike = None,
        initial_beta: InitializerLike = None,
        axis: Any = None,
        initial_avg_mean: InitializerLike = None,
        initial_avg_var: InitializerLike = None,
    ) -> None:
        super().__init__()
        if size is None and axis is None:
            raise RuntimeError("size or axis is required")
        self._dtype = numpy.dtype(config.dtype if dtype is None else dtype)
        self.axis = (int(axis),) if isinstance(axis, (int, numpy.integer)) else axis
        self._initial_avg_mean = 0 if initial_avg_mean is None else initial_avg_mean
        self._initial_avg_var = 1 if initial_avg_var is None else initial_avg_var
        self.decay = decay
        self.eps = eps
        self.N = 0
        self.avg_mean = None
        self.avg_var = None
        self.register_persistent("avg_mean")
        self.register_persistent("avg_var")
        self.register_persistent("N")
        with self.init_scope():
            if use_gamma:
                self.gamma = Parameter(
                    _typed(1 if initial_gamma is None else initial_gamma, self._dtype)
                )
            if use_beta:
                self.beta = Parameter(
                    _typed(0 if initial_beta is None else initial_beta, self._dtype)
                )
        if size is not None:
            self._initialize_params(size)

    def _initialize_params(self, shape: Any) -> None:
        self.avg_mean = self._statistics(self._initial_avg_mean, shape)
        self.avg_var = self._statistics(self._initial_avg_var, shape)
        for param in (self.gamma, self.beta):
            if param is not None and param.array is None:
                param.initialize(shape)

    def _statistics(self, initializer: Any, shape: Any) -> Any:
        device = self.device
        return generate_array(
            get_initializer(initializer), shape, device.xp, self._dtype, device.name
        )

    @property
    def printable_specs(self) -> Iterator[tuple[str, Any]]:
        """Pairs of name and value that describe the link when it is printed."""
        yield "size", None if self.avg_mean is None else self.avg_mean.shape
        yield "decay", self.decay
        yield "eps", self.eps
        yield "dtype", self._dtype
        yield "use_gamma", self.gamma is not None
        yield "use_beta", self.beta is not None

    def forward(self, x: VariableLike, **kwargs: Any) -> Variable:
        """Normalizes the input.

        Args:
            x (Variable or array): Input of shape ``(B, C, ...)``, ``C`` being the channel
                dimensions.
            finetune (bool): In training mode, whether to keep exact averages instead of moving
                ones.

        Returns:
            Variable: Output of the shape of ``x``.
        """
        (finetune,) = parse_kwargs(
            kwargs,
            ("finetune", False),
            test="test argument is not supported anymore. Use chainer.using_config",
        )
        if self.avg_mean is None:
            if not all(-x.ndim <= a < x.ndim for a in self.axis):
                raise ValueError(f"axis {self.axis} is out of range for an input of {x.ndim} axes")
            axes = {a % x.ndim for a in self.axis}
            self._initialize_params(tuple(n for i, n in enumerate(x.shape) if i not in axes))
        # One that is left out is of the dtype of the other: half precision goes with float32, too.
        own = self.beta if self.gamma is None else self.gamma
        dtype = x.dtype if own is None else own.dtype
        gamma = self._or_constant(self.gamma, 1.0, dtype)
        beta = self._or_constant(self.beta, 0.0, dtype)
        if not config.train:
            return self._normalize_fixed(x, gamma, beta)
        if finetune:
            self.N += 1
            return self._normalize(x, gamma, beta, 1.0 - 1.0 / self.N)
        return self._normalize(x, gamma, beta, self.decay)

    def _normalize(self, x: VariableLike, gamma: Any, beta: Any, decay: float) -> Variable:
        """Normalizes by the statistics of the batch and updates the kept ones."""
        return batch_normalization(
            x,
            gamma,
            beta,
            eps=self.eps,
            running_mean=self.avg_mean,
            running_var=self.avg_var,
            decay=decay,
            axis=self.axis,
        )

    def _normalize_fixed(self, x: VariableLike, gamma: Any, beta: Any) -> Variable:
        """Normalizes by the kept statistics."""
        return fixed_batch_normalization(
            x, gamma, beta, self.avg_mean, self.avg_var, self.eps, axis=self.axis
        )

    def _or_constant(self, param: Any, value: float, dtype: DTypeLike) -> Any:
        if param is not None:
            return param
        device = self.device
        with device.backend.use(device):
            return device.xp.full(self.avg_mean.shape, value, dtype=dtype)

    def start_finetuning(self) -> None:
        """Resets the count of batches for fine-tuning; to be called before fine-tuning again."""
        self.N = 0


class _Typed:
    """An initializer with a data type of its own."""

    def __init__(self, initializer: Any, dtype: DTypeLike) -> None:
        self._initializer = initializer
        self.dtype = dtype

    def __call__(self, array: Any) -> None:
        self._initializer(array)


def _typed(initializer: Any, dtype: DTypeLike) -> Any:
    initializer = get_initializer(initializer)
    return initializer if getattr(initializer, "dtype", None) else _Typed(initializer, dtype)
