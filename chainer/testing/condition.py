"""Tests that may fail now and then: repeated trials."""

from __future__ import annotations

import functools
import traceback
import unittest
from collections.abc import Callable
from typing import Any


def repeat_with_success_at_least(times: int, min_success: int) -> Callable[[Any], Any]:
    """Decorator of test methods for several trials.

    The test passes if at least ``min_success`` of ``times`` trials succeed. Each trial runs
    ``setUp``, the method and ``tearDown`` on an instance of its own. Trials end as soon as the
    result is certain. A skipped trial skips the test. If the test fails, its message tells the
    counts and the first failure.

    Args:
        times (int): The number of trials.
        min_success (int): The number of trials that must succeed.

    Raises:
        AssertionError: If ``times`` is less than ``min_success`` or less than one; when the test
            runs, if its class is not a :class:`unittest.TestCase`.
    """
    if times < 1 or not 0 <= min_success <= times:
        raise AssertionError(
            f"min_success must be between 0 and times, and times at least 1; got {min_success} "
            f"and {times}"
        )

    def decorate(test: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(test)
        def wrapped(self: Any, *args: Any, **kwargs: Any) -> None:
            if not isinstance(self, unittest.TestCase):
                raise AssertionError(
                    "a test with several trials must be a method of a unittest.TestCase, got one "
                    f"of {type(self).__name__}"
                )
            successes = failures = 0
            report = ""
            for trial in range(times):
                try:
                    _run_trial(self, test, args, kwargs)
                except unittest.SkipTest:
                    raise
                except Exception:
                    failures += 1
                    report = report or traceback.format_exc()
                else:
                    successes += 1
                remaining = times - trial - 1
                if successes >= min_success or successes + remaining < min_success:
                    break
            if successes < min_success:
                raise AssertionError(
                    f"Fail: {failures}, Success: {successes}; at least {min_success} of {times} "
                    f"trials must succeed\n\nThe first error message:\n{report}"
                )

        return wrapped

    return decorate


def _run_trial(
    test_case: unittest.TestCase,
    test: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> None:
    """Runs a test on a new instance."""
    trial = type(test_case)(test_case._testMethodName)  # pyright: ignore[reportPrivateUsage]
    try:
        trial.setUp()
        try:
            test(trial, *args, **kwargs)
        finally:
            trial.tearDown()
    finally:
        trial.doCleanups()


def repeat(times: int) -> Callable[[Any], Any]:
    """Decorator of test methods that must succeed several times in a row.

    Args:
        times (int): The number of trials, all of which must succeed.
    """
    return repeat_with_success_at_least(times, times)


def retry(times: int) -> Callable[[Any], Any]:
    """Decorator of test methods that must succeed once.

    Args:
        times (int): The largest number of trials.
    """
    return repeat_with_success_at_least(times, 1)
