"""Random changes of files, and what readers make of them.

Run ``python tests/robustness/mutations.py --count 20000`` for all formats. Each mutation must give
equal values or FileFormatError. Formats without checksums (Caffe, ONNX, HDF5 files of other
writers) cannot tell a changed number from another one: there, anything but FileFormatError or a
model counts.
"""

from __future__ import annotations

import argparse
import collections
import io
import os
import random
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np

import chainer
import chainer.links as L
from chainer import serializers
from chainer.serializers import FileFormatError
from chainer.training import extensions


def mutate(data: bytes, rng: random.Random) -> bytes:
    """Returns a changed copy: flipped bits, replaced, removed, repeated or exchanged bytes."""
    result = bytearray(data)
    kind = rng.randrange(6)
    # The ends of the files have the structure; half of the changes are there.
    size = len(result)
    at = rng.choice((rng.randrange(size), size - 1 - rng.randrange(min(size, 200))))
    length = min(rng.choice((1, 2, 4, 16, 100)), size - at)
    if kind == 0:
        for _ in range(rng.choice((1, 1, 1, 8))):
            place = rng.randrange(size) if rng.random() < 0.5 else at
            result[place] ^= 1 << rng.randrange(8)
    elif kind == 1:
        result[at : at + length] = rng.randbytes(length)
    elif kind == 2:
        del result[at : at + length]
    elif kind == 3:
        result[at:at] = result[at : at + length]
    elif kind == 4:
        del result[rng.randrange(size) :]
    else:
        result[at : at + length] = bytes([rng.choice((0, 1, 0x7F, 0x80, 0xFF))]) * length
    return bytes(result)


class Model(chainer.Chain):
    """A small model with parameters, a persistent array and a number."""

    def __init__(self, seed: int) -> None:
        super().__init__()
        rng = np.random.RandomState(seed)
        with self.init_scope():
            self.l1 = L.Linear(4, 3, initialW=rng.rand(3, 4).astype("f"))
            self.bn = L.BatchNormalization(3)
        self.add_persistent("count", np.array(seed))
        self.bn.avg_mean[...] = rng.rand(3)

    def values(self) -> dict[str, np.ndarray]:
        return {k: np.array(v) for k, v in serializers.npz.serialize(self).items()}


def _equal(a: dict[str, np.ndarray], b: dict[str, np.ndarray]) -> bool:
    return a.keys() == b.keys() and all(np.array_equal(a[key], b[key]) for key in a)


def _saved(save: Callable[[str, Model], None], path: str) -> bytes:
    save(path, Model(1))
    return Path(path).read_bytes()


def _check_model(load: Callable[[str, Model], None]) -> Callable[[str], str]:
    good = Model(1).values()

    def check(path: str) -> str:
        model = Model(2)
        before = model.values()
        try:
            load(path, model)
        except FileFormatError as error:
            if "file" not in str(error) or not _equal(model.values(), before):
                return f"names no file, or has changed the model: {error}"
            return "refused"
        return "equal" if _equal(model.values(), good) else "other values"

    return check


def caffe_model(path: str) -> None:
    """Writes a caffemodel of one layer."""
    folder = os.path.dirname(path)
    model = chainer.Chain()
    with model.init_scope():
        model.conv = L.Convolution2D(2, 3, 1)
    x = chainer.Variable(np.zeros((1, 2, 4, 4), "f"))
    chainer.exporters.caffe.export(_Calls(model.conv), [x], folder, True)
    os.replace(os.path.join(folder, "chainer_model.caffemodel"), path)


class _Calls(chainer.Chain):
    def __init__(self, conv: L.Convolution2D) -> None:
        super().__init__()
        with self.init_scope():
            self.conv = conv

    def forward(self, x: chainer.Variable) -> chainer.Variable:
        return self.conv(x)


def _check_caffe(path: str) -> str:
    from chainer.links.caffe import CaffeFunction

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            CaffeFunction(path)
    except FileFormatError:
        return "refused"
    return "loaded"


def _check_onnx(path: str) -> str:
    import onnx_chainer

    try:
        onnx_chainer.load(path)
    except FileFormatError:
        return "refused"
    except onnx_chainer.UnsupportedOperatorError:
        return "refused (operators)"
    return "loaded"


def onnx_model(path: str) -> None:
    """Writes a model of ONNX."""
    import onnx_chainer

    onnx_chainer.export(L.Linear(3, 2), np.zeros((1, 3), "f"), path)


def make_trainer(out: str, autoload: bool = False) -> chainer.training.Trainer:
    """Returns a trainer of a small model with dropout, a log and snapshots."""
    rng = np.random.RandomState(0)
    data = chainer.datasets.TupleDataset(rng.rand(20, 4).astype("f"), np.arange(20) % 3)
    iterator = chainer.iterators.SerialIterator(data, 5)
    optimizer = chainer.optimizers.Adam().setup(L.Classifier(L.Linear(4, 3)))
    updater = chainer.training.StandardUpdater(iterator, optimizer)
    trainer = chainer.training.Trainer(updater, (2, "epoch"), out=out)
    trainer.extend(extensions.LogReport())
    trainer.extend(extensions.snapshot(autoload=autoload), trigger=(1, "epoch"))
    return trainer


def _check_snapshot(folder: str) -> Callable[[str], str]:
    def check(path: str) -> str:
        trainer = make_trainer(folder, autoload=True)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            trainer.get_extension("snapshot").restore(trainer)
        skipped = [w for w in caught if "is skipped" in str(w.message)]
        return f"started at {trainer.updater.iteration}" + (", with a warning" if skipped else "")

    return check


def run(name: str, count: int, seed: int) -> collections.Counter[str]:
    """Mutates one format.

    Args:
        name: Name of the format.
        count: Number of mutations.
        seed: Seed of the random changes.

    Returns:
        Counter: What happened, and how often.
    """
    rng = random.Random(seed)
    results: collections.Counter[str] = collections.Counter()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "file")
        if name == "snapshot":
            make_trainer(folder).run()
            path = os.path.join(folder, "snapshot_iter_8")
            data, check = Path(path).read_bytes(), _check_snapshot(folder)
        elif name == "caffe":
            caffe_model(path)
            data, check = Path(path).read_bytes(), _check_caffe
        elif name == "onnx":
            onnx_model(path)
            data, check = Path(path).read_bytes(), _check_onnx
        else:
            load = getattr(serializers, f"load_{name}")
            data = _saved(getattr(serializers, f"save_{name}"), path)
            check = _check_model(load)
        for _ in range(count):
            # A new file each time: one that is mapped must not be written.
            fresh = io.BytesIO(mutate(data, rng)).getvalue()
            if name != "snapshot":
                os.unlink(path)
            Path(path).write_bytes(fresh)
            try:
                results[check(path)] += 1
            except Exception as error:  # what readers must not raise
                results[f"{type(error).__name__}: {error}"[:200]] += 1
    return results


FORMATS = ("npz", "hdf5", "safetensors", "snapshot", "caffe", "onnx")
#: What may happen.
ALLOWED = {"equal", "refused", "loaded", "refused (operators)", "started at 8"} | {
    f"started at {iteration}, with a warning" for iteration in (4, 8)
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=20_000, help="mutations of each format")
    parser.add_argument("--formats", nargs="*", default=FORMATS)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    wrong = False
    for name in options.formats:
        results = run(name, options.count, options.seed)
        print(name, dict(results), flush=True)
        wrong |= not results.keys() <= ALLOWED
    raise SystemExit(wrong)


if __name__ == "__main__":
    main()
