"""Calls of a link with other parameters: :func:`chainer.functional_call`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from chainer.core.autograd.parameter import Parameter
from chainer.core.autograd.variable import Variable, as_variable
from chainer.core.typing import VariableLike
from chainer.links.link import Link


def functional_call(
    link: Link, params: Mapping[str, VariableLike], *args: Any, **kwargs: Any
) -> Any:
    """Calls a link with given values in place of its parameters.

    The values may be results of functions, such as parameters after a step of gradient descent
    (meta-learning), or the primals of :func:`chainer.vjp`. The parameters themselves get no
    gradients from the call, and are not changed. Another thread must not use the link meanwhile.

    Args:
        link (~chainer.Link): The link.
        params (dict): Arrays or Variables by the names of :meth:`~chainer.Link.namedparams`, with
            or without the slash in front. Parameters that are not named keep their values.
        args: Arguments of the call.
        kwargs: Keyword arguments of the call.

    Returns:
        The result of ``link(*args, **kwargs)``.

    Raises:
        TypeError: If ``link`` is not a link.
        ValueError: If there is no parameter of a name, or it has another shape.

    Example:
        >>> link = L.Linear(3, 2)
        >>> params = {name: 0 * p for name, p in link.namedparams()}
        >>> chainer.functional_call(link, params, np.ones((1, 3), np.float32)).array
        array([[0., 0.]], dtype=float32)
    """
    if not isinstance(link, Link):
        raise TypeError(f"link must be a Link, got {type(link).__name__}")
    known: dict[str, Parameter] = {name.strip("/"): p for name, p in link.namedparams()}
    values: dict[int, Variable] = {}
    for name, value in params.items():
        parameter = known.get(name.strip("/"))
        if parameter is None:
            names = ", ".join(sorted(known))
            raise ValueError(f"params: there is no parameter {name!r}; known ones: {names}")
        variable = as_variable(value)
        if parameter.is_initialized and parameter.shape != variable.shape:
            raise ValueError(
                f"params: {name!r} must have the shape {parameter.shape}, got {variable.shape}"
            )
        values[id(parameter)] = variable
    replaced: list[tuple[dict[str, Any], str, Parameter]] = []
    try:
        # A parameter that links share has several places.
        for inner in link.links():
            members = vars(inner)
            for name in inner._params:
                parameter = members[name]
                if id(parameter) in values:
                    replaced.append((members, name, parameter))
                    members[name] = values[id(parameter)]
        return link(*args, **kwargs)
    finally:
        for members, name, parameter in replaced:
            members[name] = parameter
