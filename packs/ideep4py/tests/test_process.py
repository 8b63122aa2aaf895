"""Import errors, threads and forks: each in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import ideep4py._core.library


def run(code: str, timeout: float = 300, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
        env={**os.environ, **environment},
    )


@pytest.mark.parametrize(
    ("environment", "message"),
    [
        (
            {"IDEEP4PY_LIBRARY": "/nowhere/libdnnl.so"},
            "'/nowhere/libdnnl.so', which does not exist",
        ),
        ({"ONEDNN_MAX_CPU_ISA": "SSE41"}, "the CPU lacks AVX2"),
        ({"IDEEP4PY_LIBRARY": __file__}, "libdnnl.so.3 was not found: pip install"),
        ({"IDEEP4PY_LIBRARY": "libc"}, "is not a oneDNN library"),
    ],
)
def test_import_says_what_is_missing(environment, message) -> None:
    if environment.get("IDEEP4PY_LIBRARY") == "libc":
        found = run("print(next(l.split()[-1] for l in open('/proc/self/maps') if 'libc.so' in l))")
        environment = {"IDEEP4PY_LIBRARY": found.stdout.strip()}
    result = run("import ideep4py", **environment)
    assert "ImportError: ideep4py: " in result.stderr
    assert message in result.stderr


def test_import_on_another_machine() -> None:
    result = run("import platform; platform.machine = lambda: 'aarch64'; import ideep4py")
    assert "exists for Linux on x86_64 only; this is linux on aarch64" in result.stderr


def test_import_without_cffi() -> None:
    result = run("import sys; sys.modules['cffi'] = None; import ideep4py")
    assert "the package cffi is not installed: pip install cffi" in result.stderr


def test_import_needs_no_framework_and_no_metadata() -> None:
    code = """
        import sys, ideep4py
        print([m for m in ("chainer", "torch", "importlib.metadata", "ml_dtypes") if m in
        sys.modules])
    """
    # Without the variable the installer's records are read where the library is not below the
    # prefix of the environment.
    library = ideep4py._core.library.LIBRARY_PATH
    assert run(code, IDEEP4PY_LIBRARY=library).stdout.strip() == "[]"


PREPARE = """
    import multiprocessing, sys, threading
    import numpy as np
    import ideep4py
    from ideep4py import ops

    ideep4py.set_num_threads(2)
    random = np.random.default_rng(0)
    x = random.standard_normal((8, 16, 16, 16), dtype=np.float32)
    W = random.standard_normal((16, 16, 3, 3), dtype=np.float32)
    a = random.standard_normal((256, 256), dtype=np.float32)
    b = ideep4py.array(random.standard_normal((256, 256), dtype=np.float32))

    def work(_=None):
        y = ops.convolution(x, W, pad=1, relu=True)
        total = ops.relu(b) + b
        return float(y.sum()), float(ops.matmul(a, a).sum()), float(total.sum())

    expected = work()
    context = multiprocessing.get_context("fork")
"""


def test_forked_processes_compute() -> None:
    code = (
        PREPARE
        + """
    with context.Pool(2) as pool:
        found = pool.map_async(work, range(6)).get(timeout=240)
    assert found == [expected] * 6, found
    assert work() == expected  # and so does the parent, afterwards
    print("done", ideep4py.get_num_threads())
    """
    )
    result = run(code)
    assert result.stdout.strip() == "done 2", result.stderr


def test_without_the_precaution_a_forked_process_would_hang() -> None:
    """The test above can fail: libgomp's pool does not survive a fork."""
    code = (
        PREPARE
        + """
    import os
    from ideep4py._core import runtime

    runtime._before_fork = runtime._after_fork_in_child = None  # registered: replace what they call
    runtime._omp_pause_resource_all = lambda kind: None
    process = context.Process(target=work)
    process.start()
    process.join(5)
    print("hangs" if process.is_alive() else "works")
    process.kill()
    """
    )
    result = run(code)
    assert result.stdout.strip() == "hangs", result.stderr


def test_fork_from_a_thread_and_fork_in_a_fork() -> None:
    code = (
        PREPARE
        + """
    results = []

    def nested(queue):
        child = context.Process(target=lambda: queue.put(work()))
        child.start()
        child.join(120)
        queue.put(work())

    def fork():
        queue = context.SimpleQueue()
        process = context.Process(target=nested, args=(queue,))
        process.start()
        process.join(240)
        results.extend([queue.get(), queue.get()])

    thread = threading.Thread(target=fork)
    thread.start()
    thread.join()
    assert results == [expected] * 2, results
    print("done")
    """
    )
    result = run(code)
    assert result.stdout.strip() == "done", result.stderr


def test_threads_at_once() -> None:
    code = (
        PREPARE
        + """
    from ideep4py._core import runtime
    results, errors = [], []

    def many():
        try:
            for _ in range(20):
                results.append(work())
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=many) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors, errors
    assert set(results) == {expected} and len(results) == 120
    print("done")
    """
    )
    result = run(code)
    assert result.stdout.strip() == "done", result.stderr


def test_number_of_threads_holds_in_all_threads() -> None:
    code = (
        PREPARE
        + """
    from ideep4py._core.library import lib
    numbers = []

    def other():
        work()
        numbers.append(lib.omp_get_max_threads())

    for n in (1, 2):
        ideep4py.set_num_threads(n)
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
        assert np.allclose(work(), expected, rtol=1e-3)
    print(numbers, ideep4py.get_num_threads())
    """
    )
    result = run(code)
    assert result.stdout.strip() == "[1, 2] 2", result.stderr


def test_a_limit_of_the_threads_holds_in_all_threads() -> None:
    code = (
        PREPARE
        + """
    from ideep4py._core import runtime
    from ideep4py._core.library import lib

    def numbers():
        found = []
        def other():
            assert np.allclose(work(), expected, rtol=1e-3)
            found.append(lib.omp_get_max_threads())
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
        assert np.allclose(work(), expected, rtol=1e-3)
        return [*found, lib.omp_get_max_threads(), ideep4py.get_num_threads()]

    ideep4py.limit_num_threads(1)
    limited = numbers()
    ideep4py.limit_num_threads(None)
    free, plans = numbers(), runtime.cached_plans()
    assert work() == expected
    for limit in (1, None, 1, 8):  # compiled operations of both are kept, and no limit adds threads
        ideep4py.limit_num_threads(limit)
        work()
        assert runtime.cached_plans() == (plans if limit != 8 else plans + plans // 2)
    more = numbers()
    ideep4py.limit_num_threads(1)
    ideep4py.set_num_threads(1)
    ideep4py.limit_num_threads(None)
    print(limited, free, more, numbers())
    """
    )
    result = run(code)
    assert result.stdout.strip() == "[1, 1, 2] [2, 2, 2] [2, 2, 2] [1, 1, 1]", result.stderr


def test_a_limit_that_changes_while_operations_run() -> None:
    code = (
        PREPARE
        + """
    import time

    def toggle():
        while not ended.is_set():
            for limit in (1, None):
                ideep4py.limit_num_threads(limit)
                time.sleep(0.0005)

    ended = threading.Event()
    threads = [threading.Thread(target=toggle)]
    found = []
    threads += [threading.Thread(target=lambda: found.extend(work() for _ in range(300)))]
    for thread in threads:
        thread.start()
    found += [work() for _ in range(300)]
    threads[1].join()
    ended.set()
    threads[0].join()
    assert np.allclose(found, [expected] * 600, rtol=1e-3)
    ideep4py.limit_num_threads(None)
    assert work() == expected
    print("done")
    """
    )
    result = run(code)
    assert result.stdout.strip() == "done", result.stderr


def test_interpreter_ends_quietly() -> None:
    result = run(PREPARE + "    kept = [ops.relu(b) for _ in range(10)]; kept.append(kept)")
    assert (result.returncode, result.stderr) == (0, "")


@pytest.mark.parametrize("isa", ["AVX2", "DEFAULT"])
def test_typical_operations_run_compiled_code(isa) -> None:
    """oneDNN's reference loops are up to a thousand times slower: none may be chosen silently.

    With AVX2, which has the least compiled code, and with what this CPU has.
    """
    code = f"import runpy; runpy.run_path({str(Path(__file__).with_name('compiled_code.py'))!r})"
    result = run(code, ONEDNN_MAX_CPU_ISA=isa)
    count, *slow = result.stdout.splitlines()
    assert slow == []
    assert int(count) > 40
