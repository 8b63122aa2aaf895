"""Threads that use names of Chainer, and of plugins, for the first time at once."""

from __future__ import annotations

import itertools
import os
import random
import textwrap
import threading

import pytest

from chainer.core import imports
from chainer.plugins import loading
from chainer.plugins.loading import Turns
from chainer.plugins.records import PluginRecord
from tests.plugins.conftest import Site
from tests.robustness.first_use import NAMES

#: Runs trials in forks of a process that has imported Chainer only; prints what went wrong.
TRIALS = """
import json, sys
import chainer
from tests.robustness.first_use import trial
cases = json.loads(sys.argv[1])
print(json.dumps([problem for names in cases for problem in trial(names, limit=60)]))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork()")
def test_first_use(site: Site) -> None:
    import json

    rng = random.Random(0)
    cases = [
        ("links.Linear", "serializers.save_npz"),  # they waited for each other in 10 of 10 trials
        *rng.sample(list(itertools.combinations(NAMES, 2)), 12),
        *[tuple(rng.choices(NAMES, k=16)) for _ in range(3)],
    ]
    done = site.run("-c", TRIALS, json.dumps(cases))
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[-1]) == []


#: A pack whose import starts threads that use Chainer, and waits for them.
STARTS_THREADS = """
import threading
results = {}
def work(name):
    import chainer.functions as F
    try:
        results[name] = getattr(F, name)
    except AttributeError as error:
        results[name] = error
threads = [threading.Thread(target=work, args=(name,)) for name in ("relu", "typo")]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
def chainer_functions(registry):
    registry.register("threaded", "math:sin")
"""


@pytest.mark.parametrize("first", ["F.threaded", "import starting"])
def test_pack_that_starts_threads(site: Site, first: str) -> None:
    site.add(
        "chainer-threads", entry_points={"t": "starting"}, modules={"starting": STARTS_THREADS}
    )
    found = site.value(
        f"""
        import json
        import chainer.functions as F
        from chainer.plugins import loading
        loading._STUCK_SECONDS = 0.5
        {first}
        import starting
        assert F.threaded(0.0) == 0.0
        assert starting.results["relu"] is F.relu
        print(json.dumps(str(starting.results["typo"])))
        """
    )
    # One thread cannot know what the pack will register. It says so instead of waiting for ever.
    assert "no function named 'typo'" in found
    assert "another thread is importing it" in found


def test_threads_wait_for_a_pack(site: Site) -> None:
    """A thread that misses a name gets it from a pack that another thread is importing."""
    site.add(
        "chainer-slow",
        entry_points={"slow": "slow"},
        modules={
            "slow": """
            import time
            time.sleep(0.3)
            def chainer_functions(registry):
                registry.register("slow", "math:sin")
            """
        },
    )
    assert site.value(
        """
        import json, math, threading, time
        import chainer.functions as F
        found = []
        threads = [threading.Thread(target=lambda: found.append(F.slow)) for _ in range(4)]
        for thread in threads:
            thread.start()
            time.sleep(0.02)
        for thread in threads:
            thread.join()
        print(json.dumps(found == [math.sin] * 4))
        """
    )


def test_packs_that_need_each_other(site: Site) -> None:
    """Two threads load two packs, and each pack uses a name of the other while it is imported."""
    for own, other in (("left", "right"), ("right", "left")):
        code = f"""
        import time
        time.sleep(0.1)
        import chainer.functions as F
        found = hasattr(F, "from_{other}")
        def chainer_functions(registry):
            registry.register("from_{own}", "math:sin")
        """
        site.add(f"chainer-{own}", entry_points={own: own}, modules={own: textwrap.dedent(code)})
    assert site.value(
        """
        import json, math, threading
        import chainer
        load = chainer.plugins.load
        threads = [threading.Thread(target=load, args=(name,)) for name in ("left", "right")]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        F = chainer.functions
        print(json.dumps(F.from_left is math.sin and F.from_right is math.sin))
        """
    )


def test_a_thread_that_has_not_woken_up_yet() -> None:
    """It waited for a pack that is loaded now; it still loads the pack that it began before."""
    lock = threading.Lock()
    turns = Turns(lock)
    first, second = (PluginRecord(name, "d", "1", name) for name in ("first", "second"))
    loading, loaded = threading.Event(), threading.Event()

    def other() -> None:
        with lock:
            turns.begin(first)
            loading.set()
            turns.wait(second)
        loaded.wait(10)
        with lock:
            turns.end(first)

    with lock:
        turns.begin(second)
    thread = threading.Thread(target=other)
    thread.start()
    assert loading.wait(10)
    with lock:  # the other thread waits, or is about to
        turns.end(second)
        assert turns._last_in_line(first) == thread.ident
        threading.Timer(0.05, loaded.set).start()
        assert turns.wait(first)
        assert turns._last_in_line(first) is None
    thread.join()


@pytest.mark.parametrize("builtin", [False, True])
def test_an_import_that_another_thread_holds_up(manager, monkeypatch, builtin) -> None:
    """A pack is not called broken because Python ended a deadlock by an error in its import."""
    record = PluginRecord("late", "chainer-late", "1", "math:sin", builtin=builtin)
    deadlock = type("_DeadlockError", (RuntimeError,), {})
    errors = [deadlock("deadlock detected by _ModuleLock('late')")] * 3
    monkeypatch.setattr(imports, "_ATTEMPTS", 2)

    def collect(*_):
        if errors:
            raise errors.pop()
        return []

    monkeypatch.setattr(loading, "collect", collect)
    stop = threading.Event()
    other = threading.Thread(target=stop.wait)
    other.start()
    try:
        if builtin:  # the import that needs it is to be repeated
            with pytest.raises(deadlock):
                manager._load_if_found(record)
        else:
            assert not manager._load_if_found(record)
        assert record.state == "found" and record.error is None and not record.reported
        assert manager._load_if_found(record)
        assert record.state == "loaded"
    finally:
        stop.set()
        other.join()


def test_overriding_while_others_look() -> None:
    """An attribute of a module is that of the last entry, whatever the order of the threads is."""
    import sys

    import chainer
    import chainer.functions as F

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    stop = threading.Event()

    def read() -> None:
        while not stop.is_set():
            getattr(F, "contested", None)

    readers = [threading.Thread(target=read) for _ in range(2)]
    for thread in readers:
        thread.start()
    try:
        for number in range(50):

            class Plugin:
                target = staticmethod(lambda x, number=number: number)

                def chainer_functions(self, registry):
                    registry.register("contested", self.target, override=True)

            plugin = Plugin()
            chainer.plugins.register(plugin)
            found = F.contested
            chainer.plugins.unregister(plugin)
            assert found is Plugin.target
            assert not hasattr(F, "contested")
    finally:
        stop.set()
        for thread in readers:
            thread.join()
        sys.setswitchinterval(interval)
