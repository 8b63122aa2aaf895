"""Optimizer whose states are spread over the processes (ZeRO, stage 1)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy

from chainer import Link
from chainer.backend import backend_of
from chainermn.communicators.gradients import initialized_params, pack, unpack
from chainermn.optimizers.multi_node_optimizer import MultiNodeOptimizer

if TYPE_CHECKING:
    from chainer.typing import ArrayLike

HOOK_NAME = "chainermn.gather_parameters"


class ShardedOptimizer(MultiNodeOptimizer):
    """Each process updates whole parameters of its own, and gets the others from their owners.

    A process keeps the states of the optimizer for its parameters only: about ``1 / size`` of them.
    Gradients are averaged where they are needed. If there are hooks that look at all gradients
    (such as ``GradientClipping``), or loss scaling is dynamic, or ``overlap`` is on, all processes
    get all of them.

    A snapshot of one process has its part of the states. Checkpoints of all processes have all.
    After :meth:`consolidate_states`, a snapshot of one process equals the snapshot of the plain
    optimizer.
    """

    own_attributes: ClassVar[frozenset[str]] = MultiNodeOptimizer.own_attributes | {
        "_groups",
        "_params_of_groups",
    }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._groups: list[list[list[Any]]] | None = None
        self._params_of_groups: list[tuple[str, bool]] = []
        if self.actual_optimizer.target is not None:
            self._add_hook()

    def setup(self, link: Link) -> Self:
        super().setup(link)
        self._groups = None
        self._add_hook()
        return self

    def _add_hook(self) -> None:
        # The first of the hooks after an update, so that others see complete parameters.
        self.actual_optimizer.add_hook(self._gather, name=HOOK_NAME, timing="post")

    def _owned(self) -> list[list[list[Any]]]:
        """Returns, for each dtype and device, the parameters of each rank."""
        if self._groups is None or self._params_of_groups != self.target_params:
            kinds: dict[Any, list[Any]] = {}
            for _, param in initialized_params(self._target()):
                kinds.setdefault((param.dtype, param.device), []).append(param)
            # Largest first, each to the process that has least: the same in all processes.
            sizes = [0] * self.communicator.size
            self._groups = []
            for params in kinds.values():
                parts: list[list[Any]] = [[] for _ in sizes]
                for param in sorted(params, key=lambda param: -param.size):
                    owner = sizes.index(min(sizes))
                    parts[owner].append(param)
                    sizes[owner] += param.array.nbytes
                self._groups.append(parts)
            self._params_of_groups = list(self.target_params)
        return self._groups

    def _needs_all_gradients(self) -> bool:
        actual = self.actual_optimizer
        hooks = (
            [] if actual._hooks is None else [*actual._hooks.at("pre"), *actual._hooks.at("post")]
        )
        return actual._dynamic_scaling is not None or any(
            hook != self._gather and not getattr(hook, "call_for_each_param", False)
            for hook in hooks
        )

    def _average(self, target: Link) -> None:
        active = self._buckets is not None and self._buckets.is_active
        if active or self._needs_all_gradients():
            super()._average(target)
            return
        self.prepared_gradients()
        rank = self.communicator.rank
        for parts in self._owned():
            params = [param for part in parts for param in part if param.grad is not None]
            if not params:
                continue
            counts = [sum(p.size for p in part if p.grad is not None) for part in parts]
            with params[0].device:
                dtype = params[0].dtype
                buffer = pack(params, numpy.float32 if dtype.itemsize == 2 else dtype)
                self.communicator.reduce_scatter_mean(buffer, counts)
                start = sum(counts[:rank])
                own = [param for param in parts[rank] if param.grad is not None]
                unpack(own, buffer[start : start + counts[rank]])

    def _apply(self) -> None:
        rank = self.communicator.rank
        # Rules of others do nothing, so they make no states.
        others = [
            param.update_rule
            for parts in self._owned()
            for owner, part in enumerate(parts)
            if owner != rank
            for param in part
            if param.update_rule is not None and param.update_rule.enabled
        ]
        for rule in others:
            rule.enabled = False
        try:
            self.actual_optimizer.update(None)
        finally:
            for rule in others:
                rule.enabled = True

    def _gather(self, optimizer: Any) -> None:
        """Gets the parameters of the other processes; a hook of the actual optimizer."""
        rank = self.communicator.rank
        for parts in self._owned():
            params = [param for part in parts for param in part]
            counts = [sum(param.size for param in part) for part in parts]
            with params[0].device:
                xp = backend_of(params[0].array).xp
                buffer = xp.empty(sum(counts), params[0].dtype)
                start = sum(counts[:rank])
                if parts[rank]:
                    own = pack(parts[rank], params[0].dtype, "array")
                    buffer[start : start + counts[rank]] = own
                self.communicator.allgather_parts(buffer, counts)
                unpack(params, buffer, "array")

    def consolidate_states(self, root: int | None = 0) -> None:
        """Collects the states of all parameters at one process, or at all. Collective.

        Args:
            root (int): Rank of the process; None for all. It then can save them as the plain
                optimizer does. The states of others' parameters are dropped by the next call of
                :meth:`drop_other_states`.
        """
        rank = self.communicator.rank
        for parts in self._owned():
            for owner, part in enumerate(parts):
                for param in part:
                    rule = param.update_rule
                    if rule is None:
                        continue
                    values = state_of(rule) if owner == rank else None
                    values = self.communicator.bcast_obj(values, root=owner)
                    if owner != rank and root in (None, rank):
                        set_state(rule, param, values)

    def drop_other_states(self) -> None:
        """Frees the states of parameters that other processes update."""
        rank = self.communicator.rank
        for parts in self._owned():
            for owner, part in enumerate(parts):
                for param in part:
                    if owner != rank and param.update_rule is not None:
                        set_state(param.update_rule, param, (0, None, None))


def state_of(rule: Any) -> tuple[Any, Any, Any]:
    """Returns the number of updates, the states on the host, and the float32 copy of a rule."""
    state = None
    if rule.state is not None:
        state = {name: _to_host(value) for name, value in rule.state.items()}
    master = rule._fp32_param
    return rule.t, state, None if master is None else _to_host(master.array)


def _to_host(value: ArrayLike) -> Any:
    from chainer.backend import find_backend

    backend = find_backend(type(value))
    return value if backend is None else backend.to_host(value)


def set_state(rule: Any, param: Any, values: tuple[Any, Any, Any]) -> None:
    """Gives a rule what :func:`state_of` has returned."""
    from chainer import Parameter

    rule.t, state, master = values
    if state is not None:
        state = {
            name: param.device.send(value) if hasattr(value, "dtype") else value
            for name, value in state.items()
        }
    rule._state = state
    rule._fp32_param = None if master is None else Parameter(param.device.send(master))
