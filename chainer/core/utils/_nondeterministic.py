"""Warnings of computations whose results may differ from run to run."""

from __future__ import annotations

import warnings

from chainer.core.config.configuration import config
from chainer.core.utils._callable_module import make_callable


def nondeterministic(f_name: str) -> None:
    """Warns if ``chainer.config.warn_nondeterministic`` is set.

    Functions call it before they compute something whose result may differ from run to run.

    Args:
        f_name (str): Name of the computation, for the message.

    Example:
        >>> import warnings
        >>> with chainer.using_config("warn_nondeterministic", True):
        ...     with warnings.catch_warnings(record=True) as caught:
        ...         warnings.simplefilter("always")
        ...         chainer.utils.nondeterministic("sum of an example")
        >>> len(caught)
        1
    """
    if config.warn_nondeterministic:
        warnings.warn(
            "Potentially non-deterministic code is being executed while "
            f"config.warn_nondeterministic set. Source: {f_name}",
            stacklevel=2,
        )


make_callable(__name__, nondeterministic)
