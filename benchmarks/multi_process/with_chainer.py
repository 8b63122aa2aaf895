"""Measures chainermn in one of the processes that mpiexec has started; rank 0 prints JSON.

    mpiexec -n 2 python with_chainer.py allreduce 3 mlp 20 cnn 10

The arguments are names of cases and numbers of samples.
"""

import json
import sys
import time

import chainermn
import numpy as np
from overlap import overlap
from pipelines import pipeline

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


#: Sizes of the transformer: layers, vector, heads, vocabulary, length and batch of sequences.
LAYERS, SIZE, HEADS, WORDS, LENGTH, BATCH = 6, 256, 4, 1000, 64, 4


class Layer(chainer.Chain):
    """A layer of a transformer, normalized before each part."""

    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.norm1, self.norm2 = L.LayerNormalization(SIZE), L.LayerNormalization(SIZE)
            self.attention = L.MultiHeadAttention(HEADS, SIZE, SIZE)
            self.wide, self.narrow = L.Linear(SIZE, 4 * SIZE), L.Linear(4 * SIZE, SIZE)

    def forward(self, x):
        x = x + self.attention(self.normalized(self.norm1, x), causal=True)
        y = F.gelu(self.wide(self.normalized(self.norm2, x), n_batch_axes=2))
        return x + self.narrow(y, n_batch_axes=2)

    def normalized(self, norm, x):
        return F.reshape(norm(F.reshape(x, (-1, SIZE))), x.shape)


class Transformer(chainer.Chain):
    """A small language model."""

    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.embed = L.EmbedID(WORDS, SIZE)
            self.layers = chainer.ChainList(*(Layer() for _ in range(LAYERS)))
            self.output = L.Linear(SIZE, WORDS)

    def forward(self, x, t):
        h = self.embed(x)
        for layer in self.layers:
            h = layer(h)
        return F.softmax_cross_entropy(self.output(F.reshape(h, (-1, SIZE))), t.reshape(-1))


def transformer(comm, samples):
    """Steps with everything sharded (ZeRO, stage 3), and data parallel."""
    from chainermn.sharding import FullyShardedOptimizer

    state = np.random.RandomState(comm.rank)
    x, t = (state.randint(0, WORDS, (BATCH, LENGTH)).astype("i") for _ in range(2))
    kinds = {
        "zero3": lambda actual: FullyShardedOptimizer(actual, comm),
        "plain": lambda actual: chainermn.create_multi_node_optimizer(actual, comm),
    }
    runs, result = {}, {}
    for kind, make in kinds.items():
        model = Transformer()
        optimizer = make(chainer.optimizers.Adam()).setup(model)

        def step(optimizer=optimizer, model=model):
            optimizer.update(model, x, t)

        for _ in range(2):  # the first makes parameters equal
            step()
        runs[kind], result[kind] = step, []
    for _ in range(samples):
        for kind, step in runs.items():
            result[kind] += timed(comm, step, 1)
    return result


def main():
    comm = chainermn.create_communicator("naive")
    words = sys.argv[1:]
    result = {}
    for name, samples in zip(words[::2], map(int, words[1::2]), strict=True):
        if name == "allreduce":
            result[name] = allreduce(comm, samples)
        elif name == "transformer":
            result[name] = transformer(comm, samples)
        elif name == "pipeline":
            result[name] = pipeline(comm, samples)
        elif name == "overlap":
            result[name] = overlap(comm, samples, Transformer, WORDS, (BATCH, LENGTH))
        else:
            result[name] = steps(comm, name, samples)
    if comm.rank == 0:
        print(json.dumps(result))


if __name__ == "__main__":
    main()
