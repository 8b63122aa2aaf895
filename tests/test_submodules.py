"""Modules below the packages, reached as attributes after ``import chainer`` alone."""

import subprocess
import sys

import pytest

import chainer.functions.activation

PATHS = [
    "chainer.functions.activation.relu.ReLU",
    "chainer.functions.rnn.n_step_lstm.n_step_lstm",
    "chainer.functions.loss.softmax_cross_entropy.SoftmaxCrossEntropy",
    "chainer.links.connection.linear.Linear",
    "chainer.links.connection.gru.GRU",
    "chainer.links.model.vision.resnet.prepare",
    "chainer.links.normalization.batch_normalization.BatchNormalization",
    "chainer.optimizers.adam.Adam",
    "chainer.training.triggers.interval_trigger.IntervalTrigger",
]


def test_deep_paths_without_an_import():
    code = "import chainer\n" + "".join(f"assert callable({path})\n" for path in PATHS)
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("name", ["no_such_module", "_private", "__wrapped__"])
def test_no_such_submodule(name):
    with pytest.raises(AttributeError, match=rf"'chainer.functions.activation' has no .*'{name}'"):
        getattr(chainer.functions.activation, name)
