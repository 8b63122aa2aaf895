"""Gradients of loaded operators, and gradients of gradients, against finite differences."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import onnx_chainer
import pytest
from node_cases import cases, plain

import chainer
import chainer.functions as F
from chainer import gradient_check

# Cases whose operator has a gradient of zero, or none at all.
CONSTANT = {
    *("Adagrad", "Adam", "ArrayFeatureExtractor", "Bernoulli", "Binarizer", "Ceil", "Floor"),
    *("DequantizeLinear", "DynamicQuantizeLinear", "Hardmax", "MelWeightMatrix", "Momentum"),
    *("OneHot", "QuantizeLinear", "Range", "Round", "Sign", "TreeEnsemble", "Unique"),
}

# Parts are float32 whatever the inputs are: finite differences are not exact enough. Loops have a
# test of their own.
NARROW = {"LinearAttention", "Loop"}

PER_OPERATOR = 2


def _usable(case):
    """Returns the operator and the inputs of a case with finite floating-point numbers."""
    if "expanded" in case.name or len(case.model.graph.node) != 1:
        return None
    inputs, outputs = ([plain(v) for v in values] for values in case.data_sets[0])
    if any([isinstance(v, list) or v is None for v in inputs + outputs]):
        return None
    inputs, outputs = [np.asarray(v) for v in inputs], [np.asarray(v) for v in outputs]
    if not any([v.dtype.char in "fd" for v in outputs]) or sum([v.size for v in inputs]) > 2000:
        return None
    if not any([v.dtype.char in "fd" for v in inputs]):
        return None
    if any([v.dtype.kind in "VOSU" or v.dtype.char == "e" for v in inputs + outputs]):
        return None
    if not all([np.isfinite(v).all() for v in inputs + outputs if v.dtype.kind == "f"]):
        return None
    return case.model.graph.node[0].op_type, inputs


def _chosen():
    found = defaultdict(list)
    with np.errstate(all="ignore"):
        for case in cases():
            usable = _usable(case)
            if usable is not None and usable[0] not in CONSTANT | NARROW:
                operator, inputs = usable
                if len(found[operator]) < PER_OPERATOR:
                    found[operator].append((case, inputs))
    return [pair for pairs in found.values() for pair in pairs]


CASES = {case.name: (case, inputs) for case, inputs in _chosen()}


def test_most_operators_are_covered():
    operators = {case.model.graph.node[0].op_type for case, _ in CASES.values()}
    assert len(operators) >= 110
    assert {"Conv", "Attention", "GridSample", "LSTM", "ScatterND", "Resize", "Scan"} <= operators


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", CASES)
def test_gradients(name):
    case, inputs = CASES[name]
    model = onnx_chainer.load(case.model)
    rng = np.random.RandomState(0)
    values = [v.astype("d") if v.dtype.kind == "f" else v for v in inputs]
    # Away from kinks such as the zero of Relu, and from equal elements.
    floats = {
        i: np.asarray(v + rng.uniform(-1e-3, 1e-3, v.shape))
        for i, v in enumerate(values)
        if v.dtype.char == "d"
    }

    def compute(**given):
        full = [given.get(f"x{i}", v) for i, v in enumerate(values)]
        with chainer.using_config("train", False):
            ys = model(*full)
        ys = ys if isinstance(ys, tuple) else (ys,)
        return [y for y in ys if y is not None and y.dtype.kind == "f" and y.creator is not None]

    variables = {f"x{i}": chainer.Variable(v) for i, v in floats.items()}
    ys = compute(**variables)
    if not ys:
        pytest.skip("the case passes its inputs on")
    gradients = chainer.grad([sum([F.sum(y) for y in ys])], list(variables.values()))
    used = [n for n, g in zip(variables, gradients, strict=True) if g is not None]
    assert used
    fixed = {n: v.array for n, v in variables.items() if n not in used}

    def function(*xs):
        return tuple(compute(**fixed, **dict(zip(used, xs, strict=True))))

    xs = tuple(variables[n].array for n in used)
    gys = tuple(rng.uniform(-1, 1, y.shape) for y in ys)
    options = {"dtype": "d", "eps": 1e-5, "rtol": 1e-3, "atol": 1e-4}
    gradient_check.check_backward(function, xs, gys, **options)
    ggxs = tuple(rng.uniform(-1, 1, x.shape) for x in xs)
    gradient_check.check_double_backward(function, xs, gys, ggxs, **options)
