"""The model of the time of a step, compared with sums worked out by hand."""

import pytest
from chainermn.step_time import Network, Step, bubble, efficiency, step_seconds, sum_seconds

NETWORK = Network(latency=1e-5, bandwidth=1e9)
STEP = Step(forward=0.01, backward=0.02, update=0.003, parameters=10**6)


def test_sum():
    assert sum_seconds(1e6, 1, NETWORK) == 0
    # Ring: 2 * 3 messages of a quarter.
    assert sum_seconds(4e6, 4, NETWORK) == pytest.approx(6 * (1e-5 + 1e-3))
    # Tree: few messages, where latency counts.
    assert sum_seconds(8, 1024, NETWORK) == pytest.approx(20 * (1e-5 + 8e-9))


def test_step():
    total = sum_seconds(4e6, 8, NETWORK)
    assert step_seconds(STEP, 1, NETWORK) == pytest.approx(0.033)
    assert step_seconds(STEP, 8, NETWORK) == pytest.approx(0.033 + total)
    # A tenth is known only when backward has ended.
    hidden = 0.9 * total
    assert step_seconds(STEP, 8, NETWORK, overlap=True) == pytest.approx(0.033 + total - hidden)
    sharded = step_seconds(STEP, 8, NETWORK, sharded=True)
    assert sharded == pytest.approx(0.03 + total + 0.003 / 8)


def test_backward_hides_no_more_than_it_takes():
    slow = Network(latency=1e-5, bandwidth=1e7)
    total = sum_seconds(4e6, 8, slow)
    assert step_seconds(STEP, 8, slow, overlap=True) == pytest.approx(0.033 + total - 0.018)


def test_efficiency():
    assert efficiency(STEP, 1, NETWORK) == 1
    values = [efficiency(STEP, p, NETWORK) for p in (2, 8, 64, 1024)]
    assert values == sorted(values, reverse=True)
    assert all(efficiency(STEP, p, NETWORK, overlap=True) > v for p, v in zip((2, 8), values))


def test_bubble():
    assert [bubble(2, m) for m in (1, 4, 8)] == pytest.approx([1 / 2, 1 / 5, 1 / 9])
    assert bubble(1, 3) == 0
