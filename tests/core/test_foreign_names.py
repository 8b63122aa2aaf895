"""Names of PyTorch and Keras lead to ours."""

from __future__ import annotations

import copy
import inspect
import pickle
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import chainer
import chainer.functions as F
import chainer.links as L
from chainer import datasets, initializers, iterators, optimizer_hooks, optimizers, serializers
from chainer.core.foreign_names import ATTRIBUTES, KEYWORDS, NAMES, ForeignAttribute
from chainer.core.registry import registries
from chainer.training import extensions, triggers

ROOT = Path(__file__).parents[2]
MODULES = {
    "F": F,
    "L": L,
    "chainer": chainer,
    "datasets": datasets,
    "extensions": extensions,
    "initializers": initializers,
    "iterators": iterators,
    "optimizer_hooks": optimizer_hooks,
    "optimizers": optimizers,
    "serializers": serializers,
    "triggers": triggers,
}
TEXTS = [
    *[text for names in (*NAMES.values(), *ATTRIBUTES.values()) for text in names.values()],
    *[text for texts in KEYWORDS.values() for text in texts],
]


def test_all_names_that_are_recommended_exist():
    found = 0
    for text in TEXTS:
        for dotted in re.findall(rf"\b(?:{'|'.join(MODULES)})(?:\.[A-Za-z]\w*)+", text):
            module, *attributes = dotted.split(".")
            value = MODULES[module]
            for name in attributes:
                value = getattr(value, name)
            found += 1
    assert found > 100


@pytest.mark.parametrize("kind", NAMES)
def test_no_name_is_one_of_ours(kind):
    if kind == "chainer":
        assert not [name for name in NAMES[kind] if hasattr(chainer, name)]
        return
    registry = getattr(registries, kind)
    registry.load_all()
    assert not set(NAMES[kind]) & set(registry.names())


def test_methods_that_are_recommended_exist():
    owners = {"Link": chainer.Chain, "Optimizer": optimizers.SGD, "Variable": chainer.Variable}
    for owner, names in ATTRIBUTES.items():
        for theirs, text in names.items():
            method = re.match(r"([a-z_]+)\(", text)
            if method and "of the model" not in text:
                assert hasattr(owners[owner], method[1]), (theirs, text)


def test_keyword_arguments_that_are_recommended_exist():
    known = set(inspect.signature(chainer.training.Trainer).parameters)
    for registry in (
        registries.functions,
        registries.links,
        registries.optimizers,
        registries.iterators,
        registries.extensions,
        registries.datasets,
        registries.initializers,
    ):
        for name in registry.names():
            try:
                known.update(inspect.signature(registry.get(name)).parameters)
            except (TypeError, ValueError):  # no Python signature
                continue
    for theirs, ours in KEYWORDS.items():
        for name in ours:
            assert " " in name or name in known, (theirs, name)


@pytest.mark.parametrize(
    ("module", "name", "expected"),
    [
        (F, "conv2d", "no function named 'conv2d'; Chainer has F.convolution_2d"),
        (F, "conv_2d", "Chainer has F.convolution_2d"),
        (L, "Conv2d", "no link named 'Conv2d'; Chainer has L.Convolution2D"),
        (L, "CrossEntropyLoss", "Chainer has the function F.softmax_cross_entropy"),
        (optimizers, "Adamw", "no optimizer named 'Adamw'; did you mean 'AdamW'?"),
        (F, "Relu", "did you mean 'ReLU' or 'relu'?"),
        (iterators, "DataLoader", "Chainer has iterators.SerialIterator, or MultiprocessIterator"),
        (datasets, "DataLoader", "Chainer has chainer.iterators.SerialIterator"),
        (extensions, "EarlyStopping", "Chainer has extensions.EarlyStop"),
        (initializers, "xavier_uniform_", "Chainer has initializers.GlorotUniform"),
    ],
)
def test_names(module, name, expected):
    with pytest.raises(AttributeError, match=re.escape(expected)):
        getattr(module, name)


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (lambda: optimizers.Adam(lr=1e-3), "unexpected keyword argument 'lr'; write alpha=0.001"),
        (lambda: optimizers.SGD(learning_rate=0.5), "write lr=0.5"),
        (lambda: optimizers.Adam(betas=(0.5, 0.75)), "write beta1=0.5, beta2=0.75"),
        (lambda: optimizers.Adam(betas=0.5), "write beta1=..., beta2=..."),
        (lambda: optimizers.SGD(momentum=0.9), "Chainer has the optimizer MomentumSGD"),
        (lambda: optimizers.SGD(weight_decay=0.1), "chainer.optimizer_hooks.WeightDecay"),
        (lambda: optimizers.Adam(weight_decay=0.1), "write weight_decay_rate=0.1"),
        (lambda: L.Convolution2D(3, 8, 3, padding=1), "write pad=1"),
        (lambda: L.Convolution2D(3, out_channel=8), "did you mean 'out_channels'?"),
        (lambda: L.Linear(3, 2, bias=False), "write nobias=True"),
        (lambda: L.BatchNormalization(3, momentum=0.25), "write decay=0.75"),
        (lambda: L.MultiHeadAttention(num_heads=2, size=4), "write n_heads=2"),
        (lambda: F.dropout(np.ones(2), p=0.5), "write ratio=0.5"),
        (lambda: F.convolution_2d(np.ones(1), np.ones(1), padding=1), "write pad=1"),
        (lambda: iterators.SerialIterator([1], 1, num_workers=2), "MultiprocessIterator"),
        (lambda: L.Linear(3, 2, qqq=1), "it has in_size, out_size, nobias"),
    ],
)
def test_keyword_arguments(call, expected):
    with pytest.raises(TypeError, match=re.escape(expected)):
        call()


def test_errors_of_the_function_itself_stay():
    with pytest.raises(TypeError) as caught:
        F.dropout("text", ratio=0.5)
    assert "write" not in str(caught.value)


@pytest.mark.parametrize(
    ("make", "name", "expected"),
    [
        (lambda: L.Linear(2, 2), "parameters", "Chainer has params()"),
        (lambda: L.Linear(2, 2), "state_dict", "chainer.serializers.save_npz"),
        (lambda: L.Linear(2, 2), "eval", "chainer.using_config('train', False)"),
        (lambda: L.Linear(2, 2), "zero_grad", "Chainer has cleargrads()"),
        (lambda: optimizers.SGD(), "zero_grad", "Chainer has cleargrads() of the model"),
        (lambda: chainer.Variable(np.ones(2)), "cuda", "Chainer has to_gpu()"),
        (lambda: chainer.Parameter(np.ones(2)), "view", "Chainer has reshape(*shape)"),
    ],
)
def test_attributes(make, name, expected):
    obj = make()
    with pytest.raises(AttributeError, match=re.escape(expected)):
        getattr(obj, name)
    assert not hasattr(obj, name)
    assert name not in dir(obj)
    # Tools read what dir() lists.
    assert not [n for n in dir(obj) if isinstance(inspect.getattr_static(obj, n), ForeignAttribute)]


class Own(chainer.Chain):
    """Has children and methods with names of PyTorch, and a keyword argument."""

    def __init__(self, *, eval=1):
        super().__init__()
        with self.init_scope():
            self.train = L.Linear(2, 2)
        self.half = eval

    def parameters(self):
        return list(self.params())


def test_programs_may_use_these_names():
    model = Own(eval=3)
    assert isinstance(model.train, L.Linear)
    assert model.half == 3 and len(model.parameters()) == 2
    assert {"train", "half", "parameters"} <= set(dir(model))
    for other in (copy.deepcopy(model), pickle.loads(pickle.dumps(model)), model.copy()):
        assert len(other.parameters()) == 2
    with pytest.raises(TypeError, match=r"Own.__init__\(\) got .* 'evl'; did you mean 'eval'\?"):
        Own(evl=2)


class WithNew:
    def __new__(cls, *args, **kwargs):
        self = super().__new__(cls)
        self.given = args, kwargs
        return self


class Mixed(L.Linear, WithNew):
    pass


def test_a_mixin_with_a_constructor_gets_the_arguments():
    assert Mixed(3, out_size=2).given == ((3,), {"out_size": 2})


def test_the_page_has_the_table():
    done = subprocess.run(
        [sys.executable, "scripts/make_foreign_names.py", "--check"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
