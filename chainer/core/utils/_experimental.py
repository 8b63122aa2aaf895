"""Marking features as experimental."""

from __future__ import annotations

import sys
import warnings

from chainer.core.utils._callable_module import make_callable


def experimental(api_name: str) -> None:
    """Declares that the user is using an experimental feature.

    A ``FutureWarning`` is issued, unless ``chainer.disable_experimental_feature_warning`` is True.

    Args:
        api_name (str): The name of an API marked as experimental.

    Example:
        >>> from chainer import utils
        >>> def f(x):
        ...     utils.experimental('chainer.foo.bar.f')
    """
    front_door = sys.modules.get("chainer")
    if getattr(front_door, "disable_experimental_feature_warning", False):
        return
    warnings.warn(
        f"{api_name} is experimental. The interface can change in the future.",
        FutureWarning,
        stacklevel=3,
    )


make_callable(__name__, experimental)
