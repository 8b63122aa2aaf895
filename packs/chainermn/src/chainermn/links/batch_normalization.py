"""Batch normalization over the batches of all processes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

import chainer
from chainer import FunctionNode, Parameter, initializers
from chainer import functions as F
from chainermn.communicators.communicator_base import CommunicatorBase, require_communicator

if TYPE_CHECKING:
    from chainer.typing import Array, DTypeLike, Indexes, InitializerLike, Variables


class MultiNodeBatchNormalizationFunction(FunctionNode):
    """Normalizes by the mean and variance over all processes, in training.

    Args:
        comm: Communicator.
        eps: Added to the variance.
    """

    def __init__(self, comm: CommunicatorBase, eps: float) -> None:
        self._comm, self._eps = comm, eps

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        x, gamma, beta = inputs
        xp = self.xp
        self._axes = (0, *range(1 + gamma.ndim, x.ndim))
        expand = self._expand = (None, *(slice(None),) * gamma.ndim) + (None,) * (
            x.ndim - 1 - gamma.ndim
        )
        # float16 would lose the difference of the two moments.
        wide = numpy.float32 if gamma.dtype == numpy.float16 else gamma.dtype
        values = x.astype(wide, copy=False)
        moments = xp.stack([values.mean(axis=self._axes), (values * values).mean(axis=self._axes)])
        moments = xp.ascontiguousarray(moments.astype(wide, copy=False))
        self._comm.mean_array(moments)
        self.mean = moments[0]
        # Rounding can make the difference negative.
        self.var = xp.maximum(moments[1] - self.mean**2, 0)
        self._inv_std = 1 / xp.sqrt(self.var + wide_type(self._eps, wide))
        self._x_hat = (values - self.mean[expand]) * self._inv_std[expand]
        y = gamma[expand].astype(wide) * self._x_hat + beta[expand].astype(wide)
        self.retain_inputs((1,))
        return (y.astype(x.dtype, copy=False),)

    def backward(self, target_input_indexes: Indexes, grad_outputs: Variables) -> tuple[Any, ...]:
        (gamma,) = self.get_retained_inputs()
        xp, expand = self.xp, self._expand
        x_node, gamma_node, beta_node = self.input_nodes
        gy = grad_outputs[0].array.astype(self._x_hat.dtype, copy=False)
        sums = xp.stack([gy.sum(axis=self._axes), (gy * self._x_hat).sum(axis=self._axes)])
        sums = xp.ascontiguousarray(sums)
        self._comm.mean_array(sums)
        gbeta, ggamma = sums
        count = gy.size // max(gamma.size, 1)
        scale = (gamma.array.astype(gy.dtype) * self._inv_std)[expand]
        gx = scale * (gy - (self._x_hat * ggamma[expand] + gbeta[expand]) / count)
        return (
            chainer.Variable(gx.astype(x_node.dtype, copy=False)),
            chainer.Variable(ggamma.astype(gamma_node.dtype, copy=False)),
            chainer.Variable(gbeta.astype(beta_node.dtype, copy=False)),
        )


def wide_type(value: float, dtype: DTypeLike) -> Any:
    """Returns a number of a dtype, which does not change the dtype of arrays."""
    return numpy.dtype(dtype).type(value)


class MultiNodeBatchNormalization(chainer.Link):
    """Batch normalization over the batches of all processes.

    ``p`` processes with batches of ``b`` examples compute what one process does with ``p * b``
    examples. All processes need batches of the same size. In training, forward and backward are
    collective. In test mode, statistics are fixed and nothing is sent.

    Args:
        size (int or tuple of int): Shape of one example without the axes of space: the number of
            channels.
        comm (CommunicatorBase): Communicator.
        decay (float): Decay rate of the running statistics.
        eps (float): Added to variances.
        dtype: dtype of the parameters; ``chainer.config.dtype`` if None.
        use_gamma (bool): Whether the result is scaled by a parameter.
        use_beta (bool): Whether a parameter is added to the result.
        initial_gamma: Initializer of ``gamma``; ones by default.
        initial_beta: Initializer of ``beta``; zeros by default.
        communication_backend (str): ``'mpi'``, ``'nccl'`` (for ``pure_nccl`` only) or ``'auto'``.

    Attributes:
        gamma (~chainer.Parameter): Scale.
        beta (~chainer.Parameter): Shift.
        avg_mean (array): Running mean.
        avg_var (array): Running variance; zeros at first.
        N (int): Number of batches that were used for finetuning.
        comm, decay, eps: See above.

    Raises:
        ValueError: If the communication backend is unknown, or the communicator does not have it.

    See: `Batch Normalization: Accelerating Deep Network Training by Reducing Internal Covariate
    Shift <https://arxiv.org/abs/1502.03167>`_
    """

    gamma: Any = None
    beta: Any = None

    def __init__(
        self,
        size: int | tuple[int, ...],
        comm: CommunicatorBase,
        decay: float = 0.9,
        eps: float = 2e-5,
        dtype: DTypeLike = None,
        use_gamma: bool = True,
        use_beta: bool = True,
        initial_gamma: Any = None,
        initial_beta: InitializerLike = None,
        communication_backend: str = "auto",
    ) -> None:
        super().__init__()
        require_communicator("comm", comm)
        if communication_backend not in ("auto", "mpi", "nccl"):
            raise ValueError(
                "communication_backend must be 'auto', 'mpi' or 'nccl', "
                f"got {communication_backend!r}"
            )
        if communication_backend == "nccl" and type(comm).__name__ != "PureNcclCommunicator":
            raise ValueError(
                "communication_backend 'nccl' needs the communicator 'pure_nccl', "
                f"got {type(comm).__name__}"
            )
        self.comm = comm
        self.decay = decay
        self.eps = eps
        self._communication_backend = communication_backend
        self._highprec_dtype = dtype = chainer.get_dtype(dtype, map_mixed16=numpy.float32)
        shape = (size,) if isinstance(size, int) else tuple(size)
        self.avg_mean = numpy.zeros(shape, dtype)
        self.avg_var = numpy.zeros(shape, dtype)
        self.N = 0
        for name in ("avg_mean", "avg_var", "N"):
            self.register_persistent(name)
        with self.init_scope():
            if use_gamma:
                initializer = initializers._get_initializer(
                    1 if initial_gamma is None else initial_gamma
                )
                initializer.dtype = dtype
                self.gamma = Parameter(initializer, shape)
            if use_beta:
                initializer = initializers._get_initializer(
                    0 if initial_beta is None else initial_beta
                )
                initializer.dtype = dtype
                self.beta = Parameter(initializer, shape)

    def __call__(self, x: Array, finetune: bool = False) -> chainer.Variable:
        """Normalizes a batch.

        Args:
            x (~chainer.Variable): Batch of shape ``(N, *size, ...)``.
            finetune (bool): Whether the running statistics become means over all batches since
                :meth:`start_finetuning`.

        Returns:
            ~chainer.Variable: Batch of the same shape and dtype.
        """
        shape, dtype = self.avg_mean.shape, self._highprec_dtype
        with self.device:
            gamma = self.gamma if self.gamma is not None else self.xp.ones(shape, dtype)
            beta = self.beta if self.beta is not None else self.xp.zeros(shape, dtype)
        if not chainer.config.train:
            return F.fixed_batch_normalization(
                x, gamma, beta, self.avg_mean, self.avg_var, self.eps
            )
        if finetune:
            self.N += 1
            decay = 1.0 - 1.0 / self.N
        else:
            decay = self.decay
        function = MultiNodeBatchNormalizationFunction(self.comm, self.eps)
        (y,) = function.apply((x, gamma, beta))
        # The examples of all processes count, not only the ones here.
        count = y.size // max(self.avg_mean.size, 1) * self.comm.size
        unbiased = count / max(count - 1.0, 1.0)
        with self.device:
            self.avg_mean *= decay
            self.avg_mean += (1 - decay) * function.mean
            self.avg_var *= decay
            self.avg_var += (1 - decay) * unbiased * function.var
        return y

    def start_finetuning(self) -> None:
        """Resets the number of batches that were used for finetuning."""
        self.N = 0
