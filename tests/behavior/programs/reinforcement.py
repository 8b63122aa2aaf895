"""A deep Q-network and policy gradients, in loops without a trainer."""

import collections
import copy
import random

import numpy as np

import chainer
import chainer.functions as F
import chainer.links as L
from chainer import optimizers

np.random.seed(0)
random.seed(0)


class QFunction(chainer.Chain):
    def __init__(self, obs_size, n_actions, n_units=20):
        super(QFunction, self).__init__()
        with self.init_scope():
            self.l0 = L.Linear(obs_size, n_units)
            self.l1 = L.Linear(n_units, n_units)
            self.l2 = L.Linear(n_units, n_actions, initialW=chainer.initializers.HeNormal(0.1))

    def forward(self, x):
        h = F.relu(self.l0(x))
        h = F.relu(self.l1(h))
        return self.l2(h)


def get_greedy_action(Q, obs):
    dtype = chainer.get_dtype()
    obs = Q.xp.asarray(obs[None], dtype=dtype)
    with chainer.no_backprop_mode():
        q = Q(obs).array[0]
    q = q
    return int(q.argmax())


def mean_clipped_loss(y, t):
    return F.mean(F.huber_loss(y, t, delta=1.0, reduce="no"))


def update(Q, target_Q, opt, samples, gamma=0.99, target_type="double_dqn"):
    dtype = chainer.get_dtype()
    xp = Q.xp
    obs = xp.asarray([s[0] for s in samples], dtype=dtype)
    action = xp.asarray([s[1] for s in samples], dtype=np.int32)
    reward = xp.asarray([s[2] for s in samples], dtype=dtype)
    done = xp.asarray([s[3] for s in samples], dtype=dtype)
    obs_next = xp.asarray([s[4] for s in samples], dtype=dtype)
    y = F.select_item(Q(obs), action)
    with chainer.no_backprop_mode():
        if target_type == "dqn":
            next_q = F.max(target_Q(obs_next), axis=1)
        else:
            next_q = F.select_item(target_Q(obs_next), F.argmax(Q(obs_next), axis=1))
    target = reward + gamma * (1 - done) * next_q
    loss = mean_clipped_loss(y, target)
    Q.cleargrads()
    loss.backward()
    opt.update()
    return float(loss.array)


class Env(object):
    def reset(self):
        self.s = np.random.randn(4)
        self.t = 0
        return self.s

    def step(self, a):
        self.s = self.s * 0.9 + (a - 0.5) * 0.1 + np.random.randn(4) * 0.01
        self.t += 1
        return (self.s, -abs(self.s).sum(), self.t > 8, {})


env = Env()
D = collections.deque(maxlen=1000)
Q = QFunction(4, 2)
target_Q = copy.deepcopy(Q)
opt = optimizers.Adam(eps=0.01)
opt.setup(Q)
it = 0
for ep in range(12):
    obs = env.reset()
    done = False
    R = 0
    while not done:
        eps = 1.0 if len(D) < 20 else max(0.1, 1 - it * 0.01)
        action = np.random.randint(2) if np.random.rand() < eps else get_greedy_action(Q, obs)
        new, r, done, _ = env.step(action)
        R += r
        D.append((obs, action, r * 0.01, done, new))
        obs = new
        if len(D) >= 20:
            loss = update(
                Q,
                target_Q,
                opt,
                random.sample(list(D), 8),
                target_type="dqn" if ep % 2 else "double_dqn",
            )
        it += 1
        if it % 30 == 0:
            target_Q.copyparams(Q)
    print(ep, "%.4f" % R, "%.6f" % (loss if len(D) >= 20 else 0))
    target_Q2 = copy.deepcopy(Q)
for (n, p), (m, q) in zip(Q.namedparams(), target_Q.namedparams()):
    q.array[:] = q.array * 0.9 + 0.1 * p.array
    print(n, "%.5f" % float(abs(p.array).sum()), "%.5f" % float(abs(q.array).sum()))
from chainer import distributions as Dd

pi = chainer.Sequential(L.Linear(4, 8), F.tanh, L.Linear(8, 2))
o = chainer.optimizers.RMSprop(lr=0.01).setup(pi)
for ep in range(3):
    s = env.reset()
    lps = []
    rs = []
    done = False
    while not done:
        d = Dd.Categorical(logit=pi(s[None].astype("f")))
        a = d.sample()
        lps.append(d.log_prob(a))
        s, r, done, _ = env.step(int(a.array[0]))
        rs.append(r)
    R = np.cumsum(rs[::-1])[::-1]
    loss = -sum((lp * float(r) for lp, r in zip(lps, R)))
    loss = F.sum(loss) / len(rs) + 0.01 * -F.sum(d.entropy)
    pi.cleargrads()
    loss.backward()
    o.update()
    print("%.4f" % float(loss.array))
print(len(pi), type(pi[1]).__name__, [p.name for p in pi.params()])
