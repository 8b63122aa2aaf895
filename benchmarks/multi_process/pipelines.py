"""Measures how long the stages of a pipeline wait, with micro-batches in two orders."""

import time

import chainermn
import numpy as np
from chainermn.links import multi_node_chain_list
from chainermn.links.micro_batches import schedule

import chainer
import chainer.functions as F

#: Seconds of forward of a micro-batch; what Python adds should not count. Backward takes twice as
#: long, as for most layers. Stages sleep, so that more stages than the machine has cores work
#: at the same time.
SECONDS = 0.05
MICRO_BATCHES = [1, 2, 4, 8]


def all_forward_first(number, after):
    """The order of GPipe: backward begins when forward of all micro-batches has ended."""
    return schedule(number, number - 1)


ORDERS = {"1f1b": schedule, "gpipe": all_forward_first}


class Work(chainer.FunctionNode):
    """Takes its time in both directions, and counts the micro-batches that wait for backward."""

    kept = most = 0
    seconds = 0.0

    def work(self, seconds):
        begin = time.perf_counter()
        time.sleep(seconds)
        # A busy machine wakes it late.
        Work.seconds += time.perf_counter() - begin

    def forward(self, inputs):
        self.work(SECONDS)
        Work.kept += 1
        Work.most = max(Work.most, Work.kept)
        return inputs

    def backward(self, indexes, grad_outputs):
        self.work(2 * SECONDS)
        Work.kept -= 1
        return grad_outputs


class Stage(chainer.Chain):
    def __init__(self, is_last):
        super().__init__()
        self.is_last = is_last
        with self.init_scope():
            self.scale = chainer.Parameter(1, (1,))

    def forward(self, x):
        (y,) = Work().apply((x * F.broadcast_to(self.scale, x.shape),))
        return F.mean(y) if self.is_last else y


def pipeline(comm, samples):
    """Part of the time for which the first stage waits, and micro-batches that it keeps at most."""
    last = comm.size - 1
    model = chainermn.MultiNodeChainList(comm)
    model.add_link(
        Stage(comm.rank == last),
        comm.rank - 1 if comm.rank else None,
        comm.rank + 1 if comm.rank < last else None,
    )
    x = [np.ones((max(MICRO_BATCHES), 64), "f")] if comm.rank == 0 else []
    result = {}
    for name, order in ORDERS.items():
        multi_node_chain_list.schedule = order
        for number in MICRO_BATCHES:
            Work.kept = Work.most = 0
            waiting = []
            for _ in range(samples):
                model.cleargrads()
                comm.barrier()
                Work.seconds, begin = 0.0, time.perf_counter()
                model.backward_in_micro_batches(number, *x)
                comm.barrier()
                waiting.append(1 - Work.seconds / (time.perf_counter() - begin))
            result[f"{name} {number}"] = waiting
            result[f"kept {name} {number}"] = Work.most
    multi_node_chain_list.schedule = schedule
    return result
