"""Numbers of update rules that are computed anew whenever a recorded step is repeated."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from chainer.core.arrays.recorder import Recorder

if TYPE_CHECKING:
    from chainer.training.optimizers.declaration import DeclaredRule


class _Active(threading.local):
    """The recording of this thread; None while no step is recorded."""

    recording: RecordedScalars | None = None


active = _Active()


class RecordedScalars:
    """Replaces the numbers of a step that vary, as the operations declare, during a recording.

    Rules of one class and one optimizer that have the same count, and no hyperparameters of their
    own, share them. A context: rules ask it while it is entered.

    Args:
        recorder: Makes the numbers.
    """

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._shared: dict[Any, Any] = {}
        self._groups: dict[Any, dict[int, DeclaredRule]] = {}

    def __enter__(self) -> None:
        active.recording = self

    def __exit__(self, *_: object) -> None:
        active.recording = None

    def groups(self) -> list[list[DeclaredRule]]:
        """Returns the rules that share numbers, as they have the same count of updates."""
        return [list(rules.values()) for rules in self._groups.values() if len(rules) > 1]

    def replaced(self, rule: DeclaredRule, scalars: Any, is_shared: bool) -> Any:
        """Returns the numbers of a step, with numbers of the recording in place of some.

        Args:
            rule: The rule.
            scalars: Its numbers at present, a named tuple.
            is_shared: Whether rules with the same hyperparameters and count have the same numbers.
        """
        hyperparam = rule.hyperparam
        is_own = len(vars(hyperparam)) > 1 or not is_shared
        group = type(rule), id(rule if is_own else hyperparam.parent), rule.t
        self._groups.setdefault(group, {})[id(rule)] = rule
        found = self._shared.get(group)
        if found is None:
            varying = rule.declaration.operation.varying
            numbers = {name: self._number(rule, name, getattr(scalars, name)) for name in varying}
            found = self._shared[group] = scalars._replace(**numbers)
        return found

    def _number(self, rule: DeclaredRule, name: str, value: Any) -> Any:
        """Returns a number of the recording; None and each of several numbers as well."""
        if value is None:
            return None
        number = self._recorder.number
        if isinstance(value, tuple):  # such as the bounds of AdaBound
            return tuple([number(PresentScalar(rule, name, i)) for i in range(len(value))])
        return number(PresentScalar(rule, name))


class PresentScalar:
    """Computes a number of the present update of a rule.

    Args:
        rule: The rule.
        name: Name of the number.
        index: Its place, if there are several of that name.
    """

    def __init__(self, rule: DeclaredRule, name: str, index: int | None = None) -> None:
        self.rule, self.name, self.index = rule, name, index

    def of(self, hyperparam: Any, rule: Any) -> Any:
        """Returns the number for given hyperparameters and a given rule."""
        value = getattr(self.rule.declaration.scalars(hyperparam, rule), self.name)
        return value if self.index is None else value[self.index]

    def __call__(self) -> float:
        """Returns the present number."""
        return float(self.of(self.rule.hyperparam.flat(), self.rule))
