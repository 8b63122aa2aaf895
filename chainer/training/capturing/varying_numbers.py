"""Numbers of update rules that are computed anew at each call of a program."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from chainer.core.arrays.recorder import Recorder
from chainer.training.kernel_rule import KernelUpdateRule

#: Arguments of kernels that may change from step to step, and what they are computed from. Others
#: are part of the program, which is recorded anew when they change.
_VARYING = frozenset(("lr", "alpha_t", "bounds", "correction", "rho"))


class Numbers:
    """Gives the kernels of update rules numbers that are computed anew at each call.

    Rules of one class and one optimizer that have the same count, and no hyperparameters of their
    own, share them.
    """

    def __init__(self, recorder: Recorder, parameters: list[Any]) -> None:
        self._recorder = recorder
        self._rules = [
            (p, p.update_rule) for p in parameters if isinstance(p.update_rule, KernelUpdateRule)
        ]
        self._shared: dict[Any, Any] = {}
        self._groups: dict[Any, dict[int, KernelUpdateRule]] = {}

    def groups(self) -> list[list[KernelUpdateRule]]:
        """Returns the rules that share numbers, as they have the same count of updates."""
        return [list(rules.values()) for rules in self._groups.values() if len(rules) > 1]

    def __enter__(self) -> None:
        for parameter, rule in self._rules:
            vars(rule)["kernel_call"] = self._numbered(parameter, rule)

    def __exit__(self, *_: object) -> None:
        for _, rule in self._rules:
            vars(rule).pop("kernel_call", None)

    def _numbered(self, parameter: Any, rule: KernelUpdateRule) -> Callable[..., Any]:
        def kernel_call(param: Any) -> Any:
            call = type(rule).kernel_call
            kernel, arrays, arguments = call(rule, param)
            has_own = len(vars(rule.hyperparam)) > 1
            group = (type(rule), id(rule if has_own else rule.hyperparam.parent), rule.t)
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

        def present() -> Any:
            value = type(rule).kernel_call(rule, param)[2][name]
            return value if field is None else getattr(value, field)

        key = (group, name, field)
        if key not in self._shared:
            value = present()
            if value is None:
                self._shared[key] = None
            elif isinstance(value, tuple):  # the bounds of AdaBound
                parts = [partial(lambda i: float(present()[i]), i) for i in range(len(value))]
                self._shared[key] = tuple([self._recorder.number(part) for part in parts])
            else:
                self._shared[key] = self._recorder.number(lambda: float(present()))
        return self._shared[key]
