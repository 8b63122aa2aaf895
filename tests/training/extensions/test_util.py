"""The base class of progress bars (chainer.training.extensions.util)."""

from __future__ import annotations

import io

import pytest

from chainer.training.extensions import util


class Bar(util.ProgressBar):
    def get_lines(self):
        return ["a\n", "b\n"]


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
