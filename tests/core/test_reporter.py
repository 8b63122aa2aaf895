import copy
import threading

import numpy as np
import pytest

import chainer
from chainer.core.reporting.reporter import Reporter, get_current_reporter, report, report_scope


def test_names_of_reported_values():
    reporter = Reporter()
    observer, child = object(), object()
    reporter.add_observer("main", observer)
    reporter.add_observers("main", [("/child", child)])
    observation = {}
    with reporter.scope(observation):
        reporter.report({"x": 1}, observer)
        report({"y": 2}, child)
        report({"z": 3})
    assert observation == {"main/x": 1, "main/child/y": 2, "z": 3}
    assert reporter.observation == {}


def test_observers_are_told_apart_by_identity():
    reporter = Reporter()
    first, second = np.zeros(2), np.zeros(2)
    reporter.add_observer("a", first)
    reporter.add_observer("b", second)
    reporter.report({"x": 1}, second)
    assert reporter.observation == {"b/x": 1}


def test_unregistered_observer_is_an_error_that_says_so():
    with Reporter(), pytest.raises(KeyError, match="add_observer"):
        report({"x": 1}, object())


def test_report_without_reporter_does_nothing():
    report({"x": 1})
    report({"x": 1}, object())


@pytest.mark.parametrize("arguments", [("loss", 1), ("loss",), (None,)])
def test_report_without_reporter_looks_at_nothing_as_in_release_7(arguments):
    report(*arguments)
    with Reporter(), pytest.raises(TypeError, match="values must be a dict of names and values"):
        report(*arguments)


def test_current_reporter_and_report_scope():
    with pytest.raises(IndexError, match="no reporter is current"):
        get_current_reporter()
    with pytest.raises(IndexError), report_scope({}):
        pass
    outer, inner = Reporter(), Reporter()
    observation = {}
    with outer:
        with inner:
            assert get_current_reporter() is inner
        assert get_current_reporter() is outer
        with report_scope(observation):
            report({"x": 1})
        report({"y": 2})
    assert observation == {"x": 1}
    assert outer.observation == {"y": 2}


def test_scope_is_left_when_its_body_raises():
    reporter = Reporter()
    before = reporter.observation
    with pytest.raises(ZeroDivisionError), reporter.scope({}):
        1 / 0
    assert reporter.observation is before
    with pytest.raises(IndexError):
        get_current_reporter()


def test_reporters_are_current_in_their_own_thread_only():
    seen = []

    def run():
        try:
            get_current_reporter()
        except IndexError:
            seen.append("none")

    with Reporter():
        thread = threading.Thread(target=run)
        thread.start()
        thread.join()
    assert seen == ["none"]


def test_copy_has_its_own_observers():
    reporter = Reporter()
    observer = object()
    reporter.add_observer("a", observer)
    other = copy.copy(reporter)
    other.add_observer("b", observer)
    reporter.report({"x": 1}, observer)
    assert reporter.observation == {"a/x": 1}


def test_variables_are_cut_from_their_graph_unless_told_otherwise():
    x = chainer.Variable(np.ones((), np.float32))
    with chainer.using_config("keep_graph_on_report", False):
        reporter = Reporter()
        reporter.report({"x": x})
    reported = reporter.observation["x"]
    assert reported is not x
    assert reported.array is x.array
    assert reported.creator is None
    with chainer.using_config("keep_graph_on_report", True):
        reporter.report({"x": x})
    assert reporter.observation["x"] is x
