"""Memory while files are loaded: a file cannot take more than the object that it is loaded into."""

import json
import struct
import subprocess
import sys

import numpy as np
import pytest

import chainer
from chainer import serializers

MODEL = 40_000_000

#: Loads a file in a process of its own; prints the peaks of traced and of resident memory.
PROGRAM = """
import sys, tracemalloc
import numpy as np, chainer
from chainer import serializers

def peak():
    lines = open("/proc/self/status").read().splitlines()
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))

form, path, side, small = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4]
load = getattr(serializers, "load_" + form)
load(small, chainer.Link(W=(2,)))  # imports what it needs
link = chainer.Link(W=(side, side))
link.W.array[...] = 1
open("/proc/self/clear_refs", "w").write("5")  # resets the peak
before = peak()
tracemalloc.start()
try:
    load(path, link)
    print("loaded", end=" ")
except (ValueError, serializers.FileFormatError):
    print("refused", end=" ")
print(tracemalloc.get_traced_memory()[1], peak() - before)
"""


def loading(form, path, side):
    """Returns what came of loading, and the peaks of memory in bytes."""
    small = str(path) + ".small"
    link = chainer.Link(W=(2,))
    link.W.array[...] = 0
    getattr(serializers, f"save_{form}")(small, link)
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", PROGRAM, form, str(path), str(side), small],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    result, traced, resident = done.stdout.split()
    return result, int(traced), int(resident)


def linear(side):
    link = chainer.Link(W=(side, side))
    link.W.array[...] = 0
    return link


@pytest.mark.parametrize("form", ["npz", "hdf5", "safetensors"])
def test_besides_the_model_loading_takes_its_size_once(form, tmp_path):
    link = linear(round((MODEL / 4) ** 0.5))
    link.W.array[...] = np.random.RandomState(0).rand(*link.W.shape)
    path = tmp_path / "model"
    getattr(serializers, f"save_{form}")(path, link)
    result, traced, resident = loading(form, path, len(link.W))
    assert result == "loaded"
    assert traced < 1.15 * MODEL
    # Files of safetensors are mapped: the system counts their pages, and can take them back.
    assert resident < (2.3 if form == "safetensors" else 1.6) * MODEL


@pytest.mark.slow  # making the files takes ten seconds
@pytest.mark.parametrize("form", ["npz", "hdf5"])
def test_a_small_file_that_declares_much_takes_nothing(form, tmp_path):
    path = tmp_path / "bomb"
    getattr(serializers, f"save_{form}")(path, linear(11_730))  # 550 MB of zeros
    assert path.stat().st_size < 1_000_000
    result, traced, resident = loading(form, path, 10)
    assert result == "refused"
    assert max(traced, resident) < 5_000_000


def test_safetensors_that_declare_more_than_they_have(tmp_path):
    path = tmp_path / "bomb"
    entry = {"dtype": "F32", "shape": [11_730, 11_730], "data_offsets": [0, 550_371_600]}
    header = json.dumps({"W": entry}).encode()
    path.write_bytes(struct.pack("<Q", len(header)) + header + bytes(100))
    with pytest.raises(serializers.FileFormatError, match="bomb"):
        serializers.load_safetensors(path, linear(10))
    result, traced, resident = loading("safetensors", path, 10)
    assert result == "refused"
    assert max(traced, resident) < 5_000_000
