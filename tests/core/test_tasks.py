"""Blocks of one asyncio task are not seen in another task, nor in another thread."""

import asyncio
import contextlib
import threading

import numpy as np
import pytest

import chainer
from chainer import functions as F
from chainer.core.config.configuration import threads
from tests.core.nodes import var


def run(*functions):
    """Runs coroutines that switch between each other at each ``await pause()``."""

    async def main():
        return await asyncio.gather(*[function() for function in functions])

    return asyncio.run(main())


async def pause():
    await asyncio.sleep(0)


def is_recorded():
    return F.tanh(var(1)).creator is not None


async def without_graph():
    found = []
    for _ in range(3):
        with chainer.no_backprop_mode():
            await pause()
            found.append(is_recorded())
            await pause()
            found.append(is_recorded())
        await pause()
    return found


async def with_graph():
    found = []
    for _ in range(12):
        x = var(1, 2)
        y = F.sum(x * x)
        await pause()
        y.backward()
        found.append(x.grad is not None and is_recorded() and chainer.config.enable_backprop)
    return found


def test_no_backprop_mode_of_another_task():
    without, recorded = run(without_graph, with_graph)
    assert not any(without) and len(without) == 6
    assert all(recorded)
    assert is_recorded()


def test_interleaved_blocks():
    """The first block ends while the second one, entered later, is open."""
    before = chainer.config.train

    async def first():
        with chainer.using_config("train", 1):
            await pause()
            await pause()
            found = [chainer.config.train]
        await pause()
        return [*found, chainer.config.train]

    async def second():
        await pause()
        with chainer.using_config("train", 2):
            await pause()
            await pause()
            await pause()
            found = [chainer.config.train]
        return [*found, chainer.config.train]

    assert run(first, second) == [[1, before], [2, before]]
    assert chainer.config.train is before
    assert "state" in vars(threads)  # reads are fast again


def test_generator_based_managers_and_stacks():
    @contextlib.contextmanager
    def evaluation():
        with chainer.using_config("train", False), chainer.no_backprop_mode():
            yield

    async def one():
        with evaluation():
            await pause()
            await pause()
            return chainer.config.train, chainer.config.enable_backprop

    async def two():
        async with contextlib.AsyncExitStack() as stack:
            stack.enter_context(chainer.using_config("debug", True))
            await pause()
            return chainer.config.train, chainer.config.debug

    async def three():
        await pause()
        return chainer.config.train, chainer.config.enable_backprop, chainer.config.debug

    assert run(one, two, three) == [(False, False), (True, True), (True, True, False)]


def test_tasks_inherit_the_block_that_starts_them():
    async def child():
        await pause()
        return is_recorded()

    async def parent():
        with chainer.no_backprop_mode():
            inside = await asyncio.gather(child(), child())
            later = asyncio.ensure_future(child())
        return [*inside, is_recorded(), await later]

    assert run(parent) == [[False, False, True, False]]


def test_assignments_are_seen_by_the_whole_thread():
    async def one():
        with chainer.using_config("train", False):
            chainer.config.user_entry = 1
            await pause()
        await pause()

    async def two():
        await pause()
        await pause()
        await pause()
        return chainer.config.user_entry

    try:
        assert run(one, two)[1] == 1
        assert chainer.config.user_entry == 1
    finally:
        del chainer.config.user_entry


def test_blocks_left_in_another_order():
    async def one():
        first = chainer.using_config("train", 1)
        second = chainer.using_config("debug", True)
        first.__enter__()
        second.__enter__()
        first.__exit__(None, None, None)
        found = chainer.config.train, chainer.config.debug
        second.__exit__(None, None, None)
        return *found, chainer.config.train, chainer.config.debug

    before = chainer.config.train
    assert run(one) == [(before, True, before, False)]


def test_threads_have_a_configuration_of_their_own():
    async def main():
        with chainer.no_backprop_mode():
            return await asyncio.to_thread(is_recorded)

    assert asyncio.run(main())
    found = []
    with chainer.no_backprop_mode():
        thread = threading.Thread(target=lambda: found.append(is_recorded()))
        thread.start()
        thread.join()
    assert found == [True]


def test_changes_of_the_global_configuration_reach_blocks():
    async def main():
        with chainer.using_config("user_entry", 1):
            chainer.global_config.lazy_grad_sum = True
            try:
                return threads.state.lazy_grad_sum
            finally:
                chainer.global_config.lazy_grad_sum = False

    assert asyncio.run(main()) is True
    assert threads.state.lazy_grad_sum is False


def test_backward_in_a_block():
    async def main():
        x = var(1, 2)
        with chainer.using_config("train", False):
            F.sum(x * x).backward()
            await pause()
        return x.grad

    np.testing.assert_array_equal(asyncio.run(main()), [2, 4])


async def on_device(spec, pauses):
    """Makes an array in a block after each pause; returns the names of the devices."""
    found = []
    for enter in (chainer.get_device, chainer.using_device):
        with enter(spec):
            for _ in range(pauses):
                await pause()
                found.append(str(chainer.get_device("@strict")))
                array = chainer.get_device("@strict").xp.zeros((2,), np.float32)
                found.append(str(chainer.backend.get_device_from_array(array)))
        await pause()
        found.append(str(chainer.get_device("@strict")))
    return found


def test_devices_of_tasks():
    """Blocks end in another order than they begin."""
    one, two, three = run(
        lambda: on_device("@strict:1", 3),
        lambda: on_device("@strict:0", 5),
        lambda: on_device("@strict:1", 2),
    )
    first, second = "@strict:1", "@strict:0"
    assert one == ([first] * 6 + [second]) * 2
    assert two == ([second] * 10 + [second]) * 2
    assert three == ([first] * 4 + [second]) * 2
    assert str(chainer.get_device("@strict")) == "@strict:0"


def test_tasks_inherit_the_device_of_the_block_that_starts_them():
    async def child():
        await pause()
        return str(chainer.get_device("@strict"))

    async def parent():
        with chainer.using_device("@strict:1"):
            inside = asyncio.ensure_future(child())
            in_thread = await asyncio.to_thread(lambda: str(chainer.get_device("@strict")))
        return await inside, in_thread, str(chainer.get_device("@strict"))

    assert run(parent) == [("@strict:1", "@strict:0", "@strict:0")]


def test_device_of_the_thread_is_seen_by_its_tasks():
    """As assignments to the configuration."""

    async def one():
        await pause()
        chainer.get_device("@strict:1").use()

    async def two():
        with chainer.using_device("@strict:0"):
            await pause()
            await pause()
            found = [str(chainer.get_device("@strict"))]
        return [*found, str(chainer.get_device("@strict"))]

    try:
        assert run(one, two)[1] == ["@strict:0", "@strict:1"]
        assert str(chainer.get_device("@strict")) == "@strict:1"
        with chainer.using_device("@strict:1"):
            chainer.get_device("@strict:0").use()
            assert str(chainer.get_device("@strict")) == "@strict:0"
        assert str(chainer.get_device("@strict")) == "@strict:1"
    finally:
        chainer.get_device("@strict:0").use()


def test_reporters_of_tasks():
    def reports(name):
        async def work():
            observation = {}
            with chainer.Reporter().scope(observation):
                for number in range(3):
                    await pause()
                    chainer.report({f"{name}{number}": number})
            return observation

        return work

    assert run(reports("a"), reports("b")) == [
        {"a0": 0, "a1": 1, "a2": 2},
        {"b0": 0, "b1": 1, "b2": 2},
    ]


@pytest.mark.parametrize(
    ("index", "error", "text"),
    [
        ("1", TypeError, "index must be an integer, got '1' of type str"),
        (1.5, TypeError, "index must be an integer"),
        (-1, ValueError, "index must not be negative, got -1"),
    ],
)
def test_index_of_a_current_device(index, error, text):
    with pytest.raises(error, match=text):
        chainer.backend.CurrentDevice(index)
    with pytest.raises(error, match=text):
        chainer.backend.CurrentDevice().use(index)
