"""Numbers of update rules that are computed anew at each call of a program."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from operator import attrgetter
from typing import Any

from chainer.core.arrays.recorder import Recorder
from chainer.training.optimizers._array_rule import ArrayRule
from chainer.training.optimizers.adam import AdamRule
from chainer.training.optimizers.kernel_rule import KernelUpdateRule
from chainer.training.optimizers.update_rule import UpdateRule

#: Arguments of kernels that may change from step to step, and what they are computed from. Others
#: are part of the program, which is recorded anew when they change.
_VARYING = frozenset(("lr", "alpha", "alpha_t", "bounds", "correction", "rho"))

#: Hyperparameters that may change from step to step. Others are part of the program, and those
#: that are None.
VARYING_HYPERPARAMETERS = frozenset(("lr", "alpha"))

_alpha_t = attrgetter("alpha_t")


class _NumberedHyperparameters:
    """Hyperparameters of a rule whose step is an expression, with numbers that may vary.

    Args:
        hyperparam: The hyperparameters.
        number: Returns the number of a name and of a function that computes it.
    """

    def __init__(self, hyperparam: Any, number: Callable[[str, Callable[[], float]], float]):
        self._hyperparam = hyperparam
        self._number = number

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._hyperparam, name)
        if name not in VARYING_HYPERPARAMETERS or value is None:
            return value
        return self._number(name, lambda: getattr(self._hyperparam, name))


class Numbers:
    """Gives the kernels of update rules numbers that are computed anew at each call.

    Rules of one class and one optimizer that have the same count, and no hyperparameters of their
    own, share them.
    """

    def __init__(self, recorder: Recorder, parameters: list[Any]) -> None:
        self._recorder = recorder
        self._hyperparameters: list[tuple[ArrayRule, Any]] = []
        self._rules = [
            (p, p.update_rule) for p in parameters if isinstance(p.update_rule, KernelUpdateRule)
        ]
        self._array_rules = [
            p.update_rule for p in parameters if isinstance(p.update_rule, ArrayRule)
        ]
        self._shared: dict[Any, Any] = {}
        self._groups: dict[Any, dict[int, UpdateRule]] = {}

    def groups(self) -> list[list[UpdateRule]]:
        """Returns the rules that share numbers, as they have the same count of updates."""
        return [list(rules.values()) for rules in self._groups.values() if len(rules) > 1]

    def __enter__(self) -> None:
        for parameter, rule in self._rules:
            vars(rule)["kernel_call"] = self._numbered(parameter, rule)
        for rule in self._array_rules:
            hyperparam = rule.hyperparam
            self._hyperparameters.append((rule, hyperparam))
            vars(rule)["count"] = partial(self._count_of, rule)
            vars(rule)["hyperparam"] = _NumberedHyperparameters(
                hyperparam, partial(self._shared_number, rule, hyperparam)
            )

    def __exit__(self, *_: object) -> None:
        for _, rule in self._rules:
            vars(rule).pop("kernel_call", None)
        for rule, hyperparam in self._hyperparameters:
            vars(rule).pop("count", None)
            vars(rule)["hyperparam"] = hyperparam
        self._hyperparameters.clear()

    def _count_of(self, rule: ArrayRule) -> float:
        _, hyperparam = next(pair for pair in self._hyperparameters if pair[0] is rule)
        return self._shared_number(rule, hyperparam, "t", lambda: rule.t)

    def _shared_number(
        self, rule: ArrayRule, hyperparam: Any, name: str, evaluate: Callable[[], float]
    ) -> float:
        """Returns a number that the rules share that have the same count."""
        group = self._group_of(rule, hyperparam)
        self._groups.setdefault(group, {})[id(rule)] = rule
        key = (group, name, None)
        if key not in self._shared:
            self._shared[key] = self._recorder.number(lambda: float(evaluate()))
        return self._shared[key]

    def _group_of(self, rule: UpdateRule, hyperparam: Any) -> Any:
        has_own = len(vars(hyperparam)) > 1
        return type(rule), id(rule if has_own else hyperparam.parent), rule.t

    def _numbered(self, parameter: Any, rule: KernelUpdateRule) -> Callable[..., Any]:
        def kernel_call(param: Any) -> Any:
            call = type(rule).kernel_call
            kernel, arrays, arguments = call(rule, param)
            group = self._group_of(rule, rule.hyperparam)
            self._groups.setdefault(group, {})[id(rule)] = rule
            numbered: dict[str, Any] = {}
            for name, value in arguments.items():
                if isinstance(value, tuple) and hasattr(value, "_replace"):
                    # Hyperparameters that travel as one named tuple.
                    named: Any = value
                    fields = {
                        field: self._number(group, rule, param, name, field)
                        for field in named._fields
                        if field in _VARYING
                    }
                    numbered[name] = named._replace(**fields)
                elif name in _VARYING:
                    numbered[name] = self._number(group, rule, param, name, None)
                else:
                    numbered[name] = value
            return kernel, arrays, numbered

        return kernel_call

    def _number(self, group: Any, rule: Any, param: Any, name: str, field: str | None) -> Any:
        """Returns an argument of a kernel as a number; None and each of several numbers as well."""
        kernel_call = type(rule).kernel_call

        def present() -> Any:
            # The call of the kernel takes several times as long as one number of it.
            if kernel_call is KernelUpdateRule.kernel_call:
                value = rule.kernel_arguments(param)[name]
            else:
                value = kernel_call(rule, param)[2][name]
            return value if field is None else getattr(value, field)

        key = (group, name, field)
        if key not in self._shared:
            value = present()
            # The value of the property is the argument of the kernel. Getting all arguments would
            # take 4 us more.
            if field == "alpha_t" and kernel_call is AdamRule.kernel_call:
                self._shared[key] = self._recorder.number(partial(_alpha_t, rule))
            elif value is None:
                self._shared[key] = None
            elif isinstance(value, tuple):  # the bounds of AdaBound
                parts = [partial(lambda i: float(present()[i]), i) for i in range(len(value))]
                self._shared[key] = tuple([self._recorder.number(part) for part in parts])
            else:
                self._shared[key] = self._recorder.number(lambda: float(present()))
        return self._shared[key]
