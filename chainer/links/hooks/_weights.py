"""Base class of link hooks that replace the weight of a link during its calls."""

from __future__ import annotations

from typing import NoReturn

from chainer.core.autograd.parameter import Parameter
from chainer.core.autograd.variable import Variable
from chainer.core.typing import VariableLike
from chainer.links.link import Link
from chainer.links.link_hook import (
    LinkHook,
    _ForwardPostprocessCallbackArgs,
    _ForwardPreprocessCallbackArgs,
)


class WeightHook(LinkHook):
    """Base class of link hooks that replace a weight by a function of it while a link is called.

    Outside of calls the attribute of the link is the parameter itself, so that serializers and
    optimizers work as without the hook.

    Args:
        weight_name (str): Name of the weight.
        name (str): Name of the hook; by default the name of its class.
    """

    #: The parameter that was replaced in the latest call.
    original_weight: Parameter
    #: The parameters that are replaced at the moment, the latest at the end.
    _replaced: list[Parameter]

    def __init__(self, weight_name: str, name: str | None) -> None:
        self.weight_name = weight_name
        if name is not None:
            self.name = name

    def __enter__(self) -> NoReturn:
        raise NotImplementedError("This hook is not supposed to be used as context manager.")

    def __exit__(self, *_: object) -> NoReturn:
        raise NotImplementedError("This hook is not supposed to be used as context manager.")

    def added(self, link: Link | None) -> None:
        """Checks that the link has the weight.

        Args:
            link (Link): The link.

        Raises:
            ValueError: If it has no attribute of the name of the weight.
        """
        if not hasattr(link, self.weight_name):
            raise ValueError(f"Weight '{self.weight_name}' does not exist!")

    def forward_preprocess(self, cb_args: _ForwardPreprocessCallbackArgs) -> None:
        """Replaces the weight.

        Args:
            cb_args: The call.
        """
        link, inputs = cb_args.link, [*cb_args.args, *cb_args.kwargs.values()]
        weight = getattr(link, self.weight_name)
        if weight.array is None:
            _initialize_weight(link, inputs[0])
        replacement = self._replacement(link, weight)
        # Links may share a hook, and a link may call another one that has the same hook. Hooks
        # restored from pickles of release 7 lack the attribute.
        replaced: list[Parameter] = vars(self).setdefault("_replaced", [])
        replaced.append(weight)
        self.original_weight = weight
        setattr(link, self.weight_name, replacement)

    def _replacement(self, link: Link, weight: Parameter) -> Variable:
        """Returns the variable that the link uses in place of the weight."""
        raise NotImplementedError(f"{type(self).__name__} must define _replacement()")

    def _restore(self, link: Link) -> None:
        # Assigned outside of an initialization scope, the attribute keeps its registration.
        setattr(link, self.weight_name, self._replaced.pop())

    def forward_postprocess(self, cb_args: _ForwardPostprocessCallbackArgs) -> None:
        """Restores the weight.

        Args:
            cb_args: The call.
        """
        self._restore(cb_args.link)

    def _forward_failed(self, args: _ForwardPreprocessCallbackArgs) -> None:
        self._restore(args.link)


def _initialize_weight(link: Link, x: VariableLike) -> None:
    """Initializes the weight of a link for its first input."""
    infer_sizes = getattr(link, "_infer_sizes", None)
    if infer_sizes is None:
        # Links of third parties may define this method, as in release 7.
        link._initialize_params(x.shape[1])  # type: ignore[attr-defined]
    else:
        infer_sizes(x)
