"""Tests whose random numbers are the same in every run."""

from __future__ import annotations

import functools
import os
import random
from collections.abc import Callable
from typing import Any

import numpy

from chainer.testing.parameterized import TestCaseBundle

#: Set to another value than 0 to draw new random numbers in every run all the same.
NONDETERMINISTIC = "CHAINER_TEST_RANDOM_NONDETERMINISTIC"

_saved: list[tuple[Any, Any]] = []


def do_setup(deterministic: bool = True, seed: int = 0) -> None:
    """Seeds the random number generators of ``random`` and ``numpy.random``, keeping their states.

    Args:
        deterministic: Whether the seed is always the same.
            ``CHAINER_TEST_RANDOM_NONDETERMINISTIC=1`` overrides it.
        seed: That seed.
    """
    _saved.append((random.getstate(), numpy.random.get_state()))
    if os.environ.get(NONDETERMINISTIC, "0") != "0":
        deterministic = False
    if not deterministic:
        seed = int.from_bytes(os.urandom(4), "little")
    random.seed(seed)
    numpy.random.seed(seed)


def do_teardown() -> None:
    """Restores what the last :func:`do_setup` found."""
    if not _saved:
        raise RuntimeError("do_teardown() without do_setup()")
    python_state, numpy_state = _saved.pop()
    random.setstate(python_state)
    numpy.random.set_state(numpy_state)


def generate_seed() -> int:
    """Returns a seed for another random number generator, inside a :func:`fix_random` test.

    Raises:
        RuntimeError: If called outside such a test, where the seed would be another one in each
            run.
    """
    if not _saved:
        raise RuntimeError("generate_seed() is to be called in a test decorated with fix_random()")
    return int(numpy.random.randint(0xFFFFFFFF, dtype=numpy.uint32))


def fix_random(
    *, setup_method: str = "setUp", teardown_method: str = "tearDown"
) -> Callable[[Any], Any]:
    """Decorator that fixes random numbers in a test.

    It can be applied to a test class (each test, its ``setUp`` included, starts with the same seed)
    or to a test method. The states of the generators are restored afterwards. It should not be
    applied within ``condition.retry`` or ``condition.repeat``, whose trials would all be the same.

    Args:
        setup_method: Name of the method run before each test of a class.
        teardown_method: Name of the method run after each test of a class.
    """

    def decorate(target: Any) -> Any:
        if isinstance(target, TestCaseBundle):
            return target.map(decorate)
        if isinstance(target, type):
            return _fix_class(target, setup_method, teardown_method)
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
    setup = getattr(cls, setup_name, None)
    teardown = getattr(cls, teardown_name, None)

    def new_setup(self: Any) -> None:
        do_setup()
        if setup is None:
            return
        try:
            setup(self)
        except BaseException:
            do_teardown()  # there is no tearDown after a failed setUp
            raise

    def new_teardown(self: Any) -> None:
        try:
            if teardown is not None:
                teardown(self)
        finally:
            do_teardown()

    setattr(cls, setup_name, new_setup)
    setattr(cls, teardown_name, new_teardown)
    return cls
