"""Other calls that compute the same as one call: tried once, when a program is made.

Whether another way has the same bits and is faster depends on NumPy, BLAS and the machine. So each
is tried on arrays of the same shapes and strides, with zeros of both signs, infinities and NaN.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from time import perf_counter
from typing import Any

import numpy

from chainer.backends.numpy.recording.memory import Buffer, Ref
from chainer.backends.numpy.recording.tape import Call, Kind
from chainer.core.typing import DType, HostArray, Shape

#: Returns calls that take the place of a call, which gets references and writes to one.
Way = Callable[[Call, Sequence[Ref], Ref], Iterator[Call]]

#: Shape, strides and dtype of an array.
Layout = tuple[Shape, Shape, DType]

#: Samples of a measurement, and calls of each.
_SAMPLES, _CALLS = 8, 10

#: Another way has to take at most this share of the time: measurements vary.
_WORTH = 0.8


def replaced_by_fastest(
    call: Call, sources: Sequence[Ref], target: Ref, ways: Sequence[Way]
) -> list[Call] | None:
    """Returns the calls of the fastest way with the same bits; None if there is none.

    Args:
        call: The call.
        sources: The arrays that it reads, of a floating-point dtype.
        target: The array that it writes.
        ways: The other ways.
    """
    if not ways or any([min(ref.strides, default=0) < 0 for ref in (*sources, target)]):
        return None
    layouts = tuple([(ref.shape, ref.strides, ref.dtype) for ref in (*sources, target)])
    settings = tuple(call.kwargs.items())
    way = _fastest(call.function, settings, layouts[:-1], layouts[-1], tuple(ways))
    return None if way is None else list(way(call, sources, target))


@cache
@numpy.errstate(all="ignore")
def _fastest(
    function: Callable[..., Any],
    settings: tuple[tuple[str, Any], ...],
    sources: tuple[Layout, ...],
    result: Layout,
    ways: tuple[Way, ...],
) -> Way | None:
    kwargs = dict(settings)
    arrays = [example_of(layout, seed) for seed, layout in enumerate(sources)]
    expected, target = memory_of(result), memory_of(result)
    function(*arrays, **kwargs, out=expected)
    right: dict[Way, Callable[[], None]] = {}
    for way in ways:
        run = _runnable(way, Call(Kind.UFUNC, function, (), kwargs, None), arrays, target)
        target.fill(1)
        run()
        if have_same_bits(target, expected):
            right[way] = run
    longest, *times = shortest_times(
        lambda: function(*arrays, **kwargs, out=target), *right.values()
    )
    time, best = min(zip(times, right, strict=True), default=(0.0, None), key=lambda pair: pair[0])
    return best if time < _WORTH * longest else None


def memory_of(layout: Layout) -> HostArray:
    """Returns an array of zeros."""
    shape, strides, dtype = layout
    nbytes = sum([(n - 1) * stride for n, stride in zip(shape, strides)]) + dtype.itemsize
    return numpy.ndarray(shape, dtype, numpy.zeros(nbytes, numpy.uint8), 0, strides)


def example_of(layout: Layout, seed: int) -> HostArray:
    """Returns an array of numbers of all sizes, with special ones among them."""
    array = memory_of(layout)
    numbers = numpy.arange(array.size) + seed
    values = numpy.sin(numbers * 12.9898) * 10.0 ** (numbers % 4)
    specials = 0.0, -0.0, -0.0, numpy.inf, numpy.nan, float(numpy.finfo(array.dtype).tiny) / 4
    for i, value in enumerate(specials):
        # Rare ones at distances without a common factor, so that most sums are finite.
        values[i :: (5, 7, 11, 997, 1009, 13)[i]] = value
    values[: array.size // 8] = -0.0  # rows whose sums are negative zeros
    array[...] = values.reshape(array.shape)
    return array


def have_same_bits(a: HostArray, b: HostArray) -> bool:
    """Returns whether all elements are the same number; zeros of different signs are not.

    The sign of NaN, which processors choose by the order of operands, does not matter.
    """
    bits = f"u{a.dtype.itemsize}"
    equal = numpy.ascontiguousarray(a).view(bits) == numpy.ascontiguousarray(b).view(bits)
    return bool(numpy.all(equal | ((a != a) & (b != b)).reshape(equal.shape)))


def _runnable(way: Way, call: Call, sources: Sequence[Any], target: Any) -> Callable[[], None]:
    """Returns a function that makes the calls of a way on given arrays."""
    memory: dict[Buffer, Any] = {}

    def ref(array: Any) -> Ref:
        return Ref(Buffer(array.nbytes, array), 0, array.shape, array.strides, array.dtype, array)

    def array_of(found: Any) -> Any:
        if not isinstance(found, Ref):
            return found
        if found.array is not None:
            return found.array
        if found.buffer not in memory:
            memory[found.buffer] = numpy.empty(found.shape, found.dtype)
        return memory[found.buffer]

    lines = [
        (c.function, [array_of(a) for a in c.args], c.kwargs, array_of(c.out[0]))
        for c in way(call, [ref(source) for source in sources], ref(target))
    ]

    def run() -> None:
        for function, args, kwargs, out in lines:
            function(*args, **kwargs, out=out)

    return run


def shortest_times(*functions: Callable[[], Any]) -> list[float]:
    """Returns the smallest time of some calls of each function, in seconds.

    The functions take turns, because other programs use the processor at times.
    """
    found = [float("inf")] * len(functions)
    for _ in range(_SAMPLES):
        for i, function in enumerate(functions):
            start = perf_counter()
            for _ in range(_CALLS):
                function()
            found[i] = min(found[i], perf_counter() - start)
    return found
