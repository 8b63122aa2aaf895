# hooks, reporters, links with persistents, custom update rules, initializers, datasets
import collections, json, os, tempfile, warnings
import numpy as np
import chainer
import chainer.functions as F
import chainer.links as L
from chainer import training, reporter, Variable, link_hooks, function_hooks
from chainer.training import extensions

np.random.seed(0)


class Count(chainer.FunctionHook):
    name = "Count"

    def __init__(self):
        self.c = collections.Counter()

    def forward_preprocess(self, function, in_data):
        self.c["f " + function.label] += 1

    def backward_preprocess(self, function, in_data, out_grad):
        self.c["b " + function.label] += 1


class Weights(chainer.LinkHook):
    name = "Weights"

    def __init__(self):
        self.seen = []

    def forward_preprocess(self, args):
        if isinstance(args.link, L.Linear):
            self.seen.append((args.link.name, args.args[0].shape))

    def forward_postprocess(self, args):
        self.seen.append((type(args.link).__name__, args.out.shape, repr(args)[:53]))


class Ema(chainer.Link):
    """Moving average, persistent."""

    def __init__(self, n):
        super(Ema, self).__init__()
        self.add_persistent("mean", np.zeros(n, "f"))
        self.count = 0
        self.register_persistent("count")
        with self.init_scope():
            self.scale = chainer.Parameter(chainer.initializers.One(), n)

    def forward(self, x):
        if chainer.config.train:
            self.mean *= 0.9
            self.mean += 0.1 * chainer.as_array(x).mean(axis=0)
            self.count += 1
        x, m = chainer.as_variable(x), self.mean
        return (x - F.broadcast_to(Variable(m), x.shape)) * F.broadcast_to(self.scale, x.shape)


class Model(chainer.Chain):
    def __init__(self):
        super(Model, self).__init__()
        with self.init_scope():
            self.fc1 = L.Linear(4, 5, initialW=chainer.initializers.Uniform(0.1))
            self.ema = Ema(5)
            self.fc2 = L.Linear(5, 2, initialW=chainer.initializers.Uniform(0.3))
        self.not_a_param = np.zeros(3)

    def forward(self, x):
        h = F.tanh(self.ema(self.fc1(x)))
        chainer.report({"h": F.mean(h)}, self)
        return self.fc2(h)


model = Model()
print(model)
print([n for n, _ in model.namedparams()], model.count_params())
x = np.random.rand(6, 4).astype("f")
t = np.array([0, 1, 1, 0, 1, -1], "i")
hook, lh = Count(), Weights()
with hook, lh:
    loss = F.softmax_cross_entropy(model(x), t)
    model.cleargrads()
    loss.backward()
for k in sorted(hook.c):
    if "NoDouble" not in k:
        print(k, hook.c[k])
for s in lh.seen:
    print(s)
with function_hooks.TimerHook() as timer:
    model(x)
print(
    [n for n, _ in timer.call_history],
    timer.total_time() > 0,
    sorted(timer.summary()["LinearFunction"]),
)
with link_hooks.TimerHook() as timer:
    model(x)
print([n for n, _ in timer.call_history])

# snapshots of persistents
path = os.path.join(tempfile.mkdtemp(), "m.npz")
chainer.serializers.save_npz(path, model)
with np.load(path) as f:
    print(sorted(f.keys()))
m2 = Model()
chainer.serializers.load_npz(path, m2)
print(m2.ema.count, (m2.ema.mean == model.ema.mean).all())
m3 = Model()
m3.copyparams(model)
print(m3.ema.count)


# own optimizer rule
class SignRule(chainer.UpdateRule):
    def init_state(self, param):
        with chainer.using_device(param.device):
            self.state["n"] = param.xp.zeros_like(param.array)

    def update_core_cpu(self, param):
        if param.grad is None:
            return
        self.state["n"] += abs(param.grad)
        param.array -= self.hyperparam.lr * np.sign(param.grad)

    update_core_gpu = update_core_cpu


class SignSGD(chainer.GradientMethod):
    def __init__(self, lr=0.01):
        super(SignSGD, self).__init__()
        self.hyperparam.lr = lr

    lr = chainer.optimizer.HyperparameterProxy("lr")

    def create_update_rule(self):
        return SignRule(self.hyperparam)


o = SignSGD(0.05).setup(model)
o.add_hook(lambda opt: print("hook", opt.t), "p", timing="post")
model.fc1.b.update_rule.hyperparam.lr = 0
for _ in range(2):
    o.update(lambda a, b: F.softmax_cross_entropy(model(a), b), x, t)
print(
    "%.4f" % float(F.softmax_cross_entropy(model(x), t).array),
    o.t,
    o.lr,
    model.fc1.b.array,
    sorted(model.fc2.W.update_rule.state),
)
chainer.serializers.save_npz(path, o)
with np.load(path) as f:
    print(sorted(f.keys()))


# training loop
class Data(chainer.dataset.DatasetMixin):
    def __len__(self):
        return 10

    def get_example(self, i):
        return np.full(4, i / 10.0, "f"), np.int32(i % 2)


d = Data()
a, b = chainer.datasets.split_dataset(d, 7)
print(len(a), len(b), d[1:3][0][1], d[[1, 4]][1][1], b[0][0][0])
it = chainer.iterators.SerialIterator(a, 3, shuffle=False)
cl = L.Classifier(Model())
opt = chainer.optimizers.MomentumSGD(0.1).setup(cl)
up = training.StandardUpdater(it, opt, converter=chainer.dataset.concat_examples)
out = tempfile.mkdtemp()
tr = training.Trainer(up, (3, "epoch"), out=out)
tr.extend(
    extensions.Evaluator(chainer.iterators.SerialIterator(b, 2, repeat=False, shuffle=False), cl)
)
tr.extend(extensions.LogReport(trigger=(1, "epoch")))
tr.extend(
    extensions.PrintReport(
        ["epoch", "iteration", "main/loss", "validation/main/loss", "main/accuracy"]
    )
)
tr.extend(extensions.ExponentialShift("lr", 0.5), trigger=(1, "epoch"))
tr.extend(extensions.snapshot(filename="s_{.updater.iteration}"), trigger=(1, "epoch"))
tr.extend(extensions.FailOnNonNumber())


@training.make_extension(trigger=(1, "epoch"), priority=training.PRIORITY_READER)
def lr(t):
    print(
        "lr",
        t.updater.get_optimizer("main").lr,
        sorted(t.observation)[:3],
        t.is_before_training if hasattr(t, "is_before_training") else "",
    )


tr.extend(lr)
tr.run()
print(sorted(os.listdir(out)))
with open(os.path.join(out, "log")) as f:
    log = json.load(f)
print(len(log), sorted(log[0]), log[-1]["epoch"], log[-1]["iteration"])
s = reporter.DictSummary()
s.add({"a": 1, "b": 2.5})
s.add({"a": 2, "b": (3, 2)})
print(s.compute_mean(), sorted(s.make_statistics()))
