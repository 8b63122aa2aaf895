"""Optimizers that are a declaration: hyperparameters, states, and an operation or a formula."""

# Rules keep their state and their hyperparameters for this package.
# pyright: reportPrivateUsage=false

from __future__ import annotations

import functools
import inspect
from collections import namedtuple
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, ParamSpec, TypeVar, dataclass_transform

from chainer.backends.compute_dtypes import compute_dtype
from chainer.backends.operations.optimizer_updates import FormulaUpdate, OptimizerUpdate
from chainer.core.arrays.backend import backend_of
from chainer.core.arrays.extended_dtypes import is_half
from chainer.core.foreign_names import keyword_hint
from chainer.core.typing import Array, DType
from chainer.training.optimizers.hyperparameter import (
    Hyperparameter,
    HyperparameterProxy,
    hyperparameter,
)
from chainer.training.optimizers.optimizer import GradientMethod
from chainer.training.optimizers.recorded_scalars import active
from chainer.training.optimizers.state_memory import zeros_for_state
from chainer.training.optimizers.update_rule import UpdateRule
from chainer.training.optimizers.updates import STEPS, update_alone

if TYPE_CHECKING:
    from chainer.core.autograd.parameter import Parameter

_P = ParamSpec("_P")
_R = TypeVar("_R")

#: Numbers from this one on are not zero in float32.
SMALLEST = 1e-44

#: Attributes of an optimizer that its rules read.
_PARTS = (
    *("operation", "scalars", "shares_scalars", "states"),
    *("used_states", "initial_states", "check_step"),
)


class DeclaredRule(UpdateRule):
    """Update rule of a :class:`DeclaredOptimizer`.

    Args:
        parent_hyperparam (Hyperparameter): Hyperparameters that provide the default values. Those
            of a new optimizer by default.
        values: Hyperparameters of this rule only, in their order; None leaves one to the parent.
        hyperparameters: The same by name.

    Attributes:
        declaration: Class of the optimizer.
        is_grouped (bool): Whether one call of a kernel may update the parameters of many rules.
            Otherwise optimizers call :meth:`update`. False in a subclass that overrides a step of
            the update.
    """

    declaration: ClassVar[type[DeclaredOptimizer]]

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        steps = [getattr(cls, name) is getattr(DeclaredRule, name) for name in STEPS]
        cls.is_grouped = all(steps)

    def __init__(
        self,
        parent_hyperparam: Hyperparameter | None = None,
        *values: Any,
        **hyperparameters: Any,
    ) -> None:
        if parent_hyperparam is None:
            parent_hyperparam = self.declaration().hyperparam
        super().__init__(parent_hyperparam)
        declared = self.declaration.hyperparameters
        given = _bound(type(self).__name__, declared, values, hyperparameters)
        for name, value in given.items():
            if value is not None:
                setattr(self.hyperparam, name, value)

    def init_state(self, param: Parameter) -> None:
        """Makes the states that the optimizer declares.

        Args:
            param (Parameter): Parameter to be updated.
        """
        state: Any = self.state
        state.update(self.declaration.initial_states(self.hyperparam.flat(), param.array))

    def scalars(self) -> Any:
        """Returns the numbers of the present update, see :meth:`DeclaredOptimizer.scalars`.

        While a step is recorded, those that vary are numbers of the recording.
        """
        flat = self.hyperparam.flat()
        scalars = self.declaration.scalars(flat, self)
        if active.recording is None:
            return scalars
        return active.recording.replaced(self, scalars, self.declaration.shares_scalars(flat))

    def update_core_cpu(self, param: Parameter) -> None:
        """Updates a parameter by the kernel that serves its arrays."""
        # A parameter without an array has no gradient either, and says so by an error.
        if param.array is not None and param.grad is not None:
            update_alone(self, param)

    def update_core_gpu(self, param: Parameter) -> None:
        """Updates a parameter by the kernel that serves its arrays."""
        DeclaredRule.update_core_cpu(self, param)  # a subclass may override that for the host

    def explain(self, error: Exception) -> None:
        """Raises TypeError if an update failed because a hyperparameter is not a number.

        Args:
            error (Exception): The error.
        """
        for name, value in self.hyperparam.get_dict().items():
            try:
                float(value)
            except (TypeError, ValueError):
                declared = self.declaration.hyperparameters.get(name)
                if value is None and declared is not None and declared.default is None:
                    continue
                raise TypeError(
                    f"hyperparameter {name!r} must be a number, got {value!r}"
                ) from error


def _step_of_an_author(step: Callable[_P, _R]) -> Callable[_P, _R]:
    """Decorator: a program that calls ``optimizer.step()``, as in PyTorch, is told what to call."""

    @functools.wraps(step)
    def wrapper(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        if not args and not kwargs:
            raise TypeError("step() is what an optimizer defines; a program calls update()")
        return step(*args, **kwargs)

    return wrapper


@dataclass_transform(field_specifiers=(hyperparameter,))
class DeclaredOptimizer(GradientMethod):
    """Base of optimizers that declare what an update is.

    A subclass declares its hyperparameters by :func:`hyperparameter` and the names of its states.
    It either names an operation, for which backends may have kernels, or defines ``step``, a
    formula on arrays. The rest follows: the constructor, update rules, files, grouped updates,
    float32 copies, recorded steps.

    Attributes:
        states: Names of the states, in the order in which the operation takes them.
        operation: The operation, see :mod:`chainer.backends.operations.optimizer_updates`.
        is_elementwise: For a formula, whether it treats each element by itself.
        rule_class: Class of the update rules. Made for the optimizer unless it names one.
        check_step: Called with the hyperparameters and the dtype of parameters before an update;
            raises an error if they do not go together.
        hyperparameters: The declared hyperparameters by name.

    Example:
        A formula is a static method. It gets the array namespace, the parameter, the gradient, the
        states by name (to be changed in place) and the hyperparameters with ``t``, the number of
        the update from one. It returns the new parameter:

        >>> from chainer.optimizer import DeclaredOptimizer, hyperparameter
        >>> class Momentum(DeclaredOptimizer):
        ...     lr: float = hyperparameter(default=0.1, varies=True)
        ...     decay: float = hyperparameter(default=0.9)
        ...     states = ("v",)
        ...
        ...     @staticmethod
        ...     def step(xp, param, grad, state, scalars):
        ...         v = state["v"]
        ...         v *= scalars.decay
        ...         v += grad
        ...         return param - scalars.lr * v
        >>> Momentum(decay=0.5)
        Momentum(lr=0.1, decay=0.5)
    """

    hyperparameters: ClassVar[Mapping[str, HyperparameterProxy]] = {}
    states: ClassVar[tuple[str, ...]] = ()
    operation: ClassVar[OptimizerUpdate]
    is_elementwise: ClassVar[bool] = False
    check_step: ClassVar[Callable[[Hyperparameter, DType], None] | None] = None
    rule_class: ClassVar[type[DeclaredRule]] = DeclaredRule

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        own = vars(cls)
        declared = {n: v for n, v in own.items() if isinstance(v, HyperparameterProxy)}
        base = cls.hyperparameters
        cls.hyperparameters = {**base, **declared}
        if declared and "__init__" not in own:
            cls.__init__ = _constructor(cls.__qualname__, cls.hyperparameters)  # type: ignore[method-assign]
        if "step" in own:
            cls.operation = _formula(cls)
        _give_rule_class(cls)

    def __init__(self, *values: Any, **hyperparameters: Any) -> None:
        super().__init__()
        declared = self.hyperparameters
        object.__setattr__(self.hyperparam, "_declaration", type(self))
        given = _bound(type(self).__name__, declared, values, hyperparameters)
        for name, each in declared.items():
            value = given.get(name, each.default)
            if not (each.optional and value == each.default):
                setattr(self.hyperparam, name, value)

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restores an optimizer; pickles of the releases 4 and 7 can be read.

        Args:
            state (dict): Attributes of the optimizer.
        """
        vars(self).update(state)
        object.__setattr__(self.hyperparam, "_declaration", type(self))

    @staticmethod
    @_step_of_an_author
    def step(xp: Any, param: Array, grad: Array, state: dict[str, Array], scalars: Any) -> Array:
        """Returns the parameter after an update, for optimizers that are a formula.

        Args:
            xp (module): Array namespace.
            param (array): The parameter; not to be changed.
            grad (array): Its gradient; not to be changed.
            state (dict): The states by name; to be changed in place.
            scalars: The numbers of the step, see :meth:`scalars`. In a recorded step those that
                vary are a :class:`~chainer.core.arrays.recorder.VaryingNumber`: functions of them
                that are not plain arithmetic, such as roots, need
                :func:`~chainer.core.arrays.recorder.computed`.
        """
        raise NotImplementedError("an optimizer must define step() or name an operation")

    def create_update_rule(self) -> UpdateRule:
        """Creates a new update rule object.

        Returns:
            UpdateRule: Update rule with the hyperparameters of this optimizer.
        """
        return self.rule_class(self.hyperparam)

    @classmethod
    def scalars(cls, hyperparam: Hyperparameter, rule: Any) -> Any:
        """Returns the numbers of a step, a named tuple that the operation declares.

        By default these are the hyperparameters of the same names, and ``t``, the number of the
        update from one. Override it where a step needs other numbers.

        Args:
            hyperparam (Hyperparameter): The hyperparameters.
            rule (UpdateRule): The rule; its ``t`` is the number of the update.
        """
        scalars = cls.operation.scalars
        entries = hyperparam.__dict__
        if "t" in scalars._fields:
            entries = {**entries, "t": rule.t}
        # Not the constructor of the named tuple, which is a call of Python.
        return tuple.__new__(scalars, map(entries.__getitem__, scalars._fields))

    @classmethod
    def shares_scalars(cls, hyperparam: Hyperparameter) -> bool:
        """Returns whether rules with the same hyperparameters and count have the same numbers.

        By default they do, so that the numbers are computed once.

        Args:
            hyperparam (Hyperparameter): The hyperparameters.
        """
        return True

    @classmethod
    def used_states(cls, hyperparam: Hyperparameter) -> tuple[str | None, ...]:
        """Returns the names of the states; None for one that is not used.

        Args:
            hyperparam (Hyperparameter): The hyperparameters.
        """
        return cls.states

    @classmethod
    def initial_states(cls, hyperparam: Hyperparameter, array: Array) -> dict[str, Array]:
        """Returns the states before the first update.

        By default zeros of the shape of the parameter: of its dtype for an operation, of the dtype
        of the arithmetic (float32 for 16 bits) for a formula.

        Args:
            hyperparam (Hyperparameter): The hyperparameters.
            array (array): The parameter, whose device is current.
        """
        if cls.step is DeclaredOptimizer.step:
            names = [name for name in cls.used_states(hyperparam) if name is not None]
            return {name: zeros_for_state(array, i) for i, name in enumerate(names)}
        return {name: zeros_for_formula(array, array.shape) for name in cls.states}


def zeros_for_formula(array: Array, shape: tuple[int, ...]) -> Array:
    """Returns a state of zeros for a formula.

    Args:
        array (array): The parameter, whose device is current.
        shape (tuple of int): Shape of the state.
    """
    return backend_of(array).xp.zeros(shape, compute_dtype(array.dtype))


def moment(state: dict[str, Any], name: str, beta: float, value: Array) -> Array:
    """Moves a moving average of the state towards a value, in place, and returns it.

    Args:
        state (dict): The state.
        name (str): Name of the average.
        beta (float): Share of the average that is kept.
        value (array): The value.
    """
    average = state[name]
    average *= beta
    average += (1 - beta) * value
    return average


def check_eps(eps: float, dtype: DType, optimizer: str) -> None:
    """Raises ValueError if ``eps`` becomes zero in the data type of the arithmetic.

    Args:
        eps (float): The hyperparameter; zero itself is allowed.
        dtype: Data type.
        optimizer (str): Name of the optimizer, for the message.
    """
    # Almost every call ends here: comparing is faster than rounding.
    if eps >= SMALLEST and dtype.itemsize >= 4:
        return
    if eps != 0 and dtype.type(eps) == 0:
        remedy = "update in float32 by optimizer.use_fp32_update()" if is_half(dtype) else "zero"
        raise ValueError(
            f"eps of {optimizer} optimizer is too small for {dtype.name} ({eps}); set a larger "
            f"eps, or {remedy}"
        )


def _formula(cls: type[DeclaredOptimizer]) -> FormulaUpdate:
    """Returns the operation of an optimizer that is a formula."""
    declared = cls.hyperparameters
    scalars: Any = namedtuple(f"{cls.__name__}Scalars", [*declared, "t"])
    varying = tuple([name for name, each in declared.items() if each.varies])
    name = f"{cls.__name__} formula"
    return FormulaUpdate(name, cls.step, cls.states, scalars, (*varying, "t"), cls.is_elementwise)


def _give_rule_class(cls: type[DeclaredOptimizer]) -> None:
    """Gives an optimizer its class of update rules, and tells the class its optimizer."""
    rule = cls.rule_class
    if not hasattr(cls, "operation"):
        return  # a base of optimizers
    known = getattr(rule, "declaration", None)
    if known is not None and _same_parts(cls, known):
        return
    if known is not None or rule is DeclaredRule:
        # Found by pickles under the name of the optimizer.
        members = {"__module__": cls.__module__, "__qualname__": f"{cls.__qualname__}.rule_class"}
        made: Any = type(f"{cls.__name__}Rule", (rule,), members)
        rule = cls.rule_class = made
    rule.declaration = cls
    if rule.is_elementwise is UpdateRule.is_elementwise:
        rule.is_elementwise = cls.operation.is_elementwise


def _same_parts(cls: type[DeclaredOptimizer], other: type[DeclaredOptimizer]) -> bool:
    """Whether rules of one optimizer serve the other one, too."""

    def part(owner: type[DeclaredOptimizer], name: str) -> Any:
        value = getattr(owner, name)
        return getattr(value, "__func__", value)

    return all([part(cls, name) is part(other, name) for name in _PARTS])


def _constructor(qualname: str, declared: Mapping[str, HyperparameterProxy]) -> Callable[..., None]:
    """Returns a constructor with an argument for each hyperparameter."""

    def __init__(self: DeclaredOptimizer, *values: Any, **hyperparameters: Any) -> None:
        function = qualname.rpartition(".")[2]
        allowed = {name: each for name, each in declared.items() if each.init}
        given = _bound(function, allowed, values, hyperparameters)
        DeclaredOptimizer.__init__(self, **given)

    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    arguments = [
        inspect.Parameter(name, kind, default=each.default)
        for name, each in declared.items()
        if each.init
    ]
    instance = inspect.Parameter("self", kind)
    __init__.__signature__ = inspect.Signature([instance, *arguments])  # type: ignore[attr-defined]
    __init__.__qualname__ = f"{qualname}.__init__"
    return __init__


def _bound(
    function: str,
    declared: Mapping[str, HyperparameterProxy],
    values: tuple[Any, ...],
    hyperparameters: dict[str, Any],
) -> dict[str, Any]:
    """Returns the arguments of a constructor by name."""
    names = [name for name, each in declared.items() if each.init]
    # torch.optim.SGD(model.parameters(), lr): a generator, or a list of parameters.
    if values and isinstance(values[0], (Iterator, list, tuple)):
        raise TypeError(
            f"{function}() takes hyperparameters ({', '.join(names)}), got "
            f"{type(values[0]).__name__}; the parameters are those of a model: "
            "optimizer.setup(model)"
        )
    if len(values) > len(names):
        raise TypeError(
            f"{function}() takes at most {len(names)} hyperparameters ({', '.join(names)}), got "
            f"{len(values)}"
        )
    given = dict(zip(names, values))
    for name, value in hyperparameters.items():
        if name in given:
            raise TypeError(f"{function}() got multiple values for argument {name!r}")
        if name not in declared:
            hint = keyword_hint(name, value, names) or f"its hyperparameters: {', '.join(names)}"
            raise TypeError(f"{function}() got an unexpected keyword argument {name!r}; {hint}")
        given[name] = value
    return given
