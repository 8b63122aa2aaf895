"""Gradients that are averaged while the next iteration computes."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any, ClassVar, Self

from chainer import Link
from chainermn.communicators.communicator_base import CommunicatorBase, Request
from chainermn.communicators.gradients import pack, unpack
from chainermn.optimizers.multi_node_optimizer import MultiNodeOptimizer

#: Communicators that average in the background.
_NAMES = ("PureNcclCommunicator", "NaiveCommunicator")


class DoubleBufferingOptimizer(MultiNodeOptimizer):
    """Updates with the mean gradients of the iteration before.

    The first call broadcasts parameters, the second only starts to average its gradients. The
    gradients of the last call are never applied.

    Args:
        actual_optimizer: The optimizer that updates.
        communicator: Communicator ``pure_nccl`` or ``naive``.
        zero_fill: Whether missing gradients count as zeros.

    Attributes:
        communicated_target (~chainer.Link): Copy of the target, which owns the gradients that are
            being averaged; None before the first call.
        needs_update (bool): Whether the next call updates.
        target_params_list (list): Parameters of the target and of its copy.
        allreduce_grad_stream: None: the communicator has a stream of its own.

    Raises:
        ValueError: If the communicator does not average in the background.
    """

    own_attributes: ClassVar[frozenset[str]] = MultiNodeOptimizer.own_attributes | {
        "communicated_target",
        "needs_update",
        "target_params_list",
        "allreduce_grad_stream",
        "_request",
        "_sent",
    }

    def __init__(
        self, actual_optimizer: Any, communicator: CommunicatorBase, zero_fill: bool = True
    ) -> None:
        if type(communicator).__name__ not in _NAMES:
            raise ValueError(
                "double_buffering needs the communicator 'pure_nccl' or 'naive', "
                f"got {type(communicator).__name__}"
            )
        super().__init__(actual_optimizer, communicator, zero_fill)
        self.communicated_target: Link | None = None
        self.needs_update = False
        self.target_params_list: list[list[Any]] = [[], []]
        self.allreduce_grad_stream: Any = None
        self._request: Request | None = None
        # Groups of parameters and the buffer of each that is being averaged.
        self._sent: list[tuple[list[Any], Any]] = []

    def setup(self, link: Link) -> Self:
        super().setup(link)
        self.communicated_target = None
        self.needs_update = False
        return self

    def update(self, lossfun: Callable[..., Any] | None = None, *args: Any, **kwds: Any) -> None:
        """Makes gradients, and updates with the means of the gradients of the call before.
        Collective.

        Args:
            lossfun (callable): Loss function: returns one :class:`~chainer.Variable`.
            args, kwds: Arguments for the loss function.
        """
        target = self._target()
        if lossfun is not None:
            loss = lossfun(*args, **kwds)
            self._clear_gradients(target)
            self._backward(loss, watch=False)
            del loss
        if self._present_params() != self.target_params:
            self._wait()
            self.broadcast_parameters()
            copied = self.communicated_target = copy.deepcopy(target)
            copied.cleargrads()
            self.target_params_list = [
                [param for _, param in sorted(link.namedparams())] for link in (target, copied)
            ]
            self.needs_update = False
            return
        self._wait()
        self._swap()
        self._start()
        if self.needs_update:
            self.actual_optimizer.update(None)
        self.needs_update = True

    def _swap(self) -> None:
        for own, other in zip(*self.target_params_list, strict=True):
            if own.array is not None:
                own.grad, other.grad = other.grad, own.grad
                own.loss_scale, other.loss_scale = other.loss_scale, own.loss_scale

    def _start(self) -> None:
        """Starts to average the gradients of the copy, in one buffer for each dtype and device."""
        groups: dict[Any, list[Any]] = {}
        for param in self.target_params_list[1]:
            if param.array is None or (param.grad is None and not self.zero_fill):
                continue
            if param.grad is None:
                with param.device:
                    param.grad = param.xp.zeros_like(param.array)
            groups.setdefault((param.dtype, param.device), []).append(param)
        self._sent = []
        for (dtype, device), params in groups.items():
            with device:
                buffer = pack(params, "float32" if dtype.itemsize == 2 else dtype)
                self._sent.append((params, [buffer, self.communicator.start_mean(buffer)]))

    def _wait(self) -> None:
        """Writes the means, if some are on their way, into the gradients of the copy."""
        for params, (buffer, request) in self._sent:
            request.wait()
            with params[0].device:
                unpack(params, buffer)
        self._sent = []
