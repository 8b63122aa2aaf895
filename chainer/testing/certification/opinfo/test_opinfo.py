"""Functions of Chainer on the samples of PyTorch's OpInfo: outputs and gradients."""

# pyright: basic
from __future__ import annotations

import numpy as np
import pytest

from chainer.core import misuse
from chainer.core.arrays.device import Device
from chainer.core.autograd.grad import grad
from chainer.core.autograd.variable import Variable
from chainer.testing.array import assert_allclose, to_host
from chainer.testing.certification.opinfo.conftest import samples_of
from chainer.testing.certification.opinfo.row import Arguments, Row
from chainer.testing.certification.opinfo.samples import Sample, leaves
from chainer.testing.conformance.harness import flatten, is_float, map_arrays
from chainer.testing.op_spec import TOLERANCES, FunctionNamespace


@misuse.ignored()
def test_samples(row: Row, dtype: str, difference: None, device: Device) -> None:
    """Outputs and gradients are the same as in PyTorch."""
    for sample in samples_of(row.op, dtype):
        if row.difference(sample.arguments) is None:
            try:
                with device:
                    _compare(row, sample, dtype, device)
            except Exception as error:
                error.add_note(f"OpInfo {row.op}, {sample.label}")
                raise


@misuse.ignored()
def test_differences(row: Row, dtype: str, difference: int, device: Device) -> None:
    """The samples of a declared difference do not agree with PyTorch."""
    chosen = [s for s in samples_of(row.op, dtype) if row.difference(s.arguments) == difference]
    for sample in chosen:
        try:
            with device:
                _compare(row, sample, dtype, device)
        except Exception:  # any error shows the difference
            continue
        pytest.fail(
            f"it agrees with PyTorch, so this difference is declared wrongly: "
            f"{row.differences[difference].reason} (OpInfo {row.op}, {sample.label})"
        )
    raise AssertionError(row.differences[difference].reason)


def _compare(row: Row, sample: Sample, dtype: str, device: Device) -> None:
    def send(array):
        array = device.send(np.array(array))
        return Variable(array) if is_float(array) else array

    arguments = Arguments(
        tuple(map_arrays(send, list(sample.arguments.args))),
        map_arrays(send, sample.arguments.kwargs),
    )
    ys = flatten(row.apply(FunctionNamespace, arguments))
    chosen = range(len(sample.ys)) if row.outputs is None else row.outputs
    expected = [sample.ys[i] for i in chosen]
    assert len(ys) == len(expected), f"{len(ys)} outputs, expected {len(expected)}"
    less = dtype == "float64" and "precise_float64" in device.backend.limitations
    tolerance = TOLERANCES["float32" if less else dtype]
    for i, (y, value) in enumerate(zip(ys, expected, strict=True)):
        assert y.shape == value.shape, f"output {i} has shape {y.shape}, expected {value.shape}"
        if is_float(value):
            assert y.dtype == value.dtype, f"output {i} is {y.dtype}, expected {value.dtype}"
        _assert_close(y, value, tolerance.forward, f"output {i}")
    if sample.gys is not None:
        _compare_gradients(arguments, ys, sample, [sample.gys[i] for i in chosen], tolerance)


def _compare_gradients(arguments: Arguments, ys, sample: Sample, gys, tolerance) -> None:
    given = [*arguments.args, arguments.kwargs]
    xs = leaves(given, lambda value: hasattr(value, "dtype") and hasattr(value, "shape"))
    live = [(y, gy) for y, gy in zip(ys, gys, strict=True) if gy is not None]
    moving = [(x, gx) for x, gx in zip(xs, sample.gxs, strict=True) if gx is not None]
    seeds = [Variable(y.device.send(gy.astype(y.dtype)), requires_grad=False) for y, gy in live]
    found = grad([y for y, _ in live], [x for x, _ in moving], seeds)
    for i, (gx, (x, expected)) in enumerate(zip(found, moving, strict=True)):
        value = np.zeros(x.shape, x.dtype) if gx is None else gx
        assert value.shape == expected.shape
        _assert_close(value, expected, tolerance.backward, f"gradient {i}")


def _assert_close(actual, expected, accepted, what: str) -> None:
    atol, rtol = accepted
    try:
        assert_allclose(to_host(actual), expected, atol=atol, rtol=rtol)
    except AssertionError as error:
        error.add_note(f"of {what}")
        raise
