"""Errors of the test cases: what is tested is implemented incorrectly."""

from __future__ import annotations

import contextlib
from collections.abc import Generator
from typing import NoReturn


class TestCaseError(AssertionError):
    """Base class of the errors of the test cases."""

    __test__ = False  # pytest takes everything called Test... for a test class

    @classmethod
    def check(cls, expr: object, message: str) -> None:
        """Raises the error if an expression is false.

        Args:
            expr: The expression.
            message (str): Text of the error.
        """
        if not expr:
            cls.fail(message)

    @classmethod
    def fail(cls, message: str, exc: BaseException | None = None) -> NoReturn:
        """Raises the error.

        Args:
            message (str): Text of the error.
            exc: The exception that caused it; class and text are appended to the message.
        """
        if exc is None:
            raise cls(message)
        raise cls(f"{message}\n\n(caused by)\n{type(exc).__name__}: {exc}") from exc

    @classmethod
    @contextlib.contextmanager
    def raise_if_fail(
        cls,
        message: str,
        error_types: type[Exception] | tuple[type[Exception], ...] = AssertionError,
    ) -> Generator[None]:
        """Context manager that turns exceptions of some classes into the error.

        Args:
            message (str): Text of the error.
            error_types: Classes of the exceptions. Errors of this class, and those about the test
                case, pass unchanged.
        """
        try:
            yield
        except (cls, WrongTestCase):
            raise
        except error_types as error:
            cls.fail(message, error)


class WrongTestCase(AssertionError, ValueError, TypeError):
    """Raised when a test case itself has a wrong attribute, or returns something of a wrong type.

    It belongs to the class that release 7 raises, and to the class of the mistake itself.
    """

    __test__ = False


class FunctionTestError(TestCaseError):
    """Raised when the target function is implemented incorrectly."""


class LinkTestError(TestCaseError):
    """Raised when the target link is implemented incorrectly."""


class OptimizerTestError(TestCaseError):
    """Raised when the target optimizer is implemented incorrectly."""
