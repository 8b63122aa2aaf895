<<<<<<< HEAD
"""``chainer.training.extensions.util``; outputs as observed in 7.8.1."""
=======
"""The base class of progress bars (chainer.training.extensions.util)."""
>>>>>>> main

from __future__ import annotations

import io
<<<<<<< HEAD
import sys
=======
>>>>>>> main

import pytest

from chainer.training.extensions import util


class Bar(util.ProgressBar):
    def get_lines(self):
        return ["a\n", "b\n"]


<<<<<<< HEAD
def test_output():
    out = io.StringIO()
    bar = Bar(out=out)
    bar.update()
    assert out.getvalue() == "\x1b[Ja\nb\n\x1b[2A"
    bar.close()
    assert out.getvalue() == "\x1b[Ja\nb\n\x1b[2A\x1b[J"


def test_defaults():
    bar = Bar()
    assert bar._bar_length == 50
    assert bar._out is sys.stdout
    assert Bar(3)._bar_length == 3
    with pytest.raises(NotImplementedError, match=r"ProgressBar must define get_lines\(\)"):
        util.ProgressBar().update()


def test_stream_without_flush():
    class Stream:
        text = ""

        def write(self, text):
            self.text += text

    stream = Stream()
    Bar(out=stream).update()
    assert stream.text == "\x1b[Ja\nb\n\x1b[2A"


def test_speed(monkeypatch):
    now = 5.0
    monkeypatch.setattr(util.time, "time", lambda: now)
    bar = Bar()
    assert bar.update_speed(1, 0.1) == (float("inf"), float("inf"))
    now = 7.0
    assert bar.update_speed(11, 1.1) == pytest.approx((5.0, 0.5))
    for count in range(100):
        now = 100.0 + count
        speed = bar.update_speed(4 * count, 2.0 * count)
    assert speed == pytest.approx((4.0, 2.0))  # over the last 100 calls only
=======
def test_draws_lines_and_goes_back_to_the_first():
    out = io.StringIO()
    bar = Bar(out=out)
    bar.update()
    bar.close()
    # What release 7.8.1 writes.
    assert out.getvalue() == "\033[Ja\nb\n\033[2A\033[J"


def test_speed(monkeypatch):
    times = iter([10.0, 12.0, 12.0])
    monkeypatch.setattr(util.time, "time", lambda: next(times))
    bar = Bar(bar_length=20)
    assert bar._bar_length == 20
    assert bar.update_speed(0, 0.0) == (float("inf"), float("inf"))
    assert bar.update_speed(10, 1.0) == (5.0, 0.5)
    assert bar.update_speed(20, 2.0) == (10.0, 1.0)


def test_subclass_must_define_the_lines():
    with pytest.raises(NotImplementedError, match=r"ProgressBar must define get_lines\(\)"):
        util.ProgressBar(out=io.StringIO()).update()
>>>>>>> main
