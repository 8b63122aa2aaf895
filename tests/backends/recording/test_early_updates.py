"""Updates are made as soon as nothing reads the old values."""

import operator

import numpy as np

from chainer.backends.numpy.recording.early_updates import with_early_updates
from chainer.backends.numpy.recording.memory import Held
from chainer.backends.numpy.recording.tape import Call, Kind, Tape
from chainer.core.arrays.opaque_layouts import OpaqueLayoutBackend


class Boxed:
    def __init__(self, array):
        self.array = array


class BoxedBackend(OpaqueLayoutBackend):
    name = "boxed of early updates"
    array_types = (Boxed,)
    xp = np

    def to_xp(self, array):
        return array.array


class Program:
    """Calls on a parameter, its gradient and other arrays of 64 KB."""

    def __init__(self):
        self.tape = Tape()
        self.arrays = {name: np.ones((128, 128), np.float32) for name in ("W", "g", "x", "y", "z")}
        self.made = {name: Held(None) for name in ("p", "q")}
        for name in "gyz":
            self.tape.buffers.made(self.arrays[name])
        self.backend = BoxedBackend()
        self.calls = []
        self.updates = []

    def ref(self, name):
        return self.made.get(name) or self.tape.buffers.refer(self.arrays[name])

    def add(self, out, *names, kind=Kind.UFUNC, function=np.add):
        out = None if out is None else self.ref(out)
        if kind is Kind.UFUNC:
            out = (out,)
        self.calls.append(Call(kind, function, tuple(map(self.ref, names)), {}, out))
        return self.calls[-1]

    def update(self, *names):
        call = Call(Kind.WHOLE, lambda rows: None, ([tuple(map(self.ref, names))],), {}, None)
        self.calls.append(call)
        self.updates.append(call)
        return call

    def order(self, fixed=(), parents=None):
        fixed = {self.ref(name).buffer for name in fixed}
        made = with_early_updates(self.calls, self.updates, parents or {}, fixed)
        assert len(made) == len(self.calls)
        return [self.calls.index(call) for call in made]


def test_an_update_follows_its_gradient():
    program = Program()
    program.add("g", "x", "W")
    program.add("y", "x", "x")
    program.add("z", "y", "y")
    program.update("W", "g")
    assert program.order() == [0, 3, 1, 2]


def test_an_update_stays_behind_calls_that_read_the_parameter():
    program = Program()
    program.add("g", "x", "x")
    program.add("y", "x", "W")
    program.add("z", "y", "y")
    program.update("W", "g")
    assert program.order() == [0, 1, 3, 2]


def test_an_update_of_memory_that_objects_refer_to_stays():
    program = Program()
    program.add("g", "x", "x")
    program.add("y", "x", "x")
    program.update("W", "g")
    assert program.order(fixed="W") == [0, 1, 2]


def test_small_updates_stay():
    program = Program()
    program.arrays = {name: array[:4, :4].copy() for name, array in program.arrays.items()}
    program.add("g", "x", "x")
    program.add("y", "x", "x")
    program.update("W", "g")
    assert program.order() == [0, 1, 2]


def test_memory_within_other_memory_is_one():
    program = Program()
    program.add("g", "x", "x")
    program.add("y", "x", "x")  # z lies within y
    program.update("W", "z")
    parents = {program.ref("z").buffer: (program.ref("y").buffer, 0)}
    assert program.order(parents=parents) == [0, 1, 2]


def test_a_conversion_follows_the_kernel_and_stays_behind_changes_in_place():
    for in_place in (False, True):
        program = Program()
        program.add("p", "x", kind=Kind.WHOLE, function=np.abs)
        program.add("y", "x", "x")
        function = operator.iadd if in_place else operator.add
        program.add("q", "x", kind=Kind.WHOLE, function=function)
        program.add("z", "x", "x")
        program.add("g", "p", kind=Kind.WHOLE, function=program.backend.to_xp)
        program.update("W", "g")
        assert program.order() == ([0, 1, 2, 4, 5, 3] if in_place else [0, 4, 5, 1, 2, 3])


def test_copy_to_xp_writes_the_elements():
    out = np.zeros(3)
    BoxedBackend().copy_to_xp(Boxed(np.arange(3.0)), out)
    np.testing.assert_array_equal(out, [0, 1, 2])
