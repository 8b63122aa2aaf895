"""Programs of the recorder: memory, numbers and misuse. Whole steps are in test_capture.py."""

from __future__ import annotations

import numpy as np
import pytest
from chainer.core.arrays.recorder import NotRecordableError, computed


def record(device, function, arguments=(), states=()):
    """Records a function of arguments; returns the program and the results of the recorded run."""
    recorder = device.backend.recorder(device)
    given = [recorder.argument(x) for x in arguments]
    taken = [recorder.state(x) for x in states]
    outputs = recorder.run(lambda: function(*given, *taken))
    plain = [recorder.plain(y) for y in outputs]
    return recorder.program(outputs), plain


def test_numbers_are_inputs(device):
    recorder = device.backend.recorder(device)
    x = device.send(np.ones(3))
    rates = [2.0, 0.5, 3.0]
    taken = recorder.state(x)
    rate = recorder.number(lambda: rates[0])

    def step():
        taken[...] *= rate.array(np.float64)

    recorder.run(step)
    program = recorder.program([])
    assert x.tolist() == [2.0] * 3
    for expected in (1.0, 3.0):
        rates.pop(0)
        program([])
        assert x.tolist() == [expected] * 3


@pytest.mark.parametrize("count", [0, 1, 2, 3, 5])
def test_any_number_of_numbers(device, count):
    """A few enter the program one by one, more of them as an array."""
    recorder = device.backend.recorder(device)
    factor = [1.0]
    x = recorder.argument(device.send(np.zeros(1, np.float32)))
    numbers = [recorder.number(lambda i=i: 10.0**i * factor[0]) for i in range(count)]
    y = recorder.run(lambda: sum([n.array(np.float64) for n in numbers], start=x))
    program = recorder.program([y])
    factor[0] = 2.0
    (found,) = program([device.send(np.zeros(1, np.float32))])
    assert float(found[0]) == 2 * int("0" + "1" * count)
    assert found.dtype == (np.float64 if count else np.float32)


def test_numbers_computed_from_numbers(device):
    recorder = device.backend.recorder(device)
    rate = [1.0]
    x = recorder.argument(device.send(np.ones(2)))
    number = recorder.number(lambda: rate[0])
    half = computed(lambda v: v / 2, number) + 1
    y = recorder.run(lambda: x * half.array(np.float64))
    program = recorder.program([y])
    rate[0] = 6.0
    assert program([device.send(np.ones(2))])[0].tolist() == [4.0, 4.0]


def test_free_copies_survive_donation(device):
    x = device.send(np.zeros(1000))
    program, _ = record(device, lambda x: (x.__iadd__(1), [])[1], (), [x])
    copy, native = x.copy(), x.native
    for _ in range(3):
        program([])
    assert float(copy.sum()) == 1000
    assert float(native.sum()) == 1000
    assert float(x.sum()) == 4000


def test_memory_that_only_a_box_holds_is_reused(device):
    x = device.send(np.zeros(1000))
    program, _ = record(device, lambda x: (x.__iadd__(1), [])[1], (), [x])
    program([])
    before = x.native.unsafe_buffer_pointer()
    program([])
    program([])
    assert x.native.unsafe_buffer_pointer() == before


@pytest.mark.parametrize(
    "look",
    [lambda x: float(x.sum()), lambda x: bool(x.sum() > 0), lambda x: x[x > 0], lambda x: str(x)],
    ids=["float", "if", "mask", "str"],
)
@pytest.mark.parametrize("state", [False, True])
def test_values_that_python_needs(device, look, state):
    x = device.send(np.ones(3))

    def step(argument, taken):
        look(taken if state else argument)
        return []

    # The backend's own error is a TypeError.
    with pytest.raises((NotRecordableError, TypeError)):
        record(device, step, [x.copy()], [x])
    assert x.tolist() == [1, 1, 1]  # nothing is left of the recording


def test_arrays_that_are_no_state_are_refused(device):
    other = device.send(np.ones(3))
    with pytest.raises(NotRecordableError, match="neither an argument nor state of the targets"):
        record(device, lambda x: [x + other], [device.send(np.ones(3))])


def test_two_recordings_at_once_are_refused(device):
    x = device.send(np.ones(3))
    with pytest.raises(NotRecordableError, match="another step is being recorded"):
        record(device, lambda x: record(device, lambda y: [y * 2], [x])[1], [x])


def test_arrays_kept_elsewhere_raise(device):
    kept = []

    def step(x):
        kept.append(x * 2)
        return [x + 1]

    record(device, step, [device.send(np.ones(3))])
    with pytest.raises(RuntimeError, match="made while a step was recorded"):
        float(kept[0].sum())
