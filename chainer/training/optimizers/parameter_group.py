"""Groups of parameters with hyperparameters of their own."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from chainer.core.autograd.parameter import Parameter
from chainer.links.link import Link
from chainer.training.optimizers.hooks.weight_decay import WeightDecay
from chainer.training.optimizers.hyperparameter import Hyperparameter

if TYPE_CHECKING:
    from chainer.training.optimizers.optimizer import GradientMethod

Selection: TypeAlias = (
    Parameter | Link | Iterable[Parameter | Link] | Callable[[str, Parameter], bool]
)
"""Parameters, links with all their parameters, or a function of a path and a parameter."""

_HOOK_NAME = "WeightDecay of the group"


class ParameterGroup:
    """Parameters that share hyperparameters; made by :meth:`chainer.GradientMethod.group`.

    The hyperparameters are attributes. Those that the group does not set are the optimizer's.

    Attributes:
        params (list of Parameter): The parameters.
        hyperparam (Hyperparameter): Hyperparameters of the group.
    """

    hyperparam: Hyperparameter
    params: list[Parameter]

    def __init__(self, params: list[Parameter], hyperparam: Hyperparameter) -> None:
        object.__setattr__(self, "params", params)
        object.__setattr__(self, "hyperparam", hyperparam)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(vars(self)["hyperparam"], _own_name(vars(self)["hyperparam"], name))

    def __setattr__(self, name: str, value: Any) -> None:
        set_hyperparameter(self, name, value)

    def __repr__(self) -> str:
        own = {k: v for k, v in vars(self.hyperparam).items() if k != "_parent"}
        values = "".join(f", {name}={value!r}" for name, value in own.items())
        return f"<ParameterGroup of {len(self.params)} parameters{values}>"


def make_group(
    optimizer: GradientMethod, target: Link, selection: Selection, hyperparameters: dict[str, Any]
) -> ParameterGroup:
    """Makes a group of parameters of an optimizer.

    Args:
        optimizer: The optimizer.
        target: Its target link.
        selection: Parameters and links that belong to the group.
        hyperparameters: Hyperparameters of the group by name.

    Raises:
        AttributeError: If the optimizer does not have a hyperparameter.
        TypeError: If the selection is of another type.
        ValueError: If it is empty, or a parameter is not one of the target.
    """
    params = _select(target, selection)
    group = ParameterGroup(params, Hyperparameter(optimizer.hyperparam))
    for name in hyperparameters:  # before anything is changed
        _check_name(group.hyperparam, name)
    for param in params:
        rule = param.update_rule
        if rule is None:
            raise ValueError(f"parameter {param.name!r} has no update rule; call setup() first")
        rule.hyperparam._parent = group.hyperparam
    for name, value in hyperparameters.items():
        set_hyperparameter(group, name, value)
    return group


def set_hyperparameter(group: ParameterGroup, name: str, value: Any) -> None:
    """Sets a hyperparameter of a group.

    Args:
        group: The group.
        name: Name; ``lr`` is ``alpha`` for optimizers that call it so. ``weight_decay`` is the
            optimizer's ``weight_decay_rate``; without that, a hook of each rule adds the decay to
            the gradient.
        value: Its value.
    """
    hyperparam = group.hyperparam
    _check_name(hyperparam, name)
    if name == "weight_decay" and not _has(hyperparam, "weight_decay_rate"):
        for param in group.params:
            hooks = param.update_rule._hooks
            if _HOOK_NAME in hooks.pre:
                param.update_rule.remove_hook(_HOOK_NAME)
            param.update_rule.add_hook(WeightDecay(value), _HOOK_NAME)
        return
    setattr(hyperparam, _own_name(hyperparam, name), value)


def _has(hyperparam: Hyperparameter, name: str) -> bool:
    return name in hyperparam.get_dict()


def _own_name(hyperparam: Hyperparameter, name: str) -> str:
    """Returns the name under which an optimizer has a hyperparameter."""
    if name == "lr" and not _has(hyperparam, "lr") and _has(hyperparam, "alpha"):
        return "alpha"
    return "weight_decay_rate" if name == "weight_decay" else name


def _check_name(hyperparam: Hyperparameter, name: str) -> None:
    own = _own_name(hyperparam, name)
    if name != "weight_decay" and not _has(hyperparam, own):
        known = ", ".join(sorted({*hyperparam.get_dict(), "weight_decay"}))
        raise AttributeError(f"there is no hyperparameter {name!r}; known ones: {known}")


def _select(target: Link, selection: Selection) -> list[Parameter]:
    named = list(target.namedparams())
    if isinstance(selection, (Parameter, Link)):
        selection = [selection]
    if callable(selection):
        # Links and parameters were sorted out above, although links are callable.
        chosen = [param for path, param in named if selection(path, param)]
    else:
        chosen = []
        for each in cast("Iterable[Any]", selection):
            if isinstance(each, Link):
                chosen += each.params()
            elif isinstance(each, Parameter):
                chosen.append(each)
            else:
                raise TypeError(
                    "selection must contain parameters and links, or be a function of a path and "
                    f"a parameter; it contains {type(each).__name__}"
                )
    members = {id(param) for _, param in named}
    for param in chosen:
        if id(param) not in members:
            raise ValueError(f"parameter {param.name!r} does not belong to the optimizer's target")
    if not chosen:
        paths = ", ".join(path for path, _ in named)
        raise ValueError(f"selection has no parameter; those of the target: {paths}")
    return list({id(param): param for param in chosen}.values())
