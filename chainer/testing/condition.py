"""Tests that may fail now and then: repeated trials.

``setUp`` and ``tearDown`` of a :class:`unittest.TestCase` (``setup_method`` and ``teardown_method``
of other classes) are run between trials.
"""

from __future__ import annotations

import functools
import traceback
import unittest
from collections.abc import Callable
from typing import Any


def repeat_with_success_at_least(times: int, min_success: int) -> Callable[[Any], Any]:
    """Decorator for multiple trials of a test.

    The test passes if at least ``min_success`` of ``times`` trials succeed. Trials end as soon as
    the result is certain. A skipped trial skips the test.

    Args:
        times (int): The number of trials.
        min_success (int): The number of trials that must succeed.

    Raises:
        ValueError: If ``times`` is less than ``min_success`` or less than one.
    """
    if times < 1 or not 0 <= min_success <= times:
        raise ValueError(f"cannot demand {min_success} successes of {times} trials")

    def decorate(test: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(test)
        def wrapped(self: Any, *args: Any, **kwargs: Any) -> None:
            successes = 0
            reports: list[str] = []
            last: Exception | None = None
            for trial in range(times):
                if trial:
                    _renew(self)
                try:
                    test(self, *args, **kwargs)
                except unittest.SkipTest:
                    raise
                except Exception as error:
                    last = error
                    reports.append(f"trial {trial + 1}:\n{traceback.format_exc()}")
                else:
                    successes += 1
                remaining = times - trial - 1
                if successes >= min_success or successes + remaining < min_success:
                    break
            if successes < min_success:
                raise AssertionError(
                    f"{successes} of {successes + len(reports)} trials succeeded, at least "
                    f"{min_success} of {times} expected\n\n" + "\n".join(reports)
                ) from last

        return wrapped

    return decorate


def _renew(test_case: Any) -> None:
    """Brings a test case back to where it was before the trial."""
    if isinstance(test_case, unittest.TestCase):
        test_case.tearDown()
        test_case.doCleanups()
        test_case.setUp()
        return
    for name in ("teardown_method", "setup_method"):
        method = getattr(test_case, name, None)
        if method is not None:
            method()


def repeat(times: int) -> Callable[[Any], Any]:
    """Decorator that imposes the test to be successful in a row.

    Args:
        times (int): The number of trials, all of which must succeed.
    """
    return repeat_with_success_at_least(times, times)


def retry(times: int) -> Callable[[Any], Any]:
    """Decorator that imposes the test to be successful at least once.

    Args:
        times (int): The number of trials.
    """
    return repeat_with_success_at_least(times, 1)
