"""Declared limitations as expected refusals.

A test needs capabilities (:data:`chainer.backend.CAPABILITIES`). If the backend declares that it
lacks one of them, the test must end in an error of :data:`REFUSALS`. A wrong result remains a
failure, and so does a pass: then the declaration is not true any more.
"""

# pyright: basic
from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence

import pytest

from chainer.core.arrays.backend import Backend
from chainer.core.arrays.capabilities import CAPABILITIES, check, missing
from chainer.core.registry import registries
from chainer.testing.op_spec import OpSpec

#: Errors that refuse a call. An AssertionError is not among them: it means a wrong result.
REFUSALS = (TypeError, ValueError, NotImplementedError, RuntimeError, AttributeError)

#: Start of the reasons, by which reports recognize refusals.
DECLARED = "declared: "

requires = pytest.mark.chainer_requires
"""Marks a test of the contract with the capabilities that it needs."""


def requirements(item: pytest.Item) -> tuple[str, ...]:
    """Returns the capabilities that a test needs.

    Args:
        item: A test of the suite.
    """
    names = [name for mark in item.iter_markers("chainer_requires") for name in mark.args]
    parameters = getattr(getattr(item, "callspec", None), "params", {})
    spec: object = parameters.get("spec")
    dtype: str | None = parameters.get("dtype")
    # The quick form has no parameters for forward mode, which is tested in float64.
    if isinstance(spec, OpSpec):
        return (*names, *spec.requirements(dtype))
    if dtype is not None and dtype in CAPABILITIES:
        names.append(dtype)
    return tuple(names)


def expect(items: Sequence[pytest.Item], backend: Backend) -> None:
    """Marks the tests that must or may be refused.

    Args:
        items: Tests of the suite.
        backend: The backend under test.

    Raises:
        pytest.UsageError: If a declaration is malformed, or names a capability that does not exist.
    """
    limitations = backend.limitations
    try:
        check(f"backend {backend.name!r}", limitations)
    except TypeError as error:
        raise pytest.UsageError(str(error)) from error
    for item in items:
        name = missing(limitations, requirements(item))
        known = CAPABILITIES.get(name) if name else None
        strict = name is not None and (known is None or known.effect == "refused")
        # The error that a bad input must raise may be raised, or the one about the capability.
        strict = strict and not item.name.startswith("test_refuses")
        if not strict:
            name = name or _broad(limitations)
        if name is not None:
            reason = f"{DECLARED}no {name} ({limitations[name]})"
            item.add_marker(pytest.mark.xfail(reason=reason, strict=strict, raises=REFUSALS))


def _broad(limitations: Iterable[str]) -> str | None:
    """Returns a missing capability that any function may need; None if there is none."""
    for name in limitations:
        if name in CAPABILITIES and CAPABILITIES[name].effect == "perhaps refused":
            return name
    return None


def check_names(backend: Backend, specs: Iterable[OpSpec]) -> None:
    """Raises if a backend declares a capability that no test can need.

    Args:
        backend: The backend under test.
        specs: All rows.

    Raises:
        pytest.UsageError: In this case.
    """
    known = {*CAPABILITIES, *(f"F.{name}" for name in registries.functions.names())}
    for spec in specs:
        known.update(spec.requires, (name for d in spec.dtypes for name in spec.requirements(d)))
    for name in backend.limitations:
        function, _, dtype = name.partition(":")
        if name not in known and not (dtype and function in known):
            near = difflib.get_close_matches(name, known, n=1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise pytest.UsageError(
                f"backend {backend.name!r} declares the limitation {name!r}, and no test needs "
                f"such a capability{hint}"
            )
