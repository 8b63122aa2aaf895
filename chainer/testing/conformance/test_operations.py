"""Every function of the table against its formula: outputs, gradients twice, refusals."""

# pyright: basic
from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from chainer.core import misuse
from chainer.core.arrays.device import Device
from chainer.core.autograd.grad import grad
from chainer.core.autograd.variable import Variable
from chainer.core.config.configuration import using_config
from chainer.testing.array import assert_allclose, to_host
from chainer.testing.conformance import options
from chainer.testing.conformance.harness import (
    Case,
    along,
    assert_unmodified,
    is_float,
    map_arrays,
)
from chainer.testing.op_spec import OpSpec

#: Layouts of the suite, and the kind of sample each takes.
KINDS = {
    "contiguous": "regular",
    "strided": "regular",
    "empty": "empty",
    "zero-dim": "zero-dim",
}


def each_case(check):
    """Turns a check of one case into a test of a row of the table."""

    def test(spec, dtype, layout, device, pytestconfig):
        found = [s for s in spec.samples(spec.draw()) if s.kind == KINDS[layout]]
        assert found, f"no sample of {spec.name} is {KINDS[layout]}"
        is_quick = options.quick(pytestconfig)
        taken = options.cases(found, check.__name__, layout, dtype, device, is_quick=is_quick)
        for sample, variant in taken:
            case = Case(spec, sample, dtype, variant, device)
            case.is_first = sample is found[0]
            case.is_quick = is_quick
            try:
                with case.environment():
                    check(case)
            except Exception as error:
                error.add_note(f"Sample: {sample.label}")
                raise

    test.__name__ = check.__name__
    test.__doc__ = check.__doc__
    return test


@each_case
def test_forward(case: Case) -> None:
    """Outputs have the values of the formula; dtype, device and inputs are right."""
    spec = case.spec
    arrays = case.arrays()
    before = [np.array(to_host(array)) for array in arrays]
    _, ys = case.call(arrays, case.moving)
    expected = case.reference(case.host)
    assert len(ys) == len(expected), f"{len(ys)} outputs, expected {len(expected)}"
    atol, rtol = case.tolerance.forward
    for i, (y, value) in enumerate(zip(ys, expected, strict=True)):
        assert y.shape == value.shape, f"output {i} has shape {y.shape}, expected {value.shape}"
        case.check_place(y.array, f"output {i}")
        if is_float(value):
            dtype = np.dtype(spec.output_dtype or case.dtype)
            assert y.dtype == dtype, f"output {i} is {y.dtype}, expected {dtype}"
        else:
            assert not is_float(y), f"output {i} is {y.dtype}, expected no floating-point dtype"
        assert_allclose(y, value, atol=atol, rtol=rtol)
    assert_unmodified(arrays, before)
    if not case.variant and "deterministic" not in case.limitations:
        _, again = case.call(arrays, case.moving)
        for i, (y, same) in enumerate(zip(ys, again, strict=True)):
            message = f"output {i} has other bits in the second call (declare 'deterministic')"
            np.testing.assert_array_equal(to_host(y), to_host(same), err_msg=message)


@each_case
@misuse.ignored()
def test_backward(case: Case) -> None:
    """Gradients agree with finite differences of the formula, in every way to compute them."""
    gys = case.output_gradients(case.reference(case.host))
    directions = case.unit_direction()
    gxs = case.gradients(gys, case.moving, recorded=False)
    atol, rtol = case.tolerance.backward
    assert_allclose(along(gxs, directions), case.slope(gys, directions), atol=atol, rtol=rtol)

    if case.spec.gradient_order > 1:
        recorded = case.gradients(gys, case.moving, recorded=True)
        _assert_same(recorded, gxs, atol, rtol, "gradients for double backprop")
        if len(case.moving) > 1 and case.dtype == "float64" and not case.variant:
            total, of_double = (
                case.gradients(gys, case.moving, recorded=recorded, linked=True)
                for recorded in (False, True)
            )
            what = "gradients for double backprop, where an input depends on another,"
            _assert_same(of_double, total, atol, rtol, what)
    if case.variant:
        return
    if len(case.moving) > 1:
        for i, gx in zip(case.moving, gxs, strict=True):
            alone = case.gradients(gys, (i,), recorded=False)
            _assert_same(alone, [gx], atol, rtol, f"gradient of input {i} alone")
    if len([gy for gy in gys if gy is not None]) > 1:
        total = _sum_over_outputs(case, gys)
        _assert_same(total, gxs, len(gys) * atol, rtol, "sum of gradients of single outputs")


def _sum_over_outputs(case: Case, gys: Sequence[np.ndarray | None]) -> list[Any]:
    """Returns the sum of the gradients that arise from each output alone.

    The other outputs come with no gradient at all.
    """
    parts = []
    for j, gy in enumerate(gys):
        if gy is not None:
            one = [gy if k == j else None for k in range(len(gys))]
            parts.append(case.gradients(one, case.moving, recorded=False))
    return [sum(0 if p is None else p for p in column) for column in zip(*parts, strict=True)]


def _assert_same(actual, expected, atol, rtol, what) -> None:
    for i, (a, b) in enumerate(zip(actual, expected, strict=True)):
        a = 0 if a is None else a
        b = 0 if b is None else b
        try:
            assert_allclose(a, b, atol=atol, rtol=rtol)
        except AssertionError as error:
            error.add_note(f"{what} differ from the gradients on arrays (number {i})")
            raise


def _with_any_names(match: str) -> str:
    """Returns a pattern that also matches if the message names the inputs.

    A table says ``in_types[0]``. A function may give its inputs names, which messages show instead.
    """
    return re.sub(r"in_types\\\[(\d+)\\\]", r"(?:in_types\\[\1\\]|\\w+)", match)


@each_case
def test_double_backward(case: Case) -> None:
    """Gradients of gradients agree with second finite differences of the formula."""
    gys = case.output_gradients(case.reference(case.host))
    ggxs = case.unit_direction()
    directions = case.unit_direction()
    moves = case.output_gradients(case.reference(case.host))
    by_x, by_gy = case.double_gradients(gys, ggxs)
    actual = along(by_x, directions) + along(by_gy, [m for m in moves if m is not None])
    expected = case.mixed_derivative(gys, ggxs, directions, moves)
    atol, rtol = case.tolerance.double
    assert_allclose(actual, expected, atol=atol, rtol=rtol)


@each_case
@misuse.ignored()
def test_forward_mode(case: Case) -> None:
    """Tangents agree with gradients and with finite differences, also when differentiated."""
    spec = case.spec
    gys = case.output_gradients(case.reference(case.host))
    directions = case.unit_direction()
    try:
        xs, _ys, tangents = case.tangents(directions)
    except RuntimeError:
        # The default differentiates the gradient, which some functions refuse.
        assert spec.gradient_order == 1, "forward mode is refused, but gradients have gradients"
        return
    hosts = [None if t is None else np.array(to_host(t)) for t in tangents]
    if spec.gradient_order == 0:
        assert all([t is None or not t.any() for t in hosts]), "tangents where gradients are zero"
        return
    actual = along(hosts, gys)
    atol, rtol = case.tolerance.backward
    assert_allclose(actual, case.slope(gys, directions), atol=atol, rtol=rtol)
    gxs = case.gradients(gys, case.moving, recorded=False)
    assert_allclose(actual, along(gxs, directions), atol=atol, rtol=rtol)
    if spec.gradient_order > 1:
        _check_gradients_of_tangents(case, gys, directions, xs, tangents)


def _check_gradients_of_tangents(case: Case, gys, directions, xs, tangents) -> None:
    pairs = [(t, gy) for t, gy in zip(tangents, gys, strict=True) if t is not None]
    live = [(t, gy) for t, gy in pairs if gy is not None and t.requires_grad]
    second = [None] * len(xs)
    if live:
        seeds = [Variable(case.send(gy, t.dtype), requires_grad=False) for t, gy in live]
        second = grad([t for t, _ in live], xs, seeds, second)
    hosts = [None if g is None else np.array(to_host(g)) for g in second]
    others = case.unit_direction()
    still = [None if gy is None else np.zeros_like(gy) for gy in gys]
    expected = case.mixed_derivative(gys, directions, others, still)
    atol, rtol = case.tolerance.double
    assert_allclose(along(hosts, others), expected, atol=atol, rtol=rtol)


def test_refuses(spec: OpSpec, device: Device) -> None:
    """Bad inputs raise the documented error."""
    assert spec.errors is not None
    send = device.send
    if "float64" in device.backend.limitations:
        send = lambda array: device.send(array.astype("f") if array.dtype == "d" else array)
    for bad in spec.errors(spec.draw()):
        arrays = map_arrays(send, list(map_arrays(np.copy, bad.arrays)))
        kwargs = map_arrays(send, bad.kwargs)
        debug = using_config("debug", bad.debug)
        with device, debug, pytest.raises(bad.error, match=_with_any_names(bad.match)):
            spec.apply(*arrays, **kwargs)
            pytest.fail(f"{bad} was accepted")
