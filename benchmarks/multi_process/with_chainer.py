"""Measures chainermn in one of the processes that mpiexec has started; rank 0 prints JSON.

    mpiexec -n 2 python with_chainer.py allreduce 3 mlp 20 cnn 10

The arguments are names of cases and numbers of samples.
"""

import json
import sys
import time

import chainermn
import numpy as np

import chainer
import chainer.functions as F
import chainer.links as L

ALLREDUCE_BYTES = [10**3, 10**4, 10**5, 10**6, 10**7, 10**8]


def mlp():
    model = chainer.Sequential(
        L.Linear(784, 1000), F.relu, L.Linear(1000, 1000), F.relu, L.Linear(1000, 10)
    )
    return model, (784,)


def cnn():
    model = chainer.Sequential(
        L.Convolution2D(1, 16, 3, pad=1),
        F.relu,
        lambda x: F.max_pooling_2d(x, 2),
        L.Convolution2D(16, 32, 3, pad=1),
        F.relu,
        lambda x: F.max_pooling_2d(x, 2),
        L.Linear(32 * 7 * 7, 128),
        F.relu,
        L.Linear(128, 10),
    )
    return model, (1, 28, 28)


MODELS = {"mlp": (mlp, 100), "cnn": (cnn, 32)}


def timed(comm, call, samples):
    """Seconds of each call; all processes begin together."""
    call()
    times = []
    for _ in range(samples):
        comm.mpi_comm.Barrier()
        begin = time.perf_counter()
        call()
        times.append(time.perf_counter() - begin)
    return times


def allreduce(comm, samples):
    """Ours and mpi4py alone, one after the other in each sample."""
    result = {}
    for size in ALLREDUCE_BYTES:
        x = np.ones(size // 4, np.float32)

        def ours(x=x):
            return comm.allreduce(x)

        def plain(x=x):
            result = np.empty_like(x)
            comm.mpi_comm.Allreduce(x, result)
            return result

        # Small ones are called many times for one sample: a clock would be slower than they are.
        repeats = max(1, min(1000, 10**6 // size))
        times = {"ours": [], "mpi4py": []}
        for _ in range(samples):
            for name, call in (("ours", ours), ("mpi4py", plain)):

                def repeated(call=call, repeats=repeats):
                    for _ in range(repeats):
                        call()

                times[name] += [t / repeats for t in timed(comm, repeated, 1)]
        result[str(size)] = times
    return result


def steps(comm, name, samples):
    make, batch = MODELS[name]
    result = {}
    state = np.random.RandomState(comm.rank)
    kinds = {
        "plain": {},
        "buckets": {"overlap": True, "bucket_bytes": 2**20},
        "sharded": {"shard_states": True},
    }
    runs = {}
    for kind, options in kinds.items():
        model, shape = make()
        actual = chainer.optimizers.MomentumSGD(0.001)
        optimizer = chainermn.create_multi_node_optimizer(actual, comm, **options).setup(model)
        x = state.normal(size=(batch, *shape)).astype("f")
        t = state.randint(0, 10, batch).astype("i")

        def step(optimizer=optimizer, model=model, x=x, t=t):
            optimizer.update(lambda x, t: F.softmax_cross_entropy(model(x), t), x, t)

        step()
        optimizer.broadcast_parameters()
        runs[kind] = step
        result[kind] = []
    for _ in range(samples):
        for kind, step in runs.items():
            result[kind] += timed(comm, step, 1)
    model, _ = make()
    result["parameters"] = sum(param.size for param in model.params() if param.array is not None)
    return result


def main():
    comm = chainermn.create_communicator("naive")
    words = sys.argv[1:]
    result = {}
    for name, samples in zip(words[::2], map(int, words[1::2]), strict=True):
        if name == "allreduce":
            result[name] = allreduce(comm, samples)
        else:
            result[name] = steps(comm, name, samples)
    if comm.rank == 0:
        print(json.dumps(result))


if __name__ == "__main__":
    main()
