"""The recorder of JAX arrays: one trace of the step, one program of XLA."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy
from chainer.backends.recorder import NotRecordableError, Program, Recorder, VaryingNumber
from chainer_array_api import Array

from chainer_jax import boxes
from chainer_jax.boxes import Box, View
from chainer_jax.loops import with_loops
from chainer_jax.program import JaxProgram, pack_numbers
from chainer_jax.tracing import StepTrace

if TYPE_CHECKING:
    from chainer.typing import DTypeLike

    from chainer_jax.backend import JaxBackend

#: Length of the vector of numbers while a step is traced. XLA removes unused elements.
_MOST_NUMBERS = 4096


class TracedNumber(VaryingNumber):
    """A number that is an input of the program."""

    recorder: JaxRecorder

    def array(self, dtype: DTypeLike) -> Any:
        """Returns the array of a dtype that has the value of the number in each call."""
        return self.recorder.array_of(self, dtype)


class _Described(boxes.Described):
    """The shape and dtype of a traced array, until the program computes the array."""

    def __init__(self, jax: Any, shape: tuple[int, ...], dtype: Any) -> None:
        super().__init__(shape, dtype)
        self._jax = jax

    def through(self, there: Callable[[Any], Any]) -> _Described:
        seen = self._jax.eval_shape(there, self._jax.ShapeDtypeStruct(self.shape, self.dtype))
        return _Described(self._jax, seen.shape, seen.dtype)


class JaxRecorder(Recorder):
    """Traces a step once. :meth:`program` compiles it, and computes the values of the trace.

    Args:
        backend: The backend.
    """

    def __init__(self, backend: JaxBackend) -> None:
        self._backend = backend
        self._arguments: list[Any] = []
        self._state: dict[Box, None] = {}
        self._views: list[Any] = []
        self._numbers: list[VaryingNumber] = []
        self._vector: Any = None
        self._pending: list[tuple[Any, Any]] = []
        self._values: dict[int, Any] | None = None
        #: Boxes that the trace made; these with the ones that it wrote, and their places among the
        #: results of the trace.
        self._made: list[Any] = []
        self._finals: list[Any] = []
        self._indexes: list[int] = []
        #: Boxes that an earlier program computes and this one reads, and the reverse.
        self._given: list[Box] = []
        self._passed_on: list[Box] | None = None
        self._jaxpr: Any = None
        self._state[backend.xp.random.box()] = None

    def argument(self, array: Array) -> Any:
        """See :meth:`Recorder.argument`."""
        mine = self._backend.array_class(self._backend.wrap(array).native)
        self._arguments.append(mine)
        return mine

    def state(self, array: Array) -> Any:
        """See :meth:`Recorder.state`."""
        view = self._backend.same(array)
        self._state[view.node.root] = None
        self._views.append(view.node)
        return view

    def number(self, evaluate: Callable[[], float]) -> float:
        """See :meth:`Recorder.number`."""
        recorder = self
        # A class for this recording: numbers computed from a number are of its class.
        kind = type("TracedNumber", (TracedNumber,), {"recorder": recorder})
        return kind.of(evaluate)

    def array_of(self, number: VaryingNumber, dtype: DTypeLike) -> Any:
        """Returns the traced array of a number."""
        places = [i for i, known in enumerate(self._numbers) if known is number]
        if not places:
            if len(self._numbers) == _MOST_NUMBERS:
                raise NotRecordableError(f"it has more than {_MOST_NUMBERS} varying numbers")
            places = [len(self._numbers)]
            self._numbers.append(number)
        return self._backend.array_class(self._vector[places[0]].astype(dtype))

    def run(self, function: Callable[[], Any]) -> Any:
        """See :meth:`Recorder.run`."""
        jax = self._backend.jax
        self._boxes = [*self._state, *self._given, *[x.node for x in self._arguments]]
        trace = self._trace = StepTrace()
        result: Any = None

        def traced(values: Array, vector: Array) -> Any:
            nonlocal result
            self._vector = vector
            with trace:
                for box, value in zip(self._boxes, values, strict=True):
                    trace.put(box, value)
                result = function()
                self._made = list(trace.made)
                self._finals = [*self._made, *trace.written]
                self._indexes = list(range(len(self._finals)))
                return [box.value for box in self._finals]

        try:
            self._jaxpr = jax.make_jaxpr(traced)(
                [box.value for box in self._boxes], numpy.zeros(_MOST_NUMBERS)
            )
        except (jax.errors.JAXTypeError, jax.errors.JAXIndexError) as error:
            raise NotRecordableError(
                f"the value of an array is read: {str(error).splitlines()[0]}"
            ) from error
        finally:
            self._vector = None
        # Shapes and dtypes are asked for before the values are there.
        for box, aval in zip(self._made, self._jaxpr.out_avals):
            box.value = _Described(jax, aval.shape, aval.dtype)
        if any([box in trace.written for box in self._given]):
            raise NotRecordableError("the backward computation changes an array of the forward one")
        # JAX may keep the function, and that would keep the graph.
        found, result = result, None
        return found

    def continued(self) -> Recorder:
        """See :meth:`Recorder.continued`. All arrays that the graph keeps are results."""
        self._release()
        self._passed_on = [*self._made, *[x.node for x in self._arguments]]
        second = JaxRecorder(self._backend)
        second._state, second._views = dict(self._state), list(self._views)
        second._given = self._passed_on
        return second

    def kept(self) -> str | None:
        """See :meth:`Recorder.kept`. After :meth:`program`, reading a kept array raises."""
        if self._values is not None:
            return None
        self._release()
        values = [box.value for box in self._made]
        return f"{values[0].dtype}{list(values[0].shape)}" if values else None

    def _release(self) -> None:
        """Forgets the boxes that nothing but this recorder refers to."""
        found = [(i, weakref.ref(box)) for i, box in zip(self._indexes, self._finals)]
        self._made, self._finals = [], []
        gc.collect()  # graphs are cycles
        alive = [(i, box) for i, reference in found if (box := reference()) is not None]
        self._indexes = [i for i, _ in alive]
        self._finals = [box for _, box in alive]
        self._made = [box for box in self._finals if box not in self._trace.written]

    def program(self, outputs: Sequence[Array]) -> Program:
        """See :meth:`Recorder.program`."""
        b, trace = self._backend, self._trace
        arguments = [x.node for x in self._arguments]
        used = [box for box in (*self._state, *self._given) if box in trace.inputs]
        donated = [box for box in used if box in trace.written]
        kept = [box for box in used if box not in trace.written]
        only_written = [x for x in self._state if x in trace.written and x not in trace.inputs]
        array_class: Any = b.array_class
        passed_on = [array_class.on(box) for box in self._passed_on or ()]
        wanted = [*outputs, *passed_on, *[array for array, _ in self._pending]]
        written = [*donated, *only_written]
        # Compiled for these arguments: a jitted function would look at each of them at each call.
        given = [[box.value for box in places] for places in (donated, kept, arguments)]
        step = self._step([*donated, *kept, *arguments], written, wanted)
        jitted = b.jax.jit(step, donate_argnums=0)
        traced = jitted.trace(*given, pack_numbers(self._numbers))
        program = JaxProgram(
            *(b, traced.lower().compile(), donated, kept, written),
            *(self._numbers, len(outputs), self._passed_on, traced.jaxpr),
        )
        self._compute(program, wanted, len(outputs), passed_on)
        return program

    def _step(
        self, inputs: list[Box], written: list[Box], wanted: list[Array]
    ) -> Callable[..., tuple[list[Any], list[Any]]]:
        """Returns the function that XLA compiles.

        Args:
            inputs: The boxes whose values the function gets.
            written: The boxes whose new values it returns.
            wanted: The arrays whose values it returns.
        """
        nx, finals, all_boxes, indexes = self._backend.nx, self._finals, self._boxes, self._indexes
        # A loop of Python becomes a loop of the program, which XLA compiles once.
        evaluate = with_loops(self._jaxpr.jaxpr, self._jaxpr.consts)
        shapes = {box: (box.value.shape, box.value.dtype) for box in all_boxes}

        def step(gives: Any, keeps: Any, natives: Array, values: Array) -> Any:
            given = dict(zip(inputs, [*gives, *keeps, *natives], strict=True))
            for box in all_boxes:
                if box not in given:  # not read
                    given[box] = nx.zeros(*shapes[box])
            vector = nx.pad(nx.asarray(values, float), (0, _MOST_NUMBERS - len(values)))
            results = evaluate(*[given[box] for box in all_boxes], vector)
            given.update(zip(finals, [results[i] for i in indexes], strict=True))
            before = {box: box.value for box in given}
            try:
                for box, value in given.items():
                    box.value = value
                return [y.native for y in wanted], [given[box] for box in written]
            finally:
                for box, value in before.items():
                    box.value = value

        return step

    def _compute(
        self, program: JaxProgram, wanted: list[Array], count: int, passed_on: list[Array]
    ) -> None:
        """Computes the values of the recorded run, by the first call of the program."""
        made = program.all_results(
            [self._backend.array_class(x.node.value) for x in self._arguments]
        )
        self._values = {id(y): value for y, value in zip(wanted, made, strict=True)}
        self._wanted = wanted
        for (_, target), value in zip(self._pending, made[count + len(passed_on) :], strict=True):
            target.node.value = value.native
        for box in self._made:
            box.value = boxes.Stale()
        for array, value in zip(passed_on, made[count:]):
            array.node.value = value.native

    def is_recorded(self, array: object) -> bool:
        """See :meth:`Recorder.is_recorded`."""
        node = getattr(array, "node", None)
        while isinstance(node, View):
            if any([node is view for view in self._views]):
                return True
            node = node.parent
        known = [*self._made, *[x.node for x in self._arguments]]
        return any([node is box for box in known])

    def reads(self, array: Array) -> bool:
        """See :meth:`Recorder.reads`."""
        return array.node.root in self._trace.inputs or array.node.root in self._trace.written

    def forget(self, argument: Any) -> bool:
        """See :meth:`Recorder.forget`."""
        if self.reads(argument):
            return False
        self._arguments = [x for x in self._arguments if x is not argument]
        return True

    def plain(self, array: Array) -> Any:
        """See :meth:`Recorder.plain`. Before :meth:`program`, the values come later."""
        if self._values is not None:
            return self._backend.duplicate(self._values.get(id(array), array))
        if self._jaxpr is None:
            return self._backend.duplicate(array)
        target = self._backend.array_class(None)
        self._pending.append((array, target))
        return target
