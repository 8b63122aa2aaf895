# subclasses of extensions and triggers that use names with an underscore, reports of hooks to the
# character, evaluators without links, text of graphs, means of arrays, nodes that are applied again
import io
import re
import urllib.error
import warnings

import numpy as np

import chainer
import chainer.functions as F
import chainer.links as L
from chainer import computational_graph, training, utils
from chainer.training import extensions, triggers


def make_trainer(stop=(2, "epoch")):
    data = chainer.datasets.TupleDataset(np.ones((4, 2), "f"), np.zeros(4, "i"))
    model = L.Classifier(L.Linear(2, 2, initialW=np.eye(2)))
    optimizer = chainer.optimizers.SGD(0.1).setup(model)
    iterator = chainer.iterators.SerialIterator(data, 2, shuffle=False)
    return training.Trainer(training.StandardUpdater(iterator, optimizer), stop, "result")


def marked(text):
    """Spaces at the ends of lines are shown."""
    return text.replace("\x1b[J", "").replace(" ", ".")


class Log(extensions.LogReport):
    def __init__(self, **kwargs):
        super(Log, self).__init__(**kwargs)
        print("keys", self._keys, "trigger", type(self._trigger).__name__, self._log_name)

    def __call__(self, trainer):
        self._summary.add({"twice": 2 * float(trainer.observation["main/loss"].array)})
        super(Log, self).__call__(trainer)


class Print(extensions.PrintReport):
    def _print(self, observation):
        self._out.write("row %d of %s\n" % (self._log_len, self._entries))
        self._out.flush()


class Every(triggers.IntervalTrigger):
    def __call__(self, trainer):
        fired = super(Every, self).__call__(trainer)
        print("previous", self._previous_iteration, self._previous_epoch_detail)
        return fired


class Best(triggers.MinValueTrigger):
    def _init_summary(self):
        self.began = getattr(self, "began", 0) + 1
        super(Best, self)._init_summary()


class Stop(triggers.EarlyStoppingTrigger):
    def _stop_condition(self):
        print("count", self.count, "better", self._compare(0, 1))
        return super(Stop, self)._stop_condition()


# tables
out = io.StringIO()
trainer = make_trainer()
trainer.extend(extensions.LogReport())
names = ["epoch", "iteration", "main/loss", "not_reported_by_any", "main/accuracy"]
trainer.extend(extensions.PrintReport(names, out=out))
trainer.extend(
    lambda _: print(len(out.getvalue().splitlines())), trigger=(1, "iteration"), priority=0
)
trainer.run()
for line in marked(out.getvalue()).splitlines():
    print(line)

# names with an underscore
out = io.StringIO()
trainer = make_trainer()
trainer.extend(Log(trigger=(1, "epoch")), name="LogReport")
trainer.extend(Print(["epoch"], out=out))
best = Best("main/loss")
trainer.extend(lambda _: print("best"), trigger=best, name="best")
trainer.extend(lambda _: None, trigger=Every(1, "epoch"), name="every")
trainer.run()
print(marked(out.getvalue()))
print(sorted(trainer.get_extension("LogReport").log[0]))
print(best.began, best._best_value < 1)
print(trainer._done)
stop = Stop((1, "epoch"), "main/loss", 1, "max", True, (5, "epoch"))
make_trainer(stop).run()
plot = extensions.PlotReport(["a"], filename="p.png")
print(type(plot._trigger).__name__, plot._file_name, type(plot._summary).__name__)
print(extensions.snapshot().__class__ is training.extensions._snapshot._Snapshot)


# evaluators of programs that need no link
class Fixed(extensions.Evaluator):
    def evaluate(self):
        return {"value": 3}


iterator = chainer.iterators.SerialIterator([1, 2, 3], 2, repeat=False, shuffle=False)
print(Fixed(iterator, chainer.Link())(), Fixed(iterator, {})())


def function(batch):
    chainer.report({"sum": float(np.sum(batch))})


evaluator = extensions.Evaluator(iterator, {"main": function})
with chainer.Reporter():
    print({k: float(v) for k, v in evaluator.evaluate().items()})

# reports of hooks
hook = chainer.function_hooks.TimerHook()
hook.call_history = [("Sum", 1.5), ("ReLU", 2e-3), ("Sum", 0.25), ("Exp", 3e-6)]
for unit in ("auto", "auto_foreach", "sec", "ms", "us", "ns"):
    out = io.StringIO()
    hook.print_report(unit, out)
    print(marked(out.getvalue()))
try:
    hook.print_report("hours")
except KeyError:
    print("KeyError")
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    chainer.function_hooks.PrintHook(sep=" ")
    chainer.function_hooks.PrintHook()
print([str(w.category.__name__) for w in caught])

# the text of a graph
y = F.sum(chainer.Variable(np.ones(2, "f"), name="x"))
text = computational_graph.build_computational_graph([y]).dump()
statements = re.sub(r"\b\d+ (?=\[|->)|(?<=-> )\d+", "", text)
print(text.startswith("digraph graphname{rankdir=TB;"), text.endswith(";}"), "\n" in text)
print(sorted(statements[len("digraph graphname{") : -1].split(";")))

# means of arrays
summary = chainer.reporter.Summary()
summary.add(np.array([1.0, 2.0]))
summary.add(np.array([3.0, 6.0]), 3)
mean, std = summary.make_statistics()
print(mean.tolist(), np.round(std, 4).tolist())


# a function node that is applied several times, without gradients
class Double(chainer.FunctionNode):
    def forward(self, inputs):
        self.retain_inputs((0,))
        self.count = getattr(self, "count", 0) + 1
        return (inputs[0] * 2,)

    def backward(self, indexes, grad_outputs):
        return (grad_outputs[0] * 2,)


node = Double()
xs = [chainer.Variable(np.full(2, i, "f")) for i in range(3)]
ys = [node.apply((x,))[0] for x in xs]
print([y.array.tolist() for y in ys], node.count, node._input_indexes_to_retain)
ys[-1].grad = np.ones(2, "f")
ys[-1].backward()
print(xs[-1].grad.tolist(), ys[-1].creator is node)

utils._check_arrays_forward_compatible([np.ones(1), None])
try:
    utils._check_arrays_forward_compatible([np.ones(1), 3], "name")
except TypeError as error:
    print(str(error).split("\n")[0])

# what exporters of graphs read of functions
x = chainer.Variable(np.arange(6, dtype="f").reshape(2, 3))
image = chainer.Variable(np.arange(16, dtype="f").reshape(1, 1, 4, 4))
print([f(x, 0).creator.axis for f in (F.sum, F.max, F.min, F.prod, F.logsumexp)])
print(F.sum(x).creator.axis, F.sum(x, (0, 1), True).creator.axis, F.max(x, -1).creator.axis)
print([y.creator.slices for y in (x[0], x[0:1], x[[0, 1]], x[None], x[..., 0], x[0, 1])])
print(F.scatter_add(x, 0, x[0]).creator.slices)
print(F.max_pooling_nd(image, 2).creator.indexes.tolist())

# an error of a download
chainer.dataset.set_dataset_root("datasets")
try:
    chainer.dataset.cached_download("file:///nonexistent/file")
except urllib.error.URLError:
    print("URLError")
