"""Pictures of the reference: which names have one, and what it says."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

pytest.importorskip("matplotlib")
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from scripts.site.names import Name, main_names, sections, value_of
from scripts.site.pictures import picture


def _name(public: str) -> Name:
    for names in sections().values():
        for name in names:
            if name.public == public:
                return name
    raise AssertionError(public)


@pytest.mark.parametrize(
    ("public", "said"),
    [
        ("chainer.functions.softmax", "Elements of the result of `softmax` for (x, 0, 1)."),
        ("chainer.functions.convolution_1d", "A signal, and the result of `convolution_1d("),
        ("chainer.functions.max_pooling_3d", "Planes of a volume"),
        ("chainer.functions.layer_normalization", "Matrices before and after"),
        ("chainer.functions.scaled_dot_product_attention", "causal=True"),
        ("chainer.functions.maximum", "Lines of equal values of `maximum`."),
        ("chainer.distributions.Dirichlet", "alpha=[2.0, 4.0, 3.0]"),
        ("chainer.optimizer_hooks.WeightDecay", "without the hook"),
        ("chainer.training.triggers.MinValueTrigger", "key='main/loss'"),
        ("chainer.iterators.WeightedOrderSampler", "Weights grow with the index."),
        # The picture of the function with this name.
        ("chainer.links.Convolution2D", "convolution_2d("),
    ],
)
def test_picture(public: str, said: str) -> None:
    drawn = picture(_name(public))
    assert drawn is not None
    assert drawn[0].startswith("<svg") and said in drawn[1]


@pytest.mark.parametrize("public", ["chainer.functions.identity", "chainer.initializers.Zero"])
def test_none_where_there_is_nothing_to_see(public: str) -> None:
    assert picture(_name(public)) is None


#: Sections, with the folder of the code, all of whose names have a picture but those listed: base
#: classes, constants, and results that are a number.
_COMPLETE = {
    ("Optimizers", ""): (),
    ("Optimizer hooks", ""): (),
    ("Distributions", ""): (),
    ("Schedules", ""): ("Constant", "Schedule"),
    ("Initializers", ""): ("Constant", "NaN", "One", "Zero"),
    ("Functions", "activation"): (),
    ("Functions", "attention"): (),
}


@pytest.mark.slow
@pytest.mark.parametrize(("section", "folder"), _COMPLETE)
def test_every_name_has_a_picture(section: str, folder: str) -> None:
    documented = main_names()
    missing = [
        name.public.rpartition(".")[2]
        for name in sections()[section]
        if documented[name.canonical] == name
        and (not folder or name.canonical.split(".")[2] == folder)
        and not (section == "Functions" and isinstance(value_of(name.public), type))
        and picture(name) is None
    ]
    assert missing == list(_COMPLETE[section, folder])
