"""Arrays of a recorder in the places of those of a static chain, while its method is recorded."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Self

from chainer.core.arrays.recorder import NotRecordableError, Recorder
from chainer.core.autograd.variable import Variable
from chainer.core.config.configuration import threads
from chainer.links.link import Link
from chainer.training.capturing.circumstances import current_reporter
from chainer.training.capturing.places import Places
from chainer.training.capturing.program import Guards
from chainer.training.capturing.targets import (
    SIMPLE,
    Targets,
    array_slots,
    python_state,
    variable_slots,
    watched_attributes,
    watched_parameters,
)

#: Calls the method, with other Variables in place of those of the call; returns what it returns,
#: and the Variables in that.
Run = Callable[[Sequence[Variable]], tuple[Any, list[Variable]]]


class ArraySubstitution:
    """Arrays of a recorder in the places of those of a chain, as a context.

    Args:
        targets: The chain.
        recorder: The recorder.
    """

    def __init__(self, targets: Targets, recorder: Recorder) -> None:
        self._links = targets.links()
        self._parameters = targets.parameters()
        self._recorder = recorder
        self._nodes = [p.node for p in self._parameters]

    def __enter__(self) -> Self:
        self._state = python_state(self._links, [], [])
        self._slots = [(slot, slot.get()) for slot in array_slots(self._links, [])]
        self._arrays = [p._array for p in self._parameters]
        self._retained = [node.data for node in self._nodes]
        for p, node in zip(self._parameters, self._nodes, strict=True):
            p._array = node.data = self._recorder.state(p._array)
        for slot, array in self._slots:
            slot.set(self._recorder.state(array))
        return self

    def __exit__(self, *_: object) -> None:
        places = zip(self._parameters, self._nodes, self._arrays, self._retained, strict=True)
        for p, node, array, retained in places:
            p._array, node.data = array, retained
        for slot, array in self._slots:
            slot.set(array)

    def run(self, run: Run, in_vars: Sequence[Variable]) -> tuple[Any, list[Variable]]:
        """Runs the method; raises NotRecordableError if a record could not repeat it.

        Args:
            run: Calls the method.
            in_vars: Arguments of the call.
        """
        if any([True for _ in variable_slots(self._links)]):
            raise NotRecordableError("an attribute of a link holds a Variable")
        self.inputs = [
            Variable(self._recorder.argument(x.array), name=x.name, requires_grad=x.requires_grad)
            for x in in_vars
        ]
        members = [dict(vars(link)) for link in self._links]
        arrays = [p._array for p in self._parameters]
        contents = _contents(self._links)
        reported = _reported()
        result, outputs = recorded(self._recorder, lambda: run(self.inputs))
        if _reported() != reported:
            raise NotRecordableError("the method reports values")
        if _contents(self._links) != contents:
            raise NotRecordableError("the method changes a list, dict or set of a link")
        for p, array in zip(self._parameters, arrays, strict=True):
            if p._array is not array:
                raise NotRecordableError(f"the method replaces parameter {p.name!r}")
        for link, before in zip(self._links, members, strict=True):
            now = vars(link)
            for name in now.keys() | before.keys():
                if now.get(name) is not before.get(name) and not _is_equal(
                    now.get(name), before.get(name)
                ):
                    raise NotRecordableError(
                        f"the method changes attribute {name!r} of {type(link).__name__}"
                    )
        return result, outputs

    def guards(self) -> Guards:
        """Returns what has to be as it was when the context was entered."""
        objects, values = watched_attributes(self._links)
        objects += [(slot.members, slot.name, array) for slot, array in self._slots]
        values += self._state.values()
        parameters = watched_parameters(self._parameters, self._arrays)
        sizes = [(vars(link), len(vars(link))) for link in self._links]
        return Guards(Places(objects, values, sizes), parameters, [])


def recorded(recorder: Recorder, function: Callable[[], Any]) -> Any:
    """Runs a function while a recorder records what it does; returns what it returns."""
    state = threads.state
    state.recorder = recorder
    try:
        return recorder.run(function)
    finally:
        state.recorder = None


def _contents(links: Sequence[Link]) -> list[list[int]]:
    """Returns the identities of what containers of links hold."""
    found: list[list[int]] = []
    for link in links:
        for value in vars(link).values():
            if isinstance(value, dict):
                found.append([id(v) for pair in value.items() for v in pair])
            elif isinstance(value, (list, set)):
                found.append([id(v) for v in value])
    return found


def _reported() -> list[tuple[str, int]]:
    """Returns the keys of the current observation, with the identities of the values."""
    reporter = current_reporter()
    return [] if reporter is None else [(k, id(v)) for k, v in reporter.observation.items()]


def _is_equal(old: Any, new: Any) -> bool:
    """Returns whether plain values are equal; NaN, which equals nothing, equals itself."""
    if type(old) is not type(new) or not isinstance(new, SIMPLE):
        return False
    return old == new or new != new
