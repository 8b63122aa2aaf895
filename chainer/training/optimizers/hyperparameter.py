"""Hyperparameters: the settings of optimizers and update rules."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Protocol

import numpy

from chainer.core.misuse import expect_number, similar, warn_once
from chainer.training.optimizers.changes import Watched


class Declaration(Protocol):
    """A class that declares hyperparameters, such as an optimizer."""

    hyperparameters: Mapping[str, HyperparameterProxy]


class Hyperparameter(Watched):
    """Set of hyperparameter entries of an optimizer.

    Each entry is an attribute. An entry that the object does not have is looked up in its parent.
    The hyperparameters of an optimizer are the parent of its update rules' hyperparameters: a
    change at the optimizer changes all rules, and an entry set at one rule overrides it for that
    rule only.

    Args:
        parent (Hyperparameter): Parent hyperparameter.

    Example:
        >>> from chainer.optimizer import Hyperparameter
        >>> parent = Hyperparameter()
        >>> parent.lr = 0.1
        >>> child = Hyperparameter(parent)
        >>> child.lr
        0.1
        >>> child.lr = 0.5
        >>> child.lr, parent.lr
        (0.5, 0.1)
    """

    # Beside the dictionary, which has the entries and nothing else.
    __slots__ = ("_declaration",)

    _declaration: type[Declaration] | None

    def __init__(self, parent: Hyperparameter | None = None) -> None:
        self._parent = parent

    def __getattr__(self, name: str) -> Any:
        # Python calls this only if the object has no entry of this name. While a copy is made, it
        # asks for special methods before the object has any attributes.
        parent = self.__dict__.get("_parent")
        if name == "_declaration":  # set at the root only
            return None if parent is None else parent._declaration
        if parent is None or name.startswith("__"):
            declaration = self.__dict__.get("_parent") is None and self._declaration
            declared = declaration.hyperparameters.get(name) if declaration else None
            if declared is not None and declared.optional:
                return declared.default
            known = ", ".join(sorted(k for k in self.__dict__ if k != "_parent")) or "none"
            raise AttributeError(f"there is no hyperparameter {name!r}; known ones: {known}")
        return getattr(parent, name)

    def __setattr__(self, name: str, value: Any) -> None:
        if name[0] != "_":
            declaration = self._declaration
            declared = None if declaration is None else declaration.hyperparameters.get(name)
            if declared is not None and declared.is_number:
                _check_number(declared, name, value)
            elif declaration is not None and declared is None:
                _warn_of_misspelling(declaration, name)
        super().__setattr__(name, value)

    def __getstate__(self) -> dict[str, Any]:
        # Without the declaration, which the optimizer puts back: pickles equal release 7's.
        return self.__dict__.copy()

    @property
    def parent(self) -> Hyperparameter | None:
        """Parent hyperparameter object."""
        return self._parent

    def get_dict(self) -> dict[str, Any]:
        """Converts the hyperparameter into a dictionary.

        Returns:
            dict: All entries that can be referred to by this object, including the parent's.
        """
        own = self.__dict__
        parent = own["_parent"]
        entries = {} if parent is None else parent.get_dict()
        entries.update(own)
        del entries["_parent"]
        return entries

    def flat(self) -> Hyperparameter:
        """Returns the same entries in one object, to be read only; usually without a copy."""
        own = self.__dict__
        parent = own["_parent"]
        if len(own) == 1 and parent is not None and parent._parent is None:
            return parent
        merged = Hyperparameter()
        merged.__dict__.update(self.get_dict())
        return merged

    def varies(self, name: str) -> bool:
        """Whether an entry may change while a step is repeated, see :func:`hyperparameter`.

        Args:
            name (str): Name of the entry.
        """
        declaration = self._declaration
        declared = None if declaration is None else declaration.hyperparameters.get(name)
        return declared is not None and declared.varies and getattr(self, name) is not None

    def __repr__(self) -> str:
        entries = ", ".join(f"{k}={v}" for k, v in sorted(self.get_dict().items()))
        return f"Hyperparameter({entries})"


class HyperparameterError(ValueError, TypeError):
    """A hyperparameter is not a finite number. A TypeError, too, as in an update."""


def _check_number(declared: HyperparameterProxy, name: str, value: Any) -> None:
    """Raises ValueError unless a hyperparameter is a finite number."""
    # Arrays, which an optimizer may keep on a device, are not looked at: that would wait for it.
    # Other objects, such as a tuple of rates, are up to the update rules of programs.
    if hasattr(value, "namedparams"):
        cls = value if isinstance(value, type) else type(value)
        raise HyperparameterError(
            f"hyperparameter {name!r} must be a finite number, got a {cls.__name__}"
        )
    if value is None or not isinstance(value, (str, bytes, float, int, complex, numpy.generic)):
        return
    if isinstance(value, (str, bytes, complex)) or not math.isfinite(value):
        raise HyperparameterError(f"hyperparameter {name!r} must be a finite number, got {value!r}")
    if declared.varies and float(value) < 0:
        warn_once(
            "learning rate",
            name,
            f"hyperparameter {name} is {value!r}: with a negative learning rate the loss grows",
            stacklevel=4,
        )
    elif declared.bounds:
        owner = f"hyperparameter {name}"
        expect_number(owner, float(value), **declared.bounds)


def _warn_of_misspelling(declaration: type[Declaration], name: str) -> None:
    """Warns if an undeclared name resembles a declared one."""
    # Optimizers of programs may keep more in the same place.
    if declaration.__module__.startswith("chainer."):
        meant = similar(name, declaration.hyperparameters)
        if meant is not None:
            owner = declaration.__name__
            warn_once(
                "hyperparameter",
                f"{owner}.{name}",
                f"{owner} has no hyperparameter {name!r}; did you mean {meant!r}?",
            )


class HyperparameterProxy:
    """Attribute of an optimizer class that reads and sets one of its hyperparameters.

    Args:
        attr_name (str): Name of the hyperparameter. None for the name of the attribute.
        default: See :func:`hyperparameter`, which makes an attribute that declares the
            hyperparameter, too.
        varies: As above.
        init: As above.
        optional: As above.
        at_least: As above.
        below: As above.

    Example:
        >>> class MyMethod(chainer.GradientMethod):
        ...     lr = chainer.optimizer.HyperparameterProxy('lr')
        ...     def __init__(self, lr=0.01):
        ...         super().__init__()
        ...         self.hyperparam.lr = lr
        >>> optimizer = MyMethod(0.5)
        >>> optimizer.lr *= 2
        >>> optimizer.hyperparam.lr
        1.0
    """

    def __init__(
        self,
        attr_name: str | None = None,
        default: Any = None,
        varies: bool = False,
        init: bool = True,
        optional: bool = False,
        at_least: float | None = None,
        below: float | None = None,
    ) -> None:
        self._attr_name = attr_name
        self.default = default
        self.varies = varies
        self.init = init
        self.optional = optional
        bounds = {"at_least": at_least, "below": below}
        self.bounds = {key: bound for key, bound in bounds.items() if bound is not None}
        # A flag may be anything that is true or false.
        self.is_number = not isinstance(default, bool)
        self.__doc__ = f"Alias to ``self.hyperparam.{attr_name}``"

    def __set_name__(self, owner: type, name: str) -> None:
        if self._attr_name is None:
            self._attr_name = name
            self.__doc__ = f"Alias to ``self.hyperparam.{name}``"

    def __get__(self, obj: Any, type: Any = None) -> Any:
        return self if obj is None else getattr(obj.hyperparam, str(self._attr_name))

    def __set__(self, obj: Any, value: Any) -> None:
        setattr(obj.hyperparam, str(self._attr_name), value)


def hyperparameter(
    *,
    default: Any,
    varies: bool = False,
    init: bool = True,
    optional: bool = False,
    at_least: float | None = None,
    below: float | None = None,
) -> Any:
    """Declares a hyperparameter in the class of an optimizer.

    The attribute reads and sets the hyperparameter, and the constructor has an argument for it, see
    :class:`DeclaredOptimizer`. Unless the default is True or False, it must be a finite number or
    None.

    Args:
        default: Value that it has unless the constructor gets another one.
        varies (bool): Whether it may change while a recorded step is repeated, as a learning rate
            does. Steps are recorded anew when another hyperparameter changes.
        init (bool): Whether it is an argument of the constructor.
        optional (bool): Whether there is an entry only after it was set to something else than the
            default. A hyperparameter that a later release adds is optional: dictionaries, pickles
            and descriptions of an optimizer stay what they were.
        at_least (float): Smallest number that makes sense. A smaller one gives a
            :class:`~chainer.MisuseWarning`.
        below (float): Bound that a number should be below of, as above.

    Example:
        >>> from chainer.optimizer import DeclaredOptimizer, hyperparameter
        >>> class Sign(DeclaredOptimizer):
        ...     lr: float = hyperparameter(default=0.01, varies=True)
        ...
        ...     @staticmethod
        ...     def step(xp, param, grad, state, scalars):
        ...         return param - scalars.lr * xp.sign(grad)
        >>> Sign(lr=0.5).lr
        0.5
    """
    return HyperparameterProxy(None, default, varies, init, optional, at_least, below)
