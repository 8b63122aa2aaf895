"""Reference kernels whose methods are compiled as a whole.

Outside of recorded steps, JAX compiles each operation once for each shape, which takes some 25 ms.
A kernel may have a dozen operations. So each method of a kernel is traced and compiled to one
program.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING, Any

import jax
from chainer.kernel import get_operation
from chainer_array_api import Array

from chainer_jax import boxes
from chainer_jax.backend import HostReadError
from chainer_jax.tracing import Trace

if TYPE_CHECKING:
    from chainer_jax.backend import JaxBackend

#: For how many different settings (arguments other than arrays) a method is compiled. More settings
#: are a sign that they differ from call to call, as a number of a schedule does. Calls with further
#: settings run one operation after the other.
MOST_SETTINGS = 64

#: Errors that JAX and the backend raise where a traced method reads the values of an array.
_READS = (HostReadError, jax.errors.JAXTypeError, jax.errors.JAXIndexError)


class OneProgramKernel:
    """The reference kernel of an operation, with methods that are compiled.

    Args:
        operation: Name of the operation.
        backend: The backend.
        kernel: Class of the kernel to compile; by default the class of the reference kernel.
    """

    def __init__(self, operation: str, backend: JaxBackend, kernel: type | None = None) -> None:
        known = get_operation(operation)
        self._kernel = known.reference_for(backend) if kernel is None else kernel(backend)
        for name in known.methods:
            setattr(self, name, CompiledMethod(backend, getattr(self._kernel, name)))

    def __getattr__(self, name: str) -> Any:
        # Other attributes, such as flags by which functions choose what to call.
        return getattr(self._kernel, name)


class CompiledMethod:
    """A method of a kernel that is compiled for each structure and shape of its arguments.

    Arguments that are not arrays become part of the program.

    Args:
        backend: The backend.
        method: The method.
    """

    def __init__(self, backend: JaxBackend, method: Callable[..., Any]) -> None:
        self._backend = backend
        self._method = method
        self._programs: dict[Hashable, _Program | None] = {}
        self._settings: set[Hashable] = set()

    def __call__(self, *args: Array, **kwargs: Any) -> Any:
        """Calls the method, or the program for these arguments."""
        if boxes.state.observer is not None:  # a step is recorded, and is one program itself
            return self._method(*args, **kwargs)
        leaves, structure = jax.tree.flatten((args, kwargs))
        arrays = [x for x in leaves if isinstance(x, Array)]
        natives = [x.native for x in arrays]
        # With the classes: 1, 1.0 and True are equal, but may give results of different dtypes.
        rest = tuple([None if isinstance(x, Array) else (type(x), x) for x in leaves])
        settings = structure, rest
        key = settings, tuple([x.aval for x in natives])
        try:
            program = self._programs[key]
        except KeyError:
            program = None
            if settings in self._settings or len(self._settings) < MOST_SETTINGS:
                self._settings.add(settings)
                program = self._programs[key] = self._compile(leaves, structure, natives)
        except TypeError:  # an argument that has no hash, such as an array of NumPy
            program = None
        if program is None:
            return self._method(*args, **kwargs)
        return program(arrays, natives)

    def _compile(self, leaves: list[Any], structure: Any, natives: list[Any]) -> _Program | None:
        """Returns the program for arguments; None if the method cannot be one."""
        try:
            program = _Program(self._backend, self._method, leaves, structure, natives)
        except _READS:
            return None  # the method reads values of arrays, so it cannot be traced
        return None if program.writes else program


class _Program:
    """A method for arguments of certain shapes, compiled.

    Args:
        backend: The backend.
        method: The method.
        leaves: Its arguments, flattened.
        structure: Tree structure of the arguments, as JAX returns it.
        natives: JAX arrays of the arguments that are arrays.

    Attributes:
        writes: Whether the method writes to its arguments.
    """

    def __init__(
        self,
        backend: JaxBackend,
        method: Any,
        leaves: list[Any],
        structure: Any,
        natives: list[Any],
    ) -> None:
        self._backend = backend
        self.writes = False
        #: For each result, a pair: the index of the argument that it is, or None; and its value if
        #: it is not an array, or None. (None, None) is a new array.
        self._results: list[tuple[int | None, Any]] = []
        self._structure: Any = None

        def traced(values: list[Any]) -> list[Any]:
            with Trace():
                given = [backend.array_class(value) for value in values]
                following = iter(given)
                filled = [next(following) if isinstance(x, Array) else x for x in leaves]
                args, kwargs = jax.tree.unflatten(structure, filled)
                found, self._structure = jax.tree.flatten(method(*args, **kwargs))
                self.writes = any([x.native is not v for x, v in zip(given, values, strict=True)])
                places = {id(x): i for i, x in enumerate(given)}
                self._results = [
                    (places.get(id(y)), None if isinstance(y, Array) else y) for y in found
                ]
                return [y.native for y in found if isinstance(y, Array) and id(y) not in places]

        self._run = jax.jit(traced).lower(natives).compile()

    def __call__(self, arrays: list[Any], natives: list[Any]) -> Any:
        """Returns what the method would return."""
        made = iter(self._run(natives))
        wrap = self._backend.array_class
        results: list[Any] = []
        for place, value in self._results:
            if place is not None:
                results.append(arrays[place])
            else:
                results.append(wrap(next(made)) if value is None else value)
        return jax.tree.unflatten(self._structure, results)


def __getattr__(name: str) -> Any:
    """Returns a function that makes the kernel of the operation called ``name``."""

    def kernel(backend: JaxBackend) -> OneProgramKernel:
        return OneProgramKernel(name, backend)

    return kernel
