"""The state of a thread is restored wherever a signal interrupts a step."""

import dis
import itertools
import sys

import pytest

import chainer
from chainer import functions as F
from chainer.core.config.configuration import threads
from tests.core.nodes import var


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
    """Runs a function, and raises at one of the points inside of Chainer. Returns their number."""
    count = 0

    def reached():
        nonlocal count
        count += 1
        if count == number:
            raise Interrupt

    def trace(frame, event, argument):
        if not frame.f_globals.get("__name__", "").startswith("chainer.core"):
            return None
        if event == "call":
            if frame.f_code.co_name == "__del__":  # Python drops what is raised here
                return None
            frame.f_trace_opcodes = True
            frame.f_trace_lines = False
            reached()
        elif event == "opcode" and frame.f_lasti in points_of(frame.f_code, cache):
            reached()
        return trace

    previous = sys.gettrace()
    sys.settrace(trace)
    try:
        step()
    except Interrupt:
        pass
    finally:
        sys.settrace(previous)
    return count


def step():
    x = var(1, 2)
    with chainer.using_config("train", False), chainer.using_config("debug", True):
        y = F.tanh(x * x) + x
    with chainer.no_backprop_mode():
        F.sum(y)
        with chainer.force_backprop_mode():
            F.sum(y + x).backward()
    (gx,) = chainer.grad([F.sum(y)], [x], enable_double_backprop=True)
    F.sum(gx).backward()


def state():
    found = threads.state
    return (
        dict(found.values),
        dict(found.hooks),
        *(found.enable_backprop, found.debug, found.light_type_check, found.is_common),
        *(chainer.config.train, chainer.config.enable_backprop),
    )


def check(numbers):
    before = state()
    for number in numbers:
        run(step, number)
        assert state() == before, number


def test_some_points():
    step()  # what is done at first use only
    count = run(step)
    assert count > 500
    check(range(1, count, 23))


@pytest.mark.slow
def test_all_points():
    step()
    check(range(1, run(step)))
