"""How worker processes start where a program has not chosen it."""

from __future__ import annotations

import multiprocessing
import sys


def default_start_method() -> str | None:
    """Returns the start method of the worker processes that Chainer makes.

    Since Python 3.14 processes start by ``forkserver`` on Linux. It pickles the arguments of a
    process and imports the main module again, so that a dataset with a lambda fails, and so does a
    program without ``if __name__ == '__main__':``. Programs for earlier Pythons are written for
    ``fork``.

    Returns:
        str or None: ``'fork'`` on Linux if its default is another method and the program has not
        called ``multiprocessing.set_start_method``. Otherwise None: what :mod:`multiprocessing`
        does is right.

    Example:
        >>> import multiprocessing
        >>> from chainer.core.utils.start_method import default_start_method
        >>> context = multiprocessing.get_context(default_start_method())
    """
    if sys.platform != "linux" or multiprocessing.get_all_start_methods()[0] == "fork":
        return None
    return None if multiprocessing.get_start_method(allow_none=True) else "fork"
