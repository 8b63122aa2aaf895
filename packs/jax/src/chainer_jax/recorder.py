"""Recording of a step: ordinary define-by-run code becomes one program of XLA.

The step runs twice on tracers. The first run only collects which boxes are read and written. So
no list of the state is needed: parameters, running statistics, moments of optimizers and the key of
the random numbers are found in the same way. The second run is the one that XLA compiles: boxes
that are read become inputs, and boxes that are written become outputs.
"""

from __future__ import annotations

import gc
import sys
import weakref
from collections.abc import Callable, Sequence
from typing import Any

import numpy
from chainer_array_api import Array

from chainer_jax import boxes
from chainer_jax.boxes import Box, Holder, Observer, Stale


class RecordError(RuntimeError):
    """A step cannot be recorded; it has to run eagerly."""


class _Trace(Observer):
    """What one run of a step reads, writes and makes.

    Args:
        known: The boxes that may be read, as the first run found them; None in the first run.

    Attributes:
        inputs: Boxes that existed before and are read, in order.
        written: Boxes that existed before and are written, in order.
        host_data: Shape, dtype and digest of all data of the host that entered.
    """

    def __init__(self, known: Sequence[Box] | None = None) -> None:
        self.inputs: dict[Box, None] = {}
        self.written: dict[Box, None] = {}
        self.host_data: list[tuple[Any, ...]] = []
        self._known = None if known is None else frozenset(known)
        self._made: weakref.WeakSet[Box] = weakref.WeakSet()
        self._before: dict[Box, Any] = {}

    def __enter__(self) -> _Trace:
        if boxes.state.observer is not None:
            raise RecordError("a step is being recorded already")
        boxes.state.observer = self
        return self

    def __exit__(self, *args: Any) -> None:
        boxes.state.observer = None
        for box, value in self._before.items():
            box.value = value
        # Tracers that outlive their trace would raise an error of JAX about leaked tracers.
        for box in self._made:
            box.value = Stale()

    def put(self, box: Box, value: Any) -> None:
        """Gives a box another value until the end of the trace.

        Args:
            box: The box.
            value: Tracer.
        """
        self._before.setdefault(box, box.value)
        box.value = value

    def created(self, box: Box) -> None:
        self._made.add(box)

    def read(self, box: Box) -> None:
        if box in self.inputs or box in self._made or box in self.written:
            return
        if isinstance(box.value, Stale):
            return  # reading it raises
        if self._known is not None and box not in self._known:
            raise RecordError(
                "two runs of the step read different arrays: it makes an array outside of chainer, "
                "or depends on something that changes"
            )
        self.inputs[box] = None

    def wrote(self, box: Box) -> None:
        if box not in self._made:
            self._before.setdefault(box, box.value)
            self.written[box] = None


class JaxRecorder:
    """Records steps on JAX.

    Args:
        backend: The backend.
        device: The device that the step runs on.

    Attributes:
        state: Arrays that existed before and are written.
        foreign: Arrays that existed before and are only read.
        host_data: Data of the host that entered, as shapes, dtypes and digests.
    """

    def __init__(self, backend: Any, device: Any) -> None:
        self._backend = backend
        self._device = device
        self.state: Sequence[Array] = ()
        self.foreign: Sequence[Array] = ()
        self.host_data: tuple[Any, ...] = ()

    def record(
        self,
        run: Callable[[tuple[Array, ...], tuple[Array, ...]], Sequence[Array]],
        arguments: Sequence[Array],
        numbers: Sequence[float] = (),
    ) -> JaxProgram:
        """Records a step. Nothing is computed, and no array is changed.

        Args:
            run: The step. It gets arrays for ``arguments``, and arrays without axes in float64 for
                ``numbers``, and returns the arrays that the program is to return.
            arguments: Arrays that differ from call to call.
            numbers: Numbers that differ from call to call.

        Raises:
            RecordError: If two runs differ: if they read other arrays, or data of the host that is
                not the same.
            HostReadError: If Python needs the value of an array. JAX's own errors are of the
                classes in ``jax.errors``.
        """
        b = self._backend
        jax = b.jax
        arrays = [b.wrap(x).native for x in arguments]
        count = len(numbers)
        packed = pack_numbers(numbers)
        first = _Trace()

        def wrapped(natives: Any, values: Any) -> Sequence[Array]:
            given = tuple(b.array_class(value) for value in natives)
            vector = b.nx.asarray(values, float)
            return run(given, tuple(b.array_class(vector[i]) for i in range(count)))

        def discover(natives: Any, values: Any) -> Any:
            with first:
                return [y.native for y in wrapped(natives, values)]

        jax.eval_shape(discover, arrays, packed)
        gc.collect()  # graphs of the run before: their boxes hold tracers
        donated = [box for box in first.written if box in first.inputs]
        written = [*donated, *[box for box in first.written if box not in first.inputs]]
        kept = [box for box in first.inputs if box not in first.written]
        data = tuple(first.host_data)

        def step(gives: Any, keeps: Any, natives: Any, values: Any) -> Any:
            trace = _Trace([*donated, *kept])
            with trace:
                for box, value in zip([*donated, *kept], [*gives, *keeps], strict=True):
                    trace.put(box, value)
                outputs = [y.native for y in wrapped(natives, values)]
                if set(trace.written) != set(written):
                    raise RecordError("two runs of the step write different arrays")
                if tuple(trace.host_data) != data:
                    raise RecordError(
                        "the step sends other data of the host at each run (numpy.random, a "
                        "counter): make them an argument"
                    )
                return outputs, [box.value for box in written]

        compiled = jax.jit(step, donate_argnums=0)
        values = ([box.value for box in donated], [box.value for box in kept])
        compiled.trace(*values, arrays, packed)
        self.host_data = data
        on = b.array_class.on
        self.state = [on(box) for box in written]
        self.foreign = [on(box) for box in kept]
        return JaxProgram(b, compiled, (donated, kept, written))


#: References to a value that only its box holds: the box, a list, the argument of ``getrefcount``.
_OWN_REFERENCES = 3


#: Up to this many numbers are passed to a program one by one; more of them as one array. Converting
#: an array takes as long as converting three numbers: 5 % of a small step on a single core.
_MOST_SCALARS = 2


def pack_numbers(numbers: Sequence[float]) -> Any:
    """Returns numbers in the form that programs expect: a list of a few, or else one array."""
    if len(numbers) <= _MOST_SCALARS:
        # JAX knows no classes derived from float.
        return [float(number) for number in numbers]
    return numpy.array(numbers, numpy.float64)


class JaxProgram:
    """A recorded step, as a program of XLA, which is compiled at the first call.

    Args:
        backend: The backend.
        compiled: The jitted function.
        places: Boxes that are read and written, only read, and written. The first ones are the
            beginning of the last ones.
    """

    def __init__(self, backend: Any, compiled: Any, places: tuple[list[Box], ...]) -> None:
        self._backend = backend
        self._compiled = compiled
        self._donated, self._kept, self._written = places
        self._holder = Holder(self._written)
        self.parts = (self,)

    def bind(self, state: Sequence[Any], foreign: Sequence[Any]) -> None:
        """Makes the program work on other arrays than those it was recorded with.

        Args:
            state: Arrays in the order of the recorder's ``state``, none of them a view.
            foreign: Arrays in the order of the recorder's ``foreign``.

        Raises:
            ValueError: If their number, shapes or dtypes differ, or an array is a view.
        """
        places = []
        for name, old, new in (
            ("state", self._written, state),
            ("foreign", self._kept, foreign),
        ):
            if len(old) != len(new):
                raise ValueError(f"{name} must have {len(old)} arrays, got {len(new)}")
            for box, array in zip(old, new, strict=True):
                value, other = box.value, array.node
                if not isinstance(other, Box):
                    raise ValueError(f"{name} must not contain views")
                if (value.shape, value.dtype) != (other.value.shape, other.value.dtype):
                    raise ValueError(
                        f"{name}: expected an array of shape {value.shape} and dtype "
                        f"{value.dtype}, got {other.value.shape} and {other.value.dtype}"
                    )
            places.append({box: array.node for box, array in zip(old, new, strict=True)})
        self._donated = [places[0][box] for box in self._donated]
        self._kept = list(places[1].values())
        self._written = list(places[0].values())
        self._holder.release()
        self._holder = Holder(self._written)

    def __call__(self, arguments: Sequence[Array], numbers: Sequence[float] = ()) -> list[Array]:
        """Runs the program: state is changed in place, outputs are new arrays.

        Args:
            arguments: Arrays of the shapes and dtypes that were recorded.
            numbers: Numbers, as many as were recorded.
        """
        wrap, holder = self._backend.wrap, self._holder
        # XLA computes while Python runs the code after the call. Code before the call adds to the
        # time of a step.
        natives = [wrap(x).native for x in arguments]
        keeps = [box.value for box in self._kept]
        # After these, as an argument may be an array of the state.
        results = holder.values
        gives = self._collect() if results is None else results[: len(self._donated)]
        outputs, values = self._compiled(gives, keeps, natives, pack_numbers(numbers))
        holder.hold(values)
        return [*map(self._backend.array_class, outputs)]

    def _collect(self) -> list[Any]:
        """Returns the values of the donated boxes, whose memory the program may reuse.

        A value that something besides its box refers to must survive (copies share values), so it
        is copied. All others are passed as they are.
        """
        gives = [box.value for box in self._donated]
        counts = [*map(sys.getrefcount, gives)]
        copy = self._backend.nx.copy
        return [
            copy(value) if count > _OWN_REFERENCES else value
            for value, count in zip(gives, counts, strict=True)
        ]
