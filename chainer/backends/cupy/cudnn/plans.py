"""Execution plans of the graphs of cuDNN, which are kept by signature.

A :class:`Planner` makes the plan of a graph. It excludes what the configuration forbids, asks cuDNN
for candidates, and takes the first that works or, with ``config.autotune``, the fastest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from math import prod
from types import ModuleType
from typing import Any

from chainer.backends.cupy.cudnn import library
from chainer.backends.cupy.cudnn.layouts import TensorSpec
from chainer.core.config.configuration import KernelPolicy

#: Number of candidates that ``config.autotune`` times, and number of runs of each. The first
#: candidates are the most promising ones.
_TIMED_PLANS = 12
_TIMED_RUNS = 3

_DTYPES = {"float16": "HALF", "bfloat16": "BFLOAT16", "float32": "FLOAT", "float64": "DOUBLE"}
_ITEMSIZES = {"float16": 2, "bfloat16": 2, "float32": 4, "float64": 8}


@dataclass(frozen=True, slots=True)
class Settings:
    """Entries of the configuration that plans depend on.

    Attributes:
        deterministic: Whether equal calls must have equal results.
        tensor_core: ``'always'``, ``'auto'`` or ``'never'``.
        autotune: Whether candidates are timed.
        workspace: Number of bytes a plan may use beside its tensors.
    """

    deterministic: bool = False
    tensor_core: str = "auto"
    autotune: bool = False
    workspace: int = 8 << 20

    @classmethod
    def of(cls, policy: KernelPolicy, workspace: int) -> Settings:
        """Takes the settings from the configuration.

        Args:
            policy: The configuration's entries about kernels.
            workspace: Number of bytes a plan may use.
        """
        values = policy.values
        return cls(
            policy.deterministic, values["use_cudnn_tensor_core"], values["autotune"], workspace
        )


@dataclass(frozen=True, slots=True)
class Signature:
    """Everything that a plan depends on, except for the device and the settings.

    Attributes:
        operation: Name for messages.
        tensors: The tensors by number; a number identifies a tensor when a plan is executed.
        attributes: Attributes of the operation, hashable.
    """

    operation: str
    tensors: tuple[tuple[int, TensorSpec], ...]
    attributes: tuple[Any, ...] = ()

    def __str__(self) -> str:
        tensors = ", ".join(f"{t.dtype}{list(t.dim)}/{list(t.stride)}" for _, t in self.tensors)
        return f"{self.operation}({tensors}; {', '.join(map(str, self.attributes))})"

    @property
    def dtype(self) -> str:
        """Data type of the first tensor."""
        return self.tensors[0][1].dtype

    @property
    def nbytes(self) -> int:
        """Number of bytes of all tensors."""
        return sum(prod(tensor.dim) * _ITEMSIZES[tensor.dtype] for _, tensor in self.tensors)


#: Adds the operations of a signature to a graph: ``build(graph, signature, tensor)``. There
#: ``tensor(number)`` makes the input with that number, and ``tensor(number, output)`` declares the
#: result of an operation as the output with that number.
Builder = Callable[[Any, Signature, Callable[..., Any]], None]


class Plan:
    """A way to execute a graph.

    Args:
        graph: The graph.
        index: Number of the plan within the graph; it is built.
    """

    __slots__ = ("_execute", "_graph", "_index", "workspace")

    def __init__(self, graph: Any, index: int) -> None:
        self._graph = graph
        self._index = index
        self._execute: Any = getattr(graph, library.EXECUTE)
        #: Size of its workspace in bytes.
        self.workspace: int = graph.get_workspace_size_plan_at_index(index)

    def execute(self, pointers: dict[int, int], workspace: int, handle: Any) -> None:
        """Starts the computation on the stream of a handle.

        Args:
            pointers: Number of each tensor -> address.
            workspace: Address of the workspace, 0 if none is needed.
            handle: Handle of cuDNN, as the graph was given it.
        """
        self._execute(pointers, workspace, self._index, handle)

    @property
    def name(self) -> str:
        """Name of the engine and its settings in cuDNN."""
        return self._graph.get_plan_name_at_index(self._index)


class Planner:
    """Makes execution plans.

    Args:
        cudnn: The module ``cudnn``.
        where: Device to plan for: ``handle=`` or, without a device, ``device_property=``.
    """

    def __init__(self, cudnn: ModuleType, **where: Any) -> None:
        self._cudnn: Any = cudnn
        self._where = where

    def plan(
        self,
        signature: Signature,
        build: Builder,
        settings: Settings,
        timer: Callable[[Plan, int], float] | None = None,
    ) -> Plan:
        """Returns a plan.

        Args:
            signature: Shapes, dtypes and attributes to plan for.
            build: Adds the operations to the graph.
            settings: Settings of the configuration.
            timer: Function of a plan and a number of runs that returns the time they take;
                needed to tune.

        Raises:
            RuntimeError: If cuDNN has no plan; the message names the signature.
        """
        problems: list[str] = []
        try:
            graph = self._candidates(signature, build, settings)
        except self._errors() as error:
            problems.append(_first_line(error))
        else:
            plans = self._built(graph, settings.workspace, problems)
            if settings.autotune and timer is not None:
                best = _fastest(plans, timer)
            else:
                best = next(plans, None)
            if best is not None:
                return best
        raise RuntimeError(
            f"cuDNN {self._cudnn.backend_version()} has no plan for {signature} with {settings}: "
            + "; ".join(dict.fromkeys(problems))
        )

    def _built(self, graph: Any, limit: int, problems: list[str]) -> Iterator[Plan]:
        """Yields plans within the limit, the most promising first.

        If all plans need more workspace than allowed, the smallest is yielded: without a plan the
        call would fail.
        """
        smallest: Plan | None = None
        found = False
        for index in range(graph.get_execution_plan_count()):
            try:
                graph.build_plan_at_index(index)
                plan = Plan(graph, index)
            except self._errors() as error:  # excluded, or an engine that does not support it
                problems.append(_first_line(error))
                continue
            if plan.workspace <= limit:
                found = True
                yield plan
            elif smallest is None or plan.workspace < smallest.workspace:
                smallest = plan
        if not found and smallest is not None:
            yield smallest

    def _errors(self) -> tuple[type[Exception], ...]:
        return (self._cudnn.cudnnGraphNotSupportedError, RuntimeError)

    def _candidates(self, signature: Signature, build: Builder, settings: Settings) -> Any:
        """Makes a graph with candidates for plans."""
        cudnn = self._cudnn
        types = cudnn.data_type
        double = signature.dtype == "float64"
        graph = library.graph_class(cudnn)(
            io_data_type=self._dtype(signature.dtype),
            intermediate_data_type=types.DOUBLE if double else types.FLOAT,
            compute_data_type=types.DOUBLE if double else types.FLOAT,
            **self._where,
        )
        specs = dict(signature.tensors)

        def tensor(number: int, output: Any = None) -> Any:
            described = specs[number]
            dim, stride = list(described.dim), list(described.stride)
            if output is None:
                return graph.tensor(
                    dim=dim,
                    stride=stride,
                    data_type=self._dtype(described.dtype),
                    is_pass_by_value=described.by_value,
                    uid=number,
                )
            output.set_output(True).set_uid(number).set_dim(dim).set_stride(stride)
            return output.set_data_type(self._dtype(described.dtype))

        build(graph, signature, tensor)
        graph.validate()
        graph.build_operation_graph()
        graph.create_execution_plans([cudnn.heur_mode.A, cudnn.heur_mode.FALLBACK])
        excluded = self._excluded(signature.dtype, settings)
        if excluded:
            graph.deselect_numeric_notes(excluded)
        return graph

    def _excluded(self, dtype: str, settings: Settings) -> list[Any]:
        """Returns the notes that identify the engines which the configuration excludes."""
        notes = self._cudnn.numerical_note
        excluded = []
        if settings.deterministic:
            excluded.append(notes.NONDETERMINISTIC)
        if settings.tensor_core == "never":
            excluded.append(notes.TENSOR_CORE)
        elif settings.tensor_core == "auto" and dtype == "float32":
            # Tensor Cores would round float32 to TensorFloat-32.
            excluded += [notes.TENSOR_CORE, notes.DOWN_CONVERT_INPUTS]
        return excluded

    def _dtype(self, name: str) -> Any:
        return getattr(self._cudnn.data_type, _DTYPES[name])


def _fastest(plans: Iterator[Plan], timer: Callable[[Plan, int], float]) -> Plan | None:
    """Times the first plans and returns the fastest."""
    best: tuple[float, Plan] | None = None
    for plan in islice(plans, _TIMED_PLANS):
        time = timer(plan, _TIMED_RUNS)
        if best is None or time < best[0]:
            best = (time, plan)
    return None if best is None else best[1]


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0] or type(error).__name__
