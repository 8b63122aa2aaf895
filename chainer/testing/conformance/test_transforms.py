"""Every function of the table under transforms: all samples at once give what each gives alone."""

# pyright: basic
from __future__ import annotations

import warnings

import numpy as np

from chainer.core import misuse
from chainer.core.config.configuration import using_config
from chainer.testing.conformance.batches import Batch
from chainer.testing.conformance.harness import Case
from chainer.testing.conformance.test_operations import each_case
from chainer.training.capturing.capture import capture


@each_case
@misuse.ignored()
def test_batching(case: Case) -> None:
    """A mapped function and its mapped gradient have the values of a loop over the samples."""
    # A batch has shapes of its own. Libraries that compile for each shape need most time here.
    if not case.moving or (case.is_quick and not case.is_first):
        return
    batch = Batch(case)
    with np.errstate(all="ignore"):
        batch.check("vmap", batch.values, case.tolerance.forward)
        if not batch.has_gradients:
            return
        # The gradients of some functions cannot be differentiated in turn.
        with using_config("enable_backprop", case.spec.gradient_order > 1):
            batch.check("vmap of the gradient", batch.gradient, case.tolerance.backward)


@each_case
@misuse.ignored()
def test_transforms(case: Case) -> None:
    """Second gradients, tangents, nested maps and captured steps agree with single samples."""
    batch = Batch(case)
    if not batch.has_gradients or case.spec.gradient_order < 2:
        return
    of_gradients, of_second = case.tolerance.backward, case.tolerance.double
    with np.errstate(all="ignore"):
        gradients = batch.of_each(batch.gradient)
        seconds = batch.check("vmap of a gradient of the gradient", batch.second, of_second)
        batch.check("vmap of jvp", batch.tangent, of_gradients)
        # Functions that draw are called for each sample, whatever is around them.
        if not case.is_first or case.spec.reference is None:
            return
        batch.check_hessians(seconds, of_second)
        batch.check_nested(gradients, of_gradients)
        batch.check_per_sample_grad(gradients, of_gradients)
        step = capture(batch.mapped(batch.gradient))
        with warnings.catch_warnings():
            # A step that cannot be captured runs as written.
            warnings.simplefilter("ignore")
            for i in range(3):
                found = step(*batch.both())
                batch.compare(f"captured step {i}", found, gradients, of_gradients)
