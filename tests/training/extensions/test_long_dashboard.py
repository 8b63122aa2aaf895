"""A dashboard of a long training: what is shown and saved has a limit."""

from __future__ import annotations

import io
import json
import math

import pytest

from chainer.serializers import DictionarySerializer, NpzDeserializer
from chainer.training.extensions import dashboard
from chainer.training.extensions.dashboard_course import LONGEST_COURSE, Course
from tests.training.observed_training import observing

VALUES = [float((7 * i) % 23) for i in range(40)]


def trained(out, values, saved=None):
    board = dashboard.Dashboard(trigger=(1, "iteration"), out=io.StringIO())
    trainer = observing(out, values, board)
    if saved is not None:
        board.serialize(NpzDeserializer(saved))
    trainer.run()
    return board


def saved_by(board):
    entries = {}
    board.serialize(DictionarySerializer(entries))
    return entries


def test_course():
    course = Course()
    for value in [3.0, math.nan, -1.0, math.inf, *VALUES]:
        course.add(value)
    assert (course.low, course.high) == (-1.0, 22.0)
    assert list(course.newest) == VALUES[-LONGEST_COURSE:]


def test_courses_are_those_of_the_rows(tmp_path):
    board = trained(tmp_path, VALUES)
    metric = [row["metric"] for row in board.rows]
    course = board._shown()["metric"]
    assert list(course.newest) == metric[-LONGEST_COURSE:]
    assert (course.low, course.high) == (min(metric), max(metric))


def test_a_snapshot_has_the_newest_rows_and_the_ranges_of_all(tmp_path, monkeypatch):
    whole = saved_by(trained(tmp_path, VALUES))
    monkeypatch.setattr(dashboard, "ROWS_IN_SNAPSHOT", 5)
    board = trained(tmp_path, VALUES)
    entries = saved_by(board)
    assert json.loads(str(entries["rows"])) == board.rows[-5:]
    assert json.loads(str(whole["rows"])) == board.rows
    resumed = dashboard.Dashboard(trigger=(1, "iteration"))
    resumed.serialize(NpzDeserializer(entries))
    one, other = resumed._shown()["metric"], board._shown()["metric"]
    assert (one.low, one.high) == (other.low, other.high) == (min(VALUES), max(VALUES))
    assert list(one.newest) == VALUES[-5:]


def test_a_snapshot_of_an_earlier_version(tmp_path):
    board = trained(tmp_path, VALUES)
    entries = saved_by(board)
    del entries["ranges"]
    resumed = dashboard.Dashboard()
    resumed.serialize(NpzDeserializer(entries))
    assert resumed.rows == board.rows
    assert vars(resumed._shown()["metric"]) == vars(board._shown()["metric"])


def test_broken_ranges(tmp_path):
    entries = saved_by(trained(tmp_path, VALUES))
    for text in ("[]", '{"metric": "a"}', '{"metric": [1]}'):
        entries["ranges"] = text
        with pytest.raises(ValueError):
            dashboard.Dashboard().serialize(NpzDeserializer(entries))
