"""Warnings of optimizers about gradients that are missing or were not cleared, and about names."""

# The gradients of parameters belong to the core.
# pyright: reportPrivateUsage=false

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, cast

from chainer.core.autograd.lazy_gradient import UNDEFINED, LazyGradient, UndefinedSum
from chainer.core.autograd.parameter import Parameter
from chainer.core.misuse import MisuseWarning, similar, warn_once
from chainer.core.registry import registries
from chainer.links.link import Link
from chainer.links.replaced_parameters import ReplacedParameterError

if TYPE_CHECKING:
    from chainer.core.typing import Array
    from chainer.training.optimizers.optimizer import GradientMethod

_new = object.__new__

_ORDER = "the order is: model.cleargrads(); loss.backward(); optimizer.update()"


class UsedGradient(LazyGradient):
    """A gradient that an update has used, and that was neither cleared nor read since.

    It is stored in the place of the array. A program that reads the gradient gets the array, and
    the array takes the place of this object: the program may then set it to zero, so nothing is
    said about it.

    Attributes:
        _gradient: The array.
    """

    __slots__ = ("_gradient",)

    _gradient: Array

    def read(self, array: Array) -> Array:
        """Returns the gradient."""
        return self._gradient

    def plus(self, array: Array, gradient: Array) -> Array | LazyGradient:
        """Returns the sum with a further gradient, which is wrong unless this one is zero."""
        total = super().plus(array, gradient)
        if not self._gradient.any():
            return total
        stale = _new(StaleSum)
        stale._gradient = total
        return stale


class StaleSum(UsedGradient):
    """The sum of a gradient that an update has used and of a new one."""

    __slots__ = ()


class UpdateChecks:
    """Remembers the gradients of an optimizer's last update, to find gradients that are not new."""

    def __init__(self) -> None:
        #: Whether all gradients were missing at the update before.
        self._had_none = False
        self._searched = False
        #: Number of attributes of the optimizer whose names were looked at.
        self._attributes = 0

    def check(
        self, optimizer: GradientMethod, params: list[Parameter], differentiated: bool
    ) -> None:
        """Looks at the gradients before an update.

        Args:
            optimizer: The optimizer.
            params: Parameters of its target.
            differentiated: Whether the optimizer itself has run the backward pass just now.
        """
        fresh = False
        none = True
        for param in params:
            if not isinstance(param, Parameter):
                refuse_variables(cast("Link", optimizer.target))
            gradient = param._gradient
            if gradient is None:
                continue
            none = False
            # Nothing to complain about; a call would take as long as the rest.
            if param.update_rule is not None:
                if not isinstance(gradient, LazyGradient):
                    fresh = True
                    continue
                if gradient.__class__ is UsedGradient:
                    continue
            is_new, complaint = _inspect(param, gradient)
            fresh = fresh or is_new
            if complaint:
                _warn_param(optimizer, param, complaint)
        if (none and differentiated and params) or (self._had_none and not fresh):
            name = type(optimizer).__name__
            self._had_none = False
            _warn(
                f"{name}.update() has found no gradient in any parameter of its model: the loss "
                "does not depend on them (was it computed from .array, or in "
                f"no_backprop_mode?), or backward() was not called; {_ORDER}"
            )
        else:
            self._had_none = none and bool(params)
        # A model without parameters is usually one whose links were assigned outside init_scope().
        if (fresh or not params) and not self._searched:
            self._searched = True
            _find_unregistered(cast("Link", optimizer.target))
            if not params:
                owner = type(optimizer).__name__
                warn_once(
                    "no parameters",
                    owner,
                    f"{owner}.update() has nothing to do: the model has no parameters (are its "
                    "links assigned within init_scope()?)",
                )
        if len(optimizer.__dict__) != self._attributes:
            self._attributes = len(optimizer.__dict__)
            _find_misspelled(optimizer)

    def done(self, params: list[Parameter]) -> None:
        """Marks the gradients that an update has used.

        Args:
            params: Parameters of the target.
        """
        for param in params:
            gradient = param._gradient
            # Reading other lazy gradients would make their arrays.
            if gradient is not None and not isinstance(gradient, LazyGradient):
                # Without the call of an initializer: each update makes one for each parameter.
                used = param._gradient = _new(UsedGradient)
                used._gradient = gradient


def refuse_variables(target: Link) -> None:
    """Raises an error if the target has something else in the place of a parameter."""
    for path, param in target.namedparams():
        if not isinstance(param, Parameter):
            raise ReplacedParameterError(
                f"{path} of the target is a {type(param).__name__} and cannot be updated; a "
                "registered parameter was replaced, as by 'link.param += 1' (change "
                "'link.param.array' instead)"
            )


def _warn(message: str) -> None:
    # Three frames up is the caller of optimizer.update().
    warnings.warn(message, MisuseWarning, stacklevel=5)


def _inspect(param: Parameter, gradient: object) -> tuple[bool, str]:
    """Looks at the gradient of one parameter before an update.

    Args:
        param: The parameter.
        gradient: Its gradient, as it is stored.

    Returns:
        Whether the gradient was computed after the last update, and what is wrong with it (an empty
        text if nothing is).
    """
    rule = param.update_rule
    if gradient is UNDEFINED:
        updated = rule is not None and rule.enabled
        return False, f"is updated without a gradient: it is NaN; {_ORDER}" if updated else ""
    is_new = gradient.__class__ is not UsedGradient
    if isinstance(gradient, (StaleSum, UndefinedSum)):
        return is_new, (
            "is updated with a gradient that was added to the one of an earlier update, or to NaN, "
            f"because it was not cleared; {_ORDER}"
        )
    if is_new and rule is None:
        return is_new, (
            "has a gradient but is not updated, because it was added to the model after setup(): "
            "call optimizer.setup(model) again"
        )
    return is_new, ""


def _warn_param(optimizer: GradientMethod, param: Parameter, message: str) -> None:
    if "_misuse_reported" in param.__dict__:
        return
    param.__dict__["_misuse_reported"] = True
    target = cast("Link", optimizer.target)
    name = next((name for name, other in target.namedparams() if other is param), param.name)
    _warn(f"parameter {name!r} {message}")


def _find_unregistered(target: Link) -> None:
    """Warns of links and parameters that have gradients, but that the model does not contain."""
    links = list(target.links())
    known = {id(link) for link in links} | {id(param) for param in target.params()}
    for link in links:
        # A class may hide what is registered, by a params() of its own.
        registered = {*link._params, *getattr(link, "_children", ())}
        for name, value in vars(link).items():
            if name.startswith("_") or name in registered:
                continue
            for part in _parts(value):
                if id(part) in known:
                    continue
                params = list(part.params()) if isinstance(part, Link) else [part]
                if any([id(p) not in known and _has_gradient(p) for p in params]):
                    _warn_attribute(link, name, value)


def _has_gradient(param: Parameter) -> bool:
    return param._gradient is not None and param._gradient is not UNDEFINED


def _parts(value: Any) -> list[Any]:
    """Returns the links and parameters in an attribute."""
    if isinstance(value, dict):
        value = list(value.values())
    parts = value if isinstance(value, (list, tuple)) else [value]
    return [part for part in parts if isinstance(part, (Link, Parameter))]


def _warn_attribute(link: Link, name: str, value: object) -> None:
    if isinstance(value, (list, tuple, dict)):
        kind = type(value).__name__
        remedy = f"a {kind} hides them: use a ChainList or a Sequential within init_scope()"
    else:
        remedy = "assign it within init_scope()"
    warn_once(
        "unregistered",
        f"{type(link).__qualname__}.{name}",
        f"attribute {name!r} of {type(link).__name__} has parameters with gradients that are "
        f"neither updated, saved nor cleared: {remedy}",
        stacklevel=5,
    )


def _find_misspelled(optimizer: GradientMethod) -> None:
    """Warns of attributes of an optimizer that look like hyperparameters, but are not."""
    # Optimizers of programs may have attributes of any name.
    if not type(optimizer).__module__.startswith("chainer."):
        return
    known = set(optimizer.hyperparam.get_dict())
    for name, value in vars(optimizer).items():
        if name.startswith("_") or name in known or hasattr(type(optimizer), name):
            continue
        if value is optimizer.hyperparam:
            continue
        owner = type(optimizer).__name__
        meant = similar(name, known)
        if meant is not None:
            hint = f"did you mean {meant!r}?"
        elif name in _names_in_other_optimizers():
            hint = f"it has {', '.join(sorted(known))}"
        else:
            continue
        text = f"{owner} has no hyperparameter {name!r}; {hint}"
        warn_once("hyperparameter", f"{owner}.{name}", text)


def _names_in_other_optimizers() -> set[str]:
    """Returns the names of the hyperparameters of all optimizers of this distribution."""
    names: set[str] = set()
    for entry in registries.optimizers.entries():
        if entry.provenance is not None and entry.provenance.distribution == "chainer":
            names.update(getattr(entry.load(), "hyperparameters", ()))
    return names


def find_shared(optimizer: GradientMethod) -> None:
    """Warns of parameters that the target has under two names: they are updated twice."""
    first: dict[int, str] = {}
    pairs = [
        (first[id(param)], path)
        for path, param in cast("Link", optimizer.target).namedparams()
        if first.setdefault(id(param), path) != path
    ]
    if pairs:
        one, other = pairs[0]
        more = f" (and {len(pairs) - 1} more)" if len(pairs) > 1 else ""
        warn_once(
            "shared parameter",
            f"{one} {other}",
            f"{one!r} and {other!r}{more} are one parameter, and each update changes it twice: "
            "assign the second one outside of init_scope()",
        )
