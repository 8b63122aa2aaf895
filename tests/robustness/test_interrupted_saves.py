"""Ctrl-C at every instruction of a function that saves a file."""

from __future__ import annotations

import gc
import os
import sys
import warnings

import numpy as np
import pytest

import chainer.links as L
from chainer import serializers
from chainer.training.extensions.snapshot_writers import SimpleWriter


class Interrupt:
    """Raises KeyboardInterrupt at one of the instructions of Chainer's own code.

    Args:
        number: How many instructions come before.
    """

    def __init__(self, number):
        self.number = number
        self.seen = 0

    def __call__(self, frame, event, arg):
        file = frame.f_code.co_filename
        if f"{os.sep}chainer{os.sep}" not in file and "contextlib" not in file:
            return None
        frame.f_trace_opcodes = True
        if event == "opcode":
            self.seen += 1
            if self.seen > self.number:
                sys.settrace(None)
                raise KeyboardInterrupt
        return self


def save_npz(folder, model):
    serializers.save_npz(os.path.join(folder, "model"), model)


def save_hdf5(folder, model):
    pytest.importorskip("h5py")
    serializers.save_hdf5(os.path.join(folder, "model"), model)


def save_safetensors(folder, model):
    serializers.save_safetensors(os.path.join(folder, "model"), model)


def save_snapshot(folder, model):
    arrays = serializers.DictionarySerializer()
    arrays.save(model)
    SimpleWriter()("model", str(folder), arrays.target)


@pytest.fixture
def collected_later():
    """The collector closes files that are open still after the test.

    In Python 3.11 the parser, which NumPy reads headers with, fails if it is run meanwhile.
    """
    gc.disable()
    yield
    gc.enable()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        gc.collect()


# Files that an interrupt keeps from being closed are closed when they are collected.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.skipif(sys.gettrace() is not None, reason="another tracer runs")
@pytest.mark.parametrize("save", [save_npz, save_hdf5, save_safetensors, save_snapshot])
def test_interrupts(tmp_path, save, collected_later):
    """No temporary file is left, the former file or the new one is there, and it stays Ctrl-C."""
    old, new = L.Linear(3, 2), L.Linear(3, 2)
    save(tmp_path, old)
    save(tmp_path, old)  # what is imported at first use
    # Every seventh instruction, and another seventh in each run of the tests.
    step, number, interrupted = 7, os.getpid() % 7, 0
    while True:
        save(tmp_path, old)
        interrupt = Interrupt(number)
        sys.settrace(interrupt)
        try:
            save(tmp_path, new)
        except KeyboardInterrupt:
            interrupted += 1
        finally:
            sys.settrace(None)
        assert os.listdir(tmp_path) == ["model"], number
        if save is save_npz or save is save_snapshot:
            with np.load(tmp_path / "model") as file:
                assert any([(file["W"] == model.W.array).all() for model in (old, new)])
        if interrupt.seen <= number:
            break
        number += step
    assert interrupted > 80
