import errno
import gc
import multiprocessing
import os
import pathlib
import random
import signal
import subprocess
import sys
import textwrap
import time
import traceback
import warnings

import numpy as np
import pytest

from chainer import serializers
from chainer.iterators import MultiprocessIterator
from chainer.training.iterators import shared_buffer
from chainer.training.iterators.worker_pool import WorkerDied


class Examples:
    """Arrays of several sizes, with random noise."""

    def __init__(self, fail=None, die=None, sleep=0.0):
        self.fail, self.die, self.sleep = fail, die, sleep

    def __len__(self):
        return 20

    def __getitem__(self, index):
        if index == self.fail:
            raise self.error()
        if index == self.die:
            os.kill(os.getpid(), signal.SIGKILL)
        time.sleep(self.sleep)
        noise = np.random.rand(index % 3, 50), random.random()
        return np.full((3, index), index, np.float32), *noise, f"example {index}", os.getpid()

    def error(self):
        return LookupError("bad example")


class Unpicklable(Examples):
    def error(self):
        class Local(Exception):
            pass

        return Local("of a local class")


@pytest.fixture(params=["fork", "spawn"])
def method(request, monkeypatch):
    context = multiprocessing.get_context(request.param)
    monkeypatch.setattr(multiprocessing, "get_context", lambda method=None: context)
    return request.param


linux = pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="no /proc")


def shared_memory_of(pid):
    """Paths of the shared memory a process has attached."""
    lines = pathlib.Path(f"/proc/{pid}/maps").read_text().splitlines()
    return {line.split()[5] for line in lines if "/memfd:chainer-" in line}


@pytest.fixture(autouse=True)
def nothing_is_left():
    yield
    gc.collect()
    assert multiprocessing.active_children() == []


def summary(iterator, n):
    """The examples of some batches without the process that read them."""
    return [
        [(e[0].shape, float(e[0].sum()), e[1].tolist(), e[2], e[3]) for e in iterator.next()]
        for _ in range(n)
    ]


VARIANTS = (
    {"n_processes": 1},
    {"shared_mem": 0},
    {"shared_mem": 10},
    {"shared_mem": 100000},
    {"n_prefetch": 0},
    {"n_prefetch": 4},
    {"n_processes": 3, "maxtasksperchild": 2},
    {"n_processes": 7},
)


def test_examples_depend_on_nothing_but_the_seed(method):
    np.random.seed(1)
    with MultiprocessIterator(Examples(), 6, n_processes=2) as iterator:
        reference = summary(iterator, 8)
    for kwargs in VARIANTS if method == "fork" else VARIANTS[:1]:
        np.random.seed(1)
        with MultiprocessIterator(Examples(), 6, **{"n_processes": 2, **kwargs}) as iterator:
            assert summary(iterator, 8) == reference, kwargs
    noise = [example[3] for batch in reference for example in batch]
    assert len(set(noise)) == len(noise)


@pytest.mark.parametrize("shuffle", [True, False])
def test_random_augmentation_is_resumed(shuffle):
    target = {}
    with MultiprocessIterator(Examples(), 6, shuffle=shuffle, n_processes=2) as iterator:
        summary(iterator, 5)
        serializers.DictionarySerializer(target).save(iterator)
        generator = np.random.get_state()
        expected = summary(iterator, 5)
    with MultiprocessIterator(Examples(), 6, shuffle=shuffle, n_processes=3) as iterator:
        summary(iterator, 2)
        serializers.NpzDeserializer(target).load(iterator)
        np.random.set_state(generator)
        assert summary(iterator, 5) == expected


def test_arrays_are_writable_and_independent():
    for shared_mem in (None, 0):
        with MultiprocessIterator(
            Examples(), 6, shuffle=False, n_processes=2, shared_mem=shared_mem
        ) as iterator:
            batches = [iterator.next() for _ in range(6)]
            kept = [example[0].copy() for batch in batches for example in batch]
            for _ in range(6):
                iterator.next()
        for example, copy in zip((e for batch in batches for e in batch), kept):
            assert example[0].flags.writeable
            np.testing.assert_array_equal(example[0], copy)
            example[0][...] = -1


def test_several_processes_read():
    with MultiprocessIterator(Examples(), 6, n_processes=3) as iterator:
        pids = {example[4] for _ in range(3) for example in iterator.next()}
    assert len(pids) == 3
    assert os.getpid() not in pids


def test_processes_are_replaced():
    with MultiprocessIterator(Examples(), 4, n_processes=2, maxtasksperchild=1) as iterator:
        pids = {example[4] for _ in range(4) for example in iterator.next()}
    assert len(pids) == 8


def test_error_shows_the_traceback_of_the_worker(method):
    with MultiprocessIterator(Examples(fail=7), 6, shuffle=False, n_processes=2) as iterator:
        iterator.next()
        with pytest.raises(LookupError, match="bad example") as info:
            iterator.next()
        text = "".join(traceback.format_exception(info.value))
        assert "raise self.error()" in text
        assert "in __getitem__" in text


def test_error_that_cannot_be_pickled():
    with MultiprocessIterator(Unpicklable(fail=3), 6, shuffle=False, n_processes=2) as iterator:
        with pytest.raises(RuntimeError, match="Local: of a local class") as info:
            iterator.next()
        assert "raise self.error()" in str(info.value.__cause__)


class Stops:
    def __len__(self):
        return 4

    def __getitem__(self, index):
        raise (StopIteration if index % 2 else SystemExit)("enough")


def test_error_that_would_end_the_loop_or_the_program():
    for start in (0, 1):
        with MultiprocessIterator(Stops(), 1, shuffle=False, n_processes=1) as iterator:
            iterator.current_position = start
            with pytest.raises(RuntimeError, match="enough"):
                iterator.next()


def test_dead_worker(method):
    iterator = MultiprocessIterator(Examples(die=7), 6, shuffle=False, n_processes=2)
    iterator.next()
    with pytest.raises(
        WorkerDied, match=r"died \(signal SIGKILL\) while it read examples \[6, 7, 8\]"
    ):
        iterator.next()
    iterator.dataset.die = None
    assert [e[3] for e in iterator.next()] == [f"example {i}" for i in range(6, 12)]
    iterator.finalize()


def test_dataset_that_cannot_be_pickled(monkeypatch):
    context = multiprocessing.get_context("spawn")
    monkeypatch.setattr(multiprocessing, "get_context", lambda method=None: context)
    iterator = MultiprocessIterator([lambda: 1], 1, n_processes=2)
    with pytest.raises(Exception, match="pickle") as caught:
        iterator.next()
    note = caught.value.__notes__[-1]  # Python 3.14 adds notes of its own
    assert "define its class and functions at the top of a module" in note


def test_main_module_without_a_guard(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(
        "import multiprocessing\n"
        "multiprocessing.set_start_method('spawn')\n"
        "from chainer.iterators import MultiprocessIterator\n"
        "MultiprocessIterator([1, 2, 3], 1, n_processes=1).next()\n"
    )
    done = subprocess.run([sys.executable, program], capture_output=True, text=True, timeout=60)
    assert done.returncode == 1
    last = done.stderr.strip().splitlines()[-1]
    assert "WorkerDied: worker process" in last
    assert "put the code of the main module under if __name__ == '__main__':" in last


def test_timeout():
    kwargs = {"shuffle": False, "n_processes": 2, "dataset_timeout": 0.05}
    with MultiprocessIterator(Examples(sleep=0.1), 4, **kwargs) as iterator:
        with pytest.warns(
            MultiprocessIterator.TimeoutWarning, match=r"more than 0\.05 seconds"
        ) as seen:
            iterator.next()
        (warning,) = [w for w in seen if w.category is MultiprocessIterator.TimeoutWarning][:1]
        assert warning.filename == __file__
    with (
        warnings.catch_warnings(),
        MultiprocessIterator(Examples(sleep=0.1), 4, **kwargs) as iterator,
    ):
        warnings.simplefilter("error", MultiprocessIterator.TimeoutWarning)
        with pytest.raises(MultiprocessIterator.TimeoutWarning):
            iterator.next()


def test_hanging_dataset_does_not_keep_the_iterator_from_ending():
    iterator = MultiprocessIterator(Examples(sleep=1000), 4, n_processes=2, dataset_timeout=0.05)
    with warnings.catch_warnings():
        warnings.simplefilter("error", MultiprocessIterator.TimeoutWarning)
        with pytest.raises(MultiprocessIterator.TimeoutWarning):
            iterator.next()
    start = time.monotonic()
    iterator.finalize()
    assert time.monotonic() - start < 120  # the dataset takes 1000 s


def test_garbage_ends_its_processes():
    iterator = MultiprocessIterator(Examples(), 4, n_processes=2)
    iterator.next()
    assert len(multiprocessing.active_children()) == 2
    del iterator
    gc.collect()
    assert multiprocessing.active_children() == []


@pytest.mark.parametrize("shared_mem", [None, 0, 10])
def test_empty_arrays(shared_mem):
    examples = [(np.empty((3, 0), np.float32), np.empty(0, np.int8)) for _ in range(4)]
    examples.append((np.ones((3, 2), np.float32), np.empty(0, np.int8)))
    with MultiprocessIterator(
        examples, 1, shuffle=False, n_processes=1, shared_mem=shared_mem
    ) as iterator:
        for a, b in [*examples, *examples]:
            [(x, y)] = iterator.next()
            assert (x.shape, x.dtype, y.shape, y.dtype) == (a.shape, a.dtype, b.shape, b.dtype)
            assert x.flags.writeable and x.tolist() == a.tolist()


@linux
def test_shared_memory_is_used_and_given_back():
    before = shared_memory_of("self")
    with MultiprocessIterator(Examples(), 6, n_processes=2) as iterator:
        summary(iterator, 4)
        used = shared_memory_of("self") - before
        assert len(used) == 4  # two of each process
        # Mapped, but without files: nothing is left even if all processes are killed at once.
        assert not any(map(os.path.exists, used))
    assert shared_memory_of("self") - before == set()
    assert not any(map(os.path.exists, used))


@linux
def test_little_shared_memory(monkeypatch):
    def full(descriptor, start, size):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(shared_buffer.os, "posix_fallocate", full)
    iterator = MultiprocessIterator(Examples(), 6, n_processes=2, shared_mem=10000)
    expected = "[0-9]+ bytes of shared memory cannot be allocated.*No space left"
    with pytest.warns(RuntimeWarning, match=expected), iterator:
        assert len(summary(iterator, 4)) == 4


def test_shared_memory_without_memfd(monkeypatch):
    """As on systems that have neither of the two functions."""
    monkeypatch.delattr(shared_buffer.os, "memfd_create", raising=False)
    monkeypatch.delattr(shared_buffer.os, "posix_fallocate", raising=False)
    found = []
    for shared_mem in (10000, 0):
        np.random.seed(0)
        with MultiprocessIterator(
            Examples(), 6, n_processes=2, shuffle=False, shared_mem=shared_mem
        ) as iterator:
            found.append(summary(iterator, 4))
    assert found[0] == found[1]


@pytest.mark.parametrize(
    ("name", "value", "least"),
    [
        ("n_processes", -1, 0),
        ("shared_mem", -1, 0),
        ("maxtasksperchild", 0, 1),
    ],
)
def test_bad_arguments(name, value, least):
    with pytest.raises(ValueError, match=f"{name} must be at least {least}, got {value}"):
        MultiprocessIterator([1], 1, **{name: value})


@pytest.mark.parametrize("timeout", [0, -1, float("nan")])
def test_bad_timeout(timeout):
    with pytest.raises(ValueError, match=f"dataset_timeout must be positive .* got {timeout}"):
        MultiprocessIterator([1], 1, dataset_timeout=timeout)


# -- ends of the main process ---------------------------------------------------------------

PROGRAM = """
    import os, signal, sys, time
    import chainer, numpy

    class Slow:
        def __len__(self):
            return 100

        def __getitem__(self, index):
            with open(sys.argv[1], "a") as file:
                file.write(f"{os.getpid()}\\n")
            time.sleep(0.02)
            return numpy.full(100, index)

    if __name__ == "__main__":
        iterator = chainer.iterators.MultiprocessIterator(Slow(), 4, n_processes=2)
        iterator.next()
        iterator.next()  # through shared memory
        print("ready", flush=True)
        BODY
"""


def start(tmp_path, body):
    source = textwrap.dedent(PROGRAM).replace("BODY", textwrap.dedent(body).replace("\n", "\n    "))
    (tmp_path / "program.py").write_text(source)
    process = subprocess.Popen(
        [sys.executable, tmp_path / "program.py", tmp_path / "pids"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"ready\n"
    return process, [int(pid) for pid in set((tmp_path / "pids").read_text().split())]


def wait_for_end(pids):
    deadline = time.monotonic() + 120
    while True:
        alive = [pid for pid in pids if is_running(pid)]
        if not alive or time.monotonic() > deadline:
            return alive
        time.sleep(0.02)


def is_running(pid):
    try:
        status = pathlib.Path(f"/proc/{pid}/stat").read_text()
    except FileNotFoundError:
        return False
    return status.rpartition(")")[2].split()[0] != "Z"


@linux
@pytest.mark.parametrize("body", ["", "1 / 0", "sys.exit(3)"])
def test_workers_end_with_the_program(tmp_path, body):
    process, pids = start(tmp_path, body)
    _, errors = process.communicate(timeout=120)
    assert process.returncode == {"": 0, "1 / 0": 1, "sys.exit(3)": 3}[body]
    assert (b"ZeroDivisionError" in errors) == (body == "1 / 0")
    assert b"resource_tracker" not in errors
    assert wait_for_end(pids) == []


@linux
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_workers_end_when_the_program_is_killed(tmp_path, number):
    process, pids = start(tmp_path, "while True: iterator.next()")
    process.send_signal(signal.SIGSTOP)
    used = shared_memory_of(process.pid)
    process.send_signal(number)
    process.send_signal(signal.SIGCONT)
    process.communicate(timeout=120)
    assert used
    assert wait_for_end(pids) == []
    assert not any(map(os.path.exists, used))


@linux
def test_control_c_reaches_the_main_process_only(tmp_path):
    process, pids = start(
        tmp_path,
        """
        try:
            print("steady", flush=True)
            while True:
                iterator.next()
        except KeyboardInterrupt:
            print("interrupted", iterator.current_position, flush=True)
            print(len(iterator.next()), flush=True)
            iterator.finalize()
        """,
    )
    assert process.stdout.readline() == b"steady\n"
    time.sleep(random.random() / 5)
    os.killpg(process.pid, signal.SIGINT)
    output, errors = process.communicate(timeout=120)
    assert process.returncode == 0
    assert output.startswith(b"interrupted")
    assert output.endswith(b"4\n")
    assert errors == b""
    assert wait_for_end(pids) == []


@pytest.mark.parametrize(("n_prefetch", "expected"), [(-1, 1), (0, 1), (3, 3)])
def test_at_least_one_batch_is_read_ahead(n_prefetch, expected):
    with MultiprocessIterator([1, 2], 1, n_processes=1, n_prefetch=n_prefetch) as iterator:
        assert iterator.n_prefetch == expected
        iterator.next()
        # One batch more than fits in the queue, as in release 7.
        assert len(iterator._ahead) == expected + 1


def test_default_number_of_processes():
    for n_processes in (None, 0):
        iterator = MultiprocessIterator([1, 2], 1, n_processes=n_processes)
        assert iterator.n_processes == len(os.sched_getaffinity(0))


@pytest.mark.parametrize(
    ("size", "batch_size", "n_prefetch", "expected"),
    [(10, 12, 1, 0.634274), (10, 4, 3, 0.461479), (7, 4, 1, 0.957155), (7, 15, 2, 0.368725)],
)
def test_random_numbers_after_five_batches_are_those_of_release_7(
    size, batch_size, n_prefetch, expected
):
    # Numbers of 7.8.1, if the program waits until the reader is as far ahead as it goes.
    np.random.seed(0)
    with MultiprocessIterator(
        list(range(size)), batch_size, n_processes=1, n_prefetch=n_prefetch
    ) as iterator:
        for _ in range(5):
            iterator.next()
        assert round(np.random.rand(), 6) == expected
