"""The frameworks that traps run with, reduced to what traps need.

A framework is made with whether steps are captured. ``compile`` returns the function itself if they
are not. Arrays of float32 come from ``array``; operators and ``@`` are those of the framework.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import threading

import numpy as np

from .corpus import NotApplicable

WEIGHTS = [[0.5, -0.25, 0.125], [0.25, 0.5, -0.5]]


class Framework:
    name = ""

    def __init__(self, captures):
        self.captures = captures

    def warns(self, warning):
        return "cannot be captured" in str(warning.message)

    def equal(self, a, b):
        if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
            same = (a.shape, a.dtype) == (b.shape, b.dtype)
            return same and np.allclose(a, b, rtol=1e-4, atol=1e-6, equal_nan=True)
        return type(a) is type(b) and (a == b or a != a)

    def missing(self, what):
        raise NotApplicable(f"{self.name} has no {what}")

    def seed(self, n):
        np.random.seed(n)

    def sum(self, x):
        return x.sum()

    def detach(self, x):
        return x

    def module(self, body, **attributes):
        link = type("Module", (), {"__call__": body})()
        link.inner = self.linear()
        vars(link).update(attributes)
        return link

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *args, **kwargs: self.missing(name)


class Chainer(Framework):
    name = "chainer"

    def __init__(self, captures, audit=0):
        super().__init__(captures)
        import chainer
        import chainer.functions as F
        import chainer.links as L

        self.c, self.F, self.L, self.audit = chainer, F, L, audit

    def equal(self, a, b):
        if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
            return (a.shape, a.dtype, a.tobytes()) == (b.shape, b.dtype, b.tobytes())
        return type(a) is type(b) and (a == b or a != a)

    def compile(self, function, *targets):
        return self.c.capture(function, *targets, audit=self.audit) if self.captures else function

    def array(self, values, dtype=np.float32):
        return np.array(values, dtype)

    def plain(self, value):
        array = value.array if isinstance(value, self.c.Variable) else value
        return np.array(array) if isinstance(array, (np.ndarray, np.generic)) else array

    def sum(self, x):
        return self.F.sum(x)

    def tanh(self, x):
        return self.F.tanh(x)

    def random(self, *shape):
        return np.random.rand(*shape).astype(np.float32)

    def dropout(self, x):
        return self.F.dropout(x, 0.5)

    def linear(self):
        link = self.L.Linear(3, 2, initialW=np.array(WEIGHTS, "f"), nobias=True)
        return link

    def module(self, body, **attributes):
        link = self.c.Chain(inner=self.linear())
        cls = type("Module", (self.c.Chain,), {"__call__": body})
        link.__class__ = cls
        for name, value in attributes.items():
            setattr(link, name, value)
        return link

    def weight(self, link):
        return link.W.array.copy()

    def set_weight(self, link, values):
        link.W.array = np.array(values, "f")

    def scale_weight(self, link, factor):
        link.W.array[...] *= np.float32(factor)

    def gradient(self, link):
        return None if link.W.grad is None else link.W.grad.copy()

    def batch_norm(self):
        return self.L.BatchNormalization(2)

    def running_mean(self, link):
        return link.avg_mean.copy()

    def sgd(self, link, lr=0.1, momentum=0.5):
        return self.c.optimizers.MomentumSGD(lr, momentum).setup(link)

    def set_lr(self, optimizer, lr):
        optimizer.lr = lr

    def set_momentum(self, optimizer, momentum):
        optimizer.momentum = momentum

    def clear(self, link):
        link.cleargrads()

    def backward(self, loss):
        loss.backward()

    def update(self, optimizer):
        optimizer.update()

    def count(self, optimizer):
        return optimizer.t

    def freeze(self, link):
        link.disable_update()

    def thaw(self, link):
        link.enable_update()

    def on_update(self, optimizer, hook):
        optimizer.add_hook(lambda opt: hook(), name="trap")

    def on_forward(self, link, seen):
        class Hook(self.c.LinkHook):
            name = "trap"

            def forward_postprocess(self, args):
                seen.append(1)

        link.add_hook(Hook())

    def training(self, on):
        return self.c.using_config("train", on)

    def no_grad(self):
        return self.c.no_backprop_mode()

    def detach(self, x):
        return x.array if isinstance(x, self.c.Variable) else x

    def errors_raise(self):
        return np.errstate(all="raise")

    def gelu(self, x):
        return self.F.gelu(x)

    def exp(self, x):
        return self.F.exp(x)


class Torch(Framework):
    name = "torch"

    def __init__(self, captures):
        super().__init__(captures)
        import torch

        self.t, self._train = torch, [True]
        torch._dynamo.reset()

    def warns(self, warning):
        return "dynamo" in str(warning.filename) or "compile" in str(warning.message)

    def seed(self, n):
        self.t.manual_seed(n)
        np.random.seed(n)

    def compile(self, function, *targets):
        return self.t.compile(function) if self.captures else function

    def array(self, values, dtype=np.float32):
        return self.t.from_numpy(np.array(values, dtype))

    def plain(self, value):
        return value.detach().numpy().copy() if isinstance(value, self.t.Tensor) else value

    def sum(self, x):
        return x.sum()

    def tanh(self, x):
        return self.t.tanh(x)

    def random(self, *shape):
        return self.t.from_numpy(np.random.rand(*shape).astype(np.float32))

    def dropout(self, x):
        self.missing("dropout whose numbers are the same when compiled")

    def linear(self):
        link = self.t.nn.Linear(3, 2, bias=False)
        link.weight.data[...] = self.array(WEIGHTS)
        return link

    def module(self, body, **attributes):
        cls = type("Module", (self.t.nn.Module,), {"forward": body})
        link = cls()
        link.inner = self.linear()
        for name, value in attributes.items():
            setattr(link, name, value)
        return link

    def weight(self, link):
        return link.weight.detach().clone()

    def set_weight(self, link, values):
        link.weight.data = self.array(values)

    def scale_weight(self, link, factor):
        link.weight.data.mul_(factor)

    def gradient(self, link):
        return None if link.weight.grad is None else link.weight.grad.clone()

    def batch_norm(self):
        return self.t.nn.BatchNorm1d(2)

    def running_mean(self, link):
        return link.running_mean.clone()

    def sgd(self, link, lr=0.1, momentum=0.5):
        return self.t.optim.SGD(link.parameters(), lr, momentum)

    def set_lr(self, optimizer, lr):
        optimizer.param_groups[0]["lr"] = lr

    def set_momentum(self, optimizer, momentum):
        optimizer.param_groups[0]["momentum"] = momentum

    def clear(self, link):
        link.zero_grad()

    def backward(self, loss):
        loss.backward()

    def update(self, optimizer):
        optimizer.step()

    def count(self, optimizer):
        self.missing("count of updates of SGD")

    def freeze(self, link):
        link.requires_grad_(False)

    def thaw(self, link):
        link.requires_grad_(True)

    def on_update(self, optimizer, hook):
        optimizer.register_step_pre_hook(lambda *_: hook())

    def on_forward(self, link, seen):
        link.register_forward_hook(lambda *_: seen.append(1))

    def training(self, on):
        self.missing("training mode of a thread")

    def no_grad(self):
        return self.t.no_grad()

    def detach(self, x):
        return x.detach()

    def errors_raise(self):
        self.missing("floating-point errors")

    def gelu(self, x):
        return self.t.nn.functional.gelu(x)

    def exp(self, x):
        return self.t.exp(x)


class Jax(Framework):
    """Functions only: JAX has neither links nor optimizers."""

    name = "jax"

    def __init__(self, captures):
        super().__init__(captures)
        import jax

        self.j = jax

    def compile(self, function, *targets):
        return self.j.jit(function) if self.captures else function

    def array(self, values, dtype=np.float32):
        return self.j.numpy.array(np.array(values, dtype))

    def plain(self, value):
        return np.array(value) if isinstance(value, self.j.Array) else value

    def sum(self, x):
        return x.sum()

    def tanh(self, x):
        return self.j.numpy.tanh(x)

    def exp(self, x):
        return self.j.numpy.exp(x)

    def gelu(self, x):
        return self.j.nn.gelu(x)

    def random(self, *shape):
        return self.array(np.random.rand(*shape))

    def linear(self):
        W = [self.array(WEIGHTS)]
        link = _JaxLink(W)
        return link

    def weight(self, link):
        return link.W[0]

    def set_weight(self, link, values):
        link.W[0] = self.array(values)

    def scale_weight(self, link, factor):
        link.W[0] = link.W[0] * factor

    def no_grad(self):
        return contextlib.nullcontext()


class _JaxLink:
    def __init__(self, W):
        self.W = W

    def __call__(self, x):
        return x @ self.W[0].T


class Mlx(Framework):
    """MLX has modules, and gradients of functions: nothing calls ``backward``."""

    name = "mlx"

    def __init__(self, captures):
        super().__init__(captures)
        import mlx.core
        import mlx.nn

        self.m, self.nn = mlx.core, mlx.nn

    def compile(self, function, *targets):
        if not self.captures:
            return function
        # The documentation of mlx.compile: what a function reads besides its arguments is named.
        state = [t.state for t in targets if isinstance(t, self.nn.Module)]
        return self.m.compile(function, inputs=state, outputs=state)

    def array(self, values, dtype=np.float32):
        return self.m.array(np.array(values, dtype))

    def plain(self, value):
        return np.array(value) if isinstance(value, self.m.array) else value

    def tanh(self, x):
        return self.m.tanh(x)

    def exp(self, x):
        return self.m.exp(x)

    def gelu(self, x):
        return self.nn.gelu(x)

    def random(self, *shape):
        return self.array(np.random.rand(*shape))

    def linear(self):
        link = self.nn.Linear(3, 2, bias=False)
        link.weight = self.array(WEIGHTS)
        return link

    def module(self, body, **attributes):
        link = type("Module", (self.nn.Module,), {"__call__": body})()
        link.inner = self.linear()
        for name, value in attributes.items():
            setattr(link, name, value)
        return link

    def weight(self, link):
        return self.m.array(link.weight)

    def set_weight(self, link, values):
        link.weight = self.array(values)

    def scale_weight(self, link, factor):
        link.weight = link.weight * factor

    def batch_norm(self):
        return self.nn.BatchNorm(2, momentum=0.9)

    def running_mean(self, link):
        return link.running_mean

    def detach(self, x):
        return self.m.stop_gradient(x)

    def no_grad(self):
        return contextlib.nullcontext()


class Tinygrad(Framework):
    """TinyJit repeats the kernels of the second call; results have to be realized."""

    name = "tinygrad"

    def __init__(self, captures):
        super().__init__(captures)
        os.environ["TRAINING"] = "1"  # as the optimizers demand
        if shutil.which("clang") is None:
            os.environ.setdefault("DEV", "PYTHON")  # its device CPU compiles by clang
        import tinygrad
        from tinygrad import nn

        self.t, self.nn = tinygrad, nn

    def seed(self, n):
        self.t.Tensor.manual_seed(n)
        np.random.seed(n)

    def _realized(self, value):
        if isinstance(value, self.t.Tensor):
            return value.realize()
        if isinstance(value, (tuple, list)):
            return type(value)([self._realized(v) for v in value])
        return value

    def compile(self, function, *targets):
        if not self.captures:
            return function
        return self.t.TinyJit(lambda *args, **kwargs: self._realized(function(*args, **kwargs)))

    def array(self, values, dtype=np.float32):
        return self.t.Tensor(np.array(values, dtype)).contiguous().realize()

    def plain(self, value):
        return value.numpy().copy() if isinstance(value, self.t.Tensor) else value

    def tanh(self, x):
        return x.tanh()

    def exp(self, x):
        return x.exp()

    def gelu(self, x):
        return x.gelu()

    def random(self, *shape):
        return self.array(np.random.rand(*shape))

    def linear(self):
        link = self.nn.Linear(3, 2, bias=False)
        link.weight = self.array(WEIGHTS)
        link.weight.requires_grad = True
        return link

    def weight(self, link):
        return self.t.Tensor(link.weight.numpy().copy())

    def set_weight(self, link, values):
        link.weight.assign(self.array(values)).realize()

    def scale_weight(self, link, factor):
        link.weight.assign(link.weight * factor).realize()

    def gradient(self, link):
        return None if link.weight.grad is None else link.weight.grad.numpy().copy()

    def batch_norm(self):
        return self.nn.BatchNorm(2)

    def running_mean(self, link):
        return link.running_mean.numpy().copy()

    def sgd(self, link, lr=0.1, momentum=0.5):
        return self.nn.optim.SGD([link.weight], lr, momentum)

    def set_lr(self, optimizer, lr):
        optimizer.lr.assign(self.t.Tensor([lr])).realize()

    def set_momentum(self, optimizer, momentum):
        optimizer.momentum = momentum

    def clear(self, link):
        link.weight.grad = None

    def backward(self, loss):
        loss.backward()

    def update(self, optimizer):
        optimizer.step()

    def freeze(self, link):
        link.weight.requires_grad = False

    def thaw(self, link):
        link.weight.requires_grad = True

    def detach(self, x):
        return x.detach()

    def no_grad(self):
        return contextlib.nullcontext()


FRAMEWORKS = {framework.name: framework for framework in (Chainer, Torch, Jax, Mlx, Tinygrad)}


def in_thread(function):
    """Runs a function in another thread; returns its result."""
    found = []
    thread = threading.Thread(target=lambda: found.append(function()))
    thread.start()
    thread.join()
    return found[0]
