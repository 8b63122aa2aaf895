"""The arguments of a model, and the names and shapes that the caller gives to them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from chainer import Variable
from chainer.backend import find_backend
from chainer.typing import Array


class Arguments:
    """The arguments that a model is called with.

    Args:
        args: An array or Variable, or a list, tuple or dict of them.

    Attributes:
        variables: The arguments as Variables, by position or by keyword.

    Raises:
        ValueError: If ``args`` is something else.
    """

    def __init__(self, args: Array) -> None:
        # The structure decides how the model is called, and which forms names and shapes may have.
        self.kind: type = dict if isinstance(args, Mapping) else type(args)
        if isinstance(args, Mapping):
            self.variables: dict[Any, Variable] = {k: _as_variable(x) for k, x in args.items()}
        elif isinstance(args, (list, tuple)):
            self.variables = {i: _as_variable(x) for i, x in enumerate(args)}
        else:
            self.kind = Variable
            self.variables = {0: _as_variable(args)}

    def call(self, model: Any) -> Any:
        """Calls the model."""
        if self.kind is dict:
            return model(**self.variables)
        return model(*self.variables.values())

    def replaced(self, arrays: Mapping[Any, Array]) -> Arguments:
        """Returns arguments of the same structure with other arrays."""
        # Not through __init__, which takes a structure apart: these arrays have their keys already.
        other = object.__new__(Arguments)
        other.kind = self.kind
        other.variables = {key: Variable(arrays[key]) for key in self.variables}
        return other

    @property
    def is_single(self) -> bool:
        """Whether there is one argument, given without a container."""
        return self.kind is Variable

    def names(self, input_names: Any) -> dict[Any, str]:
        """Returns the name of each argument.

        Args:
            input_names: Names that the caller gave; None for ``Input_0``, ``Input_1``, ...

        Raises:
            ValueError: If they do not fit the arguments.
        """
        if input_names is None:
            return {key: f"Input_{i}" for i, key in enumerate(self.variables)}
        return fit_names(input_names, list(self.variables), "input_names")

    def shapes(self, input_shapes: Any) -> dict[Any, Any]:
        """Returns the shape of each argument, with names of axes where the caller gave some.

        Args:
            input_shapes: Shapes that the caller gave; None for the shapes of the arrays.

        Raises:
            ValueError: If they do not fit the arguments.
        """
        actual = {key: tuple(x.shape) for key, x in self.variables.items()}
        if input_shapes is None:
            return actual
        given = self._given_shapes(input_shapes)
        for key, shape in given.items():
            if not isinstance(shape, tuple):
                raise ValueError(f"input_shapes must be tuples, got {shape!r} for input {key!r}")
            if len(shape) != len(actual[key]):
                raise ValueError(
                    f"input_shapes has {len(shape)} axes for input {key!r}, "
                    f"which has {len(actual[key])}: {shape} for {actual[key]}"
                )
            for d in shape:
                # A bool is an int in Python, and is a mistake in a shape.
                if isinstance(d, bool) or not isinstance(d, (int, str)):
                    raise ValueError(f"input_shapes must consist of int and str, got {d!r}")
                if isinstance(d, int) and d < 0:
                    raise ValueError(
                        f"input_shapes has the length {d}; an axis that may have any length has "
                        "a name, such as 'batch'"
                    )
        return given

    def _given_shapes(self, given: Any) -> dict[Any, Any]:
        keys = list(self.variables)
        if self.is_single:
            if isinstance(given, list):
                if len(given) != 1:
                    raise ValueError(
                        f"input_shapes must be one tuple, as there is one input, got {given!r}"
                    )
                (given,) = given
            return {0: given}
        if isinstance(given, dict) and self.kind is dict:
            if set(given) != set(keys):
                raise ValueError(
                    f"input_shapes must have the keys of args, {keys}, got {list(given)}"
                )
            return {key: given[key] for key in keys}
        if not isinstance(given, list):
            raise ValueError(f"input_shapes must be a list of tuples, got {given!r}")
        if len(given) != len(keys):
            raise ValueError(f"input_shapes must have {len(keys)} shapes, got {len(given)}")
        return dict(zip(keys, given, strict=True))


def _as_variable(x: Array) -> Variable:
    if isinstance(x, Variable):
        return x
    if find_backend(type(x)) is None:
        raise ValueError(
            f"args must be an array or a Variable, or a list, tuple or dict of them, got {type(x)}"
        )
    return Variable(x)


def fit_names(given: Any, keys: Sequence[Any], argument: str) -> dict[Any, str]:
    """Returns the names that the caller gave to values.

    Args:
        given: A string, a list or a dict.
        keys: Positions or keywords of the values.
        argument: Name of the argument, for messages.

    Raises:
        ValueError: If they do not fit.
    """
    if isinstance(given, str):
        given = [given]
    if isinstance(given, Mapping):
        if set(given) != set(keys):
            raise ValueError(f"{argument} must have the keys {list(keys)}, got {list(given)}")
        named = {key: given[key] for key in keys}
    else:
        if len(given) != len(keys):
            raise ValueError(
                f"{argument} must have {len(keys)} names, one for each value, got {len(given)}"
            )
        named = dict(zip(keys, given, strict=True))
    for name in named.values():
        if not isinstance(name, str):
            raise ValueError(f"{argument} must consist of str, got {name!r}")
    # In a graph of ONNX each value has its own name.
    if len(set(named.values())) != len(named):
        raise ValueError(f"{argument} must differ from each other, got {list(named.values())}")
    return named


def flatten_outputs(outputs: Any) -> dict[Any, Variable]:
    """Returns the outputs of a model by position or by key.

    Args:
        outputs: Result of the model.

    Raises:
        RuntimeError: If it is neither a Variable nor a container.
        ValueError: If a container holds anything but Variables.
    """
    if isinstance(outputs, Variable):
        return {0: outputs}
    if isinstance(outputs, Mapping):
        named = dict(outputs)
    elif isinstance(outputs, (list, tuple)):
        named = dict(enumerate(outputs))
    else:
        raise RuntimeError(
            f"the model must return a Variable, or a list, tuple or dict of them, "
            f"got {type(outputs)}"
        )
    for key, value in named.items():
        if not isinstance(value, Variable):
            raise ValueError(f"the model must return Variables, got {type(value)} as {key!r}")
    if not named:
        raise ValueError("the model must return at least one Variable, got none")
    return named
