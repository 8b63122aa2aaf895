"""Optimizers that stand in front of another one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from chainer import Optimizer

if TYPE_CHECKING:
    from chainer.typing import ArrayLike


class DelegatingOptimizer(Optimizer):
    """An optimizer that takes its attributes from another one, unless its class defines them.

    Args:
        actual_optimizer: The other optimizer.

    Attributes:
        actual_optimizer: The other optimizer.
    """

    #: Attributes of instances that are their own.
    own_attributes: ClassVar[frozenset[str]] = frozenset({"actual_optimizer"})

    #: Names that the classes between this one and Optimizer define.
    _own_names: ClassVar[frozenset[str]] = frozenset()

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        classes = cls.__mro__[: cls.__mro__.index(Optimizer)]
        names = {name for each in classes for name in vars(each)}
        cls._own_names = frozenset(names) | cls.own_attributes

    def __init__(self, actual_optimizer: Any) -> None:
        if not isinstance(actual_optimizer, Optimizer):
            raise TypeError(
                "actual_optimizer must be a chainer.Optimizer, "
                f"got {type(actual_optimizer).__name__}"
            )
        object.__setattr__(self, "actual_optimizer", actual_optimizer)

    def __getattribute__(self, name: str) -> Any:
        # Optimizer has class attributes such as ``t``, so __getattr__ would not be asked for them.
        get = object.__getattribute__
        if name.startswith("__") or name in get(self, "_own_names"):
            return get(self, name)
        return getattr(get(self, "actual_optimizer"), name)

    def __setattr__(self, name: str, value: ArrayLike) -> None:
        if name in object.__getattribute__(self, "_own_names"):
            object.__setattr__(self, name, value)
        else:
            setattr(self.actual_optimizer, name, value)

    def __delattr__(self, name: str) -> None:
        if name in object.__getattribute__(self, "_own_names"):
            object.__delattr__(self, name)
        else:
            delattr(self.actual_optimizer, name)

    def __dir__(self) -> list[str]:
        return sorted({*object.__dir__(self), *dir(self.actual_optimizer)})
