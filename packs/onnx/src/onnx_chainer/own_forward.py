"""Functions without a converter whose ``forward`` is arithmetic: it is run on Variables.

Programs define functions for a faster gradient or a kernel for GPUs. What such a function computes
on the CPU is often an expression like ``x * y + z``, which Variables can compute, too. Then their
functions are exported in its place.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any

import numpy

import chainer
from chainer import Function, FunctionNode, Variable
from chainer.typing import Array
from onnx_chainer.converter_call import ConverterCall
from onnx_chainer.frozen_values import other_values
from onnx_chainer.tensors import as_numpy
from onnx_chainer.tracing import Application, Trace


def run_on_variables(params: ConverterCall) -> list[Any]:
    """Converter of such a function."""
    application = params.application
    runs = (application, application.twin, application.probe)
    return params.conversion.expand(
        params, *[None if run is None else _composition(run.function) for run in runs]
    )


def why_not(application: Application) -> str | None:
    """Tells why a function cannot be exported in this way.

    Args:
        application: The application of the function.

    Returns:
        str: The reason. None if its forward, run on Variables, computes the same with the sample
        and with other values, and depends on all inputs.
    """
    function = application.function
    if _method(function) is None:
        return "it defines neither forward() nor forward_cpu()"
    arrays = [as_numpy(x) for x in application.inputs]
    # With other values too: a number that the function reads from an array would be a constant.
    for values in (arrays, [other_values(x) for x in arrays]):
        try:
            reason = _difference(function, values)
        except Exception as error:
            # It is code of the program, written for arrays: anything may happen.
            reason = f"its forward cannot be run on Variables ({type(error).__name__}: {error})"
        if reason is not None:
            return reason
    return None


def _difference(function: Any, arrays: list[Array]) -> str | None:
    expected = _composition(function)(*arrays)
    inputs = [Variable(x, requires_grad=False) for x in arrays]
    trace = Trace(lambda: _composition(function)(*inputs), inputs)
    outputs = trace.outputs
    if not all([isinstance(y, Variable) for y in outputs]):
        return "its forward does not return Variables when it gets Variables"
    used = {id(node) for a in trace.select(outputs) for node in a.node.input_nodes}
    used |= {id(y.node) for y in outputs}
    for y, array in zip(outputs, expected, strict=True):
        same = y.shape == array.shape and y.dtype == array.dtype
        # The order of roundings may be another one.
        if not same or not numpy.allclose(y.array, array, rtol=1e-5, atol=1e-6, equal_nan=True):
            return "its forward computes something else with Variables"
    for i, x in enumerate(inputs):
        if id(x.node) not in used and _depends_on(i, function, arrays, expected):
            return f"its forward takes input {i} out of its Variable"
    return None


def _depends_on(index: int, function: Any, arrays: list[Array], expected: Sequence[Array]) -> bool:
    """Returns whether other values of an input change the outputs."""
    changed = [other_values(x) if i == index else x for i, x in enumerate(arrays)]
    outputs = _composition(function)(*changed)
    return not all([numpy.array_equal(a, b) for a, b in zip(outputs, expected, strict=True)])


def _method(function: Any) -> str | None:
    """Returns the name of the method that computes on arrays of NumPy."""
    cls = type(function)
    for name in ("forward", "forward_cpu"):
        own = getattr(cls, name, None)
        bases = [getattr(base, name, None) for base in (Function, FunctionNode)]
        if own is not None and own not in bases:
            return name
    return None


def _composition(function: Any) -> Callable[..., tuple[Any, ...]]:
    """Returns the forward computation of a function, which leaves the function as it is."""

    def call(*inputs: Any) -> tuple[Any, ...]:
        # A copy, because forward notes what is retained, and often keeps arrays as attributes.
        twin = copy.copy(function)
        for name in ("_node", "_weak_node"):
            # The node of an old-style function; the copy makes another one.
            vars(twin).pop(name, None)
        with chainer.using_config("type_check", False):
            outputs = getattr(twin, _method(function) or "forward")(inputs)
        return outputs if isinstance(outputs, tuple) else (outputs,)

    return call
