"""A program as users write it; test_sample.py has pyright and mypy check it."""

from typing import Any, assert_type

import numpy as np

import chainer
import chainer.functions as F
import chainer.links as L
import chainer.optimizers.adam
import chainer.utils.type_check as checks
from chainer import Variable, datasets, initializers, iterators, optimizers, serializers, training
from chainer.backends import cuda
from chainer.dataset import convert
from chainer.function_hooks import TimerHook
from chainer.functions.rules import ExpressionFunction, UnaryFunction
from chainer.optimizer_hooks import WeightDecay
from chainer.testing import op_spec
from chainer.testing.op_spec import OpSpec
from chainer.training import extensions, triggers
from chainer.typing import Arrays
from chainer.utils import type_check


class MLP(chainer.Chain):
    def __init__(self) -> None:
        super().__init__()
        with self.init_scope():
            self.hidden = L.Linear(None, 16, initialW=initializers.HeNormal())
            self.out = L.Linear(16, 2)

    def forward(self, x: Variable) -> Variable:
        return self.out(F.relu(self.hidden(x)))


class Softcap(UnaryFunction):
    retained_outputs = (0,)

    def forward(self, inputs: Arrays) -> Arrays:
        return (self.xp.tanh(inputs[0]),)

    def gradient(self, ops: Any, y: Any, gy: Any) -> Any:
        return gy * (1 - y**2)


class Product(ExpressionFunction):
    retained_inputs = (0, 1)

    def forward(self, inputs: Arrays) -> Arrays:
        return (inputs[0] * inputs[1],)

    def gradients(self, ops: Any, targets: Any, x0: Any, x1: Any, gy: Any) -> Any:
        return tuple([gy * (x0 if i else x1) for i in targets])


model = L.Classifier(MLP())
optimizer = optimizers.Adam(alpha=0.01)
optimizer.setup(model)
optimizer.add_hook(WeightDecay(1e-4))

x = Variable(np.zeros((4, 3), np.float32))
assert_type(F.relu(x), Variable)
assert_type(x + 1, Variable)
assert_type(-x, Variable)
assert_type(chainer.grad([x], [x]), list[Variable | None])
assert_type(optimizer, optimizers.Adam)
assert_type(chainer.function_hooks.TimerHook(), TimerHook)
assert_type(chainer.as_variable(x), chainer.variable.Variable)

train = datasets.TupleDataset(np.zeros((4, 3), np.float32), np.zeros(4, np.int32))
iterator = iterators.SerialIterator(train, 2)
updater = training.StandardUpdater(iterator, optimizer, converter=convert.concat_examples)
trainer = training.Trainer(updater, (3, "epoch"), out="result")
trainer.extend(extensions.LogReport(trigger=(1, "epoch")))
trainer.extend(extensions.snapshot(), trigger=triggers.ManualScheduleTrigger([1, 3], "epoch"))
serializers.save_npz("model.npz", model)

with chainer.using_config("train", False), chainer.no_backprop_mode():
    cuda.to_cpu(model(x, np.zeros(4, np.int32)).array)
type_check.expect(True)
checks.expect(True)
assert_type(chainer.optimizers.adam.Adam(), optimizers.Adam)
assert_type(op_spec.OpSpec, type[OpSpec])

# Misspelled names of chainer itself are found. Plugins can add names to chainer.functions, so
# checkers accept any name there.
chainer.Varable  # type: ignore[attr-defined]
chainer.training.Traner  # type: ignore[attr-defined]
F.from_an_installed_pack(x)

# Constructors of declared optimizers have the names and types of their hyperparameters.
assert_type(optimizers.Adam(0.01, beta1=0.8).alpha, float)
optimizers.Adam(alpha="fast")  # type: ignore[arg-type]
optimizers.Adam(rate=0.01)  # type: ignore[call-arg]
optimizers.AdamW(amsgrad=True)  # type: ignore[call-arg]
