"""The optimizer of data parallel training."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, ClassVar, Self

from chainer import Link
from chainer.backprop import backward_watched
from chainermn.communicators.communicator_base import CommunicatorBase
from chainermn.communicators.gradients import prepare_gradients
from chainermn.optimizers.buckets import DEFAULT_BUCKET_BYTES, GradientBuckets
from chainermn.optimizers.delegation import DelegatingOptimizer

if TYPE_CHECKING:
    from chainer import Variable


class MultiNodeOptimizer(DelegatingOptimizer):
    """Updates with mean gradients; see :func:`~chainermn.create_multi_node_optimizer`.

    Args:
        actual_optimizer: The optimizer that updates.
        communicator: Communicator.
        zero_fill: Whether missing gradients count as zeros.
        overlap: Whether gradients are averaged in buckets during backward.
        bucket_bytes: Size of a bucket in bytes.
        accumulate: Number of calls for one update.

    Attributes:
        actual_optimizer (~chainer.Optimizer): The optimizer that updates.
        communicator (CommunicatorBase): Communicator.
        target_params (list): Pairs of name and whether there is data, of the parameters that were
            broadcast.
        zero_fill (bool): Whether missing gradients count as zeros.
        accumulate (int): Number of calls for one update.
    """

    own_attributes: ClassVar[frozenset[str]] = frozenset(
        {
            "actual_optimizer",
            "communicator",
            "target_params",
            "zero_fill",
            "accumulate",
            "_buckets",
            "_overlap",
            "_bucket_bytes",
            "_accumulated",
            "_syncs",
        }
    )

    def __init__(
        self,
        actual_optimizer: Any,
        communicator: CommunicatorBase,
        zero_fill: bool = True,
        *,
        overlap: bool = False,
        bucket_bytes: int = DEFAULT_BUCKET_BYTES,
        accumulate: int = 1,
    ) -> None:
        super().__init__(actual_optimizer)
        if accumulate < 1:
            raise ValueError(f"accumulate must be at least 1, got {accumulate}")
        if bucket_bytes < 1:
            raise ValueError(f"bucket_bytes must be positive, got {bucket_bytes}")
        if overlap and not zero_fill:
            raise ValueError("overlap counts missing gradients as zeros: it needs zero_fill=True")
        self.communicator = communicator
        self.target_params: list[tuple[str, bool]] = []
        self.zero_fill = zero_fill
        self.accumulate = accumulate
        self._overlap = overlap
        self._bucket_bytes = bucket_bytes
        self._buckets: GradientBuckets | None = None
        self._accumulated = 0
        self._syncs = True

    def setup(self, link: Link) -> Self:
        """Sets a target link; see :meth:`chainer.Optimizer.setup`.

        Args:
            link (~chainer.Link): The link.

        Returns:
            The optimizer itself.
        """
        self.actual_optimizer.setup(link)
        self.forget_parameters()
        return self

    def forget_parameters(self) -> None:
        """Makes the next update broadcast the parameters."""
        self.target_params = []
        self._buckets = None
        self._accumulated = 0

    def take_parameters_as_equal(self) -> None:
        """Makes the next update go without a broadcast.

        Parameters must be equal in all processes, as they are when all have loaded checkpoints of
        one iteration.
        """
        self.target_params = self._present_params()

    def broadcast_parameters(self) -> None:
        """Gives the parameters of rank 0 to all processes now, not in the next update. Collective.

        Parameters that are not initialized yet are broadcast by the update that initializes them.
        """
        self.communicator.bcast_data(self._target())
        self.take_parameters_as_equal()

    @contextlib.contextmanager
    def no_sync(self) -> Iterator[None]:
        """Calls of ``update(lossfun, ...)`` within this ``with`` statement only add gradients.

        The next call outside of it averages all of them and updates. The same calls must be within
        it in all processes.
        """
        before, self._syncs = self._syncs, False
        try:
            yield
        finally:
            self._syncs = before

    def update(self, lossfun: Callable[..., Any] | None = None, *args: Any, **kwds: Any) -> None:
        """Updates the parameters with the mean gradients of all processes. Collective.

        If the parameters differ from the parameters of the call before (as in the first one), they
        are broadcast and nothing else is done.

        Args:
            lossfun (callable): Loss function: returns one :class:`~chainer.Variable`. Without one
                the gradients are taken as they are.
            args, kwds: Arguments for the loss function.
        """
        target = self._target()
        loss = None if lossfun is None else lossfun(*args, **kwds)
        # After forward, which may have initialized parameters.
        changed = self._present_params() != self.target_params
        is_last = self._syncs and self._accumulated + 1 >= self.accumulate
        if loss is not None:
            if self._accumulated == 0:
                self._clear_gradients(target)
            self._backward(loss, watch=self._overlap and is_last and not changed)
            del loss
        if changed:
            self.broadcast_parameters()
            self._buckets = None
            self._accumulated = 0
            return
        self._accumulated += 1
        if not is_last:
            return
        count, self._accumulated = self._accumulated, 0
        self._average(target)
        if count > 1:
            for param in target.params():
                if param.array is not None and param.grad is not None:
                    grad = param.grad
                    grad *= grad.dtype.type(1 / count)
        self._apply()

    def _apply(self) -> None:
        self.actual_optimizer.update(None)

    def _present_params(self) -> list[tuple[str, bool]]:
        params = self._target().namedparams()
        return sorted((name, param.array is not None) for name, param in params)

    def _clear_gradients(self, target: Link) -> None:
        if getattr(self.actual_optimizer, "_use_cleargrads", True):
            target.cleargrads()
        else:
            target.zerograds()

    def _backward(self, loss: Variable, watch: bool) -> None:
        scale = self.actual_optimizer._loss_scale
        if scale is not None:
            # Backward does it for the gradients that it finds here. Others may come from other
            # processes, or from a part that F.forget computes again.
            for param in self._target().params():
                param.loss_scale = scale
        if not watch:
            loss.backward(loss_scale=scale)
            return
        if self._buckets is None:
            self._buckets = GradientBuckets(self.communicator, self._target(), self._bucket_bytes)
        self._buckets.begin()
        backward_watched(loss, self._buckets.add, scale)

    def _average(self, target: Link) -> None:
        buckets = self._buckets
        if buckets is not None and buckets.is_active:
            buckets.finish()
            return
        self.communicator.multi_node_mean_grad(target, self.zero_fill)

    def prepared_gradients(self) -> list[Any]:
        """Returns the parameters whose gradients take part, in the order of their names."""
        return prepare_gradients(self._target(), self.zero_fill)
