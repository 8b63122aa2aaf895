"""Gradients in the test cases of functions and links."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from chainer.core.autograd.variable import Variable
from chainer.testing import gradient_check
from chainer.testing.case import VariantTests, describe
from chainer.testing.errors import TestCaseError

#: How often inputs are drawn anew when the function is not differentiable at them.
_ATTEMPTS = 100


def run_backward(outputs: Sequence[Variable], gys: Sequence[Any]) -> None:
    """Starts one backward computation at all outputs that have a gradient.

    Args:
        outputs: The outputs.
        gys: Arrays on their device, or None.
    """
    started = [
        (y, Variable(gy, requires_grad=False))
        for y, gy in zip(outputs, gys, strict=True)
        if gy is not None
    ]
    if started:
        start = gradient_check.StartOfBackward(tuple(gy for _, gy in started))
        start.apply([y for y, _ in started])[0].backward()


def checked_gradients(
    gradients: tuple[Any, ...], template: tuple[Any, ...], what: str
) -> tuple[Any, ...]:
    """Returns gradients an author generated, or raises ValueError if they do not fit.

    Args:
        gradients: The gradients, None for none.
        template: Arrays of the shapes and dtypes they should have.
        what: Name of the two, for the message.
    """
    fits = len(gradients) == len(template) and all(
        g is None or (g.shape == t.shape and g.dtype == t.dtype)
        for g, t in zip(gradients, template, strict=True)
    )
    if not fits:
        raise ValueError(
            f"Shapes and/or dtypes of {what} do not match.\n"
            f"Expected shapes and dtypes: {describe(template)}\n"
            f"Actual shapes and dtypes:   {describe(gradients)}"
        )
    return gradients


def _dodging(check: Callable[[], None], dodge: bool, error_class: type[TestCaseError]) -> None:
    """Repeats a check with other inputs as long as the function is not differentiable at them.

    Args:
        check: The check, which draws its inputs.
        dodge: Whether to do so.
        error_class: Class of the error that is raised if no attempt succeeds.
    """
    for _ in range(_ATTEMPTS if dodge else 1):
        try:
            return check()
        except gradient_check.NondifferentiableError:
            if not dodge:
                raise
    raise error_class(f"not differentiable at any of the inputs that {_ATTEMPTS} draws gave")


class DifferentiationTests(VariantTests):
    """Tests of gradients, at inputs where there is one.

    Attributes:
        dodge_nondifferentiable (bool): Whether to draw other inputs where there is none.
    """

    dodge_nondifferentiable: bool = False

    def _numerical_options(self) -> dict[str, Any]:
        return {
            "dtype": self.numerical_grad_dtype,
            "detect_nondifferentiable": self.dodge_nondifferentiable,
        }

    def _differentiably(self, check: Callable[[], None], what: str) -> None:
        with self._error.raise_if_fail(
            f"{what} is not implemented correctly",
            (AssertionError, gradient_check.NondifferentiableError),
        ):
            _dodging(check, self.dodge_nondifferentiable, self._error)
