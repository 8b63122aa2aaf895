"""Optimizer of models that are spread over the processes (ZeRO, stages 2 and 3)."""

from __future__ import annotations

import contextlib
import functools
import math
import warnings
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy

from chainer import Link, MisuseWarning
from chainer.backprop import backward_watched
from chainer.optimizer_hooks import GradientClipping
from chainermn.communicators.communicator_base import CommunicatorBase
from chainermn.optimizers.multi_node_optimizer import MultiNodeOptimizer
from chainermn.optimizers.sharded import set_state, state_of
from chainermn.sharding.layers import (
    FirstStep,
    GatherHook,
    Layers,
    make_whole,
    parameters_of_layers,
)
from chainermn.sharding.unit import Unit

if TYPE_CHECKING:
    from chainer import Parameter, Variable

KINDS = ("gradients", "parameters")

#: Links are joined up to this size: below it, the messages of a layer take longer than its bytes.
DEFAULT_LAYER_BYTES = 4 * 1024 * 1024


class FullyShardedOptimizer(MultiNodeOptimizer):
    """Each process keeps parameters, gradients and states of its own layers only.

    A layer is a link with all of its children if they are small, such as a block of a transformer;
    otherwise the links with parameters of their own are layers. The largest layers are given out
    first, each to the process that has least. Gradients go to the owner of their layer while
    backward still computes others, and the owner updates. With ``shard="parameters"``, parameters
    of other processes are fetched when their link is called, and again in backward, and dropped
    afterwards. So all processes have to call the same links in the same order, in evaluations, too.

    The first update gives the parameters of rank 0 to all and then updates, unlike the first update
    of :class:`MultiNodeOptimizer`. A lazily initialized model is run once before that, without
    gradients.

    Outside of :meth:`gathered`, ``param.array`` of another process's layer is NaN.

    Args:
        actual_optimizer: The optimizer that updates.
        communicator: Communicator.
        shard: ``"gradients"`` (ZeRO, stage 2) or ``"parameters"`` (stage 3).
        accumulate: Number of calls for one update.
        prefetch: Whether the next layer is fetched while this one computes. It takes the memory of
            another layer, and pays off where the network works while the processor computes.
        layer_bytes: A link is one layer, with its children, if its parameters take at most this
            many bytes (default: 4 MiB), and at most half of the part of a process. 0: each link
            with parameters is a layer, which takes the least memory and the most messages.

    Raises:
        ValueError: If ``shard`` is unknown, or ``layer_bytes`` is negative.

    See: `ZeRO: Memory Optimizations Toward Training Trillion Parameter Models
    <https://arxiv.org/abs/1910.02054>`_
    """

    own_attributes: ClassVar[frozenset[str]] = MultiNodeOptimizer.own_attributes | {
        "shard",
        "_prefetch",
        "_layer_bytes",
        "_layers",
        "_is_gathered",
    }

    def __init__(
        self,
        actual_optimizer: Any,
        communicator: CommunicatorBase,
        shard: str = "parameters",
        *,
        accumulate: int = 1,
        prefetch: bool = False,
        layer_bytes: int = DEFAULT_LAYER_BYTES,
    ) -> None:
        if shard not in KINDS:
            raise ValueError(f"shard must be 'gradients' or 'parameters', got {shard!r}")
        if layer_bytes < 0:
            raise ValueError(f"layer_bytes must be 0 or positive, got {layer_bytes}")
        super().__init__(actual_optimizer, communicator, accumulate=accumulate)
        self.shard = shard
        self._prefetch = prefetch
        self._layer_bytes = layer_bytes
        self._is_gathered = False
        self._layers: Layers | None = None

    def setup(self, link: Link) -> Self:
        """Sets a target link, which the first update shards.

        Args:
            link (~chainer.Link): The link.

        Returns:
            The optimizer itself.
        """
        self._layers = None
        return super().setup(link)

    # -- sharding ---------------------------------------------------------------------------------

    @property
    def is_sharded(self) -> bool:
        """Whether the model was sharded already."""
        return self._layers is not None

    @property
    def units(self) -> list[Unit]:
        """The layers, each with its owner; shards the model if that was not done. Collective."""
        return self._sharded().units

    def broadcast_parameters(self) -> None:
        """Gives the parameters of rank 0 to all and shards the model. Collective.

        Does nothing if the model is sharded, or if a parameter is not initialized yet; then the
        first update does it.
        """
        params = list(self._target().params())
        if self._layers is None and all(param.array is not None for param in params):
            self._sharded()

    def _sharded(self, is_called: bool = False) -> Layers:
        """Returns the layers of the model, which it shards first if that was not done.

        Args:
            is_called: Whether the model was called. Parameters that have no shape yet belong to
                links that it does not use, and are left alone.
        """
        if self._layers is not None:
            return self._layers
        target = self._target()
        missing = {id(p): name for name, p in target.namedparams() if p.array is None}
        if missing and not is_called:
            raise RuntimeError(
                f"parameter {next(iter(missing.values()))} is not initialized; call the model once "
                "before it is sharded"
            )
        comm = self.communicator
        make_whole(target)
        comm.bcast_data(target)
        total = sum(param.array.nbytes for param in target.params() if param.array is not None)
        # Smaller than the part of a process, so that all processes get some.
        max_bytes = min(self._layer_bytes, total // (2 * comm.size))
        groups: list[list[tuple[str, Any]]] = []
        for named in parameters_of_layers(target, max_bytes):
            kinds: dict[Any, list[tuple[str, Any]]] = {}
            for name, param in named:
                kinds.setdefault((param.dtype, param.device), []).append((name, param))
            groups += kinds.values()
        # Largest first, each to the process that has least: the same in all processes.
        loads = [0] * comm.size
        owners: dict[int, int] = {}
        sizes = [sum(param.array.nbytes for _, param in named) for named in groups]
        for index in sorted(range(len(groups)), key=lambda i: (-sizes[i], i)):
            owners[index] = loads.index(min(loads))
            loads[owners[index]] += sizes[index]
        releases = self.shard == "parameters"
        units = [Unit(comm, named, owners[index], releases) for index, named in enumerate(groups)]
        self._layers = layers = Layers(units, self._prefetch and releases, missing)
        if releases:
            self._hook_links(layers)
        self.take_parameters_as_equal()
        return layers

    def _hook_links(self, layers: Layers) -> None:
        unit_of = {id(param): unit for unit in layers.units for _, param in unit.named}
        # Two children may be the same link.
        for link in dict.fromkeys(self._target().links()):
            params = [getattr(link, name) for name in sorted(link._params)]
            units = [unit_of[id(param)] for param in params if id(param) in unit_of]
            link.add_hook(GatherHook(layers, list(dict.fromkeys(units))))

    def _end_first_step(self, layers: Layers) -> None:
        """Links that use no parameters themselves are called without a hook from now on."""
        layers.holds = False
        for link in self._target().links():
            hook: Any = link.local_link_hooks.get(GatherHook.name)
            if hook is not None and not hook.units:
                link.delete_hook(GatherHook.name)

    @contextlib.contextmanager
    def gathered(self) -> Iterator[None]:
        """All processes have all parameters within this ``with`` statement. Collective.

        At its end, the values of the owner of each layer are kept: load the same values in all
        processes.
        """
        layers = self._sharded()
        before, layers.holds = layers.holds, True
        was_gathered, self._is_gathered = self._is_gathered, True
        try:
            for unit in layers.units:
                unit.open()
            yield
        finally:
            layers.holds = before
            self._is_gathered = was_gathered
            if self.shard == "parameters" and not before:
                layers.close_all()

    # -- updates ----------------------------------------------------------------------------------

    def update(self, lossfun: Callable[..., Any] | None = None, *args: Any, **kwds: Any) -> None:
        """Updates the parameters with the mean gradients of all processes. Collective.

        Args:
            lossfun (callable): Loss function: returns one :class:`~chainer.Variable`.
            args, kwds: Arguments for the loss function.

        Raises:
            TypeError: If there is no loss function: gradients are taken while backward runs.
            ValueError: If a hook of the optimizer looks at all gradients (but GradientClipping), or
                loss scaling is dynamic: a process has gradients of its own layers only.
        """
        if lossfun is None:
            raise TypeError(
                "update() of a sharded model needs a loss function: gradients are given to their "
                "owners while backward runs"
            )
        self._check_hooks()
        if self._layers is None:
            import chainer

            if any(param.array is None for param in self._target().params()):
                with chainer.no_backprop_mode():
                    lossfun(*args, **kwds)
        layers = self._sharded(is_called=True)
        target = self._target()
        if self._accumulated == 0:
            target.cleargrads()
        layers.begin_forward()
        is_first = layers.holds and self.shard == "parameters" and not self._is_gathered
        with FirstStep(layers) if is_first else contextlib.nullcontext():
            loss = lossfun(*args, **kwds)
        self._backward(loss, watch=True)
        del loss
        if is_first:
            self._end_first_step(layers)
        layers.end_backward()
        self._accumulated += 1
        if not self._syncs or self._accumulated < self.accumulate:
            return
        count, self._accumulated = self._accumulated, 0
        for unit in layers.units:
            unit.finish_gradients(1 / count)
        self._apply_own()
        target.cleargrads()
        if self.shard == "gradients":
            for unit in layers.units:
                unit.start_refreshing()
            for unit in layers.units:
                unit.open()

    def _backward(self, loss: Variable, watch: bool) -> None:
        layers = self._sharded()
        layers.begin_backward()
        backward_watched(loss, layers.add_gradient, self.actual_optimizer._loss_scale)

    def _check_hooks(self) -> None:
        actual = self.actual_optimizer
        if actual._dynamic_scaling is not None:
            raise ValueError("a sharded model cannot be trained with dynamic loss scaling")
        hooks = (
            [] if actual._hooks is None else [*actual._hooks.at("pre"), *actual._hooks.at("post")]
        )
        for hook in hooks:
            if getattr(hook, "call_for_each_param", False) or isinstance(hook, GradientClipping):
                continue
            name = getattr(hook, "name", None) or getattr(hook, "__name__", type(hook).__name__)
            raise ValueError(
                f"the optimizer hook {name!r} looks at all gradients, but a process has the "
                "gradients of its own layers only. Use shard_states=True instead"
            )

    def _clip(self, hook: GradientClipping) -> None:
        """Clips by the norm of the gradients of all processes. Collective."""
        owned = {id(param) for unit in self.units if unit.is_own for _, param in unit.named}
        # A parameter of two children counts twice, as it does in one process.
        own = [
            param
            for param in self._target().params(include_uninit=False)
            if id(param) in owned and param.grad is not None
        ]
        squares = self.communicator.allreduce_obj(sum(_squares(param) for param in own))
        norm = math.sqrt(squares) / (self.actual_optimizer._loss_scale or 1.0)
        if norm > hook.threshold:
            for param in own:
                param.grad *= param.dtype.type(hook.threshold / norm)

    @contextlib.contextmanager
    def _clipping_together(self) -> Iterator[None]:
        """GradientClipping takes the gradients of all processes, in its turn among the hooks."""
        hooks = {} if self.actual_optimizer._hooks is None else self.actual_optimizer._hooks.pre
        before = dict(hooks)
        try:
            for name, hook in before.items():
                if isinstance(hook, GradientClipping):
                    hooks[name] = functools.partial(lambda hook, opt: self._clip(hook), hook)
            yield
        finally:
            hooks.update(before)

    def _apply_own(self) -> None:
        # Rules of others' layers do nothing, so they make no states. Nor do the parameters get the
        # zeros that an optimizer makes for those without a gradient: they would fill the memory.
        others = [param for unit in self.units if not unit.is_own for _, param in unit.named]
        rules = [
            param.update_rule
            for param in others
            if param.update_rule is not None and param.update_rule.enabled
        ]
        trained = [param for param in others if param.requires_grad]
        # As Variable.backward() notes it: update rules divide gradients by it.
        for unit in self.units:
            for _, param in unit.named if unit.is_own else []:
                param.loss_scale = self.actual_optimizer._loss_scale
        try:
            for rule in rules:
                rule.enabled = False
            for param in trained:
                param.requires_grad = False
            with self._without_complaint(), self._clipping_together():
                self.actual_optimizer.update(None)
        finally:
            for rule in rules:
                rule.enabled = True
            for param in trained:
                param.requires_grad = True

    @contextlib.contextmanager
    def _without_complaint(self) -> Iterator[None]:
        """A process may have no gradients where other processes own the layers."""
        own = (param for unit in self.units if unit.is_own for _, param in unit.named)
        if not self._sharded().has_gradients or any(param.grad is not None for param in own):
            yield
            return
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", MisuseWarning)
            yield

    # -- states -----------------------------------------------------------------------------------

    def consolidate_states(self, root: int | None = 0) -> None:
        """Collects the states of all parameters at one process, or at all. Collective.

        Args:
            root (int): Rank of the process; None for all.
        """
        rank = self.communicator.rank
        for unit in self.units:
            for _, param in unit.named:
                rule = param.update_rule
                if rule is None:
                    continue
                values = state_of(rule) if unit.is_own else None
                values = self.communicator.bcast_obj(values, root=unit.owner)
                if not unit.is_own and root in (None, rank):
                    set_state(rule, param, values)

    def drop_other_states(self) -> None:
        """Frees the states of the layers of other processes."""
        for unit in self.units:
            for _, param in unit.named:
                if not unit.is_own and param.update_rule is not None:
                    set_state(param.update_rule, param, (0, None, None))


def _squares(param: Parameter) -> float:
    """Returns the squared norm of a gradient, in float64 where float32 overflows."""
    gradient = param.grad
    with numpy.errstate(over="ignore"):
        squares = float(param.xp.vdot(gradient, gradient))
    if math.isfinite(squares) and gradient.dtype != numpy.float16:
        return squares
    wide = gradient.astype(numpy.float64)
    return float(param.xp.vdot(wide, wide))
