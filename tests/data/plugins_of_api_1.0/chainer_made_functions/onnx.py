"""Export to ONNX; used by the distribution onnx-chainer, and only where that is installed."""

from __future__ import annotations

from typing import Any


def convert_softcap(params: Any) -> Any:
    """Returns the nodes of ONNX for one application of the function.

    Args:
        params: The application: ``func``, ``opset_version``, ``input_names``, ``output_names`` and
            ``context``.
    """
    from onnx_chainer import onnx_helper

    builder = onnx_helper.GraphBuilder()
    (x,) = params.input_names
    # A constant has the dtype of the input: operators of ONNX do not mix dtypes.
    dtype = params.func.inputs[0].dtype
    cap = params.context.add_const(dtype.type(params.func.cap), "cap")
    y = builder.op("Tanh", [builder.op("Div", [x, cap])])
    builder.op("Mul", [cap, y])
    return builder.nodes(params.output_names)
