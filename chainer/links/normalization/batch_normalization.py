"""Batch normalization layer."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy

# The functions are called by these names, as in release 7: programs patch them.
from chainer import functions
from chainer.core.arrays.device_resident import device_of
from chainer.core.autograd.parameter import Parameter
from chainer.core.autograd.variable import Variable
from chainer.core.config.configuration import config
from chainer.core.config.dtype import get_dtype
from chainer.core.misuse import warn_once
from chainer.core.typing import (
    Array,
    DType,
    DTypeLike,
    InitializerLike,
    Shape,
    ShapeLike,
    VariableLike,
)
from chainer.core.utils.argument import REMOVED_TEST, removed_arguments
from chainer.links.initializers import generate_array, get_initializer
from chainer.links.link import Link
from chainer.links.normalization._parameters import of_dtype, typed_parameter


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
        size (int or tuple of ints): Size (or shape) of channel dimensions; inferred at the first
            call if it is omitted and ``axis`` is given.
        decay (float): Decay rate of the moving averages.
        eps (float): Value added to the variance for numerical stability.
        dtype (numpy.dtype): Data type of the parameters and statistics;
            ``chainer.config.dtype`` by default, float32 if that is :data:`chainer.mixed16`.
        use_gamma (bool): Whether there is a scaling parameter; otherwise it is one.
        use_beta (bool): Whether there is a shifting parameter; otherwise it is zero.
        initial_gamma (initializer): Initializer of the scaling parameter; one by default.
        initial_beta (initializer): Initializer of the shifting parameter; zero by default.
        axis (int or tuple of int): Axes over which the statistics are computed; by default the
            first axis and the axes after the channel dimensions.
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

    # Programs ask whether a normalization has these, on the class as well.
    gamma: Parameter | None = None
    beta: Parameter | None = None
    avg_mean: Array | None = None
    avg_var: Array | None = None

    # Links restored from pickles of older releases lack these.
    axis: Sequence[int] | None = None
    _highprec_dtype: DType | None = None
    _initial_avg_mean: InitializerLike = None
    _initial_avg_var: InitializerLike = None

    def __init__(
        self,
        size: ShapeLike | None = None,
        decay: float = 0.9,
        eps: float = 2e-5,
        dtype: DTypeLike = None,
        use_gamma: bool = True,
        use_beta: bool = True,
        initial_gamma: InitializerLike = None,
        initial_beta: InitializerLike = None,
        axis: int | Sequence[int] | None = None,
        initial_avg_mean: InitializerLike = None,
        initial_avg_var: InitializerLike = None,
    ) -> None:
        super().__init__()
        if size is None and axis is None:
            raise RuntimeError("size or axis is required")
        self._highprec_dtype = get_dtype(dtype, map_mixed16=numpy.float32)
        self.axis = (int(axis),) if isinstance(axis, (int, numpy.integer)) else axis
        self._initial_avg_mean = initial_avg_mean
        self._initial_avg_var = initial_avg_var
        for name, value in (("decay", decay), ("eps", eps)):
            # Numbers alone: a program may give arrays, which would be waited for.
            if isinstance(value, (int, float)) and (value < 0 or (name == "decay" and value > 1)):
                bounds = "from 0 to 1" if name == "decay" else "positive"
                warn_once("batch normalization", name, f"{name} should be {bounds}, got {value}", 3)
        self.decay = decay
        self.eps = eps
        self.N = 0
        self.avg_mean = None
        self.avg_var = None
        # Files contain the statistics, as None if their size is not known yet.
        self.register_persistent("avg_mean")
        self.register_persistent("avg_var")
        self.register_persistent("N")
        with self.init_scope():
            if use_gamma:
                self.gamma = typed_parameter(initial_gamma, 1, self._highprec_dtype)
            if use_beta:
                self.beta = typed_parameter(initial_beta, 0, self._highprec_dtype)
        if size is not None:
            self._initialize_params(_as_shape(size))

    def _initialize_params(self, shape: Shape) -> None:
        self.avg_mean = self._statistics(get_initializer(self._initial_avg_mean, default=0), shape)
        self.avg_var = self._statistics(get_initializer(self._initial_avg_var, default=1), shape)
        for param in (self.gamma, self.beta):
            if param is not None and param.array is None:
                param.initialize(shape)

    def _statistics(self, initializer: Callable[[Array], None], shape: Shape) -> Array:
        device = device_of(self)
        initializer = of_dtype(initializer, self._highprec_dtype)
        return generate_array(initializer, shape, device.xp, device=device)

    @property
    def printable_specs(self) -> Iterator[tuple[str, Any]]:
        """Pairs of name and value that describe the link when it is printed."""
        # Release 7 prints the size of one channel axis as a number.
        shape = None if self.avg_mean is None else self.avg_mean.shape
        yield "size", shape[0] if shape is not None and len(shape) == 1 else shape
        yield "decay", self.decay
        yield "eps", self.eps
        dtype = self._highprec_dtype
        yield "dtype", self.avg_mean.dtype if dtype is None and self.avg_mean is not None else dtype
        yield "use_gamma", self.gamma is not None
        yield "use_beta", self.beta is not None

    def _axes(self) -> tuple[int, ...] | None:
        """Returns the axes as a tuple; the attribute is what the program gave."""
        return None if self.axis is None else tuple(self.axis)

    @removed_arguments(test=REMOVED_TEST)
    def forward(self, x: VariableLike, *, finetune: bool = False) -> Variable:
        """Normalizes the input.

        Args:
            x (Variable or array): Input of shape ``(B, C, ...)``, where ``C`` are the channel
                dimensions.
            finetune (bool): In training mode, whether to keep exact averages instead of moving
                ones.

        Returns:
            Variable: Output of the shape and dtype of ``x``.
        """
        if self.avg_mean is None:
            self._initialize_params(self._infer_shape(x))
        gamma, beta = self._parameters(x)
        if not config.train:
            return self._normalize_fixed(x, gamma, beta)
        # F.forget calls the link a second time with the same input.
        if config.in_recomputing:
            return self._normalize_again(x, gamma, beta)
        if finetune:
            # This decay makes the moving average the mean of all batches since start_finetuning().
            self.N += 1
            return self._normalize(x, gamma, beta, 1.0 - 1.0 / self.N)
        return self._normalize(x, gamma, beta, self.decay)

    def _infer_shape(self, x: VariableLike) -> Shape:
        """Returns the shape of the parameters: the lengths of the axes that are not reduced."""
        if self.axis is None:  # the size was given, so the statistics existed
            raise AttributeError(
                f"{type(self).__name__} has no avg_mean any more: it was deleted or set to None"
            )
        if not all(-x.ndim <= a < x.ndim for a in self.axis):
            raise ValueError(f"axis {self.axis} is out of range for an input of {x.ndim} axes")
        axes = {a % x.ndim for a in self.axis}
        return tuple(n for i, n in enumerate(x.shape) if i not in axes)

    def _parameters(self, x: VariableLike) -> tuple[VariableLike, VariableLike]:
        """Returns gamma and beta; a constant array for one that the link does not have."""
        # The constant has the dtype of the other parameter, because the two have to agree. It may
        # be wider than the dtype of x.
        own = self.beta if self.gamma is None else self.gamma
        dtype = x.dtype if own is None else own.dtype
        gamma = self._constant(1.0, dtype) if self.gamma is None else self.gamma
        beta = self._constant(0.0, dtype) if self.beta is None else self.beta
        return gamma, beta

    def _constant(self, value: float, dtype: DType) -> Array:
        assert self.avg_mean is not None
        device = device_of(self)
        with device.backend.use(device):
            return device.xp.full(self.avg_mean.shape, value, dtype=dtype)

    def _normalize(
        self, x: VariableLike, gamma: VariableLike, beta: VariableLike, decay: float
    ) -> Variable:
        """Normalizes by the statistics of the batch and updates the kept ones."""
        return functions.batch_normalization(
            x,
            gamma,
            beta,
            eps=self.eps,
            running_mean=self.avg_mean,
            running_var=self.avg_var,
            decay=decay,
            axis=self._axes(),
        )

    def _normalize_again(
        self, x: VariableLike, gamma: VariableLike, beta: VariableLike
    ) -> Variable:
        """Normalizes as the previous call did, without another update of the kept statistics."""
        return functions.batch_normalization(x, gamma, beta, eps=self.eps, axis=self._axes())

    def _normalize_fixed(
        self, x: VariableLike, gamma: VariableLike, beta: VariableLike
    ) -> Variable:
        """Normalizes by the kept statistics."""
        return functions.fixed_batch_normalization(
            x, gamma, beta, self.avg_mean, self.avg_var, self.eps, axis=self._axes()
        )

    def start_finetuning(self) -> None:
        """Resets the count of batches for fine-tuning; to be called before fine-tuning again."""
        self.N = 0


def _as_shape(size: ShapeLike) -> Shape:
    if isinstance(size, (int, numpy.integer)):
        return (int(size),)
    if not isinstance(size, Sequence) or isinstance(size, str):
        raise TypeError(f"size must be an int or a tuple of ints, got {size!r}")
    return tuple(size)
