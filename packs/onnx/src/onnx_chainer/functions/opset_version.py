"""The decorator of converters that depend on the version of the operator set."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from chainer.typing import Array


def support(opset_versions: Sequence[int]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Lets a converter state the versions of the operator set at which it changes.

    The converter is called with ``opset_version`` as the greatest of them that is not newer than
    the version in use.

    Args:
        opset_versions (sequence of int): The versions.

    Returns:
        callable: The decorator, for converters of one argument as well as of five (``func,
            opset_version, input_names, output_names, context``).
    """
    versions = sorted(opset_versions)

    def decorate(converter: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(converter)
        def convert(*args: Array) -> Any:
            params = args[0]
            single = len(args) == 1
            wanted = params.opset_version if single else args[1]
            usable = [version for version in versions if version <= wanted]
            if not usable:
                function = params.func if single else params
                raise RuntimeError(
                    f"{type(function).__name__} cannot be exported to opset {wanted}: its "
                    f"converter needs opset {versions[0]} or later"
                )
            if not single:
                return converter(params, usable[-1], *args[2:])
            params.opset_version = usable[-1]
            return converter(params)

        return convert

    return decorate
