"""Trains with checkpoints, and continues where a run before was killed."""

import sys

import chainermn
import numpy as np

import chainer
import chainer.functions as F
from chainer import links as L
from chainer.training import StandardUpdater, Trainer

out, epochs = sys.argv[1], int(sys.argv[2])
comm = chainermn.create_communicator("naive")
np.random.seed(comm.rank)
model = L.Classifier(chainer.Sequential(L.Linear(4, 16), F.dropout, L.Linear(16, 3)))
state = np.random.RandomState(1)
dataset = [(state.normal(size=4).astype("f"), np.int32(i % 3)) for i in range(64)]
optimizer = chainer.optimizers.Adam(0.01).setup(model)
updater = StandardUpdater(chainer.iterators.SerialIterator(dataset, 4), optimizer)
trainer = Trainer(updater, (epochs, "epoch"), out=out)
chainermn.distribute(trainer, comm, shard_states="sharded" in sys.argv)
checkpointer = chainermn.create_multi_node_checkpointer("train", comm, path=out + "/checkpoints")
trainer.extend(checkpointer, trigger=(1, "iteration"))
loaded = checkpointer.maybe_load(trainer)
if comm.rank == 0:
    print("loaded", loaded, flush=True)


@trainer.extend
def tell(trainer):
    if comm.rank == 0:
        print("iteration", trainer.updater.iteration, flush=True)


trainer.run()
if comm.rank == 0:
    chainer.serializers.save_npz(out + "/model.npz", model)
