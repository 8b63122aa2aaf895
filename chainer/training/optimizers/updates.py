"""The route of every update: begin the rules, group them, call each kernel once.

On an accelerator, starting a kernel costs more than a small update, and on the host Python does. So
an update of many parameters has two parts. First each rule begins: it counts the update, makes or
moves its state, takes the loss scale away, makes the float32 copy, and calls its hooks. Then one
call of a kernel updates all parameters of one kernel, device, dtype and set of numbers.

Rules whose class overrides a step of the update, and rules with hooks that may look at other
parameters, update by themselves in their place.
"""

# Rules and parameters keep for this module what a call for each would take as long as an update.
# pyright: reportPrivateUsage=false

from __future__ import annotations

import _signal
import threading
from collections.abc import Callable, Hashable, Iterable
from typing import TYPE_CHECKING, Any

import numpy

from chainer.core.arrays.backend import backend_of, find_backend
from chainer.core.arrays.device import Device
from chainer.core.arrays.kernel_selection import KernelSelector
from chainer.core.autograd.laid_out import LAYOUTS
from chainer.core.autograd.parameter import Parameter
from chainer.core.typing import Array
from chainer.core.utils.termination import deferred
from chainer.training.optimizers.loss_scaling import remove_loss_scale
from chainer.training.optimizers.recorded_scalars import active

if TYPE_CHECKING:
    from chainer.training.optimizers.declaration import DeclaredRule
    from chainer.training.optimizers.update_rule import UpdateRule

_ndarray = numpy.ndarray

#: Methods of a rule that make up an update. A class that overrides one of them is not grouped, and
#: neither is an object on which a program replaces one, as mocks do.
STEPS = ("update", "update_core", "update_core_cpu", "update_core_gpu")


def _left_alone(number: int, frame: Any) -> None:
    """Represents a handler of Ctrl-C that is not Python's, and stays. It is never called."""


class HeldSignals:
    """Holds Ctrl-C and SIGTERM back while parameters are updated, so that no update is half done.

    Only the handlers that Python calls are replaced, not the signal mask: other threads could get
    the signal. A second Ctrl-C is not held back: a hook may take long.
    """

    _received: tuple[int, Any] | None = None
    _previous: Any = None

    def hold(self) -> Callable[[int, Any], Any] | None:
        """Replaces the handler and returns it; None where there is nothing to hold back."""
        # The C functions: the functions of the module signal take as long as a small update.
        previous: Any = _signal.getsignal(_signal.SIGINT)
        if not callable(previous):
            # Ignored, as in programs that a shell starts in the background, or left to the system.
            # SIGTERM is held back there, too.
            if threading.current_thread() is not threading.main_thread():
                return None
            deferred.depth += 1
            return _left_alone
        self._previous = previous
        try:
            _signal.signal(_signal.SIGINT, self)
        except ValueError:  # handlers run in the main thread only, so this one is not interrupted
            return None
        deferred.depth += 1
        return previous

    def release(self, previous: Callable[[int, Any], Any] | None) -> None:
        """Puts the handler back, and calls it if the signal has come.

        Args:
            previous: Result of :meth:`hold`.
        """
        if previous is None:
            return
        deferred.depth -= 1
        if previous is not _left_alone:
            _signal.signal(_signal.SIGINT, previous)
        try:
            if self._received is not None:
                previous(*self._received)
        finally:
            if deferred.status is not None:
                deferred.exit()

    def __call__(self, number: int, frame: Any) -> None:
        """Handles Ctrl-C: the first one waits."""
        if self._received is not None:
            self._previous(number, frame)
        self._received = number, frame


class Plan:
    """Kernel and scalars of the rules with the same hyperparameters and the same count.

    Args:
        rule: One of the rules.
        array: Array of its parameter.
        device: Its device; None for NumPy arrays, whose device need not be entered.

    Attributes:
        scalars: Numbers of the step.
        is_shared: Whether other rules with the same hyperparameters and count have them, too.
        states: Names of the states; None for one that is not used.
        entry: The kernel, or the selector that chooses one for each parameter.
        attributes: Attributes by which the selector chooses.
        groups: Groups by kernel, presence of float32 copies and loss scale.
    """

    __slots__ = ("attributes", "device", "entry", "groups", "is_shared", "scalars", "states")

    def __init__(self, rule: DeclaredRule, array: Array, device: Device | None) -> None:
        declaration, hyperparam = rule.declaration, rule.hyperparam
        own = hyperparam.__dict__
        # As hyperparam.flat(): most rules have no entries of their own.
        if len(own) == 1 and own["_parent"]._parent is None:
            flat = own["_parent"]
        else:
            flat = hyperparam.flat()
        if declaration.check_step is not None:
            declaration.check_step(flat, array.dtype)
        self.is_shared = declaration.shares_scalars(flat)
        scalars = declaration.scalars(flat, rule)
        if active.recording is not None:
            scalars = active.recording.replaced(rule, scalars, self.is_shared)
        self.scalars = scalars
        self.states = declaration.used_states(flat)
        self.entry = declaration.operation.entry(array)
        self.attributes: dict[str, Any] = {}
        if self.entry.__class__ is KernelSelector:
            self.attributes = declaration.operation.attributes(scalars)
        self.device = device
        self.groups: dict[Hashable, Group] = {}

    def row(self, rule: UpdateRule, array: Array, grad: Array) -> tuple[list[Array | None], Any]:
        """Returns the arrays of one parameter in the order of the kernel, and the kernel."""
        state: Any = rule._state
        row: list[Array | None] = [array, grad]
        for name in self.states:
            row.append(None if name is None else state[name])
        entry = self.entry
        if entry.__class__ is KernelSelector:
            entry = entry.choose(row, self.attributes)
        return row, entry


class Group:
    """Updates that one call of a kernel makes.

    Attributes:
        rule: The rule of the first update.
        rows: Arrays of each update.
        copies: Parameters of 16 bits that the kernel rounds float32 copies to.
        unfinished: Rules, float32 copies and parameters of 16 bits to be rounded after the call.
    """

    __slots__ = ("copies", "kernel", "plan", "rows", "rule", "scale", "unfinished")

    def __init__(self, kernel: Any, plan: Plan, rule: DeclaredRule, scale: float) -> None:
        self.kernel = kernel
        self.plan = plan
        self.rule = rule
        self.scale = scale
        self.rows: list[list[Array | None]] = []
        self.copies: list[Array] = []
        self.unfinished: list[tuple[UpdateRule, Parameter, Parameter]] = []

    def run(self) -> None:
        """Makes the updates; their device is current."""
        try:
            if self.copies:
                scalars = self.plan.scalars
                self.kernel.update_copies(self.rows, self.copies, self.scale, scalars)
            else:
                self.kernel.update_many(self.rows, self.plan.scalars)
        except (TypeError, ValueError) as error:
            self.rule.explain(error)
            raise
        for rule, updated, param in self.unfinished:
            rule._store_float32_parameter(updated, param)


class Updates:
    """One update of many parameters.

    Attributes:
        is_undone: Whether an exception has come before any parameter was changed, so that all
            counts are as before the update.
    """

    __slots__ = (
        "_alone",
        "_begun",
        "_done",
        "_groups",
        "_is_running",
        "_known",
        "_plans",
        "is_undone",
    )

    def __init__(self) -> None:
        self.is_undone = False
        #: Whether a parameter may have been changed.
        self._is_running = False
        #: Rules that have begun, and their counts before.
        self._begun: list[tuple[DeclaredRule, int]] = []
        #: Groups and parameters whose updates are complete.
        self._done: list[Group] = []
        self._alone: list[Parameter] = []
        self._groups: list[Group] = []
        self._known: dict[Hashable, Plan] = {}
        self._plans: dict[Hashable, Plan] = {}

    def add(self, rule: DeclaredRule, param: Parameter, grad: Array, device: Device | None) -> None:
        """Begins the update of a parameter and puts it into a group.

        Args:
            rule: Its rule, which is enabled.
            param: The parameter, with an array.
            grad: Its gradient.
            device: Its device, which is current; None if it need not be entered.
        """
        self._begun.append((rule, rule.t))
        updated = param
        may_change = param.loss_scale is not None or rule._hooks.pre
        is_copied = False
        scale = 1.0
        if rule._use_fp32_update and rule.updates_in_float32(param):
            updated = rule.float32_parameter(param)
            kernel = rule.declaration.operation.select(updated.array)
            # Hooks would need the gradient in float32, which the kernel never makes.
            is_copied = hasattr(kernel, "update_copies") and not rule._hooks.pre
            if is_copied:
                updated.cleargrad()
                scale = 1.0 if param.loss_scale is None else float(param.loss_scale)
            else:
                updated = rule._load_float32_parameter(param)
        begin(rule, updated)
        array = updated._array
        if not is_copied and (may_change or updated is not param):
            grad = updated.grad
            if grad is None:  # a hook took the gradient away
                return
        own = rule.hyperparam.__dict__
        key = plan = None
        if len(own) == 1:  # the parent only, so that the rule has no hyperparameters of its own
            key = rule.__class__, id(own["_parent"]), rule.t, array.dtype, array.__class__, device
            plan = self._known.get(key)
        if plan is None:
            plan = self._plan(rule, array, device)
            # A recording has to see each rule, to find that its count differs from the others'.
            if key is not None and plan.is_shared and active.recording is None:
                self._known[key] = plan
        row, kernel = plan.row(rule, array, grad)
        how = kernel, is_copied, scale
        group = plan.groups.get(how)
        if group is None:
            group = plan.groups[how] = Group(kernel, plan, rule, scale)
            self._groups.append(group)
        if is_copied:
            group.copies.append(param.array)
        elif updated is not param:
            group.unfinished.append((rule, updated, param))
        group.rows.append(row)  # last: a row counts as updated when its group has run

    def _plan(self, rule: DeclaredRule, array: Array, device: Device | None) -> Plan:
        """Returns the plan for a rule; the same one for rules with the same numbers."""
        try:
            plan = Plan(rule, array, device)
        except (TypeError, ValueError) as error:
            rule.explain(error)
            raise
        if active.recording is not None:
            return plan  # numbers of a recording cannot be compared
        key = type(rule), array.dtype, type(array), device, plan.states, plan.scalars
        try:
            return self._plans.setdefault(key, plan)
        except TypeError:  # an array as a hyperparameter cannot be compared either
            return plan

    def run(self) -> None:
        """Makes the updates that were added. An error in one group does not drop the others."""
        groups, self._groups = self._groups, []
        if groups:
            self._is_running = True
        for group in groups:
            # A plan and its groups refer to each other, which would keep the arrays alive.
            group.plan.groups.clear()
        self._known.clear()
        self._plans.clear()
        try:
            while groups:
                group = groups.pop(0)
                if group.plan.device is None:
                    group.run()
                else:
                    with group.plan.device:
                        group.run()
                self._done.append(group)
        finally:
            if groups:
                self._groups = groups
                self.run()

    def make(self, params: Iterable[Parameter]) -> None:
        """Updates parameters by their update rules.

        The caller renews :data:`~chainer.training.optimizers.changes.optimizer_changes`.

        Args:
            params: Parameters.
        """
        layouts = LAYOUTS.are_in_use
        try:
            for param in params:
                rule: Any = param.update_rule
                array = param._array
                if (
                    # Asked of the class: an attribute of a mock is made up.
                    getattr(type(rule), "is_grouped", False)
                    and array is not None
                    and type(param).update is Parameter.update
                    and not (rule._hooks.pre and _looks_around(rule._hooks.pre.values()))
                    and not rule._hooks.post
                    and rule.__dict__.keys().isdisjoint(STEPS)
                    # The array of a parameter with a memory layout is for its rule only.
                    and not (layouts and param.layout is not None)
                ):
                    if not rule.enabled:
                        continue
                    grad = param._gradient
                    # As param.grad, but faster for NumPy arrays.
                    if grad.__class__ is not _ndarray or param._grad_var is not None:
                        grad = param.grad
                    if grad is not None:
                        device = None if array.__class__ is _ndarray else _device_of(array)
                        if device is None:
                            self.add(rule, param, grad, None)
                        else:
                            with device:
                                self.add(rule, param, grad, device)
                        continue
                # Code of a program may look at other parameters, so their updates are made before.
                self.run()
                self._is_running = True
                param.update()
                self._alone.append(param)
        except BaseException:
            if not self._is_running:
                self._undo()
            raise
        finally:  # The rules have counted the updates, so an error in another must not drop them.
            self.run()

    def _undo(self) -> None:
        """Takes the counts of the rules back, whose parameters have not changed yet."""
        for group in self._groups:
            group.plan.groups.clear()  # as in run()
        self._groups.clear()
        for rule, count in reversed(self._begun):
            rule.__dict__["t"] = count
        self.is_undone = True

    def unfinished(self, params: Iterable[Parameter]) -> list[Parameter]:
        """Returns the parameters whose update may not be complete, after an exception.

        Args:
            params: Parameters that :meth:`make` was called with.
        """
        arrays = {id(row[0]) for group in self._done for row in group.rows}
        alone = {id(param) for param in self._alone}
        left: list[Parameter] = []
        for param in params:
            rule = param.update_rule
            array = param._array
            if rule is None or not rule.enabled or array is None or param._gradient is None:
                continue  # there is nothing to be done
            copy = getattr(rule, "_fp32_param", None)
            updated = array if copy is None else copy._array
            if not (id(updated) in arrays or id(param) in alone):
                left.append(param)
        return left


def update_alone(rule: DeclaredRule, param: Parameter) -> None:
    """Calls the kernel for one parameter, whose rule has begun the update.

    Args:
        rule: The rule.
        param: The parameter, with an array and a gradient.
    """
    array, grad = param.array, param.grad
    try:
        plan = Plan(rule, array, None)
        row, kernel = plan.row(rule, array, grad)
        kernel.update_many([row], plan.scalars)
    except (TypeError, ValueError) as error:
        rule.explain(error)
        raise


def begin(rule: UpdateRule, param: Parameter) -> None:
    """Counts an update, prepares the state and the gradient, and calls the hooks of the rule.

    Args:
        rule: The rule.
        param: The parameter to update, or its float32 copy. The device is current.
    """
    # Not as an attribute that is watched: that would take as long as a small update. Who calls this
    # tells of the change.
    rule.__dict__["t"] += 1
    array: Any = param._array
    state = rule._state
    if array is None:
        pass
    elif state is None:
        rule._make_state(param)
    elif state:
        # Where there is a single device, an array of the same type is where it belongs; looking up
        # devices takes longer than comparing types.
        kind = array.__class__
        if kind is not _ndarray and backend_of(array).multi_device:
            kind = None
        for name, value in state.items():
            if value.__class__ is not kind and find_backend(value.__class__) is not None:
                state[name] = param.device.send(value)
    if param.loss_scale is not None:
        remove_loss_scale(param)
    if rule._hooks.pre:
        for hook in rule._hooks.at("pre"):
            hook(rule, param)


def _device_of(array: Array) -> Device | None:
    """Returns the device to be entered for an array; None if there is a single one."""
    backend = backend_of(array)
    return backend.device_of(array) if backend.multi_device or backend.is_accelerator else None


def _looks_around(hooks: Iterable[Any]) -> bool:
    """Whether a hook may look at other parameters. Those that can be grouped do not."""
    return not all([getattr(type(hook), "can_group", False) for hook in hooks])
