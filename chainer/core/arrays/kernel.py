"""Operations and their kernels (public module ``chainer.kernel``).

An :class:`Operation` is a named piece of array work (a convolution, a softmax, an update by Adam)
with documented methods. A kernel is an implementation of it for one array type by one provider; a
:class:`KernelDeclaration` says which calls it supports. Every operation has a reference kernel,
written against the array namespace ``xp``, which serves every backend that has nothing better.
"""

from __future__ import annotations

import enum
import functools
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, NamedTuple, Protocol, overload

import numpy

from chainer.core.arguments import require_attribute
from chainer.core.arrays.acceleration import (
    SpeedupBySize,
    backend_for_plain,
    makes_opaque_arrays,
    with_plain_results,
)
from chainer.core.arrays.capabilities import describe
from chainer.core.arrays.fusion import FusedCall, Fusion
from chainer.core.arrays.holders import array_of
from chainer.core.arrays.kernel_declaration import (
    ArraySpec,
    CallSpec,
    KernelDeclaration,
    ReferenceKernel,
    register_kernel,
)
from chainer.core.arrays.kernel_selection import (
    Candidate,
    Explanation,
    KernelSelector,
    by_preference,
    candidates_by_preference,
    disabled_reason,
    is_asked_for,
    speedup_notes,
)
from chainer.core.arrays.lookup import (
    HOST_FAMILY,
    backend_of,
    find_backend,
    is_array_type,
    not_an_array_message,
)
from chainer.core.arrays.opaque_layouts import ReferenceOnXpArrays
from chainer.core.arrays.protocol import Backend
from chainer.core.arrays.recurrence import Part, Recurrence, StepCall
from chainer.core.config.configuration import threads
from chainer.core.config.kernel_policy import KernelPolicy
from chainer.core.lazy import resolve
from chainer.core.misuse import similar, warn_once
from chainer.core.registry import registries
from chainer.core.typing import Array, VariableLike

__all__ = [
    "ArraySpec",
    "CallSpec",
    "Candidate",
    "Explanation",
    "FusedCall",
    "Fusion",
    "JoinedRows",
    "Kernel",
    "KernelDeclaration",
    "Operation",
    "Part",
    "Recording",
    "Recurrence",
    "ReferenceKernel",
    "SpeedupBySize",
    "StepCall",
    "explain",
    "get_operation",
    "register_kernel",
]

#: Short name of :class:`KernelDeclaration`.
Kernel = KernelDeclaration


class Recording(enum.Enum):
    """How recorders of single calls, such as NumPy's, keep the calls of an operation.

    Attributes:
        WHOLE: A call of the kernel is one call of the program. Right for kernels that look at
            values, or that choose other ways for large arrays.
        STEPS: All array calls of the reference kernel are recorded. Right for chains of elementwise
            calls, whose results then need no new memory.
        SMALL_STEPS: As STEPS if the first argument is small, else as WHOLE. Right where the
            reference kernel divides large arrays into many blocks.
        JOINED: An update of parameters: calls with the same scalars are made as one.

    Example:
        >>> from chainer.kernel import Recording, get_operation
        >>> get_operation("adam_update").recording is Recording.JOINED
        True
    """

    WHOLE = "whole"
    STEPS = "steps"
    SMALL_STEPS = "small steps"
    JOINED = "joined"


class JoinedRows(NamedTuple):
    """How calls of a method with different rows are made as one call, whose arrays have all rows.

    Attributes:
        arguments: Positions of the arguments with rows, which are their first axis. All other
            arguments have to be the same in all calls.
        adds: Whether the result is the sum of the results of the single calls. Otherwise it has
            the rows of all results.

    Example:
        The rows of ``x`` in ``forward(x, W, b)``:

        >>> from chainer.kernel import get_operation
        >>> get_operation("linear").joined_rows["forward"].arguments
        (0,)
    """

    arguments: tuple[int, ...]
    adds: bool = False


class Operation:
    """A named array-level operation.

    Subclasses are declarations: the name, the methods that every implementation has (with
    signatures, shapes and dtypes in the docstring) and the reference kernel. There is one instance
    of each subclass, at module level.

    A method of a kernel that returns one array may have a keyword ``out``: None, or a C-contiguous
    array to write the result to, which shares no memory with the arguments. It then returns it.
    Captured steps give it planned memory. Other results stay in the arrays that the kernel makes,
    or are copied to planned memory.

    Attributes:
        name: Name of the operation.
        methods: Names of the methods of an implementation.
        reference: The reference kernel (a :class:`ReferenceKernel` subclass) or a lazy reference.
        in_place: Whether methods write to the arrays they get.
        recording: How a recorder keeps calls of the operation.
        pure: Whether results depend on the arguments alone, which methods do not change. Recorders
            may then make calls in another order.
        joined_rows: For names of methods of a pure operation, how calls are joined.
        is_exact: Whether all right kernels return the same numbers, because each result is a
            selection, or is rounded once. A recorder may then record the steps of the reference
            in place of calls of the chosen kernel.

    Example:
        An operation with its reference kernel. Packs register it in ``chainer_operations``.

        >>> from chainer.kernel import Operation, ReferenceKernel
        >>> class SquareKernel(ReferenceKernel):
        ...     def forward(self, x):
        ...         return self.xp.square(x)
        ...     def backward(self, x, gy):
        ...         return 2 * x * gy
        >>> class Square(Operation):
        ...     name = "square of an example"
        ...     reference = SquareKernel
        >>> square = Square()
        >>> x = np.array([1.0, -3.0])
        >>> kernel = square.select(x)
        >>> kernel.forward(x)
        array([1., 9.])
    """

    name: ClassVar[str]
    methods: ClassVar[tuple[str, ...]] = ("forward", "backward")
    reference: ClassVar[Any]  # a class or a lazy reference
    in_place: ClassVar[bool] = False
    recording: ClassVar[Recording] = Recording.WHOLE
    pure: ClassVar[bool] = False
    joined_rows: ClassVar[Mapping[str, JoinedRows]] = {}
    is_exact: ClassVar[bool] = False

    def __init__(self) -> None:
        # policy -> array class -> implementation, or KernelSelector if the choice depends on the
        # call. Dropped when kernels are registered or removed.
        self._tables: dict[KernelPolicy, dict[type, Any]] = {}
        # Implementations of (declaration or None, backend, whether plain results are of the type of
        # xp). Kept for good, because nodes of live
        # graphs refer to them.
        self._loaded: dict[tuple[KernelDeclaration | None, Backend, bool], Any] = {}
        self._on_xp_arrays: dict[Any, ReferenceOnXpArrays] = {}
        # Id of an implementation -> the implementation, and what provided() returns for it.
        self._provided: dict[int, tuple[Any, Any | None]] = {}
        registries.kernels.add_listener(self._forget)

    def _forget(self, *_: object) -> None:
        self._tables = {}
        self._provided.clear()

    def select(self, *arrays: Array | None, **attributes: Any) -> Any:
        """Returns the implementation that serves a call.

        Args:
            arrays: The arrays of the call (None for one that is left out). The first one determines
                the backend.
            attributes: The other arguments, hashable.

        Returns:
            An object with the methods named in :attr:`methods`. Keep it for the backward call of
            the same computation.
        """
        # Two lookups, without a function call in between: this runs for every operation.
        policy = threads.state.policy
        try:
            entry = self._tables[policy][type(arrays[0])]
        except KeyError:
            entry = self._find(policy, arrays[0])
        if entry.__class__ is KernelSelector:
            return entry.choose(arrays, attributes)
        return entry

    def entry(self, array: Array) -> Any:
        """Returns the implementation that serves all calls with arrays like one.

        Args:
            array: The array that determines the backend.

        Returns:
            The implementation; or a :class:`KernelSelector`, if it depends on the call.
        """
        policy = threads.state.policy
        try:
            return self._tables[policy][type(array)]
        except KeyError:
            return self._find(policy, array)

    def provided(self, *arrays: Array | None, **attributes: Any) -> Any | None:
        """Returns the kernel of a provider that serves a call; None if the reference would.

        For work that differentiable functions compose as well as the reference does it, and whose
        numbers stay theirs then.

        Args:
            arrays: The arrays of the call.
            attributes: The other arguments.
        """
        kernel = self.select(*arrays, **attributes)
        found = self._provided.get(id(kernel))
        if found is not None and found[0] is kernel:
            return found[1]
        loaded = kernel.reference if isinstance(kernel, ReferenceOnXpArrays) else kernel
        is_reference = any([key[0] is None and x is loaded for key, x in self._loaded.items()])
        provided = None if is_reference else kernel
        self._provided[id(kernel)] = kernel, provided
        return provided

    def explain(self, *arrays: Array | None, **attributes: Any) -> Explanation:
        """Returns which kernel would serve a call and why the others would not.

        Args:
            arrays: The arrays of the call.
            attributes: The other arguments.
        """
        registries.kernels.load_all()
        policy = threads.state.policy
        cls: type[Any] = arrays[0].__class__
        backend = backend_of(arrays[0])
        spec = CallSpec(tuple(map(ArraySpec.of, arrays)), dict(attributes), policy.deterministic)
        kernels = self._with_backends(cls, backend, policy)
        candidates = candidates_by_preference(kernels, spec, policy)
        notes = _replacements(self.name, [kernel.key for kernel in self.kernels_for(cls)])
        serving = next((c.kernel for c in candidates if c.chosen), None)
        notes += tuple(
            f"backend {backend.name!r}: {line}" for line in describe(backend.limitations)
        )
        if serving is not None:
            lines = describe(serving.limitations)
            notes += tuple(f"kernel of {serving.provider!r}: {line}" for line in lines)
        notes += tuple(speedup_notes(candidates, kernels, spec, policy))
        return Explanation(self.name, cls, tuple(candidates), notes)

    def _with_backends(
        self, cls: type, backend: Backend, policy: KernelPolicy
    ) -> list[tuple[KernelDeclaration, Backend]]:
        """Returns the kernels for an array class in the order in which they are asked.

        With ``chainer.config.accelerate``, kernels for the arrays that ``xp`` makes follow where
        arrays of the class are of another type.

        Returns:
            list of tuple: Each kernel, and the backend of the arrays that it takes.
        """
        # Arrays that a recording makes represent arrays of another class.
        cls = getattr(backend, "represents", cls)
        found = [(kernel, backend) for kernel in by_preference(self.kernels_for(cls), policy)]
        plain = backend_for_plain(backend) if policy.accelerates else None
        if plain is not None:
            known = {kernel.key for kernel, _ in found}
            (of_plain,) = map(resolve, plain.array_types)
            kernels = by_preference(self.kernels_for(of_plain), policy)
            # The provider of the class has a kernel for the class itself, or needs none.
            found += [
                (kernel, plain)
                for kernel in kernels
                if kernel.key not in known and kernel.provider != backend.name
            ]
        return found

    def kernels_for(self, cls: type) -> list[KernelDeclaration]:
        """Returns the kernels declared for an array class, highest priority first.

        Args:
            cls: The array class.
        """
        prefix = self.name + "/"
        declared: list[KernelDeclaration] = [
            registries.kernels.get(name)
            for name in registries.kernels.names()
            if name.startswith(prefix)
        ]
        found = [kernel for kernel in declared if is_array_type(kernel.array_type, cls)]
        return sorted(found, key=lambda k: (-k.priority, k.provider))

    def reference_for(self, backend: Backend) -> Any:
        """Returns the reference kernel for a backend.

        Args:
            backend: The backend.
        """
        return self._load(None, backend)

    def _load(
        self, kernel: KernelDeclaration | None, backend: Backend, plain_results: bool = False
    ) -> Any:
        key = (kernel, backend, plain_results)
        implementation = self._loaded.get(key)
        if implementation is None:
            try:
                factory = resolve(self.reference if kernel is None else kernel.load)
                if plain_results and kernel is not None:
                    factory = with_plain_results(factory, kernel, self.methods)
                implementation = backend.make_kernel(factory, self, kernel is None)
            except Exception as error:
                if kernel is not None:
                    error.add_note(
                        f"This came from loading the kernel {kernel.key!r}: {kernel.load!r} is "
                        "called with the backend as its only argument."
                    )
                raise
            missing = [m for m in self.methods if not hasattr(implementation, m)]
            if missing:
                if kernel is None:
                    provider_description = "the reference"
                else:
                    provider_description = f"provider {kernel.provider!r}"
                raise TypeError(
                    f"kernel of {provider_description} for operation {self.name!r} "
                    f"lacks {', '.join(missing)}"
                )
            # Of several threads that came here at once, all use the object of the first.
            implementation = self._loaded.setdefault(key, implementation)
        return implementation

    def _reference_on_xp_arrays(self, backend: Backend) -> Any:
        """Returns the reference kernel for calls with arrays that ``xp`` does not make."""
        return self._converting(self._load(None, backend))

    def _converting(self, kernel: Any) -> Any:
        """Returns an implementation that converts its arguments to arrays that ``xp`` makes."""
        implementation = self._on_xp_arrays.get(id(kernel))
        if implementation is None:
            implementation = self._on_xp_arrays.setdefault(
                id(kernel), ReferenceOnXpArrays(kernel, self.methods, self.in_place)
            )
        return implementation

    def _load_for_selector(
        self,
        backend: Backend,
        foreign: dict[KernelDeclaration, Backend],
        plain_results: bool,
        kernel: KernelDeclaration | None,
    ) -> Any:
        # The selector of a backend in host memory may get arrays of several backends in one call.
        if kernel is None and backend.family == HOST_FAMILY:
            return self._reference_on_xp_arrays(backend)
        if kernel in foreign:
            return self._converting(self._load(kernel, foreign[kernel]))
        # An array of a backend whose kernels keep their layouts: results stay what they are.
        plain_results = plain_results and backend_for_plain(backend) is None
        implementation = self._load(kernel, backend, plain_results)
        # With several providers at work, an argument may be an array in another provider's layout.
        if plain_results and kernel is not None and not makes_opaque_arrays(kernel):
            return self._converting(implementation)
        return implementation

    def _find(self, policy: KernelPolicy, array: Array) -> Any:
        """Returns the implementation or the selector for arrays of a class, and remembers it."""
        cls: type[Any] = array.__class__
        backend = find_backend(cls)
        if backend is None:
            raise TypeError(f"{self.name}: {not_an_array_message(array)}")
        if (
            policy.kernels or policy.accelerates
        ):  # a plugin that is not loaded yet may supply a provider named there
            registries.kernels.load_all()
            _warn_of_unknown_providers(policy)
        # If another thread registers a kernel now, the result goes to tables that are dropped.
        tables = self._tables
        enabled = [
            (kernel, of)
            for kernel, of in self._with_backends(cls, backend, policy)
            if disabled_reason(kernel, of, policy) is None
        ]
        entry: Any
        if enabled:
            foreign = {kernel: of for kernel, of in enabled if of is not backend}
            load = functools.partial(self._load_for_selector, backend, foreign, policy.accelerates)
            asked = [k for k, of in enabled if is_asked_for(k, of, policy)]
            by_speedup = [k for k, of in enabled if not is_asked_for(k, of, policy)]
            entry = KernelSelector(asked, by_speedup, load, policy.deterministic)
        elif backend.makes_xp_arrays:
            entry = self._load(None, backend)
        else:
            entry = self._reference_on_xp_arrays(backend)
        tables.setdefault(policy, {})[cls] = entry
        return entry

    def __repr__(self) -> str:
        return f"<operation {self.name}>"


def _replacements(name: str, kernels: Sequence[str]) -> tuple[str, ...]:
    """Returns a note for each function, operation or kernel that a plugin replaced."""
    names = ((registries.functions, name), (registries.operations, name))
    notes: list[str] = []
    for registry, key in (*names, *((registries.kernels, kernel) for kernel in kernels)):
        old = registry.replaced(key)
        if old is not None:
            notes.append(
                f"{registry.singular} {key!r} of {registry.entry(key).origin} replaces the one of "
                f"{old.origin}"
            )
    return tuple(notes)


def _warn_of_unknown_providers(policy: KernelPolicy) -> None:
    """Warns if ``chainer.config.kernels`` names an unknown provider, such as a misspelled one."""
    providers = {key.split("/")[1] for key in registries.kernels.names()}
    for name in policy.kernels:
        if name not in providers:
            meant = similar(name, providers)
            hint = registries.kernels.suggestion(name) or (
                f"did you mean {meant!r}?" if meant else ""
            )
            hint += "; " if hint else ""
            warn_once(
                "kernel provider",
                name,
                f"chainer.config.kernels names {name!r}, but no plugin that works here has kernels "
                f"of this provider; {hint}`chainer kernels` lists the kernels, and `chainer "
                "doctor` explains why a plugin does not work",
                stacklevel=4,
            )


def get_operation(name: str) -> Operation:
    """Returns an operation by name.

    Args:
        name: Name of the operation.

    Raises:
        LookupError: If there is no operation of this name.

    Example:
        >>> from chainer.kernel import get_operation
        >>> get_operation("softmax").methods
        ('forward', 'backward')
    """
    return registries.operations.get(name)


class Explainable(Protocol):
    """An object with a method ``explain()`` that describes it, such as a captured step."""

    def explain(self) -> str: ...


@overload
def explain(operation: str | Operation, *args: VariableLike, **attributes: Any) -> Explanation: ...
@overload
def explain(operation: Explainable) -> str: ...
def explain(
    operation: str | Operation | Explainable, *args: VariableLike, **attributes: Any
) -> Explanation | str:
    """Returns which kernel would serve a call, and why the others would not.

    Args:
        operation: An operation or its name (``chainer kernels`` lists them). Or a captured step,
            see :func:`chainer.capture`, without further arguments.
        args: The arrays of the call; Variables and numbers are accepted.
        attributes: The other arguments of the call.

    Returns:
        Explanation: Print it. For a captured step a text: its programs, or why it has none.

    Example:
        >>> print(chainer.explain('softmax', np.zeros((2, 3), np.float32), axis=1))
        softmax on numpy.ndarray is served by 'reference'
            ideep (priority 0): chainer.config.use_ideep is 'never'...
          * reference (priority -1): chosen
    """
    if isinstance(operation, str):
        operation = get_operation(operation)
    if not isinstance(operation, Operation):
        require_attribute(
            "operation", operation, "explain", "an operation, its name, or a captured step"
        )
        return operation.explain()  # a captured step, which the core does not know
    return operation.explain(*map(_array_of, args), **attributes)


def _array_of(arg: VariableLike) -> Array:
    array = array_of(arg)
    return numpy.asarray(array) if numpy.isscalar(array) else array
