"""Elements that move: on a CPU in NumPy at first, and by programs of XLA where calls repeat.

XLA compiles a program for each shape, which takes some 20 ms, also for a transposition of six
numbers. NumPy moves the same elements without a program. That takes some 20 us more than a call of
the program if the array is small, and more if it is large. So a program is compiled when NumPy has
cost about as much as the compilation.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING, Any

import numpy

from chainer_jax import boxes

if TYPE_CHECKING:
    from chainer.typing import Array

    from chainer_jax.backend import JaxBackend

#: For arrays of the same shapes and dtypes, a program is compiled after so many calls on small
#: ones. A call counts once more for each of these bytes of its result.
CALLS_IN_NUMPY, BYTES_OF_A_CALL = 1000, 1 << 15

#: Calls of other shapes that are counted at most. After these, counting begins again: a program
#: whose shapes never come back must not fill the memory.
MOST_COUNTED = 1 << 16


class Mover:
    """Calls functions that move elements, with NumPy's namespace or JAX's.

    Args:
        backend: The backend.
    """

    def __init__(self, backend: JaxBackend) -> None:
        self._backend = backend
        self._calls: dict[Hashable, int] = {}
        self._on_cpu = backend.native_devices[0].platform == "cpu"
        self._several = len(backend.native_devices) > 1
        self._tracer: type = backend.jax.core.Tracer

    def __call__(
        self, function: Callable[..., Any], natives: tuple[Array, ...], parameters: tuple[Any, ...]
    ) -> Any:
        """Returns ``function(namespace, *natives, *parameters)``.

        Args:
            function: A function that only moves elements. It may write to no argument.
            natives: JAX arrays.
            parameters: Further arguments, which have a hash.
        """
        if not self._on_cpu or not self._can_use_numpy(natives):
            return function(self._backend.nx, *natives, *parameters)
        key = function, parameters, *[(native.shape, native.dtype) for native in natives]
        calls = self._calls.get(key, 0)
        if calls >= CALLS_IN_NUMPY:
            return function(self._backend.nx, *natives, *parameters)
        hosts = [numpy.asarray(native) for native in natives]
        # A copy of its own, as JAX may take the memory of the array as it is.
        moved = numpy.array(function(numpy, *hosts, *parameters), order="C")
        if len(self._calls) >= MOST_COUNTED:
            self._calls.clear()
        self._calls[key] = calls + 1 + moved.nbytes // BYTES_OF_A_CALL
        # Not asarray() of JAX: it compiles a program for each shape.
        place = next(iter(natives[0].devices())) if self._several else None
        return self._backend.jax.device_put(moved, place)

    def _can_use_numpy(self, natives: tuple[Array, ...]) -> bool:
        if boxes.state.observer is not None:
            return False  # a step is recorded, and is one program itself
        for native in natives:
            # Tracers have no values, and NumPy has no arrays on several devices.
            if isinstance(native, self._tracer) or native.weak_type:
                return False
            if self._several and len(native.devices()) > 1:
                return False
        return True
