"""Hyperparameters: the settings of optimizers and update rules."""

from __future__ import annotations

import math
from typing import Any

import numpy

from chainer.core.misuse import warn_once
from chainer.training.optimizers.changes import Watched


class Hyperparameter(Watched):
    """Set of hyperparameter entries of an optimizer.

    Each entry is an attribute. An entry that the object does not have is looked up in its parent.
    The hyperparameters of an optimizer are the parent of those of its update rules: a change at the
    optimizer changes all rules, and an entry set at one rule overrides it for that rule only.

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

    def __init__(self, parent: Hyperparameter | None = None) -> None:
        self._parent = parent

    def __getattr__(self, name: str) -> Any:
        # Python calls this only if the object has no entry of this name. While a copy is made, it
        # asks for special methods before the object has any attributes.
        parent = self.__dict__.get("_parent")
        if parent is None or name.startswith("__"):
            known = ", ".join(sorted(k for k in self.__dict__ if k != "_parent")) or "none"
            raise AttributeError(f"there is no hyperparameter {name!r}; known ones: {known}")
        return getattr(parent, name)

    def __setattr__(self, name: str, value: Any) -> None:
        if name in _NUMBERS:
            _check_number(name, value)
        super().__setattr__(name, value)

    @property
    def parent(self) -> Hyperparameter | None:
        """Parent hyperparameter object."""
        return self._parent

    def get_dict(self) -> dict[str, Any]:
        """Converts the hyperparameter into a dictionary.

        Returns:
            dict: All entries that can be referred to by this object, those of the parent included.
        """
        own = self.__dict__
        parent = own["_parent"]
        entries = {} if parent is None else parent.get_dict()
        entries.update(own)
        del entries["_parent"]
        return entries

    def _entries(self) -> dict[str, Any]:
        """Returns what :meth:`get_dict` does, to be read only; usually without a copy."""
        own = self.__dict__
        parent = own["_parent"]
        # Most rules have no entries of their own.
        is_plain = len(own) == 1 and parent is not None and parent._parent is None
        return parent.__dict__ if is_plain else self.get_dict()

    def __repr__(self) -> str:
        entries = ", ".join(f"{k}={v}" for k, v in sorted(self.get_dict().items()))
        return f"Hyperparameter({entries})"


class HyperparameterError(ValueError, TypeError):
    """A hyperparameter is not a finite number. A TypeError, too, as in an update."""


#: Hyperparameters of the optimizers of this package that are finite numbers.
_NUMBERS = frozenset(
    [
        *("alpha", "beta", "beta1", "beta2", "eps", "eta"),
        *("final_lr", "gamma", "lr", "momentum", "rho", "weight_decay_rate"),
    ]
)


def _check_number(name: str, value: Any) -> None:
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
    if float(value) < 0 and name in ("lr", "alpha"):
        warn_once(
            "learning rate",
            name,
            f"hyperparameter {name} is {value!r}: with a negative learning rate the loss grows",
            stacklevel=4,
        )


class HyperparameterProxy:
    """Attribute of an optimizer class that reads and sets one of its hyperparameters.

    Args:
        attr_name (str): Name of the hyperparameter.

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

    def __init__(self, attr_name: str) -> None:
        self._attr_name = attr_name
        self.__doc__ = f"Alias to ``self.hyperparam.{attr_name}``"

    def __get__(self, obj: Any, type: Any = None) -> Any:
        return self if obj is None else getattr(obj.hyperparam, self._attr_name)

    def __set__(self, obj: Any, value: Any) -> None:
        setattr(obj.hyperparam, self._attr_name, value)
