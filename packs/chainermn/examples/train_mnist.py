#!/usr/bin/env python3
"""Train a multilayer perceptron on MNIST in one or more processes.

    python train_mnist.py                       one process
    python train_mnist.py --launch 4            four processes on this machine
    chainer launch -n 4 train_mnist.py          the same
    mpiexec -n 4 python train_mnist.py          the same, with the mpiexec of your MPI

The script is the same as for one process, but for two lines: the communicator and distribute().
"""

import argparse
import sys

import chainermn
import numpy as np

import chainer
import chainer.functions as F
import chainer.links as L
from chainer import training
from chainer.training import extensions


def make_model(units):
    return L.Classifier(
        chainer.Sequential(L.Linear(units), F.relu, L.Linear(units), F.relu, L.Linear(10))
    )


def load(name):
    """Returns training and test set: MNIST (downloaded), or the small digits of scikit-learn."""
    if name == "mnist":
        return chainer.datasets.get_mnist()
    from sklearn.datasets import load_digits

    images, labels = load_digits(return_X_y=True)
    pairs = chainer.datasets.TupleDataset((images / 16).astype(np.float32), labels.astype(np.int32))
    return chainer.datasets.split_dataset_random(pairs, 1500, seed=0)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--launch", type=int, metavar="N", default=0, help="start N processes")
    parser.add_argument("--communicator", default="auto", help="name of the communicator")
    parser.add_argument("--batchsize", "-b", type=int, default=100, help="of each process")
    parser.add_argument("--epoch", "-e", type=int, default=10)
    parser.add_argument("--unit", "-u", type=int, default=1000)
    parser.add_argument("--lr", type=float, default=0.001, help="rate for one process")
    parser.add_argument("--out", "-o", default="result")
    parser.add_argument("--data", choices=("mnist", "digits"), default="mnist")
    parser.add_argument("--shard", action="store_true", help="shard the states of the optimizer")
    args = parser.parse_args()
    if args.launch:
        from chainermn.launching import launch

        # The same arguments again: a later --launch 0 says that this is one of the processes.
        sys.exit(launch([__file__, *sys.argv[1:], "--launch", "0"], args.launch))

    comm = chainermn.create_communicator(args.communicator)
    np.random.seed(0)
    model = make_model(args.unit)
    if args.communicator == "pure_nccl" or type(comm).__name__ == "PureNcclCommunicator":
        chainer.get_device(f"@cupy:{comm.intra_rank}").use()
        model.to_device(f"@cupy:{comm.intra_rank}")
    # The joint batch is comm.size times as large. Adam takes the square root of that.
    optimizer = chainer.optimizers.Adam(args.lr * comm.size**0.5).setup(model)
    # Only rank 0 reads the data; distribute() sends each process its part.
    train, test = load(args.data) if comm.rank == 0 else ([], [])
    updater = training.StandardUpdater(
        chainer.iterators.SerialIterator(train, args.batchsize), optimizer, device=model.device
    )
    trainer = training.Trainer(updater, (args.epoch, "epoch"), out=args.out)
    test_iter = chainer.iterators.SerialIterator(test, args.batchsize, repeat=False, shuffle=False)
    trainer.extend(extensions.Evaluator(test_iter, model, device=model.device))
    trainer.extend(extensions.LogReport())
    trainer.extend(
        extensions.PrintReport(
            ["epoch", "main/loss", "validation/main/loss", "validation/main/accuracy"]
        )
    )
    chainermn.distribute(trainer, comm, shard_states=args.shard)
    checkpointer = chainermn.create_multi_node_checkpointer("mnist", comm)
    trainer.extend(checkpointer, trigger=(1, "epoch"))
    iteration = checkpointer.maybe_load(trainer)
    if comm.rank == 0 and iteration is not None:
        print(f"continues at iteration {iteration}")
    trainer.run()
    if comm.rank == 0:
        chainer.serializers.save_npz(f"{args.out}/model.npz", model)


if __name__ == "__main__":
    main()
