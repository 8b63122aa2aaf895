"""Files that are replaced while they are loaded."""

import threading
import time

import numpy as np
import pytest

import chainer.links as L
from chainer import serializers


@pytest.mark.parametrize("name", ["npz", "hdf5", "safetensors"])
def test_a_load_gets_one_of_the_files(name, tmp_path):
    """A training saves again and again, another program loads: it never gets parts of two."""
    if name == "hdf5":
        pytest.importorskip("h5py")
    save, load = (getattr(serializers, f"{verb}_{name}") for verb in ("save", "load"))
    path, stop, saved = tmp_path / "model", threading.Event(), [0]
    save(path, L.Linear(100, 100, initialW=0))

    def replace():
        while not stop.is_set():
            saved[0] += 1
            save(path, L.Linear(100, 100, initialW=saved[0]))

    thread = threading.Thread(target=replace)
    thread.start()
    seen = set()
    end, latest = time.monotonic() + 0.4, time.monotonic() + 30
    try:
        while time.monotonic() < end or (len(seen) < 2 and time.monotonic() < latest):
            model = L.Linear(100, 100)
            load(path, model)
            (value,) = np.unique(model.W.array)
            seen.add(float(value))
    finally:
        stop.set()
        thread.join()
    assert len(seen) > 1
