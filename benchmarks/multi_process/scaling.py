"""Fits the model of step times to measured steps, and predicts the times of many processes."""

from __future__ import annotations

import os
from typing import Any

from chainermn import step_time as step_model
from chainermn.step_time import Network, Step

#: Two classes of networks: latency in seconds, bytes per second.
NETWORKS = {
    "10 Gbit/s Ethernet": Network(20e-6, 1.25e9),
    "56 Gbit/s InfiniBand": Network(2e-6, 7e9),
}
PROCESSES = [8, 16, 32, 64, 128, 256, 512, 1024]

#: ResNet-50: its parameters; 1,281,167 images of ImageNet, 90 times; 32 images for each GPU.
RESNET_PARAMETERS, RESNET_IMAGES, RESNET_BATCH = 25_557_032, 90 * 1_281_167, 32
#: Assumed speeds of one GPU (images per second), which the published figures leave out: that of a
#: Titan X of 2015 and of a P100 with release 3.
TITAN_SPEED, P100_SPEED = 100, 180


def fitted_network(allreduce: dict[str, Any], n: int) -> Network:
    """Returns latency and bandwidth from the smallest and the largest sum."""
    best = {int(size): min(times["ours"]) for size, times in allreduce.items()}
    rounds = 2 * (n - 1)
    latency = best[min(best)] / rounds
    large = 10**7 if 10**7 in best else max(best)
    bandwidth = rounds * large / n / max(best[large] - rounds * latency, 1e-9)
    return Network(latency, bandwidth)


def crowding(processes: int, cores: int | None = None) -> float:
    """Returns how many processes share a core."""
    return max(1.0, processes / (cores or os.cpu_count() or 1))


def fitted_step(
    seconds: dict[int, float], networks: dict[int, Network], parameters: int, cores: int
) -> Step:
    """Returns the step whose times fit best to the times with several numbers of processes.

    Least squares of the relative errors, with the time of computing as the only unknown: each
    process takes it times the number of processes that share its core, and the sum of gradients.

    Args:
        seconds: Number of processes -> time of a step.
        networks: Number of processes -> the network between them (not for 1).
        parameters: Number of parameters.
        cores: Number of cores of this machine.
    """
    above = below = 0.0
    for n, measured in seconds.items():
        share = crowding(n, cores) / measured
        sums = 0.0 if n == 1 else step_model.sum_seconds(4 * parameters, n, networks[n])
        above += share * (1 - sums / measured)
        below += share * share
    computing = max(above / below, 1e-9)
    return Step(computing / 3, 2 * computing / 3, 0.0, parameters)


def predicted(step: Step, n: int, network: Network, cores: int) -> float:
    """Returns the time of a step of ``n`` processes on this machine."""
    sums = step_model.sum_seconds(step.parameters * step.bytes_each, n, network)
    return crowding(n, cores) * (step.forward + step.backward) + sums


def table(name: str, step: Step) -> list[str]:
    """Returns the lines of the efficiencies of 8 to 1,024 processes."""
    lines = [f"{name}: speed of each of N processes, relative to one alone (with overlap)"]
    lines.append("  network " + " ".join(map(str, PROCESSES)))
    for label, network in NETWORKS.items():
        row = [
            f"{step_model.efficiency(step, p, network):.2f}"
            f" ({step_model.efficiency(step, p, network, overlap=True):.2f})"
            for p in PROCESSES
        ]
        lines.append(f"  {label}: " + ", ".join(row))
    return lines


def resnet_step(speed: float, bytes_each: int) -> Step:
    """Returns a step of ResNet-50 on a GPU of the given speed, in images per second."""
    seconds = RESNET_BATCH / speed
    return Step(seconds / 3, 2 * seconds / 3, 0.0, RESNET_PARAMETERS, bytes_each)


def published() -> list[str]:
    """Returns the predictions of two published figures of ChainerMN, and these figures."""
    network = NETWORKS["56 Gbit/s InfiniBand"]
    first = step_model.efficiency(resnet_step(TITAN_SPEED, 4), 128, network)
    step = resnet_step(P100_SPEED, 2)
    minutes = {
        kind: RESNET_IMAGES
        / (1024 * RESNET_BATCH)
        * step_model.step_seconds(step, 1024, network, overlap=kind == "overlap")
        / 60
        for kind in ("plain", "overlap")
    }
    return [
        f"ResNet-50 on 128 GPUs: predicted efficiency {first:.2f}, published 0.90",
        f"ResNet-50 on 1,024 GPUs, float16 on the wire: predicted {minutes['plain']:.1f} minutes "
        f"({minutes['overlap']:.1f} with overlap), published 15",
    ]
