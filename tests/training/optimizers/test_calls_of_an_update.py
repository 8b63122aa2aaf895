"""How far one update goes: Python calls and files, counted instead of timed."""

from __future__ import annotations

import gc
import sys

import numpy as np
import pytest

import chainer.functions as F
import chainer.links as L
from chainer.core.autograd.laid_out import LAYOUTS
from chainer.training import optimizers

#: Limits for two parameters. A review counted 105 calls in 18 files before updates were declared.
MOST_CALLS = 55
MOST_FILES = 9


def count(name):
    """Returns the numbers of calls and of files of an update, after some updates."""
    model = L.Linear(3, 2)
    optimizer = getattr(optimizers, name)().setup(model)
    x = np.ones((2, 3), np.float32)
    files = []

    def note(frame, event, _):
        if event == "call":
            files.append(frame.f_code.co_filename)

    previous = sys.getprofile()
    for _ in range(3):
        model.cleargrads()
        F.sum(model(x)).backward()
        files.clear()
        # A garbage collection in the middle would call what other tests left in gc.callbacks.
        gc.disable()
        sys.setprofile(note)
        try:
            optimizer.update()
        finally:
            sys.setprofile(previous)
            gc.enable()
    # Constructors of named tuples have no file: they are in "<string>".
    return len(files), len({file for file in files if not file.startswith("<")})


@pytest.mark.parametrize("name", ["SGD", "MomentumSGD", "Adam", "AdamW"])
def test_calls_and_files(name, monkeypatch):
    # Memory layouts stay in use for the process once a test has made one.
    monkeypatch.setattr(LAYOUTS, "are_in_use", False)
    calls, files = count(name)
    assert calls <= MOST_CALLS
    assert files <= MOST_FILES
