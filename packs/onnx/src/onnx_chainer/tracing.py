"""Records which functions a model applies."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Literal

import chainer
from chainer import FunctionHook, FunctionNode, Variable
from chainer.typing import Arrays
from chainer.variable import VariableNode


class Application:
    """One application of a function.

    Attributes:
        node: The function node.
        inputs: Its input arrays.
        twin: The same application in the second run of the model, whose inputs have other lengths;
            None if there was no second run.
        probe: The same application in a run whose inputs have other values; None if there was none.
    """

    def __init__(self, node: FunctionNode, inputs: Arrays) -> None:
        self.node = node
        self.inputs = inputs
        self.twin: Application | None = None
        self.probe: Application | None = None

    @property
    def function(self) -> Any:
        """The function as its author wrote it: for old-style functions the Function."""
        function = getattr(self.node, "function", None)
        return self.node if function is None else function

    @property
    def name(self) -> str:
        """Name of the class of the function, by which converters are found."""
        name = getattr(self.function, "custom_function_node_name", None)
        return type(self.function).__name__ if name is None else name

    def output_nodes(self) -> list[VariableNode | None]:
        """Returns the node of each output; None for outputs that are gone, which nothing used."""
        return [reference() for reference in self.node.outputs or ()]


class Recorder(FunctionHook):
    """Hook that records every application of a function, in order.

    A graph keeps the arrays that backward needs only, and no outputs that are not used. Converters
    need all input arrays: for constants, and to run compositions again.
    """

    name = "onnx_chainer.Recorder"

    def __init__(self) -> None:
        self.applications: list[Application] = []

    def forward_postprocess(self, function: Any, in_data: Any) -> None:
        """Records an application."""
        # Old-style functions are called by a node that adapts them.
        node = function if isinstance(function, FunctionNode) else function.node
        self.applications.append(Application(node, in_data))


class Trace:
    """The functions that a function of Variables applied to compute its outputs.

    Args:
        call: The function.
        inputs: Variables at which the graph begins.

    Attributes:
        outputs: Result of ``call``.
        applications: The applications that the outputs depend on, in forward order, as soon as
            :meth:`select` was called.
    """

    def __init__(self, call: Callable[[], Any], inputs: Iterable[Variable]) -> None:
        self._recorder = Recorder()
        self._leaves = {id(x.node) for x in inputs}
        # A recorder may be active already: a composition is expanded inside a call of the model.
        hooks = chainer.get_function_hooks()
        outer = hooks.pop(Recorder.name, None)
        try:
            with (
                self._recorder,
                chainer.using_config("enable_backprop", True),
                chainer.using_config("record_gradientless_functions", True),
            ):
                self.outputs = call()
        finally:
            if outer is not None:
                hooks[Recorder.name] = outer
        self.applications: list[Application] = []

    def select(self, outputs: Iterable[Variable]) -> list[Application]:
        """Selects the applications that outputs depend on.

        Args:
            outputs: The Variables.

        Returns:
            list: The applications, in forward order.
        """
        needed: set[int] = set()
        pending = [x.node for x in outputs]
        seen: set[int] = set()
        while pending:
            variable_node = pending.pop()
            function = variable_node.creator_node
            if id(variable_node) in self._leaves or function is None or id(function) in seen:
                continue
            seen.add(id(function))
            needed.add(id(function))
            pending += function.input_nodes
        self.applications = [a for a in self._recorder.applications if id(a.node) in needed]
        return self.applications

    def pair_with(self, other: Trace, run: Literal["twin", "probe"] = "twin") -> bool:
        """Pairs each application with the one of another run of the same function.

        Args:
            other: The other run, whose :meth:`select` was called.
            run: The attribute of the applications that gets the partner.

        Returns:
            bool: Whether both runs applied the same functions; if not, nothing is paired.
        """
        if [a.name for a in self.applications] != [b.name for b in other.applications]:
            return False
        for a, b in zip(self.applications, other.applications, strict=True):
            setattr(a, run, b)
        return True
