"""Names and errors of the original's API, beyond the numbers in tests/parity."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

import ideep4py as i

NAMES = [
    "all_ready",
    "array",
    "basic_acc_sum",
    "basic_copyto",
    "batchNormalization",
    "check_ndim",
    "check_type",
    "concat",
    "conv2DParam",
    "convolution2D",
    "convolution2DParam",
    "dat_array",
    "dropout",
    "get_array_module",
    "intVector",
    "linear",
    "localResponseNormalization",
    "localResponseNormalizationParam",
    "lrnParam",
    "mdarray",
    "mdarrayVector",
    "multi_add",
    "pol2DParam",
    "pooling2D",
    "pooling2DParam",
    "relu",
    "split",
    "tanh",
    "wgt_array",
    "__version__",
]

SIGNATURES = {
    "all_ready": "inputs supported_ndim",
    "array": "x itype",
    "check_ndim": "inputs supported_ndim",
    "check_type": "inputs",
    "convolution2DParam": "out_dims dy dx sy sx ph pw pd pr",
    "get_array_module": "array",
    "localResponseNormalizationParam": "n k alpha beta algo",
    "multi_add": "xs",
    "pooling2DParam": "out_dims kh kw sy sx ph pw pd pr algo",
    "split": "x indices_or_sections axis",
    "tanh": "x",
}


def test_all_names_of_the_original_exist() -> None:
    assert [n for n in NAMES if not hasattr(i, n)] == []
    assert (i.dat_array, i.wgt_array) == ("d", "w")


@pytest.mark.parametrize("name", SIGNATURES)
def test_parameter_names(name) -> None:
    assert list(inspect.signature(getattr(i, name)).parameters) == SIGNATURES[name].split()


def test_convolution_takes_keywords(normal) -> None:
    names = list(inspect.signature(i.convolution2D.Forward).parameters)
    assert names == ["src", "weights", "bias", "cp"]
    assert list(inspect.signature(i.convolution2D.BackwardData).parameters) == [
        "weights",
        "grady",
        "cp",
    ]


def test_array_returns_what_it_cannot_hold() -> None:
    for x in (None, "s", [1.0], np.zeros(3), np.zeros(3, "i"), np.float32(1), np.array(1, "f")):
        assert i.array(x) is x
    array = i.array(np.zeros((2, 3), "f"))
    assert i.array(array) is array
    assert i.array(array, itype=i.wgt_array) is array
    transposed = i.array(np.arange(6, dtype="f").reshape(2, 3).T)
    assert transposed.shape == (3, 2)


def test_get_array_module() -> None:
    assert i.get_array_module(np.zeros(2)) is i


def test_numpy_arrays_are_refused_where_the_original_refused_them(normal) -> None:
    a = normal(2, 8, 5, 5)
    x = i.array(a)
    W = i.array(normal(4, 8, 3, 3))
    cp = i.convolution2DParam((2, 4, 5, 5), 1, 1, 1, 1, 1, 1, 1, 1)
    pp = i.pooling2DParam((2, 8, 2, 2), 2, 2, 2, 2, 0, 0, 0, 0, 0)
    lp = i.localResponseNormalizationParam(5, 2, 1, 0.75, 0)
    calls = [
        lambda: i.convolution2D.Forward(a, W, None, cp),
        lambda: i.convolution2D.Forward(x, W, normal(4), cp),
        lambda: i.convolution2D.BackwardData(normal(4, 8, 3, 3), x, cp),
        lambda: i.convolution2D.BackwardWeights(a, x, cp),
        lambda: i.linear.Forward(normal(2, 3), normal(4, 3), None),
        lambda: i.linear.BackwardData(normal(2, 3), x),
        lambda: i.relu.Forward(a),
        lambda: i.relu.Backward(x, a),
        lambda: i.pooling2D.Forward(a, pp),
        lambda: i.batchNormalization.Forward(x, normal(8), normal(8), None, None, 1e-5),
        lambda: i.localResponseNormalization.Forward(a, lp),
        lambda: i.concat.Forward((x, a), 0),
        lambda: i.dropout.Forward(a, 0.5),
        lambda: i.dropout.Backward(x, a),
        lambda: i.basic_acc_sum((x, a)),
        lambda: i.basic_copyto(a, x),
    ]
    for call in calls:
        with pytest.raises(TypeError, match="must be an"):
            call()


def test_parameters_are_checked(normal) -> None:
    x, W = i.array(normal(2, 8, 5, 5)), i.array(normal(4, 8, 3, 3))
    with pytest.raises(TypeError, match="cp must be a conv2DParam, got int"):
        i.convolution2D.Forward(x, W, None, 1)
    with pytest.raises(TypeError, match="dy must be an int"):
        i.convolution2DParam((2, 4, 5, 5), 1.5, 1, 1, 1, 1, 1, 1, 1)
    with pytest.raises(TypeError, match="intVector holds ints"):
        i.convolution2DParam("ab", 1, 1, 1, 1, 1, 1, 1, 1)
    cp = i.convolution2DParam((2, 4, 7, 7), 1, 1, 1, 1, 1, 1, 1, 1)
    cp.sx = 5
    assert (cp.sx, cp.dilate_x, list(cp.out_dims)) == (5, 0, [2, 4, 7, 7])
    cp = i.convolution2DParam((3, 4, 5, 5), 1, 1, 1, 1, 1, 1, 1, 1)
    with pytest.raises(ValueError, match="out_dims"):
        i.convolution2D.Forward(x, W, None, cp)
    cp = i.convolution2DParam((2, 4, 5, 5), 0, 0, 1, 1, 1, 1, 1, 1)
    with pytest.raises(ValueError, match="dilate must be at least 1"):
        i.convolution2D.Forward(x, W, None, cp)
    with pytest.raises(ValueError, match="algo_kind must be one of"):
        i.pooling2D.Forward(x, i.pooling2DParam((2, 8, 2, 2), 2, 2, 2, 2, 0, 0, 0, 0, 99))
    pp = i.pooling2DParam((2, 8, 5, 5), 2, 2, 2, 2, 0, 0, 0, 0, 0)
    with pytest.raises(TypeError, match="workspace must be an"):
        i.pooling2D.Backward(x, i.array(normal(2, 8, 2, 2)), None, pp)
    with pytest.raises(TypeError, match="Forward takes 5 or 6"):
        i.batchNormalization.Forward(x, x)
    with pytest.raises(ValueError, match="algo_kind must be 0 or 1"):
        i.localResponseNormalization.Forward(x, i.localResponseNormalizationParam(5, 2, 1, 1, 3))


def test_default_parameters() -> None:
    assert {n: getattr(i.conv2DParam(), n) for n in ("sy", "dilate_x", "kh", "pad_rw")} == {
        "sy": 0,
        "dilate_x": 0,
        "kh": 0,
        "pad_rw": 0,
    }
    p = i.localResponseNormalizationParam(5, 2, 3, 0.5, 1)
    assert (p.n, p.k, p.alpha, p.beta, p.algo_kind) == (5, 2.0, 3.0, 0.5, 1)
    p = i.pol2DParam
    kinds = (p.pooling_max, p.pooling_avg, p.pooling_avg_include_padding)
    assert (*kinds, p.pooling_avg_exclude_padding) == (0, 1, 2, 3)


def test_dropout(normal) -> None:
    x = i.array(np.ones((100, 100), "f"))
    np.random.seed(1)
    mask, y = i.dropout.Forward(x, 0.25)
    values = np.unique(np.asarray(mask))
    np.testing.assert_allclose(values, [0, 4 / 3], rtol=1e-6)
    assert abs((np.asarray(mask) == 0).mean() - 0.25) < 0.02
    np.testing.assert_array_equal(y, mask)
    np.random.seed(1)
    np.testing.assert_array_equal(i.dropout.Forward(x, 0.25)[0], mask)
    for ratio in (-0.1, 1.0, 2.0):
        with pytest.raises(ValueError, match="ratio must be"):
            i.dropout.Forward(x, ratio)


def test_split(normal) -> None:
    x = i.array(normal(2, 8, 3, 3))
    assert [p.shape for p in i.split(x, 2, 1)] == [(2, 4, 3, 3)] * 2
    assert [p.shape for p in i.split(normal(4, 3), 2)] == [(2, 3)] * 2
    with pytest.raises(ValueError, match="equal division"):
        i.split(x, 3, 1)
    with pytest.raises(IndexError):
        i.split(x, [1], 5)
    assert isinstance(i.split(np.zeros((4, 2)), [1]), list)


def test_sums_of_different_shapes(normal) -> None:
    with pytest.raises(ValueError, match="shape"):
        i.basic_acc_sum((i.array(normal(2, 3)), i.array(normal(3, 2))))
    with pytest.raises(ValueError, match="at least one"):
        i.multi_add(())
    with pytest.raises(TypeError):
        i.multi_add((np.zeros((2, 3)),))


def test_int_vector() -> None:
    v = i.intVector((1, 2))
    v.push_back(3)
    v.append(4)
    assert (list(v), len(v), v.size(), v.front(), v.back()) == ([1, 2, 3, 4], 4, 4, 1, 4)
    assert v.pop() == 4
    v.pop_back()
    assert list(v[0:1]) == [1]
    v[0] = 9
    v.resize(4)
    v.erase(v.begin())
    assert list(v) == [2, 0, 0]
    v.insert(v.begin(), 7)
    del v[1]
    v[1:] = [5]
    assert list(v) == [7, 5]
    w = i.intVector(2, 8)
    v.swap(w)
    assert (list(v), list(w)) == ([8, 8], [7, 5])
    v.assign(3, 1)
    assert list(v) == [1, 1, 1]
    v.clear()
    assert v.empty()
    assert not v
    assert list(i.intVector(2)) == [0, 0]
    with pytest.raises(IndexError, match="empty"):
        v.pop()
    with pytest.raises(IndexError):
        i.intVector()[0]
    for bad in ("s", 1.5, None):
        with pytest.raises(TypeError):
            i.intVector().push_back(bad)
    with pytest.raises(TypeError):
        i.intVector(object())


def test_mdarray_vector(normal) -> None:
    x = i.array(normal(2, 3))
    v = i.mdarrayVector((x,))
    v.push_back(x)
    assert len(v) == 2
    assert v[0].shape == (2, 3)
    with pytest.raises(TypeError, match="mdarrayVector holds mdarrays"):
        v.push_back(normal(2, 3))
    with pytest.raises(TypeError, match="no default value"):
        i.mdarrayVector(2)


def test_all_ready_checks_every_type(normal) -> None:
    x = i.array(normal(2, 3))
    assert i.all_ready((x, normal(3)))
    assert not i.all_ready((x, np.zeros(3)))
    assert not i.all_ready((x, 1))
    with pytest.raises(IndexError):
        i.all_ready(())
