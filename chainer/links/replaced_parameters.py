"""The error about a registered parameter in whose place a program has put something else."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chainer.core.autograd.variable import Variable

if TYPE_CHECKING:
    from chainer.links.link import Link


class ReplacedParameterError(AttributeError, TypeError):
    """Something else than a Variable stands in the place of a registered parameter.

    The earlier releases raise the AttributeError that Python raises.
    """


def explain_replaced(link: Link, error: AttributeError, *, hierarchy: bool = True) -> None:
    """Raises the fitting error if something else stands in the place of a parameter.

    It is called where an attribute of a parameter was not found. A Variable in the place of a
    parameter is allowed, because programs that learn to learn compute their parameters.

    Args:
        link: The link.
        error: The error that has occurred.
        hierarchy: Whether the links below are looked at as well.

    Raises:
        ReplacedParameterError: If a parameter was replaced.
    """
    if isinstance(error, ReplacedParameterError):
        return
    for place, inner in link.namedlinks() if hierarchy else [("/", link)]:
        for name in inner._params:
            value = vars(inner).get(name)
            if not isinstance(value, Variable):
                kind, owner = type(value).__name__, type(inner).__name__
                path = f"{place.rstrip('/')}/{name}"
                raise ReplacedParameterError(
                    f"{error}: the registered parameter {path!r} of {owner} was "
                    f"replaced by an object of type {kind}; assign to 'link.{name}.array' to "
                    f"change its values, or run 'del link.{name}' first to take it from the link"
                ) from error


class NamingReplaced:
    """In the block an AttributeError names the parameter that a program has replaced.

    Where every microsecond counts, ``except`` and :func:`explain_replaced` cost less than a block.

    Args:
        link: The link.
        hierarchy: Whether the links below are looked at as well.
    """

    __slots__ = ("_hierarchy", "_link")

    def __init__(self, link: Link, *, hierarchy: bool = True) -> None:
        self._link, self._hierarchy = link, hierarchy

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, AttributeError):
            explain_replaced(self._link, error, hierarchy=self._hierarchy)
