"""Tests that may fail now and then: repeated trials."""

from __future__ import annotations

import copy
import functools
import traceback
import unittest
from collections.abc import Callable
from typing import Any


def repeat_with_success_at_least(times: int, min_success: int) -> Callable[[Any], Any]:
    """Decorator of test methods for several trials.

    The test passes if at least ``min_success`` of ``times`` trials succeed. Each trial runs
    ``setUp``, the method and ``tearDown`` (``setup_method`` and ``teardown_method`` of other
    classes) on an instance of its own. Trials end as soon as the result is certain. A skipped trial
    skips the test.

    Args:
        times (int): The number of trials.
        min_success (int): The number of trials that must succeed.

    Raises:
        AssertionError: If ``times`` is less than ``min_success`` or less than one.
    """
    if times < 1 or not 0 <= min_success <= times:
        raise AssertionError(
            f"min_success must be between 0 and times, and times at least 1; got {min_success} "
            f"and {times}"
        )

    def decorate(test: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(test)
        def wrapped(self: Any, *args: Any, **kwargs: Any) -> None:
            successes = 0
            reports: list[str] = []
            last: Exception | None = None
            for trial in range(times):
                try:
                    _run_trial(self, test, args, kwargs)
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


def _run_trial(
    test_case: Any, test: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> None:
    """Runs a test on a new instance."""
    if isinstance(test_case, unittest.TestCase):
        trial: Any = type(test_case)(test_case._testMethodName)  # pyright: ignore[reportPrivateUsage]
        try:
            trial.setUp()
            try:
                test(trial, *args, **kwargs)
            finally:
                trial.tearDown()
        finally:
            trial.doCleanups()
        return
    trial = copy.copy(test_case)
    if hasattr(trial, "setup_method"):
        trial.setup_method()
    try:
        test(trial, *args, **kwargs)
    finally:
        if hasattr(trial, "teardown_method"):
            trial.teardown_method()


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
