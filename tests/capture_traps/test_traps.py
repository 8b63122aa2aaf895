"""A captured step is never silently wrong: each trap gives the values of the step as written."""

from __future__ import annotations

import functools
import warnings

import pytest

from . import corpus
from .corpus import outcome, traps
from .frameworks import Chainer

TRAPS = traps()


def test_corpus_has_a_hundred_traps():
    assert len(TRAPS) >= 100
    assert len({trap.name for trap in TRAPS}) == len(TRAPS)


@pytest.mark.parametrize("trap", TRAPS, ids=[f"{t.theme}-{t.name}" for t in TRAPS])
def test_trap(trap):
    make = functools.partial(Chainer, audit=1) if trap.audit else Chainer
    found, told = outcome(make, trap)
    assert found in ("right", "warning"), told


@pytest.mark.parametrize("name", [t.name for t in TRAPS if t.audit])
def test_audit_is_needed(name):
    """What the corpus lists as invisible is invisible; else the page would tell too little."""
    (trap,) = [t for t in TRAPS if t.name == name]
    assert outcome(Chainer, trap)[0] == "silently wrong"


def test_a_wrong_value_is_found():
    class Wrong(Chainer):
        def compile(self, function, *targets):
            return (lambda *args: function(*args) * 2) if self.captures else function

    (trap,) = [t for t in TRAPS if t.name == "weight_is_changed_between_calls"]
    assert outcome(Wrong, trap) == ("silently wrong", "")


def test_an_error_is_found():
    class Failing(Chainer):
        def compile(self, function, *targets):
            if self.captures:
                raise RuntimeError("no")
            return function

    assert outcome(Failing, TRAPS[0]) == ("error", "RuntimeError: no")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert corpus.outcome(Chainer, TRAPS[-1])[0] in ("right", "warning")
