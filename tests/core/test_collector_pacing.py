"""The garbage collector is held back while graphs grow, and garbage is still collected."""

import gc
import os
import signal
import subprocess
import sys
import textwrap
import threading
import weakref

import numpy as np
import pytest

import chainer
from chainer.core.autograd.collector_pacing import CollectorPacing, paced_collector
from chainer.core.autograd.collector_pacing import collections as collections_noted
from chainer.core.autograd.function_node import FunctionNode
from chainer.core.autograd.variable import Variable
from tests.core.nodes import Multiply, add, f32, var

USUAL = (700, 10, 10)


@pytest.fixture(autouse=True)
def usual_collector():
    """Python's usual settings, without garbage of other tests."""
    thresholds, enabled = gc.get_threshold(), gc.isenabled()
    gc.enable()
    gc.set_threshold(*USUAL)
    gc.collect()
    with paced_collector():
        yield
    gc.set_threshold(*thresholds)
    if not enabled:
        gc.disable()


@pytest.fixture
def collections():
    """The generations of the collections that take place during a test."""
    found = []

    def note(phase, info):
        if phase == "stop":
            found.append(info["generation"])

    gc.callbacks.append(note)
    yield found
    gc.callbacks.remove(note)


def chain(x, length):
    y = x
    for _ in range(length):
        y = add(y, x)
    return y


class TestGrowingGraph:
    def test_collections_are_few(self, collections):
        # 50,000 objects or more: 70 collections of the youngest generation at Python's pace.
        y = chain(var(1), 10_000)
        assert len(collections) <= 10
        assert set(collections) <= {0}
        del y

    def test_one_collection_for_each_graph_of_a_training_loop(self, collections):
        x = var(1)
        for _ in range(3):
            y = chain(x, 1500)
            y.backward()
            del y
        collections.clear()
        for _ in range(10):
            y = chain(x, 1500)
            y.backward()
            del y
        # 7,500 objects or more in each: 10 collections of 700 objects, at Python's pace.
        assert len(collections) <= 12
        assert gc.get_threshold() == USUAL

    def test_second_graph_of_the_same_size_is_not_visited_while_it_grows(self, collections):
        x = var(1)
        for _ in range(2):
            collections.clear()
            y = chain(x, 20_000)
            y.backward()
            during = list(collections)
            del y
        # One, after 700 objects, which says that this is a graph.
        assert during == [0]
        assert gc.get_threshold() == USUAL

    def test_small_graph_after_a_large_one(self):
        x = var(1)
        for length in (20_000, 3000, 3000):
            y = chain(x, length)
            y.backward()
            raised = gc.get_threshold()[0]
            del y
        assert raised <= 3000 * 10

    def test_graph_that_is_kept_counts_once(self):
        y = chain(var(1), 3000)
        others = []
        for _ in range(200_000):
            others.append([])
        add(var(1), var(1))
        assert gc.get_threshold() == USUAL
        del y

    def test_not_while_nothing_is_recorded(self):
        x = var(1)
        kept = []
        for _ in range(3000):
            kept.append([Variable(f32(1), requires_grad=False)])
        assert gc.get_threshold() == USUAL
        del x, kept

    def test_graph_whose_parts_die_at_once(self):
        x = var(1)
        for _ in range(5000):
            add(x, x)
        assert gc.get_threshold() == USUAL

    def test_in_several_threads(self):
        graphs = []
        threads = [
            threading.Thread(target=lambda: graphs.append(chain(var(1), 5000))) for _ in range(4)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for y in graphs:
            y.backward()
        graphs.clear()
        del y
        gc.collect()
        assert gc.get_threshold() == USUAL


class TestThresholdIsRestored:
    def test_when_the_graph_is_gone(self):
        y = chain(var(1), 3000)
        y.backward()
        assert gc.get_threshold()[0] > USUAL[0]
        assert gc.get_threshold()[1:] == USUAL[1:]
        del y
        assert gc.get_threshold() == USUAL

    def test_when_a_graph_that_was_not_differentiated_is_gone(self):
        y = chain(var(1), 3000)
        assert gc.get_threshold()[0] > USUAL[0]
        del y
        assert gc.get_threshold() == USUAL

    def test_after_a_collection_that_finds_other_objects(self):
        y = chain(var(1), 3000)
        raised = gc.get_threshold()[0]
        assert raised > USUAL[0]
        # The next collection may find mostly the graph, and double the threshold; then no more.
        others = [[] for _ in range(3 * raised)]
        with chainer.no_backprop_mode():
            add(y, y)
        others += [[] for _ in range(3 * raised)]
        with chainer.no_backprop_mode():
            add(y, y)
        assert gc.get_threshold() == USUAL
        del y

    def test_after_an_error(self):
        class Fails(Multiply):
            def backward(self, target_input_indexes, grad_outputs):
                raise KeyError("x")

        x = var(1)
        (y,) = Fails().apply((chain(x, 3000), x))
        with pytest.raises(KeyError):
            y.backward()
        del y
        gc.collect()
        assert gc.get_threshold() == USUAL


class TestSettingsOfTheUser:
    def test_another_threshold(self):
        gc.set_threshold(1000, 5, 6)
        y = chain(var(1), 3000)
        y.backward()
        assert gc.get_threshold()[0] > 1000
        del y
        assert gc.get_threshold() == (1000, 5, 6)

    def test_threshold_that_is_set_while_a_graph_exists(self):
        y = chain(var(1), 3000)
        y.backward()
        gc.set_threshold(123, 4, 5)
        del y
        gc.collect()
        assert gc.get_threshold() == (123, 4, 5)

    def test_collector_that_is_off(self):
        gc.disable()
        y = chain(var(1), 3000)
        assert not gc.isenabled()
        assert gc.get_threshold() == USUAL
        del y

    def test_threshold_of_zero(self, collections):
        gc.set_threshold(0)
        y = chain(var(1), 3000)
        assert collections == []
        assert gc.get_threshold()[0] == 0
        gc.collect()
        assert gc.get_threshold()[0] == 0
        del y


class KeepsItsOutput(FunctionNode):
    """A function that makes garbage only the collector can find: output -> function -> output."""

    def forward(self, inputs):
        return (inputs[0] * 2,)

    def keep(self, x):
        (self.output,) = self.apply((x,))
        return self.output


class TestGarbage:
    @pytest.mark.parametrize("backward", [False, True])
    @pytest.mark.filterwarnings("ignore:.*defines neither backward:chainer.MisuseWarning")
    def test_graphs_with_reference_cycles_are_collected(self, backward):
        x = var(1)
        graphs, most = [], 0
        for _ in range(300):
            y = chain(KeepsItsOutput().keep(x), 100)
            graphs.append(weakref.ref(y.node))
            if backward:
                y.backward()
            graphs = [graph for graph in graphs if graph() is not None]
            most = max(most, len(graphs))
        # At Python's pace it takes 11 collections of 700 objects until the older of them are found.
        assert most <= 40

    def test_a_collection_that_finds_garbage_does_not_raise_the_threshold(self):
        pacing = CollectorPacing()
        y = chain(var(1), 3000)
        gc.set_threshold(*USUAL)
        for collected, factor in ((700, 1), (0, 16), (0, 32)):
            pacing._nodes = 0
            collections_noted["stop"] = {"generation": 0, "collected": collected}
            pacing.adapt((y,))
            assert gc.get_threshold()[0] == factor * USUAL[0]
        pacing.restore()
        assert gc.get_threshold() == USUAL
        del y


SIGNALS = """
    import gc, signal, sys
    import chainer

    def raise_timeout(number, frame):
        raise TimeoutError(number)

    heap = [[i] for i in range(3_000_000)]
    handlers = {KeyboardInterrupt: signal.default_int_handler, TimeoutError: raise_timeout}
    for error, handler in handlers.items():
        signal.signal(signal.SIGALRM, handler)
        try:
            # The collection takes about 0.2 seconds.
            signal.setitimer(signal.ITIMER_REAL, 0.02)
            gc.collect()
        except error:
            print(error.__name__)
"""


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs timers that send signals")
def test_signals_during_a_collection_are_not_lost():
    command = [sys.executable, "-c", textwrap.dedent(SIGNALS)]
    finished = subprocess.run(command, capture_output=True, text=True)
    assert finished.stderr == ""
    assert finished.stdout.split() == ["KeyboardInterrupt", "TimeoutError"]


def test_end_of_the_interpreter_is_quiet():
    program = (
        "import chainer, numpy as np, chainer.functions as F\n"
        "x = y = chainer.Variable(np.ones(1, 'f'))\n"
        "for _ in range(2000): y = F.tanh(y) + x\n"
    )
    finished = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert finished.returncode == 0
    assert finished.stderr == ""


class TestLongGraphs:
    @pytest.mark.parametrize("double", [False, True])
    def test_long_chain_is_differentiated_and_destroyed(self, double):
        # In a thread with a small stack: a recursion over the graph would overflow it.
        result = []

        def run():
            x = var(1)
            y = chain(x, 50_000)
            node = weakref.ref(y.node)
            y.backward(enable_double_backprop=double)
            del y
            if double:
                x.cleargrad()
            result.append((x.grad, node()))

        size = threading.stack_size(256 * 1024)
        try:
            thread = threading.Thread(target=run)
            thread.start()
            thread.join()
        finally:
            threading.stack_size(size)
        ((grad, node),) = result
        assert node is None
        if not double:
            np.testing.assert_array_equal(grad, [50_001])


LEFT_ALONE = """
    import gc
    before = gc.get_threshold(), list(gc.callbacks), gc.isenabled()
    import numpy as np
    import chainer, chainer.functions as F, chainer.links as L

    def state():
        return gc.get_threshold(), list(gc.callbacks), gc.isenabled()

    def loss(length=5000):
        y = x = chainer.Variable(np.ones((), np.float32))
        for _ in range(length):
            y = y + x
        during.append(state())
        return y

    during = []
    y = loss()
    y.backward()
    del y
    assert state() == before and during == [before], during
    optimizer = chainer.optimizers.SGD().setup(chainer.Link(a=(1,)))
    with chainer.core.misuse.ignored():
        optimizer.update(loss)
    assert during[1][0][0] > before[0][0] and state() == before, during
    try:
        optimizer.update(lambda: loss() / "text")
    except TypeError:
        pass
    assert state() == before
    with chainer.using_config("pace_collector", True):
        loss()
        assert during[-1][0][0] > before[0][0] and len(gc.callbacks) == len(before[1]) + 1
    assert state() == before
    print("left alone")
"""


@pytest.mark.parametrize("option", ["", "1"])
def test_collector_of_the_process_is_left_alone(option):
    code = textwrap.dedent(LEFT_ALONE)
    if option:
        code = "import gc, chainer, chainer.functions as F; F.relu; print(len(gc.callbacks))"
    result = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env={**os.environ, "CHAINER_PACE_COLLECTOR": option or "0"},
    )
    expected = "1" if option else "left alone"
    assert result.stdout.strip() == expected, result.stderr
