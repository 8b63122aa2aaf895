"""Hints in errors about names of PyTorch and Keras.

Errors about unknown names, attributes and keyword arguments look here. The page "Coming from
PyTorch" is made of the same tables (``scripts/make_foreign_names.py``). A name is only looked up
after a call or an access has failed.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Self, cast

from chainer.core.foreign_names.tables import KEYWORDS, NAMES
from chainer.core.misuse import similar

#: Arguments that mean the opposite, or another number, of the argument elsewhere.
_CONVERSIONS: dict[str, Callable[[Any], str]] = {
    "bias": lambda value: f"nobias={not value}",
    "use_bias": lambda value: f"nobias={not value}",
    "momentum": lambda value: f"decay={1 - value:g}" if isinstance(value, float) else "decay",
    "epochs": lambda value: f"stop_trigger=({value!r}, 'epoch')",
    "betas": lambda value: (
        "beta1={!r}, beta2={!r}".format(*cast("tuple[object, ...]", value))
        if isinstance(value, tuple) and len(cast("tuple[object, ...]", value)) == 2
        else "beta1=..., beta2=..."
    ),
}


def name_hint(registry: str, name: str) -> str | None:
    """Returns what to write instead of a name of PyTorch or Keras; None for other names.

    Args:
        registry: Name of the registry in which there is no such name.
        name: The name.
    """
    names = NAMES.get(registry, {})
    found = names.get(name)
    if found is None and len(name) > 3:
        # Spellings differ in case and underscores: Conv2D, conv_2d.
        wanted = _folded(name)
        found = next((ours for theirs, ours in names.items() if _folded(theirs) == wanted), None)
    return None if found is None else f"Chainer has {found}"


def _folded(name: str) -> str:
    return name.replace("_", "").lower()


def keyword_hint(name: str, value: object, accepted: Sequence[str]) -> str | None:
    """Returns what to write instead of a keyword argument; None if nothing is known.

    Args:
        name: The keyword argument that was given.
        value: Its value.
        accepted: Names of the arguments that there are.
    """
    candidates = KEYWORDS.get(name, ())
    names = [candidate for candidate in candidates if candidate in accepted]
    if names:
        # The functions have the array itself: bias=array -> b=array.
        convert = None if names[0] == "b" else _CONVERSIONS.get(name)
        if convert is None:
            return f"write {names[0]}={value!r}" if _is_short(value) else f"write {names[0]}=..."
        return f"write {convert(value)}"
    near = similar(name, accepted)
    if near is not None:
        return f"did you mean {near!r}?"
    texts = [candidate for candidate in candidates if " " in candidate]
    return f"Chainer has {texts[0]}" if texts else None


def _is_short(value: object) -> bool:
    return isinstance(value, (bool, int, float, str)) and len(repr(value)) < 20


def check_keywords(cls: type, kwargs: Mapping[str, object]) -> None:
    """Raises TypeError for a keyword argument that the constructor of a class does not accept.

    Python would raise it, too, but does not know which argument was meant.

    Args:
        cls: The class.
        kwargs: Keyword arguments that it is called with.
    """
    code = getattr(cls.__init__, "__code__", None)
    # A constructor that takes any keyword arguments checks them itself.
    if code is None or code.co_flags & inspect.CO_VARKEYWORDS:
        return
    accepted = code.co_varnames[1 : code.co_argcount + code.co_kwonlyargcount]
    for name, value in kwargs.items():
        if name not in accepted:
            hint = keyword_hint(name, value, accepted)
            raise TypeError(
                f"{cls.__qualname__}.__init__() got an unexpected keyword argument {name!r}"
                + (f"; {hint}" if hint else f"; it has {', '.join(accepted)}")
            )


class CheckedKeywords:
    """Base of classes whose constructors tell which keyword argument was meant."""

    def __new__(cls, /, *args: Any, **kwargs: Any) -> Self:
        """Makes an instance, or raises TypeError for an unknown keyword argument."""
        if kwargs:
            check_keywords(cls, kwargs)
        make = super().__new__
        # A class behind this one may have a constructor of its own, which takes the arguments.
        return make(cls) if make is object.__new__ else make(cls, *args, **kwargs)


def explain_call_error(
    error: TypeError, function: Callable[..., object], kwargs: Mapping[str, object]
) -> None:
    """Adds to the error of a call which argument was meant, if a keyword argument is unknown.

    Args:
        error: The error, caught in the frame that made the call.
        function: The function that was called.
        kwargs: Keyword arguments of the call.
    """
    traceback = error.__traceback__
    # An error of the function itself has a frame of the function in its traceback.
    if not kwargs or traceback is None or traceback.tb_next is not None:
        return
    accepted = list(inspect.signature(function).parameters)
    for name, value in kwargs.items():
        hint = None if name in accepted else keyword_hint(name, value, accepted)
        if hint is not None:
            error.args = (f"{error}; {hint}",)
            return


class ForeignAttribute:
    """Descriptor of an attribute that objects of PyTorch have: reading it raises AttributeError.

    It has no ``__set__``: subclasses and instances may define the attribute, and ``hasattr()`` is
    False until they do.

    Args:
        text: What to write instead.
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self._name = ""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, instance: object, owner: type) -> Any:
        raise AttributeError(
            f"{owner.__name__!r} object has no attribute {self._name!r}; Chainer has {self._text}",
            name=self._name,
            obj=instance,
        )


def add_foreign_attributes(cls: type, names: Mapping[str, str]) -> None:
    """Gives a class the attributes whose access tells the name that Chainer has.

    Args:
        cls: The class.
        names: Attribute elsewhere -> what to write here.
    """
    for name, text in names.items():
        attribute = ForeignAttribute(text)
        attribute.__set_name__(cls, name)
        setattr(cls, name, attribute)

    def listed(self: object) -> list[str]:
        found = object.__dir__(self)
        return [
            name
            for name in found
            if name not in names
            or not isinstance(inspect.getattr_static(self, name, None), ForeignAttribute)
        ]

    # Tools that read every attribute that dir() lists would fail.
    cls.__dir__ = listed  # type: ignore[method-assign]
