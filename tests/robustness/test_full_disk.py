"""A disk that becomes full at any byte: an OSError, the old file whole, nothing else left.

The limit of the size of files stands in for the disk: the system refuses to write beyond it.
"""

import os
import resource
import warnings

import numpy as np
import pytest

import chainer
import chainer.links as L
from chainer import serializers
from chainer.training import extensions
from chainer.training.extensions.logs.growing_json import GrowingJsonFile
from tests.robustness import mutations


def _save_onnx(path):
    onnx_chainer = pytest.importorskip("onnx_chainer")
    onnx_chainer.export(L.Linear(3, 2), np.zeros((1, 3), "f"), path)


def _save_plot(path):
    pytest.importorskip("matplotlib")
    from chainer.training.extensions import plotting

    figure, axes = plotting.Figures().subplots()
    axes.plot([1, 2], [3, 4])
    plotting.save_figure(figure, path)


def _save_snapshot(path):
    writer = extensions.snapshot_writers.SimpleWriter()
    writer(os.path.basename(path), os.path.dirname(path), serializers.npz.serialize(MODEL))


def _save_log(path):
    # A file that was changed by something else is written as a whole.
    GrowingJsonFile().write(path, [{"main/loss": i / 7} for i in range(20)])


MODEL = mutations.Model(1)
WRITERS = {
    "npz": lambda path: serializers.save_npz(path, MODEL),
    "npz_plain": lambda path: serializers.save_npz(path, MODEL, compression=False),
    "hdf5": lambda path: serializers.save_hdf5(path, MODEL),
    "safetensors": lambda path: serializers.save_safetensors(path, MODEL),
    "snapshot": _save_snapshot,
    "log": _save_log,
    "caffe": mutations.caffe_model,
    "onnx": _save_onnx,
    "plot": _save_plot,
}


@pytest.mark.parametrize("name", WRITERS)
@pytest.mark.parametrize("every", [pytest.param(1, marks=pytest.mark.slow), 97])
def test_full_disk(name, every, tmp_path):
    if name == "plot":
        # It is drawn each time, and has 15,000 bytes.
        every = 97 if every == 1 else 997
    save = WRITERS[name]
    path = tmp_path / "model.png"
    save(str(path))
    size = path.stat().st_size
    old = b"the old file"
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    for limit in range(0, size, every):
        path.write_bytes(old)
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, hard))
        try:
            with pytest.raises(OSError), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                save(str(path))
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        assert path.read_bytes() == old, limit
        left = [entry for entry in os.listdir(tmp_path) if entry != path.name]
        if name == "caffe":  # the exporter writes two files under names of its own
            left = [entry for entry in left if not entry.startswith("chainer_model")]
        assert not left, limit
    save(str(path))
    assert path.stat().st_size == size


def test_small_tmpfs(tmp_path):
    """The same with a real file system that is full, where the tests may mount one."""
    import subprocess

    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(tmp_path)], capture_output=True
    )
    if mounted.returncode:
        pytest.skip("no permission to mount a tmpfs")
    try:
        big = chainer.Link(W=(100, 200))
        big.W.array[...] = np.random.RandomState(0).rand(100, 200)
        for save in (serializers.save_npz, serializers.save_hdf5, serializers.save_safetensors):
            path = tmp_path / "model"
            path.write_bytes(b"the old file")
            with pytest.raises(OSError, match="No space left"):
                save(str(path), big)
            assert path.read_bytes() == b"the old file"
            assert os.listdir(tmp_path) == ["model"]
    finally:
        subprocess.run(["umount", str(tmp_path)], check=True)
