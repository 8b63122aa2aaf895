"""Batch normalization over the batches of all processes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

import chainer
from chainer import Parameter, initializers
from chainer import functions as F
from chainermn.communicators.communicator_base import CommunicatorBase, require_communicator
from chainermn.functions.batch_normalization import MultiNodeBatchNormalizationFunction

if TYPE_CHECKING:
    from chainer.typing import Array, DTypeLike, InitializerLike


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
                initializer: Any = initializers._get_initializer(
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
