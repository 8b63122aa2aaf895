"""Gathers the parameters of each layer before its use, in forward and in backward."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import chainer
from chainer import FunctionHook, FunctionNode, Link, LinkHook, Variable
from chainermn.sharding.unit import Unit

if TYPE_CHECKING:
    from chainer import Parameter
    from chainer.typing import Array, Grads, Indexes


class Layers:
    """Opens and closes the units of a model.

    A unit that was used in forward stays open until the next one is needed, so at most one unit
    is open beyond the links whose calls are running. In backward, a unit is open until its
    gradients are complete.

    Args:
        units: The units of the model.
        prefetch: Whether the next unit, in the order of the last step, is fetched while this one
            computes.
        missing: Names of parameters that had no shape when the model was sharded, by ``id``.
    """

    def __init__(
        self, units: list[Unit], prefetch: bool, missing: dict[int, str] | None = None
    ) -> None:
        self.units = units
        self._missing = missing or {}
        self._prefetch = prefetch
        self._unit_of = {id(param): unit for unit in units for _, param in unit.named}
        self._in_backward = False
        self._order: list[Unit] = []
        self._last_order: list[Unit] = []
        self._sending: Unit | None = None
        #: Whether the last backward pass has made gradients, here or for other processes.
        self.has_gradients = False
        #: Whether units stay open: before the first step has ended, and on demand.
        self.holds = True
        #: The calls of links that are running, the innermost last.
        self.calls: list[GatherHook] = []

    def open(self, units: list[Unit]) -> None:
        """Opens units, and closes those that are not needed any more."""
        for unit in self.units:
            if self._in_backward:
                if unit.is_recomputed and unit not in units:
                    self._take_stored(unit)
            elif unit.is_open and not unit.active and unit not in units and not self.holds:
                unit.close()
        for unit in units:
            if unit.is_open:
                continue
            unit.open()
            unit.is_recomputed = bool(chainer.config.in_recomputing)
            self._order.append(unit)
            following = len(self._order)
            if self._prefetch and following < len(self._last_order):
                self._last_order[following].start_opening()

    def begin_forward(self) -> None:
        """Notes that a step begins. Evaluations before it do not count in its order."""
        self._in_backward = False
        self._order = []

    def begin_backward(self) -> None:
        """Notes that backward begins."""
        self._in_backward = True
        self.has_gradients = False

    def add_gradient(self, variable: Variable, gradient: Array) -> bool:
        """Takes a gradient that is complete; see :func:`chainer.backprop.backward_watched`."""
        unit = self._unit_of.get(id(variable))
        if unit is None:
            if id(variable) in self._missing:
                raise RuntimeError(
                    f"parameter {self._missing[id(variable)]} is used first after the model was "
                    "sharded, and has other values in each process. Call its link in the first "
                    "step, or give its sizes"
                )
            return False
        if not unit.is_open:
            name = next(name for name, param in unit.named if param is variable)
            raise RuntimeError(
                f"parameter {name} is used by a link that has not used it in the first step, so "
                "its values are not present. Use shard='gradients'"
            )
        if unit.add_gradient(cast("Parameter", variable), gradient):
            self._send(unit)
        # MPI makes progress only while it is called.
        if self._sending is not None:
            self._sending.test()
        return True

    def _take_stored(self, unit: Unit) -> None:
        """Sends the gradients that an inner backward pass has left, and closes the unit.

        Only for units that a call opened which is computed again in backward: others may be needed
        by another such call, and wait for the end of the pass.
        """
        trained = [param for _, param in unit.named if param.requires_grad]
        # Nothing tells when a frozen one is not needed any more, so it waits, too.
        if trained and all(param.grad is not None for param in trained):
            unit.take_stored_gradients()
            self._send(unit)

    def _send(self, unit: Unit) -> None:
        # One message at a time: each needs the memory of its layer.
        if self._sending is not None:
            self._sending.settle()
        # Its values go before the message takes memory. Another link of the unit may be frozen and
        # still need them.
        if not self.holds and unit.is_trained:
            unit.close()
        unit.send_gradients()
        self._sending, self.has_gradients = unit, True

    def end_backward(self) -> None:
        """Sends what is left, and closes all units. Collective."""
        self._in_backward = False
        self._sending = None
        for unit in self.units:
            unit.take_stored_gradients()
            # All processes ran the same layers, so this is the same in all of them.
            if unit.has_gradients:
                unit.send_gradients()
                self.has_gradients = True
        self.close_all()

    def close_all(self) -> None:
        """Closes all units; the order in which they were opened is the plan of the next step."""
        for unit in self.units:
            unit.active = 0
            if not self.holds:
                unit.close()
        self._last_order, self._order = self._order, []


class GatherHook(LinkHook):
    """Link hook that opens the units of a link before its forward and before its backward.

    Args:
        layers: The units of the model.
        units: Units of the link. The first step adds those that its forward uses, too.

    Attributes:
        units: The units.
    """

    name = "chainermn.gather"

    def __init__(self, layers: Layers, units: list[Unit]) -> None:
        self._layers = layers
        self.units = units

    def forward_preprocess(self, args: Any) -> None:
        """Opens the units.

        Args:
            args: Description of the call.
        """
        self._layers.open(self.units)
        self._layers.calls.append(self)
        for unit in self.units:
            unit.active += 1

    def forward_postprocess(self, args: Any) -> None:
        """Marks the results, so that backward opens the units.

        Args:
            args: Description of the call, with the result.
        """
        self._end()
        if not chainer.config.enable_backprop:
            return
        variables: list[Variable] = []
        _collect(args.out, variables)
        if any(variable.requires_grad for variable in variables):
            marked = iter(_OpenInBackward(self._layers, self.units).apply(tuple(variables)))
            args.replace_out(_replaced(args.out, marked))

    def _forward_failed(self, args: Any) -> None:
        self._end()

    def _end(self) -> None:
        if self in self._layers.calls:
            self._layers.calls.remove(self)
        for unit in self.units:
            unit.active = max(0, unit.active - 1)


class FirstStep(FunctionHook):
    """Function hook that finds parameters which are used outside of a call of their link.

    A language model may multiply by the weights of its embedding, and the layers of a recurrent
    network are never called. Such a parameter is given to the innermost link whose call uses it.

    Args:
        layers: The units of the model, all of them open.
    """

    name = "chainermn.first_step"

    def __init__(self, layers: Layers) -> None:
        self._layers = layers
        self._unit_of = {
            id(param.array): (name, unit) for unit in layers.units for name, param in unit.named
        }

    def forward_preprocess(self, function: Any, in_data: tuple[Any, ...]) -> None:
        """Looks at the inputs of a function.

        Args:
            function: The function.
            in_data: Its input arrays.

        Raises:
            RuntimeError: If a parameter is used while no link is called.
        """
        for array in in_data:
            name, unit = self._unit_of.get(id(array), ("", None))
            calls = self._layers.calls
            if unit is None or any(unit in call.units for call in calls):
                continue
            if not calls:
                raise RuntimeError(
                    f"parameter {name} is used while no link of the model is called, so its "
                    "values cannot be gathered in time. Links whose class defines __call__ are "
                    "not seen: name the method forward, or use shard='gradients'"
                )
            calls[-1].units.append(unit)
            unit.active += 1


def _collect(value: Any, found: list[Variable]) -> None:
    if isinstance(value, Variable):
        found.append(value)
    elif isinstance(value, (tuple, list)):
        for each in value:
            _collect(each, found)
    elif isinstance(value, dict):
        for each in value.values():
            _collect(each, found)


def _replaced(value: Any, marked: Any) -> Any:
    if isinstance(value, Variable):
        return next(marked)
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(_replaced(each, marked) for each in value))
    if isinstance(value, (tuple, list)):
        return type(value)(_replaced(each, marked) for each in value)
    if isinstance(value, dict):
        return {name: _replaced(each, marked) for name, each in value.items()}
    return value


class _OpenInBackward(FunctionNode):
    """Returns its inputs. Backward comes here before it comes to the functions of the link.

    Args:
        layers: The units of the model.
        units: Units of the link.
    """

    def __init__(self, layers: Layers, units: list[Unit]) -> None:
        self._layers = layers
        self._units = units

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        return inputs

    def backward(self, target_input_indexes: Indexes, grad_outputs: Grads) -> tuple[Any, ...]:
        self._layers.open(self._units)
        return tuple(grad_outputs[index] for index in target_input_indexes)


def parameters_of_layers(model: Link, max_bytes: int) -> list[list[tuple[str, Any]]]:
    """Returns the parameters of each layer of a model, with their names.

    A link with all of its children is one layer if their parameters take at most ``max_bytes``.
    Otherwise its own parameters are a layer, and each child is looked at. A parameter that several
    links share belongs to the first.

    Args:
        model: The model.
        max_bytes: Size up to which the links of a link are joined.
    """
    return _parameters_of_layers("", model, max_bytes, set())


def _parameters_of_layers(
    path: str, link: Link, max_bytes: int, seen: set[int]
) -> list[list[tuple[str, Any]]]:
    own: list[tuple[str, Any]] = []
    for name in sorted(link._params):
        param = getattr(link, name)
        if id(param) not in seen and param.array is not None:
            seen.add(id(param))
            own.append((f"{path}/{name}", param))
    layers = [own] if own else []
    for below, child in link.namedlinks(skipself=True):
        if below.count("/") == 1:
            layers += _parameters_of_layers(path + below, child, max_bytes, seen)
    joined = [entry for layer in layers for entry in layer]
    nbytes = sum(param.array.nbytes for _, param in joined)
    return [joined] if joined and nbytes <= max_bytes else layers


def make_whole(model: Link) -> None:
    """Opens the layers of a model that another optimizer has sharded, and forgets them. Collective.

    Args:
        model: The model.
    """
    for link in dict.fromkeys(model.links()):
        hook: Any = link.local_link_hooks.get(GatherHook.name)
        if hook is not None:
            for unit in hook.units:
                unit.open()
            link.delete_hook(GatherHook.name)
