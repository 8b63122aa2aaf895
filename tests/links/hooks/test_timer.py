"""The link hook that measures time."""

from __future__ import annotations

import io
import re
import time

import numpy as np
import pytest

import chainer
import chainer.links as L
from chainer.link_hooks import TimerHook

X = np.ones((1, 2), np.float32)


class Sleep(chainer.Link):
    def forward(self, x):
        time.sleep(0.002)
        return x


@pytest.fixture
def hook():
    hook = TimerHook()
    model = chainer.Sequential(Sleep(), L.Linear(2, 2), Sleep())
    with hook:
        model(X)
    return hook


def test_history_is_in_order_of_completion(hook):
    names = [name for name, _ in hook.call_history]
    assert names == ["Sleep", "Linear", "Sleep", "Sequential"]
    times = [seconds for _, seconds in hook.call_history]
    assert times[0] >= 0.002
    assert times[3] >= sum(times[:3])
    assert hook.name == "TimerHook"


def test_total_time_is_that_of_the_outermost_calls(hook):
    assert hook.total_time() == hook.call_history[3][1]
    with hook:
        Sleep()(X)
    assert hook.total_time() == hook.call_history[3][1] + hook.call_history[4][1]
    assert TimerHook().total_time() == 0


def test_summary(hook):
    summary = hook.summary()
    assert list(summary) == ["Sleep", "Linear", "Sequential"]
    assert summary["Sleep"]["occurrence"] == 2
    first, third = hook.call_history[0][1], hook.call_history[2][1]
    assert summary["Sleep"]["elapsed_time"] == first + third


def report(history, **kwargs):
    hook = TimerHook()
    hook.call_history = history
    file = io.StringIO()
    hook.print_report(file=file, **kwargs)
    return file.getvalue()


HISTORY = [("Linear", 0.5e-4), ("Linear", 3.5e-4), ("Sequential", 1.5e-3), ("A", 2e-10)]


@pytest.mark.parametrize(
    ("unit", "times"),
    [
        ("auto", ["0.40ms", "1.50ms", "0.00ms"]),
        ("auto_foreach", ["400.00us", "1.50ms", "0.20ns"]),
        ("sec", ["0.00sec", "0.00sec", "0.00sec"]),
        ("us", ["400.00us", "1500.00us", "0.00us"]),
    ],
)
def test_units(unit, times):
    lines = report(HISTORY, unit=unit).splitlines()
    assert [line.split()[1] for line in lines] == ["ElapsedTime", *times]


def test_table():
    assert report(HISTORY) == (
        "  LinkName  ElapsedTime  Occurrence\n"
        "    Linear       0.40ms           2\n"
        "Sequential       1.50ms           1\n"
        "         A       0.00ms           1\n"
    )
    assert report([]) == report([], unit="ms") == "LinkName  ElapsedTime  Occurrence\n"
    with pytest.raises(KeyError, match="unit must be one of 'auto'"):
        report(HISTORY, unit="min")


def test_standard_output(hook, capsys):
    hook.print_report("ms")
    assert re.match(r"  LinkName  ElapsedTime  Occurrence\n     Sleep", capsys.readouterr().out)


def test_after_an_exception():
    hook = TimerHook()
    with pytest.raises(chainer.utils.type_check.InvalidType), hook:
        chainer.Sequential(L.Linear(3, 2))(X)
    assert hook.call_history == []
    with hook:
        L.Linear(2, 2)(X)
    assert hook.total_time() == hook.call_history[0][1]


def test_local():
    link = L.Linear(2, 2).add_hook(TimerHook())
    link(X)
    L.Linear(2, 2)(X)
    assert len(link.local_link_hooks["TimerHook"].call_history) == 1
