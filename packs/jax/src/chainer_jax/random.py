"""Random numbers: JAX draws, and its key is state like any other array."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy
from chainer_array_api.namespace import RandomNumbers as HostRandomNumbers

from chainer_jax import boxes
from chainer_jax.boxes import Box

if TYPE_CHECKING:
    from chainer.typing import Array, DTypeLike, ShapeLike

    from chainer_jax.backend import JaxBackend


class RandomNumbers(HostRandomNumbers):
    """``numpy.random`` for JAX.

    The frequent distributions are drawn by JAX from a key in a box, so that a recorded step draws
    new numbers at each replay, the same as eager steps would. A seed gives the same numbers each
    time, but not NumPy's. Other distributions are NumPy's, and cannot be recorded.

    Args:
        backend: The backend.
    """

    def __init__(self, backend: JaxBackend) -> None:
        super().__init__(backend)
        self._box: Box | None = None
        #: How many keys were drawn: a number that Python can read in recorded steps, too.
        self.draws = 0

    def seed(self, seed: Any = None) -> None:
        """Starts again.

        Args:
            seed: Number; the time by default.
        """
        if seed is None:
            seed = time.time_ns() % 2**32
        self._state.seed(seed)
        seed = int(numpy.random.SeedSequence(seed).generate_state(1)[0])
        jax = self._backend.jax
        data = jax.random.key_data(jax.random.key(seed, impl="threefry2x32"))
        if self._box is None:
            self._box = Box(data)
        else:
            self._box.write(data)

    def box(self) -> Box:
        """Returns the box of the key: it is state of recorded steps."""
        if self._box is None:
            self.seed()
        assert self._box is not None
        return self._box

    def get_state(self, legacy: bool = False) -> dict[str, Any]:
        """Returns the state of NumPy's generator and the key.

        Args:
            legacy: Is ignored. NumPy's method has it.
        """
        key = self.box().read()
        host = self._state.get_state(legacy=False)
        # In a recorded step the key has no value yet, and stays an array of JAX.
        return {"host": host, "key": key if boxes.state.observer else numpy.asarray(key)}

    def set_state(self, state: dict[str, Any]) -> None:
        """Goes back to a state.

        Args:
            state: Result of :meth:`get_state`.
        """
        if "key" not in state:  # of a file that was written before the key was part of the state
            self._state.set_state(state)
            return
        self._state.set_state(state["host"])
        self.box().write(self._backend.jax.numpy.asarray(state["key"]))

    def _key(self) -> Any:
        """Returns a key that was not used before."""
        self.draws += 1
        if self._box is None:
            self.seed()
        random = self._backend.jax.random
        box: Any = self._box
        pair = random.split(random.wrap_key_data(box.read(), impl="threefry2x32"))
        box.write(random.key_data(pair[0]))
        return pair[1]

    def _native(self, value: Array, dtype: DTypeLike) -> Any:
        b = self._backend
        if isinstance(value, (int, float, numpy.generic)):
            return b.native_number(value, numpy.dtype(dtype), b.current_native_device)
        return b.xp.asarray(value, dtype).native

    def _draw(self, name: str, size: ShapeLike | None, dtype: DTypeLike, *args: Array) -> Any:
        """Returns standard random numbers: of the result's shape, or of the arguments'."""
        shape = _shape(size, args)
        wanted = numpy.dtype(float if dtype is None else dtype)
        return getattr(self._backend.jax.random, name)(self._key(), shape, dtype=wanted)

    def _wrap(self, native: Array) -> Any:
        return self._backend.array_class(native)

    def random_sample(self, size: ShapeLike | None = None, dtype: DTypeLike = None) -> Any:
        """As :func:`numpy.random.random_sample`; ``dtype`` belongs to the result."""
        return self._wrap(self._draw("uniform", size, dtype))

    random = ranf = sample = random_sample

    def rand(self, *size: int, dtype: DTypeLike = None) -> Any:
        """As :func:`numpy.random.rand`; ``dtype`` belongs to the result."""
        return self.random_sample(size, dtype)

    def standard_normal(self, size: ShapeLike | None = None, dtype: DTypeLike = None) -> Any:
        """As :func:`numpy.random.standard_normal`; ``dtype`` belongs to the result."""
        return self._wrap(self._draw("normal", size, dtype))

    def randn(self, *size: int, dtype: DTypeLike = None) -> Any:
        """As :func:`numpy.random.randn`; ``dtype`` belongs to the result."""
        return self.standard_normal(size, dtype)

    def _located(
        self, name: str, loc: Array, scale: Array, size: ShapeLike | None, dtype: DTypeLike
    ) -> Any:
        drawn = self._draw(name, size, dtype, loc, scale)
        scale = self._native(scale, drawn.dtype)
        return self._wrap(self._native(loc, drawn.dtype) + scale * drawn)

    def uniform(
        self,
        low: Array = 0.0,
        high: Array = 1.0,
        size: ShapeLike | None = None,
        dtype: DTypeLike = None,
    ) -> Any:
        """As :func:`numpy.random.uniform`; ``dtype`` belongs to the result."""
        return self._located("uniform", low, high - low, size, dtype)

    def normal(
        self,
        loc: Array = 0.0,
        scale: Array = 1.0,
        size: ShapeLike | None = None,
        dtype: DTypeLike = None,
    ) -> Any:
        """Same as :func:`numpy.random.normal`; ``dtype`` is the dtype of the result."""
        return self._located("normal", loc, scale, size, dtype)

    def gumbel(
        self,
        loc: Array = 0.0,
        scale: Array = 1.0,
        size: ShapeLike | None = None,
        dtype: DTypeLike = None,
    ) -> Any:
        """As :func:`numpy.random.gumbel`; ``dtype`` belongs to the result."""
        return self._located("gumbel", loc, scale, size, dtype)

    def laplace(
        self,
        loc: Array = 0.0,
        scale: Array = 1.0,
        size: ShapeLike | None = None,
        dtype: DTypeLike = None,
    ) -> Any:
        """As :func:`numpy.random.laplace`; ``dtype`` belongs to the result."""
        return self._located("laplace", loc, scale, size, dtype)

    def exponential(
        self, scale: Array = 1.0, size: ShapeLike | None = None, dtype: DTypeLike = None
    ) -> Any:
        """As :func:`numpy.random.exponential`; ``dtype`` belongs to the result."""
        return self._located("exponential", 0.0, scale, size, dtype)

    def binomial(
        self, n: int, p: Any, size: ShapeLike | None = None, dtype: DTypeLike = None
    ) -> Any:
        """As :func:`numpy.random.binomial` with one trial; NumPy draws for more."""
        if n != 1:
            return self.__getattr__("binomial")(n, p, size, dtype=dtype)
        chance = self._native(p, float)
        drawn = self._backend.jax.random.bernoulli(self._key(), chance, _shape(size, (p,)))
        return self._wrap(drawn.astype(numpy.dtype(int if dtype is None else dtype)))

    def randint(
        self, low: Array, high: Array = None, size: ShapeLike | None = None, dtype: DTypeLike = int
    ) -> Any:
        """As :func:`numpy.random.randint`, of numbers."""
        low, high = (0, low) if high is None else (low, high)
        if not low < high:
            raise ValueError(f"low must be below high, got {low} and {high}")
        dtype = numpy.dtype(dtype)
        random = self._backend.jax.random
        return self._wrap(random.randint(self._key(), _shape(size, ()), low, high, dtype=dtype))

    def permutation(self, x: Array) -> Any:
        """As :func:`numpy.random.permutation`."""
        if isinstance(x, (int, numpy.integer)):
            x = self._backend.xp.arange(int(x))
        return self._wrap(self._backend.jax.random.permutation(self._key(), x.native))


def _shape(size: Any, args: Array) -> tuple[int, ...]:
    """Returns the shape of the result."""
    if size is None:
        return numpy.broadcast_shapes(*[getattr(value, "shape", ()) for value in args])
    return tuple(map(int, size)) if isinstance(size, (tuple, list)) else (int(size),)
