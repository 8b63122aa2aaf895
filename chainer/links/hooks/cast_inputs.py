"""Link hook that converts the inputs of links to a dtype."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

from chainer.core.arrays.backend import find_backend
from chainer.core.arrays.extended_dtypes import kind_of
from chainer.core.autograd.variable import Variable
from chainer.functions.array.cast import cast
from chainer.links.link_hook import LinkHook

if TYPE_CHECKING:
    from chainer.core.typing import DTypeLike


class CastInputs(LinkHook):
    """Link hook that converts floating-point inputs to a dtype, before a link computes.

    Variables are converted by a differentiable function. Integers and other objects are left
    alone, and so are arrays inside of lists and dictionaries.

    Args:
        dtype: The dtype, such as ``numpy.float16``.

    Example:
        >>> link = L.Linear(3, 2, initialW=chainer.initializers.One(dtype=np.float16), nobias=True)
        >>> _ = link.add_hook(chainer.link_hooks.CastInputs(np.float16))
        >>> link(np.ones((1, 3), np.float32)).dtype
        dtype('float16')
    """

    name = "CastInputs"

    def __init__(self, dtype: DTypeLike) -> None:
        self.dtype = numpy.dtype(dtype)

    def forward_preprocess(self, args: Any) -> None:
        """Replaces the arguments of the call."""
        # Another hook may have replaced them before.
        positional, named = args.replacement or (args.args, args.kwargs)
        args.replace(
            tuple([self._converted(value) for value in positional]),
            {name: self._converted(value) for name, value in named.items()},
        )

    def _converted(self, value: Any) -> Any:
        if isinstance(value, Variable):
            if value.array is None or value.dtype == self.dtype or kind_of(value.dtype) != "f":
                return value
            return cast(value, self.dtype)
        if find_backend(value.__class__) is None or kind_of(value.dtype) != "f":
            return value
        return value.astype(self.dtype, copy=False)
