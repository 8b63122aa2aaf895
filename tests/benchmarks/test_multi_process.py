"""The parts of the benchmark of several processes that compute; they need chainermn, not MPI."""

import pytest

pytest.importorskip("chainermn")

from chainermn import step_time

from benchmarks.multi_process import scaling

NETWORK = step_time.Network(latency=2e-6, bandwidth=1.5e9)


def test_network_is_found_again():
    for n in (2, 4):
        sums = {
            str(size): {"ours": [2 * step_time.sum_seconds(size, n, NETWORK), seconds]}
            for size in (1000, 10**7)
            for seconds in [2 * (n - 1) * (2e-6 + size / n / 1.5e9)]
        }
        found = scaling.fitted_network(sums, n)
        assert found.latency == pytest.approx(NETWORK.latency, rel=0.4)  # a small sum has bytes
        assert found.bandwidth == pytest.approx(NETWORK.bandwidth, rel=1e-2)


def test_step_is_found_again():
    step = step_time.Step(0.01, 0.02, 0.0, 10**6)
    networks = {2: NETWORK, 4: NETWORK}
    seconds = {n: scaling.predicted(step, n, NETWORK, cores=2) for n in (1, 2, 4)}
    assert seconds[4] > 2 * 0.03  # two processes share a core
    found = scaling.fitted_step(seconds, networks, 10**6, cores=2)
    assert found.forward == pytest.approx(0.01)
    assert found.backward == pytest.approx(0.02)


def test_tables():
    lines = scaling.table("model", scaling.resnet_step(100, 4))
    assert len(lines) == 2 + len(scaling.NETWORKS)
    assert all(line.count("(") == 8 for line in lines[2:])
    assert "published 0.90" in scaling.published()[0]
