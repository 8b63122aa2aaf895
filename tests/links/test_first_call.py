"""Sizes found out at the first call: from inputs that fit only, and from empty ones, too."""

from __future__ import annotations

import pytest

import chainer.links as L
from chainer.utils.type_check import InvalidType
from tests.links.link_cases import floats

pytestmark = pytest.mark.filterwarnings("ignore:.*is experimental:FutureWarning")

# How to make the link, an input with too few or too many axes, and one that fits.
CASES = {
    "Linear": (lambda: L.Linear(2), floats(4), floats(4, 3)),
    "Convolution2D": (lambda: L.Convolution2D(2, 3), floats(3, 5, 5), floats(1, 3, 5, 5)),
    "ConvolutionND": (lambda: L.ConvolutionND(1, 2, 3), floats(1, 3, 5, 5), floats(1, 3, 5)),
    "Deconvolution2D": (lambda: L.Deconvolution2D(2, 3), floats(5), floats(1, 3, 5, 5)),
    "DeconvolutionND": (lambda: L.DeconvolutionND(1, 2, 3), floats(3, 5), floats(1, 3, 5)),
    "DilatedConvolution2D": (
        lambda: L.DilatedConvolution2D(2, 3, dilate=2),
        floats(3, 5, 5),
        floats(1, 3, 5, 5),
    ),
    "DepthwiseConvolution2D": (
        lambda: L.DepthwiseConvolution2D(None, 2, 3),
        floats(3, 5, 5),
        floats(1, 3, 5, 5),
    ),
    "LocalConvolution2D": (
        lambda: L.LocalConvolution2D(None, 2, ksize=3),
        floats(3, 5, 5),
        floats(1, 3, 5, 5),
    ),
    "SimplifiedDropconnect": (lambda: L.SimplifiedDropconnect(None, 2), floats(4), floats(4, 3)),
    "LayerNormalization": (lambda: L.LayerNormalization(), floats(4), floats(4, 3)),
    "LSTM": (lambda: L.LSTM(2), floats(4), floats(4, 3)),
    "GRU": (lambda: L.GRU(None, 2), floats(4), floats(4, 3)),
}


@pytest.mark.parametrize("name", CASES)
def test_a_refused_input_decides_nothing(name):
    make, wrong, right = CASES[name]
    link = make()
    with pytest.raises(InvalidType, match=r"cannot infer its sizes(.|\n)*Expect: x\.ndim"):
        link(wrong)
    assert len(link(right)) == len(right)


def test_a_refused_sequence_decides_nothing():
    link = L.NStepGRU(1, None, 2, 0.0)
    with pytest.raises(InvalidType, match=r"NStepGRU cannot infer its sizes"):
        link(None, [floats(4)])
    assert link(None, [floats(4, 3)])[0].shape == (1, 1, 2)


def test_a_refused_axis_decides_nothing():
    link = L.BatchNormalization(axis=(0, 2, 3))
    with pytest.raises(ValueError, match=r"axis \(0, 2, 3\) is out of range for .* 2 axes"):
        link(floats(4, 3))
    assert link(floats(4, 3, 2, 2)).shape == (4, 3, 2, 2)


@pytest.mark.parametrize("name", ["Linear", "SimplifiedDropconnect", "LayerNormalization", "LSTM"])
def test_empty_batch(name):
    make, _, right = CASES[name]
    link = make()
    assert len(link(right[:0])) == 0
    if hasattr(link, "reset_state"):
        link.reset_state()
    assert len(link(right)) == len(right)
