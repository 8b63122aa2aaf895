"""Eight threads that train at the same time, each its own model."""

import ctypes
import os
import re
import subprocess
import sys
import threading

import numpy as np
import pytest

import chainer
import chainer.functions as F
import chainer.links as L
from chainer.core.config import blas_threads, busy_threads
from chainer.core.config.busy_threads import BusyMonitor, available_cores
from chainer.plugins.doctor.installed import examine_environment
from chainer.utils import install_command


def train(seed, debug=False):
    rng = np.random.RandomState(seed)
    model = L.Linear(8, 4, initialW=rng.rand(4, 8).astype("f"))
    optimizer = chainer.optimizers.Adam().setup(model)
    x, t = rng.rand(16, 8).astype("f"), rng.randint(0, 4, 16).astype("i")
    with chainer.using_config("debug", debug):
        for _ in range(30):
            optimizer.update(lambda: F.softmax_cross_entropy(F.tanh(model(x)), t))
            with chainer.no_backprop_mode():
                assert model(x).creator is None
    return model.W.array


def test_eight_threads():
    expected = [train(seed) for seed in range(8)]
    found, failures = {}, []

    def work(seed):
        try:
            found[seed] = train(seed, debug=seed % 2 == 1)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    for seed in range(8):
        np.testing.assert_array_equal(found[seed], expected[seed])
    assert not chainer.is_debug()


class TestBlasThreads:
    def test_limit(self):
        threadpoolctl = pytest.importorskip("threadpoolctl")

        def number():
            pools = threadpoolctl.threadpool_info()
            return max([pool["num_threads"] for pool in pools if pool["user_api"] == "blas"])

        before = number()
        with chainer.using_config("blas_threads", 1):
            assert number() == blas_threads.blas_threads() == 1
        assert number() == before

    @pytest.mark.parametrize("value", [0, -1, "2", 1.5])
    def test_bad_value(self, value):
        with pytest.raises(
            ValueError, match=r"config\.blas_threads must be a positive int, 'auto' or None"
        ):
            chainer.config.blas_threads = value

    def test_missing_package(self, monkeypatch):
        monkeypatch.setitem(__import__("sys").modules, "threadpoolctl", None)
        with pytest.raises(ImportError, match=re.escape(install_command("chainer[threads]"))):
            chainer.config.blas_threads = 1
        monkeypatch.setenv("OMP_NUM_THREADS", "3")
        assert blas_threads.blas_threads() == 3

    def test_variable(self):
        with pytest.raises(
            ValueError, match="CHAINER_BLAS_THREADS must be 1 or more, or auto, got 'x'"
        ):
            blas_threads.parse_count("CHAINER_BLAS_THREADS", "x")
        assert blas_threads.parse_count("CHAINER_BLAS_THREADS", "2") == 2
        assert blas_threads.parse_count("CHAINER_BLAS_THREADS", "auto") == "auto"

    def test_auto_gives_threads_back(self):
        threadpoolctl = pytest.importorskip("threadpoolctl")

        def numbers():
            return [pool["num_threads"] for pool in threadpoolctl.threadpool_info()]

        before = numbers()
        with chainer.using_config("blas_threads", "auto"):
            names = [thread.name for thread in threading.enumerate()]
            assert "chainer-busy" in names
        assert "chainer-busy" not in [thread.name for thread in threading.enumerate()]
        assert numbers() == before

    def test_several_threads_change_it(self):
        """One limit at a time is left, and at the end none."""
        pytest.importorskip("threadpoolctl")
        before, failures = blas_threads.blas_threads(), []

        def work(number):
            try:
                for i in range(20):
                    with chainer.using_config("blas_threads", ("auto", 1, None)[(number + i) % 3]):
                        np.ones((8, 8)) @ np.ones((8, 8))
            except BaseException as error:
                failures.append(error)

        threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        chainer.config.blas_threads = None
        try:
            assert not failures
            assert "chainer-busy" not in [thread.name for thread in threading.enumerate()]
            assert blas_threads.blas_threads() == before
        finally:
            del chainer.config.blas_threads

    def test_advice(self, monkeypatch):
        monkeypatch.setattr(blas_threads.os, "sched_getaffinity", lambda _: {0, 1, 2, 3})
        monkeypatch.setattr(blas_threads, "blas_threads", lambda: 4)
        monkeypatch.setattr(blas_threads.os, "getloadavg", lambda: (3.5, 0, 0))
        assert (
            "4 threads, and the 4 cores are busy (load 3.5)" in blas_threads.slow_threads_advice()
        )
        monkeypatch.setattr(blas_threads, "blas_threads", lambda: 1)
        assert blas_threads.slow_threads_advice() is None
        monkeypatch.setattr(blas_threads, "blas_threads", lambda: 4)
        monkeypatch.setattr(blas_threads.os, "getloadavg", lambda: (0.5, 0, 0))
        assert blas_threads.slow_threads_advice() is None

    def test_advice_on_the_processor_that_blas_assumes(self, monkeypatch):
        monkeypatch.delenv("OPENBLAS_CORETYPE", raising=False)
        assert blas_threads.slow_core_advice() is None
        monkeypatch.setenv("OPENBLAS_CORETYPE", "Haswell")
        advice = blas_threads.slow_core_advice()
        assert advice.startswith("OPENBLAS_CORETYPE=Haswell: NumPy's BLAS takes this processor")
        findings = examine_environment([]).findings
        assert [f.text for f in findings if f.cause == "blas_core"] == [advice]


class Library:
    """A library with threads."""

    user_api, prefix, dynlib = "blas", "libopenblas", None

    def __init__(self, num_threads):
        self.num_threads = num_threads
        self.filepath = f"/lib/of{num_threads}.so"

    def set_num_threads(self, num_threads):
        self.num_threads = num_threads


class TestBusyMonitor:
    """Threads of libraries while other programs use the cores; time and counts are made up."""

    @pytest.fixture
    def monitor(self):
        self.count = self.now = 0
        self.pools = [Library(4), Library(2)]
        return BusyMonitor(lambda: self.pools, lambda: self.count, lambda: self.now)

    def pass_time(self, monitor, seconds, interruptions=0):
        self.now += seconds
        self.count += interruptions
        monitor.look()
        return [pool.num_threads for pool in self.pools]

    def test_an_idle_machine(self, monitor):
        for _ in range(100):
            assert self.pass_time(monitor, 0.02, _ % 2) == [4, 2]

    def test_a_busy_machine(self, monitor):
        assert self.pass_time(monitor, 0.02, 2) == [1, 1]
        assert self.pass_time(monitor, 1.9) == [1, 1]
        # Two seconds without an interruption: threads are tried again.
        assert self.pass_time(monitor, 0.2) == [4, 2]

    def test_trials_that_fail_become_rare(self, monitor):
        pauses = []
        self.pass_time(monitor, 10, 2)
        for _ in range(6):
            begin = self.now
            while self.pass_time(monitor, 0.5) == [1, 1]:
                pass
            pauses.append(self.now - begin)
            self.pass_time(monitor, 0.02, 5)
        assert pauses == pytest.approx([2, 4, 8, 16, 32, 60], abs=0.6)

    def test_after_a_long_peace_trials_begin_anew(self, monitor):
        for _ in range(3):
            self.pass_time(monitor, 0.02, 5)
            self.pass_time(monitor, 100)
        self.pass_time(monitor, 1000)
        assert self.pass_time(monitor, 0.02, 5) == [1, 1]
        assert self.pass_time(monitor, 2.1) == [4, 2]

    def test_not_while_results_are_compared(self, monitor):
        with monitor.unchanged():
            with monitor.unchanged():
                assert self.pass_time(monitor, 0.02, 2) == [4, 2]
            assert self.pass_time(monitor, 0.02) == [4, 2]
        assert self.pass_time(monitor, 0.02) == [1, 1]  # of what came meanwhile
        with pytest.raises(KeyboardInterrupt), monitor.unchanged():
            assert self.pass_time(monitor, 2.1) == [1, 1]
            raise KeyboardInterrupt
        assert self.pass_time(monitor, 0.02) == [4, 2]

    def test_the_end(self, monitor):
        self.pass_time(monitor, 0.02, 2)
        monitor.restore_original_limits()
        assert [pool.num_threads for pool in self.pools] == [4, 2]

    def test_a_library_that_is_loaded_later(self, monitor):
        self.pass_time(monitor, 0.02, 2)
        self.pools.append(Library(8))
        assert self.pass_time(monitor, 0.02, 2) == [1, 1, 8]  # there is a search once a second
        assert self.pass_time(monitor, 1.0, 2) == [1, 1, 1]
        assert self.pass_time(monitor, 2.1) == [4, 2, 8]

    def test_a_provider_that_limits_the_threads_meanwhile(self, monitor):
        self.pass_time(monitor, 0.02, 2)
        monitor.lower_blas_threads(1)
        assert self.pass_time(monitor, 2.1) == [1, 1]

    def test_a_library_whose_threads_belong_to_the_caller(self, monitor):
        self.pools[0].user_api = "openmp"
        assert self.pass_time(monitor, 0.02, 2) == [4, 1]


class Pool:
    """Threads of a provider."""

    def __init__(self):
        self.calls = []

    def give_way(self):
        self.calls.append("give way")

    def take_back(self):
        self.calls.append("take back")


def test_threads_of_a_provider_give_way(monkeypatch):
    pytest.importorskip("threadpoolctl")
    monkeypatch.setattr(blas_threads, "_added", [])
    monkeypatch.setattr(busy_threads, "_load", lambda: 0.0)
    monkeypatch.setattr(busy_threads.BusyMonitor, "_run", lambda self: None)  # looks by hand
    first, second, late = Pool(), Pool(), Pool()
    blas_threads.add_pool(first)
    with chainer.using_config("blas_threads", "auto"):
        blas_threads.add_pool(second)
        assert first.calls == second.calls == []
        monitor = blas_threads._monitor
        monitor._last -= 100
        monitor.look()
        blas_threads.add_pool(late)
        assert first.calls == second.calls == late.calls == ["give way"]
    assert first.calls == second.calls == late.calls == ["give way", "take back"]


def test_threads_stay_while_a_captured_step_is_compared(monkeypatch):
    pytest.importorskip("threadpoolctl")
    monkeypatch.setattr(busy_threads, "_load", lambda: 0.0)
    monkeypatch.setattr(busy_threads.BusyMonitor, "_run", lambda self: None)
    model = L.Linear(3, 2)
    optimizer = chainer.optimizers.SGD().setup(model)

    def train_step(x):
        monitor = blas_threads._monitor
        monitor._last -= 100  # as if another program had interrupted this one
        monitor.look()
        loss = F.sum(model(x) ** 2)
        model.cleargrads()
        loss.backward()
        optimizer.update()
        return loss

    step = chainer.capture(train_step, model, optimizer)
    with chainer.using_config("blas_threads", "auto"):
        found = []
        for n in range(1, 4):
            step(np.full((4, 3), n, "f"))
            found.append(blas_threads._monitor.is_limited)
            blas_threads._monitor._set(False, 0.0)
        # It runs as written, is recorded, and the record is compared with it.
        assert found == [True, True, False]
        blas_threads._monitor.look()
        assert blas_threads._monitor.is_limited


FORKED = """
import os, threading
import chainer
from chainer.core.config import blas_threads, busy_threads

busy_threads._load = lambda: 0.0
chainer.config.blas_threads = "auto"
monitor = blas_threads._monitor
held, ended = threading.Event(), threading.Event()

def hold():
    with blas_threads._changing, monitor._changing, monitor.unchanged():
        held.set()
        ended.wait()

thread = threading.Thread(target=hold)
thread.start()
held.wait()
if os.fork() == 0:
    with blas_threads.unchanged_threads():
        pass
    assert monitor._comparisons == 0
    assert [t.name for t in threading.enumerate()] == ["MainThread", "chainer-busy"]
    chainer.config.blas_threads = None
    assert threading.active_count() == 1
    os._exit(0)
_, status = os.wait()
ended.set()
thread.join()
assert status == 0 and monitor._comparisons == 0
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system does not fork")
def test_a_fork_while_another_thread_has_the_locks():
    pytest.importorskip("threadpoolctl")
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", FORKED],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr


#: Prints the processor time of threads that wait: at first, as they give way, and afterwards.
WAITING = """
import ctypes, sys, time
from chainer.core.config.openmp_waiting import OpenMPWaiting

library = ctypes.CDLL("libgomp.so.1")
nothing = ctypes.cast(library.omp_get_thread_num, ctypes.c_void_p)

def spun():
    begin = time.process_time()
    for _ in range(40):
        library.GOMP_parallel(nothing, None, 2, 0)
        time.sleep(0.01)
    return time.process_time() - begin

waiting = OpenMPWaiting(library)
spun()
before = spun()
waiting.give_way()
waiting.give_way()
library.GOMP_parallel(nothing, None, 2, 0)
given = spun()
waiting.take_back()
waiting.take_back()
time.sleep(0.05)
print(before, given, spun())
"""


def test_threads_of_openmp_sleep_when_they_give_way():
    try:
        ctypes.CDLL("libgomp.so.1")
    except OSError:
        pytest.skip("GNU OpenMP is not here")
    if available_cores() < 2:
        pytest.skip("its threads never spin on one core")
    unset = {
        name: text for name, text in os.environ.items() if not name.startswith(("OMP_", "GOMP_"))
    }
    command = [sys.executable, "-c", WAITING]
    output = subprocess.run(command, env=unset, capture_output=True, text=True, check=True).stdout
    before, given, after = map(float, output.split())
    # On two cores of an AMD EPYC 0.38, 0.01 to 0.04 and 0.42 seconds.
    assert given < before / 2
    assert given < after / 2
