"""A model of the time of a training step in many processes.

A sum of ``b`` bytes over ``p`` processes by rings takes ``2 (p - 1)`` messages of ``b / p`` bytes::

    t_sum(b, p) = 2 (p - 1) (latency + b / (p bandwidth))

MPIs use trees for small arrays, with ``2 log2(p)`` messages of all bytes; the lesser of the two is
taken. Where the sum overlaps with backward, only what backward does not hide counts, and the last
bucket is never hidden. Sharded states (ZeRO, stage 1) move the same bytes, as a reduce-scatter and
an all-gather, and the update takes ``1 / p`` of its time; the second half cannot be hidden.
"""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Network:
    """The connection between the processes.

    Attributes:
        latency: Time of an empty message, in seconds.
        bandwidth: Bytes per second from one process to another.
    """

    latency: float
    bandwidth: float


@dataclass(frozen=True)
class Step:
    """A training step of one process.

    Attributes:
        forward: Time of forward, in seconds.
        backward: Time of backward.
        update: Time of the update of all parameters.
        parameters: Number of parameters.
        bytes_each: Bytes of a gradient on the wire: 4, or 2 for float16 and bfloat16.
        last_bucket: Part of the gradients that is complete only when backward ends.
    """

    forward: float
    backward: float
    update: float
    parameters: int
    bytes_each: int = 4
    last_bucket: float = 0.1


def sum_seconds(nbytes: float, processes: int, network: Network) -> float:
    """Returns the time of a sum over all processes."""
    if processes == 1:
        return 0.0
    ring = 2 * (processes - 1) * (network.latency + nbytes / processes / network.bandwidth)
    tree = 2 * math.ceil(math.log2(processes)) * (network.latency + nbytes / network.bandwidth)
    return min(ring, tree)


def step_seconds(
    step: Step, processes: int, network: Network, overlap: bool = False, sharded: bool = False
) -> float:
    """Returns the time of a step.

    Args:
        step: The step of one process, with its own mini-batch.
        processes: Number of processes.
        network: The connection between them.
        overlap: Whether gradients are summed while backward computes.
        sharded: Whether states of the optimizer are sharded.
    """
    total = sum_seconds(step.parameters * step.bytes_each, processes, network)
    update = step.update
    gather = 0.0
    if sharded:
        gather, total, update = total / 2, total / 2, update / processes
    if overlap:
        hidden = min(total * (1 - step.last_bucket), step.backward * (1 - step.last_bucket))
        total -= hidden
    return step.forward + step.backward + total + gather + update


def efficiency(step: Step, processes: int, network: Network, **options: bool) -> float:
    """Returns the speed of each of many processes, relative to one alone."""
    return step_seconds(step, 1, network) / step_seconds(step, processes, network, **options)


def bubble(stages: int, micro_batches: int) -> float:
    """Returns the part of the time for which the stages of a pipeline wait.

    Args:
        stages: Number of stages, each of which takes the same time.
        micro_batches: Number of micro-batches of a step.
    """
    return (stages - 1) / (micro_batches + stages - 1)
