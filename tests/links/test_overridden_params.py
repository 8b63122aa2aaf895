"""Links that override params() or namedparams(): each is used by the same method of the parent."""

from __future__ import annotations

import numpy as np

import chainer
from chainer import optimizers


def chain(child):
    parent = chainer.Chain()
    with parent.init_scope():
        parent.W = chainer.Parameter(np.ones(1, np.float32))
        parent.child = child
    return parent


def child_of(cls):
    child = cls()
    with child.init_scope():
        child.a = chainer.Parameter(np.ones(1, np.float32))
        child.b = chainer.Parameter(np.ones(1, np.float32))
    return child


class WithoutB(chainer.Chain):
    """As programs freeze a parameter."""

    def params(self, include_uninit=True):
        return (param for param in super().params(include_uninit) if param is not self.b)


def test_params():
    parent = chain(child_of(WithoutB))
    assert [param.name for param in parent.params()] == ["W", "a"]
    assert [path for path, _ in parent.namedparams()] == ["/W", "/child/a", "/child/b"]


def test_optimizers_update_what_params_gives():
    parent = chain(child_of(WithoutB))
    optimizer = optimizers.SGD(1.0).setup(parent)
    for _, param in parent.namedparams():
        param.grad = np.ones(1, np.float32)
    optimizer.update()
    values = {path: float(param.array[0]) for path, param in parent.namedparams()}
    assert values == {"/W": 0, "/child/a": 0, "/child/b": 1}
    assert parent.child.b.update_rule is None


def test_namedparams():
    class Renamed(chainer.Chain):
        def namedparams(self, include_uninit=True):
            return ((path.upper(), param) for path, param in super().namedparams(include_uninit))

    parent = chain(child_of(Renamed))
    assert [path for path, _ in parent.namedparams()] == ["/W", "/child/A", "/child/B"]
    assert [param.name for param in parent.params()] == ["W", "a", "b"]


def test_lists_and_uninitialized_parameters():
    child = child_of(WithoutB)
    with child.init_scope():
        child.lazy = chainer.Parameter(0)
    model = chainer.ChainList(chain(child), chainer.Link(W=(2,)))
    assert [param.name for param in model.params()] == ["W", "a", "lazy", "W"]
    assert [param.name for param in model.params(include_uninit=False)] == ["W", "a", "W"]
