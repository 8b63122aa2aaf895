"""Arrays of a recorder in the places of the arrays of a step."""

from __future__ import annotations

from collections.abc import Iterable
from typing import cast

from chainer.core.arrays.recorder import Recorder
from chainer.core.autograd.parameter import Parameter
from chainer.core.autograd.variable import Variable
from chainer.core.typing import Array, VariableLike
from chainer.training.capturing.state import Key, Kind, Role, Slot, StateTree


class Substitution:
    """Arrays of a recorder in the slots of a tree that hold arrays.

    Args:
        tree: The slots.
        recorder: The recorder.
        replaced: Keys of slots whose arrays the step replaces: each call passes them on.

    Attributes:
        carried: Slots whose contents pass from call to call, with the substitutes.
        gradients: Parameters with their gradients and the substitutes of these.
    """

    def __init__(self, tree: StateTree, recorder: Recorder, replaced: Iterable[Key] = ()) -> None:
        self._tree, self._recorder, self._replaced = tree, recorder, frozenset(replaced)
        self._arrays: list[tuple[Slot, Array]] = []
        self.carried: list[tuple[Slot, VariableLike]] = []
        self.gradients: list[tuple[Parameter, Array | None, Array | None]] = []

    def enter(self, with_gradients: bool) -> None:
        """Puts the substitutes in.

        Args:
            with_gradients: Whether gradients of parameters are substituted, too.
        """
        tree, recorder = self._tree, self._recorder
        self._nodes = [(p.node, p.node.data) for p in tree.parameters]
        for slot in tree.of_kind(Kind.DATA):
            self._put(slot, recorder.state(slot.value))
        for p, (node, _) in zip(tree.parameters, self._nodes, strict=True):
            node.data = p._array
        for p in tree.parameters if with_gradients else ():
            grad = p.grad
            substitute = p._gradient = None if grad is None else recorder.state(grad)
            self.gradients.append((p, grad, substitute))
        for slot in tree.of_kind(Kind.VARIABLE):
            variable = cast(Variable, slot.value)
            if variable.array is not None:
                array = recorder.argument(variable.array)
                self._carry(slot, Variable(array, name=variable.name))
        for slot in tree.of_kind(Kind.ARRAY):
            if slot.key in self._replaced:
                self._carry(slot, recorder.argument(slot.value))
            elif slot.owner.role is not Role.SURROUNDINGS:
                self._put(slot, recorder.state(slot.value))

    def _put(self, slot: Slot, array: Array) -> None:
        slot.set(array)
        self._arrays.append((slot, array))

    def _carry(self, slot: Slot, substitute: VariableLike) -> None:
        slot.set(substitute)
        self.carried.append((slot, substitute))

    def leave(self) -> list[Slot]:
        """Puts the arrays back, except where the step has replaced the substitutes.

        Returns:
            list of Slot: The slots of arrays whose substitutes were replaced.
        """
        for node, data in self._nodes:
            node.data = data
        for slot, substitute in [*self._arrays, *self.carried]:
            if slot.get() is substitute:
                slot.set(slot.value)
        return [slot for slot, _ in self._arrays if slot.get() is not slot.value]
