"""Trains a sharded model; continues from the last complete checkpoint on any number of ranks."""

import sys
import time
from pathlib import Path

import chainermn
import numpy as np
from chainermn.sharding import FullyShardedOptimizer, load_sharded, save_sharded

import chainer
import chainer.functions as F
from chainer import links as L

out, steps, seconds = Path(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])
comm = chainermn.create_communicator("naive")
print(
    "rank", comm.rank, "of", comm.size, "host", comm.inter_rank, "of", comm.inter_size, flush=True
)
state = np.random.RandomState(0)
layers = [L.Linear(16, 16, initialW=state.normal(0, 0.3, (16, 16))) for _ in range(4)]
model = L.Classifier(chainer.Sequential(*(each for layer in layers for each in (layer, F.tanh))))
optimizer = FullyShardedOptimizer(chainer.optimizers.Adam(0.01), comm).setup(model)
if (out / "complete.json").exists():
    load_sharded(out, optimizer)
    print("loaded", optimizer.t, flush=True)
while optimizer.t < steps:
    # The same examples for any number of processes.
    batch = np.random.RandomState(optimizer.t)
    x, t = batch.normal(size=(8, 16)).astype("f"), batch.randint(0, 16, 8).astype("i")
    optimizer.update(model, x[comm.rank :: comm.size], t[comm.rank :: comm.size])
    save_sharded(out, optimizer)
    if comm.rank == 0:
        print("iteration", optimizer.t, flush=True)
    time.sleep(seconds)
with optimizer.gathered():
    if comm.rank == 0:
        chainer.serializers.save_npz(out / f"model-{steps}.npz", model)
