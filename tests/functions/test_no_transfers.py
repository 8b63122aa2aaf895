"""Functions and their gradients leave arrays where they are, and values unread."""

from __future__ import annotations

import importlib.util

import pytest

import chainer
import chainer.functions as F
from chainer.testing.conformance.harness import Case, flatten, is_float
from chainer.testing.specs import all_specs

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("chainer_strict_backend") is None,
    reason="the distribution in tests/strict_backend is not installed",
)

#: Those that have to, with the reason.
EXCEPTIONS = {
    "classification_summary": "the number of labels is the largest one, unless it is given",
    "precision": "likewise",
    "recall": "likewise",
    "f1_score": "likewise",
    "erf": "the reference is that of SciPy; accelerators have kernels",
    "erfc": "likewise",
    "erfcx": "likewise",
    "erfinv": "likewise",
    "erfcinv": "likewise",
    "ndtr": "likewise",
    "log_ndtr": "likewise",
    "ndtri": "likewise",
    "lgamma": "likewise",
    "digamma": "likewise",
    "polygamma": "likewise",
    "zeta": "likewise",
    "roi_pooling_2d": "the reference reads the regions one by one; accelerators have kernels",
    "roi_average_pooling_2d": "likewise",
    "roi_max_pooling_2d": "likewise",
    "roi_average_align_2d": "likewise",
    "roi_max_align_2d": "likewise",
    "connectionist_temporal_classification": "the row is in debug mode, which looks at values",
}


def run(spec, case, device):
    variables = [chainer.Variable(a) if is_float(a) else a for a in case.arrays()]
    keywords = case.keywords()

    from chainer_strict_backend import count_transfers

    with count_transfers() as transfers, device:
        result = spec.apply(*variables, **keywords)
        outputs = [y for y in flatten(result) if getattr(y, "creator", None) is not None]
        if spec.gradient_order and outputs:
            total = F.sum(outputs[0])
            for y in outputs[1:]:
                total += F.sum(y)
            if total.requires_grad and total.creator is not None:
                total.backward()
    return transfers


@pytest.mark.parametrize(
    "spec", [s for s in all_specs() if s.name not in EXCEPTIONS], ids=lambda s: s.name
)
def test_no_transfers(spec):
    device = chainer.get_device("@strict:0")
    for sample in spec.samples(spec.draw()):
        if sample.kind == "regular":
            case = Case(spec, sample, "float32", 0, device)
            run(spec, case, device)  # constants of a size are sent once
            transfers = run(spec, case, device)
            assert transfers.total == 0, (sample, transfers)


@pytest.mark.parametrize("name", EXCEPTIONS)
def test_exceptions_are_needed(name):
    device = chainer.get_device("@strict:0")
    (spec,) = [s for s in all_specs() if s.name == name]
    totals = [
        run(spec, Case(spec, sample, "float32", 0, device), device).total
        for sample in spec.samples(spec.draw())
        if sample.kind == "regular"
    ]
    assert max(totals) > 0
