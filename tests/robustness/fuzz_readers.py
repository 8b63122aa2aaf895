"""Fuzzes the readers of files: each may return or raise the errors that it documents.

Run ``python tests/robustness/fuzz_readers.py --seconds 60`` for all formats, or name some. Where
atheris is installed (``pip install atheris``) it guides the changes by the lines that they reach;
elsewhere, or with ``--engine own``, they are those of ``mutations.py``. One hour for each format is
``--seconds 3600``. A finding is written to the folder ``--findings``, with the traceback.

Each format is fuzzed in a process of its own, which may take 3 GiB of memory. No input may take
longer than 20 seconds.
"""

from __future__ import annotations

import argparse
import gzip
import importlib.util
import io
import json
import os
import pickle
import random
import resource
import signal
import subprocess
import sys
import tarfile
import tempfile
import time
import traceback
import warnings
import zipfile
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, os.path.dirname(__file__))


def _guiding() -> AbstractContextManager[Any]:
    """Modules that are imported in the block tell atheris which of their lines run."""
    if not {"--here", "atheris"} <= set(sys.argv):
        return nullcontext()
    import atheris

    return atheris.instrument_imports(include=["chainer", "chainer_step_player", "onnx_chainer"])


with _guiding():
    import mutations

    import chainer
    import chainer.functions as F
    import chainer.links as L

#: Of processor time, so that a busy machine makes no finding, and by the clock, for a reader that
#: waits for ever.
_SECONDS_PER_INPUT, _SECONDS_WAITING = 20, 600
_MEMORY = 3 << 30


class TooSlowError(BaseException):
    """A reader takes too long for one input."""


# -- formats: the bytes of a good file, and how it is read -----------------------------------------


def _saved(save: Callable[[str], Any]) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "file")
        save(path)
        return Path(path).read_bytes()


def _model(name: str) -> tuple[Callable[[], bytes], Callable[[str], object]]:
    # Looked up in the calls: atheris changes the code of modules while they are imported.
    def make() -> bytes:
        save = getattr(chainer.serializers, f"save_{name}")
        return _saved(lambda path: save(path, mutations.Model(1)))

    def read(path: str) -> None:
        getattr(chainer.serializers, f"load_{name}")(path, mutations.Model(2))

    return make, read


def _save_step(path: str) -> None:
    model = L.Linear(3, 2)
    optimizer = chainer.optimizers.SGD().setup(model)

    def step(x: chainer.Variable) -> chainer.Variable:
        loss = F.sum(model(x))
        model.cleargrads()
        loss.backward()
        optimizer.update()
        return loss

    captured = chainer.capture(step, model, optimizer)
    for _ in range(4):
        captured(np.ones((2, 3), np.float32))
    captured.save(path)


def _step_header() -> bytes:
    with np.load(io.BytesIO(_saved(_save_step))) as file:
        return file["step"].tobytes()


def _read_step(path: str) -> None:
    # Looked up here, as for models: it is imported where atheris changes its code.
    step = chainer.load_step(path)
    step.explain()
    step.snapshot()
    step.snapshot(1)


def _read_step_header(path: str) -> None:
    """Reads a whole file with this header: checksums refuse most changes of the file itself."""
    memory = {f"memory{i}": np.zeros(4096, np.uint8) for i in range(4)}
    header = np.frombuffer(Path(path).read_bytes(), np.uint8)
    np.savez(path + ".npz", step=header, random=np.zeros(624, np.uint32), **memory)
    _read_step(path + ".npz")


def _idx() -> bytes:
    return bytes([0, 0, 8, 3, *(0, 0, 0, 2), *(0, 0, 0, 4), *(0, 0, 0, 4)]) + bytes(range(32))


def _cifar() -> bytes:
    content = pickle.dumps({"data": np.zeros((2, 3072), np.uint8), "labels": [1, 2]}, 2)
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as archive:
        for name in ("data_batch_1", "test_batch"):
            member = tarfile.TarInfo(f"cifar-10-batches-py/{name}")
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return stream.getvalue()


def _image() -> bytes:
    from PIL import Image

    stream = io.BytesIO()
    Image.fromarray(np.arange(48, dtype=np.uint8).reshape(4, 4, 3)).save(stream, "png")
    return stream.getvalue()


def _zipped() -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.png", _image())
    return stream.getvalue()


def _read_cifar(path: str) -> None:
    from chainer.training.datasets import cifar

    cifar._read_batches(path, ["data_batch_1", "test_batch"], "labels")


def _read_idx(path: str) -> None:
    from chainer.training.datasets.mnist_format import read_idx

    read_idx(path)


def _read_zipped(path: str) -> None:
    dataset = chainer.datasets.ZippedImageDataset(path)
    for i in range(len(dataset)):
        dataset[i]


def _read_text(path: str) -> None:
    dataset = chainer.datasets.TextDataset(path, encoding="utf-8", errors="replace")
    for i in range(len(dataset)):
        dataset[i]


def _read_log(path: str) -> None:
    from chainer.plugins.board.log_reader import LogReader

    reader = LogReader(Path(path), Path(path).parent, 1 << 20)
    reader.update(time.monotonic() + 5)
    json.loads(b"{" + reader.entries() + b"}")


def _read_caffe(path: str) -> None:
    from chainer.links.caffe import CaffeFunction

    CaffeFunction(path)


def _read_onnx(path: str) -> None:
    import onnx_chainer

    try:
        onnx_chainer.load(path)
    except onnx_chainer.UnsupportedOperatorError:
        pass


#: Format -> bytes of a good file, and the reader.
FORMATS: dict[str, tuple[Callable[[], bytes], Callable[[str], object]]] = {
    "npz": _model("npz"),
    "hdf5": _model("hdf5"),
    "safetensors": _model("safetensors"),
    "step": (lambda: _saved(_save_step), _read_step),
    "step.json": (_step_header, _read_step_header),
    "idx": (_idx, _read_idx),
    "idx.gz": (lambda: gzip.compress(_idx()), _read_idx),
    "cifar": (_cifar, _read_cifar),
    "image": (_image, lambda path: chainer.datasets.ImageDataset([path])[0]),
    "zip": (_zipped, _read_zipped),
    "text": (lambda: b"one\r\ntwo\nthree", _read_text),
    "log": (lambda: json.dumps([{"epoch": 1, "main/loss": 0.5}] * 3).encode(), _read_log),
    "caffe": (lambda: _saved(mutations.caffe_model), _read_caffe),
    "onnx": (lambda: _saved(mutations.onnx_model), _read_onnx),
}


#: Further errors that the readers document. An HDF5 file whose last bytes are gone is one of
#: another writer, in which an entry is missing or has another shape. So is a safetensors file whose
#: checksum has another name. The checksums of an NPZ file do not include the names of its entries,
#: so one may be missing. Pillow reserves the memory that a part of an image declares.
DOCUMENTED: dict[str, tuple[type[Exception], ...]] = {
    "hdf5": (KeyError, ValueError),
    "safetensors": (KeyError, ValueError),
    "npz": (KeyError,),
    "image": (OSError, MemoryError),
    "zip": (OSError, MemoryError, zipfile.BadZipFile),
}


# -- one format ------------------------------------------------------------------------------------


class Target:
    """One format.

    Args:
        name: Its name.
        folder: Folder for the input.
    """

    def __init__(self, name: str, folder: str) -> None:
        self.make, self._read = FORMATS[name]
        self._documented = (chainer.serializers.FileFormatError, *DOCUMENTED.get(name, ()))
        if name in ("image", "zip"):
            from PIL import Image

            # An image that declares more pixels than docs/robustness.md states is refused so.
            self._documented += (Image.DecompressionBombError,)
        self._path = os.path.join(folder, "input.png")  # the reader of images looks at the suffix
        self.count = 0
        for number in (signal.SIGPROF, signal.SIGALRM):
            signal.signal(number, self._stop)

    def _stop(self, number: int, _: object) -> None:
        if number == signal.SIGALRM:
            raise TooSlowError(f"no result after {_SECONDS_WAITING} seconds")
        raise TooSlowError(f"no result after {_SECONDS_PER_INPUT} seconds of processor time")

    def __call__(self, data: bytes) -> None:
        """Reads an input; raises what a reader must not raise."""
        self.count += 1
        # A new file: one that is mapped must not be written.
        Path(self._path).unlink(missing_ok=True)
        Path(self._path).write_bytes(data)
        signal.setitimer(signal.ITIMER_PROF, _SECONDS_PER_INPUT)
        signal.alarm(_SECONDS_WAITING)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                self._read(self._path)
        except self._documented as error:
            # A file of another model: the user has to read which one.
            if type(error) in (KeyError, ValueError) and self._path not in str(error):
                raise
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
            signal.alarm(0)


def _own(target: Target, seconds: float, seed: int, findings: Path) -> int:
    rng, good = random.Random(seed), target.make()
    found: dict[str, str] = {}
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        data = mutations.mutate(good, rng)
        for _ in range(rng.choice((0, 0, 1, 3))):
            data = mutations.mutate(data, rng) if data else data
        try:
            target(data)
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt):
                raise
            place = traceback.extract_tb(error.__traceback__)[-1]
            key = f"{type(error).__name__} at {place.filename}:{place.lineno}"
            if key not in found:
                found[key] = str(error)[:200]
                findings.mkdir(parents=True, exist_ok=True)
                (findings / f"{len(found)}.input").write_bytes(data)
                (findings / f"{len(found)}.txt").write_text(traceback.format_exc())
    for key, text in found.items():
        print(f"  {key}: {text}")
    return len(found)


def _with_atheris(target: Target, seconds: float, seed: int, corpus: Path, findings: Path) -> None:
    import atheris

    corpus.mkdir(parents=True, exist_ok=True)
    (corpus / "good").write_bytes(target.make())
    findings.mkdir(parents=True, exist_ok=True)
    options = [f"-max_total_time={seconds:.0f}", f"-seed={seed + 1}", "-print_final_stats=1"]
    options += [f"-artifact_prefix={findings}{os.sep}", "-max_len=200000", "-rss_limit_mb=3000"]
    atheris.Setup([sys.argv[0], str(corpus), *options], target)
    atheris.Fuzz()  # ends the process


def fuzz(
    name: str, seconds: float, seed: int, engine: str, findings: Path, corpus: Path | None = None
) -> int:
    """Fuzzes a format in this process; returns the number of findings."""
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY * (8 if engine == "atheris" else 1),) * 2)
    with tempfile.TemporaryDirectory() as folder:
        target = Target(name, folder)
        with _guiding():
            target(target.make())  # imports what the reader needs
        if engine == "atheris":
            _with_atheris(target, seconds, seed, corpus or Path(folder, "corpus"), findings)
        found = _own(target, seconds, seed, findings)
        print(f"{name}: {target.count} inputs in {seconds:.0f} s, {found} findings", flush=True)
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("formats", nargs="*", help=f"of {', '.join(FORMATS)}; default: all")
    parser.add_argument("--seconds", type=float, default=60.0, help="time for each format")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--engine", choices=["atheris", "own"])
    parser.add_argument("--findings", type=Path, default=Path("findings"))
    parser.add_argument(
        "--corpus", type=Path, help="folder that keeps what atheris found, for the next run"
    )
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    formats = options.formats or list(FORMATS)
    if unknown := set(formats) - set(FORMATS):
        parser.error(f"unknown formats {sorted(unknown)}; there are {', '.join(FORMATS)}")
    engine = options.engine
    if engine is None:
        engine = "own" if importlib.util.find_spec("atheris") is None else "atheris"
    if options.here:
        (name,) = formats
        found = fuzz(name, options.seconds, options.seed, engine, options.findings, options.corpus)
        return min(found, 100)
    bad: list[str] = []
    for name in formats:
        command = [sys.executable, __file__, name, "--here", "--engine", engine]
        command += ["--seconds", str(options.seconds), "--seed", str(options.seed)]
        if options.corpus is not None:
            command += ["--corpus", str((options.corpus / name).absolute())]
        folder = (options.findings / name).absolute()
        done = subprocess.run([*command, "--findings", str(folder)], check=False)
        if done.returncode:
            print(f"{name}: status {done.returncode}, see {folder}", flush=True)
            bad.append(name)
    print(f"{len(formats)} formats, {len(bad)} with findings: {', '.join(bad) or 'none'}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
