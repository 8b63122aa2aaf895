"""Declared capabilities: what a backend or a kernel cannot do, and why.

Chainer assumes that an array library can do everything in :data:`CAPABILITIES`. A backend declares
exceptions in :attr:`~chainer.core.arrays.protocol.Backend.limitations`, a kernel in
:attr:`~chainer.core.arrays.kernel_declaration.KernelDeclaration.limitations`. Both are mappings
from the name of a capability to the reason why it is missing::

    limitations = {
        "float16": "the standard has no float16",
        "F.cholesky:float64": "the library has it in float32 only",
    }

The testing kit expects a refusal, which is an error, from everything that needs a missing
capability. If a test needs such a capability and passes, the declaration is wrong, which is a
failure. ``chainer.explain``, ``chainer backends`` and ``chainer doctor`` show the declarations.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal, NamedTuple, TypeAlias

#: Name of a capability -> why it is missing.
Limitations: TypeAlias = Mapping[str, str]

Effect = Literal["refused", "perhaps refused", "tolerated"]


class Capability(NamedTuple):
    """Something that Chainer assumes of a backend or a kernel unless it is declared as missing.

    Attributes:
        name: Its name in declarations.
        about: The capability, as the end of "it can ..." or "it has ...".
        effect: What the testing kit does if it is missing. ``'refused'``: the tests that need it
            must raise an error. ``'perhaps refused'``: so many functions may need it that each test
            may also raise an error, but must not give a wrong result. ``'tolerated'``: tests are
            less strict.
    """

    name: str
    about: str
    effect: Effect = "refused"


_KNOWN = (
    Capability("float16", "arrays of dtype float16"),
    Capability("float64", "arrays of dtype float64"),
    Capability("complex", "arrays of dtypes complex64 and complex128"),
    Capability("in_place", "arrays that can be changed in place", "perhaps refused"),
    Capability("views", "slices that share the memory of their array", "perhaps refused"),
    Capability("data_dependent_shapes", "results whose shape depends on values", "perhaps refused"),
    Capability("strides", "views of any strides (as_strided)"),
    Capability("random", "a source of random numbers", "perhaps refused"),
    Capability("recorder", "a recorder of steps, for chainer.capture", "tolerated"),
    Capability("threads", "calls from several threads at a time"),
    Capability("pickle", "arrays that can be pickled"),
    Capability("precise_float64", "results in float64 with its full precision", "tolerated"),
    Capability("deterministic", "the same bits for the same call", "tolerated"),
)

CAPABILITIES: Mapping[str, Capability] = {known.name: known for known in _KNOWN}
"""The capabilities that the testing kit knows, by name.

Besides, ``'F.name'`` is the capability to run a function of :mod:`chainer.functions`, and
``'F.name:dtype'`` to run it in one dtype. A table of rows of a third party
(:class:`chainer.testing.op_spec.OpSpec`) may require capabilities of other names.
"""


def missing(limitations: Limitations, requirements: Iterable[str]) -> str | None:
    """Returns the first requirement that is declared as missing; None if there is none.

    Args:
        limitations: The declarations.
        requirements: Names of capabilities.
    """
    return next((name for name in requirements if name in limitations), None)


def describe(limitations: Limitations) -> list[str]:
    """Returns a line for each declaration: ``'no float16 (the standard has no float16)'``.

    Args:
        limitations: The declarations.
    """
    return [f"no {name} ({reason})" for name, reason in limitations.items()]


def check(owner: str, limitations: object) -> None:
    """Raises unless declarations are a mapping from names to reasons.

    Args:
        owner: The backend or kernel, for the message.
        limitations: The declarations.

    Raises:
        TypeError: If they are not.
    """
    good = isinstance(limitations, Mapping) and all(
        isinstance(name, str) and name and isinstance(reason, str) and reason.strip()
        for name, reason in limitations.items()  # pyright: ignore[reportUnknownVariableType]
    )
    if not good:
        raise TypeError(
            f"limitations of {owner} must map names of capabilities to reasons (texts that are not "
            f"empty), got {limitations!r}"
        )
