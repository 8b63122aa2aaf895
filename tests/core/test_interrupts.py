"""The state of a thread is restored wherever a signal interrupts a step."""

import dis
import gc
import itertools
import sys

import numpy as np
import pytest
from chainer_strict_backend import current

import chainer
from chainer import functions as F
from chainer import links as L
from chainer.core.arrays import device
from chainer.core.arrays.lookup import find_backend
from chainer.core.config.configuration import threads
from chainer.core.registry import registries
from chainer.core.reporting import reporter
from chainer.links.link_hook import thread_hooks
from tests.core.nodes import var

# A context that is interrupted between its construction and "with" warns that it was not entered,
# in a callback.
pytestmark = [
    pytest.mark.filterwarnings("ignore::chainer.MisuseWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


@pytest.fixture(autouse=True, scope="module")
def all_backends():
    """An interrupt in the import of a backend is another matter: it is reported as its failure."""
    registries.backends.load_all()
    find_backend(Interrupt)


class Interrupt(BaseException):
    """What is raised instead of KeyboardInterrupt."""


def points_of(code, cache):
    """Returns the offsets before which Python looks for signals: after calls, and at loops."""
    if code not in cache:
        instructions = list(dis.get_instructions(code))
        cache[code] = {
            b.offset
            for a, b in itertools.pairwise(instructions)
            if a.opname.startswith("CALL") or "JUMP_BACKWARD" in b.opname
        }
    return cache[code]


def run(step, number=None, cache={}):  # noqa: B006 - the cache is meant to last
    """Runs a function, and raises at one of the points inside of Chainer.

    Returns the number of points, and the state that the handler of the exception finds.
    """
    count = 0
    found = None

    def reached():
        nonlocal count
        count += 1
        if count == number:
            raise Interrupt

    def trace(frame, event, argument):
        if not frame.f_globals.get("__name__", "").startswith(("chainer.core", "chainer.links")):
            return None
        if event == "call":
            frame.f_trace_opcodes = True
            frame.f_trace_lines = False
            reached()
        elif event == "opcode" and frame.f_lasti in points_of(frame.f_code, cache):
            reached()
        return trace

    previous = sys.gettrace()
    was_enabled = gc.isenabled()
    gc.disable()  # finalizers of other tests are not part of the step
    sys.settrace(trace)
    try:
        step()
    except Interrupt:
        # While the traceback, with the frames of the functions, is alive.
        sys.settrace(previous)
        found = state()
    finally:
        sys.settrace(previous)
        if was_enabled:
            gc.enable()
    return count, found


class Hook(chainer.FunctionHook):
    name = "interrupted"


class Watch(chainer.LinkHook):
    name = "interrupted"


def use_configuration():
    x = var(1, 2)
    with chainer.using_config("train", False), chainer.using_config("debug", True):
        y = F.tanh(x * x) + x
    with chainer.no_backprop_mode():
        F.sum(y)
        with chainer.force_backprop_mode():
            F.sum(y + x).backward()
    (gx,) = chainer.grad([F.sum(y)], [x], enable_double_backprop=True)
    F.sum(gx).backward()


def use_hooks_and_devices():
    link = L.Linear(2, 2)
    with Hook(), Watch(), chainer.get_device("@numpy"), chainer.Reporter():
        F.sum(link(np.ones((1, 2), np.float32))).backward()
    with chainer.get_device("@strict:1"), chainer.using_device("@strict:0") as device:
        F.sum(chainer.Variable(device.xp.ones((1, 2), np.float32)) * 2)


STEPS = [use_configuration, use_hooks_and_devices]


def state():
    found = threads.state
    return (
        dict(found.values),
        dict(found.hooks),
        *(found.enable_backprop, found.debug, found.light_type_check, found.is_common),
        *(chainer.config.train, chainer.config.enable_backprop),
        chainer.get_device("@strict"),
        # Whether a device is current by a block or for good matters for asyncio tasks.
        current._current._block.get(),
        device._entered.get(),
        reporter._current.get(),
        dict(thread_hooks.hooks),
    )


def check(step, numbers):
    step()  # what is done at first use only
    before = state()
    for number in numbers:
        _, found = run(step, number)
        assert state() == before, number
        assert found in (None, before), number


@pytest.mark.parametrize("step", STEPS)
def test_some_points(step):
    step()
    count, _ = run(step)
    assert count > 100
    check(step, range(1, count, 29))


@pytest.mark.slow
@pytest.mark.parametrize("step", STEPS)
def test_all_points(step):
    step()
    check(step, range(1, run(step)[0] + 1))


def test_entered_without_keeping_the_object():
    before = chainer.config.train
    chainer.using_config("train", not before).__enter__()
    gc.collect()
    try:
        assert chainer.config.train is not before
    finally:
        del chainer.config.train
