"""Tests whose random numbers are the same in every run."""

from __future__ import annotations

import contextlib
import functools
import os
import random
import sys
from collections.abc import Callable, Generator
from typing import Any

import numpy

from chainer.testing.bundle import TestCaseBundle

#: Set to another value than 0 to draw new random numbers in every run.
NONDETERMINISTIC = "CHAINER_TEST_RANDOM_NONDETERMINISTIC"

#: How many calls of :func:`do_setup` are open. Only the outermost one seeds the generators, so that
#: a decorated test in a decorated class does not draw the numbers of ``setUp`` again.
_depth = 0
_states: Any = None


@contextlib.contextmanager
def seeded(seed: int) -> Generator[None]:
    """Context manager that seeds ``random`` and ``numpy.random``, and restores their states.

    Args:
        seed: The seed; another one in each run with ``CHAINER_TEST_RANDOM_NONDETERMINISTIC=1``.
    """
    states = _seed(seed)
    try:
        yield
    finally:
        _restore(states)


def do_setup(deterministic: bool = True, seed: int = 0) -> None:
    """Seeds the random number generators of ``random`` and ``numpy.random``, keeping their states.

    Does nothing between another call and its :func:`do_teardown`.

    Args:
        deterministic: Whether the seed is the same in every run.
            ``CHAINER_TEST_RANDOM_NONDETERMINISTIC=1`` overrides it.
        seed: That seed.
    """
    global _depth, _states
    if _depth == 0:
        _states = _seed(seed if deterministic else _new_seed())
    _depth += 1


def do_teardown() -> None:
    """Restores the states of the generators after the outermost :func:`do_setup`.

    Raises:
        RuntimeError: If there was no :func:`do_setup`.
    """
    global _depth, _states
    if _depth == 0:
        raise RuntimeError("do_teardown() without do_setup()")
    _depth -= 1
    if _depth == 0:
        _restore(_states)
        _states = None


def _seed(seed: int) -> Any:
    cupy_random = _cupy_random()
    states = (
        random.getstate(),
        numpy.random.get_state(),
        cupy_random and cupy_random.get_random_state(),
    )
    if os.environ.get(NONDETERMINISTIC, "0") != "0":
        seed = _new_seed()
    random.seed(seed)
    numpy.random.seed(seed)
    if cupy_random is not None:
        # A new generator: the state of the present one cannot be copied.
        cupy_random.set_random_state(cupy_random.RandomState(seed))
    return states


def _restore(states: tuple[Any, Any, Any]) -> None:
    python_state, numpy_state, cupy_state = states
    random.setstate(python_state)
    numpy.random.set_state(numpy_state)
    cupy_random = _cupy_random()
    if cupy_random is not None and cupy_state is not None:
        cupy_random.set_random_state(cupy_state)


def _cupy_random() -> Any:
    """Returns ``cupy.random`` where CuPy was imported and finds a GPU, else None."""
    # Not imported here: tests that do not use CuPy must not pay for its import.
    cupy: Any = sys.modules.get("cupy")
    if cupy is None or not hasattr(cupy, "is_available") or not cupy.is_available():
        return None
    return cupy.random


def _new_seed() -> int:
    return int.from_bytes(os.urandom(4), "little")


def generate_seed() -> int:
    """Returns a seed for another random number generator, inside a :func:`fix_random` test.

    Raises:
        AssertionError: If called outside such a test, where the seed would be another one in each
            run.

    Example:
        >>> from chainer import testing
        >>> @testing.fix_random()
        ... def draw():
        ...     return float(np.random.default_rng(testing.generate_seed()).random())
        >>> draw() == draw()
        True
    """
    if _depth == 0:
        raise AssertionError("generate_seed() must be called in a test decorated with fix_random()")
    return int(numpy.random.randint(0xFFFFFFFF, dtype=numpy.uint32))


def fix_random(
    *, setup_method: str = "setUp", teardown_method: str = "tearDown"
) -> Callable[[Any], Any]:
    """Decorator that fixes random numbers in a test.

    It can be applied to a test class (each test, its ``setUp`` included, starts with the same seed)
    or to a test function. The states of the generators are restored afterwards. Do not apply it
    within ``condition.retry`` or ``condition.repeat``: all trials would draw the same numbers.

    Args:
        setup_method: Name of the method run before each test of a class.
        teardown_method: Name of the method run after each test of a class.

    Raises:
        AssertionError: If a class does not have these methods.
        TypeError: If it is applied to something else.

    Example:
        >>> from chainer import testing
        >>> @testing.fix_random()
        ... def draw():
        ...     return float(np.random.rand())
        >>> draw() == draw()
        True
    """

    def decorate(target: Any) -> Any:
        if isinstance(target, TestCaseBundle):
            return target.map(decorate)
        if isinstance(target, type):
            return _fix_class(target, setup_method, teardown_method)
        if not callable(target):
            raise TypeError(f"fix_random must be applied to a class or a function, got {target!r}")
        return _fix_function(target)

    return decorate


def _fix_function(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        do_setup()
        try:
            return function(*args, **kwargs)
        finally:
            do_teardown()

    return wrapped


def _fix_class(cls: Any, setup_name: str, teardown_name: str) -> Any:
    for name in (setup_name, teardown_name):
        if not hasattr(cls, name):
            raise AssertionError(
                f"fix_random needs the method {name!r}, which {cls.__name__} does not have; name "
                "the methods with setup_method and teardown_method"
            )
    setup = getattr(cls, setup_name)
    teardown = getattr(cls, teardown_name)

    def new_setup(self: Any) -> None:
        do_setup()
        try:
            setup(self)
        except BaseException:
            do_teardown()  # test runners do not call tearDown after a failed setUp
            raise

    def new_teardown(self: Any) -> None:
        try:
            teardown(self)
        finally:
            do_teardown()

    setattr(cls, setup_name, new_setup)
    setattr(cls, teardown_name, new_teardown)
    return cls
