"""A recorded step: its program, the conditions it depends on, and its effects on Python objects."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from operator import attrgetter
from typing import Any

from chainer.core.arrays.backend import is_array
from chainer.core.arrays.recorder import Program
from chainer.core.autograd.parameter import Parameter
from chainer.core.autograd.variable import Variable
from chainer.core.reporting.reporter import Reporter
from chainer.training.capturing.places import Places, is_told_by_comparison
from chainer.training.capturing.results import CapturedVariable
from chainer.training.capturing.structure import Leaf, unflatten
from chainer.training.capturing.targets import Slot
from chainer.training.optimizers.changes import optimizer_changes


class Guards:
    """Conditions under which a recorded step may be repeated.

    Args:
        places: Attributes of links and places of arrays. They are compared before each call,
            because any code may change them.
        parameters: Parameters with their arrays, ``requires_grad``, update rules, and whether the
            rules are enabled.
        carried: Places of arrays that are passed from call to call, with shape and dtype, and
            whether a Variable holds them.
        settings: Settings of the optimizers; None for a step without an optimizer.
    """

    def __init__(
        self,
        places: Places,
        parameters: list[tuple[Parameter, Any, bool, Any, bool]],
        carried: list[tuple[Slot, Any, bool]],
        settings: OptimizerSettings | None = None,
    ) -> None:
        self._places = places
        self._parameters = parameters
        self._carried = carried
        self._settings = settings
        # Lists for holds(), which has to be quick: models may have hundreds of links.
        self._alone = [p for p, *_ in parameters]
        self._facts = [
            (array, requires_grad, rule) for _, array, requires_grad, rule, _ in parameters
        ]
        self._small = [
            (p, array) for p, array, *_ in parameters if not is_told_by_comparison(array)
        ]

    def holds(self) -> bool:
        """Returns whether nothing has changed. If something has, :meth:`broken` returns what."""
        try:
            return (
                list(map(_get_facts, self._alone)) == self._facts
                and all([p._array is array for p, array in self._small])
                and self._places.hold()
                and all([_agrees(*carried) for carried in self._carried])
                and (self._settings is None or self._settings.hold())
            )
        except (KeyError, TypeError, ValueError, NotImplementedError):
            return False  # something was deleted, or a number is an array or a Variable now

    def expect_counts(self) -> None:
        """Accepts that the program itself has raised the counts of updates."""
        if self._settings is not None:
            self._settings.expect_counts()

    def broken(self) -> str | None:
        """Returns what has changed; None if the program may run."""
        return (
            self._changed_parameter()
            or self._places.changed()
            or self._changed_carried()
            or (None if self._settings is None else self._settings.changed())
        )

    def _changed_parameter(self) -> str | None:
        for parameter, array, requires_grad, rule, enabled in self._parameters:
            if parameter._array is not array:
                return f"the array of parameter {parameter.name!r} was replaced"
            if parameter._requires_grad is not requires_grad:
                return f"requires_grad of parameter {parameter.name!r} has changed"
            if parameter.update_rule is not rule or (rule is not None and rule.enabled != enabled):
                return f"the update rule of parameter {parameter.name!r} has changed"
        return None

    def _changed_carried(self) -> str | None:
        for slot, signature, is_variable in self._carried:
            if not _agrees(slot, signature, is_variable):
                return f"{slot} is of another kind, shape or dtype"
        return None


class OptimizerSettings:
    """Settings of optimizers, update rules and hyperparameters when a step was recorded.

    Comparing them takes a tenth of the time of a small step. So they are compared only after
    :data:`optimizer_changes` was renewed.

    Args:
        places: Places of their attributes.
        groups: Update rules that share numbers. These are right only while the rules of a group
            have made the same number of updates.
        hooks: Returns the hooks and their numbers. It is called each time, because hooks are
            objects of the program, whose attributes are not watched.
    """

    def __init__(
        self, places: Places, groups: list[list[Any]], hooks: Callable[[], tuple[Any, ...]]
    ) -> None:
        self._places = places
        self._groups = groups
        self._hooks = hooks
        self._expected_hooks = hooks()
        self._change: int | None = None

    def hold(self) -> bool:
        """See :meth:`Guards.holds`."""
        # Read before the settings are compared: another thread may change them meanwhile.
        change = optimizer_changes.value
        if change == self._change:
            return not self._expected_hooks or self._hooks() == self._expected_hooks
        if (
            self._places.hold()
            and all([len(set(map(_get_count, rules))) == 1 for rules in self._groups])
            and self._hooks() == self._expected_hooks
        ):
            self._change = change
            return True
        return False

    def expect_counts(self) -> None:
        """See :meth:`Guards.expect_counts`."""
        # Other programs have to compare the settings again. This one knows what has changed: all
        # counts are higher by one.
        before = optimizer_changes.value
        after = optimizer_changes.renew()
        if before == self._change and after == before + 1:
            self._change = after

    def changed(self) -> str | None:
        """See :meth:`Guards.broken`."""
        found = self._places.changed()
        if found is not None:
            return found
        for rules in self._groups:
            if len(set(map(_get_count, rules))) > 1:
                return "parameters have been updated at different steps"
        if self._hooks() != self._expected_hooks:
            return "hooks of an optimizer, or their settings, have changed"
        return None


_get_count = attrgetter("t")
_get_facts = attrgetter("_array", "_requires_grad", "update_rule")


def _agrees(slot: Slot, signature: Any, is_variable: bool) -> bool:
    """Returns whether a place holds a Variable or an array as expected, of the same signature."""
    now = slot.get()
    if isinstance(now, Variable) is not is_variable:
        return False
    array = now.array if is_variable else now
    return is_array(array) and (array.shape, array.dtype) == signature


class Recording:
    """A program, and how to call it in place of the step.

    Attributes:
        program: The array work.
        guards: What has to hold.
        structure: Structure of the result.
        is_verified: Whether it was compared with a run as written.
        failures: How many comparisons have found a difference.
        n_results: How many outputs are arrays of the result.
        kinds: For each output of the result, whether it is a Variable.
        carried: Places of arrays that are passed from call to call; they follow the arguments.
        stored: Places of arrays and Variables that get an output each, and whether a Variable.
        reports: Keys of reported values that get an output each, and whether a Variable.
        gradients: Parameters that get an output as gradient.
        cleared: Parameters whose gradients are None afterwards.
        counters: Places of numbers that grow, and by how much.
        constants: Results that do not depend on the arguments, by number of the leaf.
    """

    def __init__(self, program: Program, guards: Guards, structure: Any) -> None:
        self.program = program
        self.guards = guards
        self.structure = structure
        self.is_verified = False
        self.failures = 0
        self.kinds: list[bool] = []
        self.places: list[int] = []
        self.constants: dict[int, Any] = {}
        self.carried: list[Slot] = []
        self.stored: list[tuple[Slot, bool]] = []
        self.reports: list[tuple[str, bool]] = []
        self.gradients: list[Parameter] = []
        self.cleared: list[Parameter] = []
        self.counters: list[tuple[dict[str, Any], str, int]] = []

    def __call__(self, found: Sequence[Any], reporter: Reporter | None) -> Any:
        """Does what the step would do.

        Args:
            found: Arrays and Variables of the arguments.
            reporter: The current reporter.
        """
        arguments = [x.array if isinstance(x, Variable) else x for x in found]
        for slot in self.carried:
            value = slot.get()
            arguments.append(value.array if isinstance(value, Variable) else value)
        for members, name, step in self.counters:
            members[name] += step
        if self.counters:
            self.guards.expect_counts()
        outputs = iter(self.program(arguments))
        if type(self.structure) is Leaf and self.places:  # the usual case: a loss
            y = next(outputs)
            only = CapturedVariable(y, requires_grad=False) if self.kinds[0] else y
            self._follow(outputs, reporter)
            return only
        results = {
            place: CapturedVariable(y, requires_grad=False) if is_variable else y
            for place, is_variable, y in zip(self.places, self.kinds, outputs)
        }
        self._follow(outputs, reporter)

        def leaf(place: Leaf) -> Any:
            found = results.get(place.index)
            return self.constants[place.index].copy() if found is None else found

        return unflatten(self.structure, leaf)

    def _follow(self, outputs: Iterator[Any], reporter: Reporter | None) -> None:
        """Puts the outputs that follow the results in their places."""
        for slot, is_variable in self.stored:
            y = next(outputs)
            slot.set(Variable(y) if is_variable else y)
        if reporter is not None:
            for key, is_variable in self.reports:
                y = next(outputs)
                reporter.observation[key] = (
                    CapturedVariable(y, requires_grad=False) if is_variable else y
                )
        for parameter in self.cleared:
            parameter._gradient = None
        for parameter in self.gradients:
            parameter.grad = next(outputs)
