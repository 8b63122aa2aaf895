"""A process fails, with ``chainer launch`` and with plain mpiexec."""

import contextlib
import mmap
import os
import random
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from chainermn.launching import LaunchError, finding, launch
from chainermn.launching.finding import family_of, find_launcher
from chainermn.launching.shared_memory import SharedMemory
from mpi_processes import descendants

PROGRAMS = Path(__file__).parent / "programs"
#: A program that hangs is ended, and its test fails. Thirty processes that start at once on two
#: cores need half a minute.
SECONDS = 300


def mpiexec():
    try:
        return find_launcher().path
    except LaunchError as error:
        pytest.skip(f"no MPI: {error}")


def command(n, program, *arguments):
    mpiexec()
    return [
        *(sys.executable, "-m", "chainer.plugins.cli", "launch", "-n", str(n)),
        *(str(PROGRAMS / program), *map(str, arguments)),
    ]


def run(n, program, *arguments, **variables):
    return finish(
        subprocess.Popen(
            command(n, program, *arguments),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, **variables},
            start_new_session=True,
        )
    )


def finish(process):
    try:
        out, error = process.communicate(timeout=SECONDS)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        raise
    return process.returncode, out, error


def test_all_is_well():
    status, out, error = run(2, "fail.py", "none", 0, OMP_NUM_THREADS="3")
    assert status == 0, error
    assert out.count("end") == 2
    assert out.count("threads 3") == 2  # what the user has set is kept


def test_exception():
    status, _, error = run(2, "fail.py", "raise", 1)
    assert status == 1
    assert "rank 1 of 2 (process " in error
    assert "ValueError: a bad number" in error
    assert 'fail.py", line' in error
    assert "runpy" not in error
    assert "all 2 processes were ended" in error


@pytest.mark.parametrize(("way", "expected"), [("exit", 3), ("text", 1)])
def test_exit(way, expected):
    status, _, error = run(2, "fail.py", way, 0)
    assert status == expected
    assert "rank 0 of 2" in error
    assert "ended first, by sys.exit(" in error


def test_killed():
    begin = time.monotonic()
    status, _, error = run(2, "fail.py", "kill", 1)
    assert status != 0
    assert "rank 1 of 2" in error
    assert "was killed" in error
    assert time.monotonic() - begin < 300  # the other process would wait for 600 s


@pytest.mark.parametrize("size", [2, pytest.param(3, marks=pytest.mark.slow)])
def test_a_process_that_ends_early(size):
    """It ends well while the others wait for it: they would wait for ever."""
    begin = time.monotonic()
    status, _, error = run(size, "fail.py", "end", 1)
    assert status == 1
    assert re.search(r"rank 1 of \d \(process \d+ on .*\) ended with status 0 while others", error)
    assert re.search(r"rank [02] waits in barrier \(fail.py, line \d+\)", error)
    assert time.monotonic() - begin < 40  # some seconds after the start of MPI


@pytest.mark.slow
@pytest.mark.parametrize("way", ["thread", "long"])
def test_processes_that_end_at_different_times(way):
    """A process that has ended is not missed: it has a thread, or the others do not need it."""
    status, out, error = run(3, "fail.py", way, 1)
    assert status == 0, error
    assert out.count("end\n") == 2


@pytest.mark.skipif(not Path("/dev/shm").is_dir(), reason="needs /dev/shm")
@pytest.mark.parametrize("way", ["raise", "kill"])
def test_no_shared_memory_is_left(way):
    mpiexec()
    _, out, error = run(2, "fail.py", way, 1)
    # The ones of this job: other tests run, and leave theirs, at the same time.
    lines = re.findall(r"^segments (.*)$", out, re.MULTILINE)
    segments = {name for line in lines for name in line.split()}
    assert segments, error
    assert not segments & set(os.listdir("/dev/shm"))


@pytest.mark.skipif(not Path("/dev/shm").is_dir(), reason="needs /dev/shm")
def test_shared_memory_of_a_start_that_was_killed():
    """A process that is killed before it has told its segments leaves none; others' files stay."""
    own = os.getpid()
    before = [Path("/dev/shm", f"{name}_{own}") for name in ("mpich_shm_before", "not_of_mpi")]
    left = [Path("/dev/shm", f"mpich_shm_left{i}_{own}") for i in range(3)]
    try:
        with contextlib.ExitStack() as mapped:
            # Jobs of tests that run beside this one remove segments that no process maps.
            for path in before:
                mapped.enter_context(written_and_mapped(path))
            time.sleep(0.05)
            memory = SharedMemory()
            mapped.enter_context(written_and_mapped(left[1]))
            with written_and_mapped(left[2]):
                left[0].write_bytes(b"0" * 4096)
                memory.note([left[0].name, before[1].name, "../etc/passwd"])
                memory.remove()
                assert [path.exists() for path in left] == [False, True, True]
            assert not {path.name for path in before} & memory._unclaimed()
            memory.remove(failed=True)
            assert [path.exists() for path in left] == [False, True, False]
            assert all(path.exists() for path in before)
    finally:
        for path in [*left, *before]:
            path.unlink(missing_ok=True)


@contextlib.contextmanager
def written_and_mapped(path):
    path.write_bytes(b"0" * 4096)
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ):
        yield


def test_caught_exit_is_not_a_failure():
    status, out, error = run(2, "fail.py", "caught", 0)
    assert status == 0, error
    assert out.count("end") == 2


def waiting(**handlers):
    """Returns a job that waits, in which signals have the given handlers at the start."""

    def begin():
        for name, handler in handlers.items():
            signal.signal(getattr(signal, name), handler)

    process = subprocess.Popen(
        command(2, "fail.py", "wait", 0),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=begin,
    )
    seen = 0
    while seen < 2:
        seen += "waits" in process.stdout.readline()
    return process


def test_signal_is_forwarded():
    # A shell starts the tests themselves with Ctrl-C ignored if they run in the background.
    process = waiting(SIGINT=signal.SIG_DFL)
    os.kill(process.pid, signal.SIGINT)
    status, _, error = finish(process)
    assert status == 130, error
    assert "KeyboardInterrupt" in error


def test_ignored_signals_are_not_forwarded():
    """``nohup chainer launch`` goes on after its terminal has gone."""
    process = waiting(SIGHUP=signal.SIG_IGN, SIGINT=signal.SIG_DFL)
    os.kill(process.pid, signal.SIGHUP)
    time.sleep(0.5)
    assert process.poll() is None
    with open(f"/proc/{process.pid}/status", encoding="utf-8") as file:
        ignored = next(int(line.split()[1], 16) for line in file if line.startswith("SigIgn"))
    assert ignored >> (signal.SIGHUP - 1) & 1
    os.kill(process.pid, signal.SIGINT)
    assert finish(process)[0] == 130


@pytest.mark.parametrize(
    ("way", "status", "text"),
    [
        ("raise", 1, "ValueError: a bad number"),
        ("exit", 3, "sys.exit(3)"),
        ("text", 1, "no data"),
    ],
)
def test_plain_mpiexec(way, status, text):
    """The hook that create_communicator installs aborts all processes."""
    done = subprocess.run(
        [mpiexec(), "-n", "2", sys.executable, str(PROGRAMS / "fail.py"), way, "1"],
        capture_output=True,
        text=True,
        timeout=SECONDS,
    )
    assert done.returncode == status, done.stderr
    assert text in done.stderr
    assert "chainermn: rank 1 of 2 ended" in done.stderr


def test_plain_mpiexec_caught_exit():
    done = subprocess.run(
        [mpiexec(), "-n", "2", sys.executable, str(PROGRAMS / "fail.py"), "caught", "1"],
        capture_output=True,
        text=True,
        timeout=SECONDS,
    )
    assert done.returncode == 0, done.stderr


def test_bad_arguments(tmp_path):
    with pytest.raises(ValueError, match="must be positive, got 0"):
        launch(["x.py"], 0)
    with pytest.raises(ValueError, match="max_restarts"):
        launch(["x.py"], 1, max_restarts=-1)
    with pytest.raises(FileNotFoundError, match="there is no program"):
        launch([str(tmp_path / "x.py")], 1)
    mpiexec()
    other = tmp_path / "mpiexec"
    other.write_text("#!/bin/sh\necho 'mpiexec (Open MPI) 5.0.1'\n")
    other.chmod(0o755)
    if find_launcher().family == "mpich":
        with pytest.raises(LaunchError, match=r"launchers found: .*mpiexec \(openmpi\)"):
            find_launcher(str(other))


def test_a_launcher_that_does_not_answer(tmp_path, monkeypatch):
    mpiexec()
    slow = tmp_path / "mpiexec"
    slow.write_text("#!/bin/sh\nexec sleep 60\n")
    slow.chmod(0o755)
    text = rf"{slow} did not tell its version within 1 seconds, .* --start-timeout"
    monkeypatch.setattr(finding, "library_version", lambda timeout: "MPICH 5")
    with pytest.raises(LaunchError, match=text):
        find_launcher(str(slow), 1.0)
    # By default a busy machine has more time.
    monkeypatch.setattr(finding, "_SECONDS", 0.1)
    monkeypatch.setattr(os, "getloadavg", lambda: (20.0 * os.cpu_count(), 0, 0))
    with pytest.raises(LaunchError, match=r"within 2 seconds, at a load of 20\.0 for each core"):
        find_launcher(str(slow))
    program = tmp_path / "x.py"
    program.write_text("")
    with pytest.raises(ValueError, match="start_timeout must be positive, got -1"):
        launch([str(program)], 1, start_timeout=-1)
    status, _, error = finish(
        subprocess.Popen(
            [
                *(sys.executable, "-m", "chainer.plugins.cli", "launch", "-n", "1"),
                *("--start-timeout", "0.01", str(program)),
            ],
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
    )
    assert status == 2
    assert "the MPI of mpi4py did not tell its version within 0.01 seconds" in error


def test_families():
    assert family_of("HYDRA build details") == "mpich"
    assert family_of("mpiexec (OpenRTE) 4.1.4") == "openmpi"
    assert family_of("Intel(R) MPI Library 2021") == "mpich"
    assert family_of("") is None


def start(size, *arguments):
    """Starts the program that trains, by ``chainer launch``."""
    return subprocess.Popen(
        command(size, "train.py", *arguments),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def train_until_the_end(out, size, kills, options=(), start=start):
    """Trains; processes are killed at random moments and all is started again.

    On busy cores a training may end before its moment is seen. Then it was the last one. It is the
    last one, too, if it was killed after its last iteration: the checkpoints are removed then.
    """
    chooser = random.Random(3)
    loaded, last, ended = [], 3 * 16 // size, False
    for attempt in range(len(kills) + 1):
        process = start(size, out, 3, *options)
        killed_at = None
        for line in process.stdout:
            match = re.match(r"(loaded|iteration) (\w+)", line)
            if match is None:
                continue
            if match[1] == "loaded":
                if not ended:
                    loaded.append(None if match[2] == "None" else int(match[2]))
                continue
            ended = ended or int(match[2]) == last
            if attempt < len(kills) and killed_at is None and int(match[2]) >= kills[attempt]:
                workers = pids_of(out)
                if len(workers) == size:
                    # The process may have just ended by itself, on busy cores.
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(chooser.choice(workers), signal.SIGKILL)
                        killed_at = time.monotonic()
        status, _, error = finish(process)
        if killed_at is not None and status != 0:
            assert "was killed" in error or "the programs of all" in error, error
            assert time.monotonic() - killed_at < 120
        else:
            assert status == 0, error
            break
    return loaded


def pids_of(out):
    """Returns the processes of the program that writes into a folder."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                words = (entry / "cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            is_worker = str(out).encode() in words and b"chainermn.launching.worker" in words
            # The launcher of MPI has the same words in its command line.
            if is_worker and Path(os.readlink(entry / "exe")).name.startswith("python"):
                found.append(int(entry.name))
    return found


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/cmdline").exists(), reason="finds processes in /proc")
@pytest.mark.parametrize("options", [(), ("sharded",)], ids=["plain", "sharded"])
@pytest.mark.parametrize("size", [2, 4])
def test_killed_run_resumes_bit_by_bit(tmp_path, size, options):
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    assert train_until_the_end(whole, size, [], options) == [None]
    last = 3 * 16 // size
    kills = [last // 3, 2 * last // 3]
    loaded = train_until_the_end(broken, size, kills, options)
    assert loaded[0] is None
    assert 0 < loaded[1] < loaded[2] <= last
    with np.load(whole / "model.npz") as a, np.load(broken / "model.npz") as b:
        assert sorted(a) == sorted(b)
        for name in a:
            np.testing.assert_array_equal(a[name], b[name])


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks at processes in /proc")
def test_descendants_are_found():
    """The tests remove the shared memory of processes that they started, and of no other ones."""
    program = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'input()'])"
    with subprocess.Popen([sys.executable, "-c", program], stdin=subprocess.PIPE) as process:
        try:
            deadline = time.monotonic() + SECONDS
            while len(found := descendants(process.pid)) < 1 and time.monotonic() < deadline:
                time.sleep(0.05)
            assert process.pid in descendants(os.getpid())
            assert set(found) <= set(descendants(os.getpid()))
            assert len(found) == 1 and not {process.pid, os.getpid()} & set(found)
        finally:
            process.communicate(b"\n")
