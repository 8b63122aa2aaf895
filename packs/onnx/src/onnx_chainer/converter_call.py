"""The argument of a converter: one application of a function, and the names of its values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from onnx_chainer.context import Context
    from onnx_chainer.graph_conversion import GraphConversion
    from onnx_chainer.tracing import Application


class ConverterCall:
    """One application of a function that is to be converted.

    Attributes:
        func: The :class:`~chainer.FunctionNode`; for old-style functions the ``Function``. The
            shape of input ``i`` is ``func.inputs[i].shape``.
        opset_version: Version of the operator set.
        input_names: Names of the inputs.
        output_names: Names that the outputs are to have.
        context: :class:`~onnx_chainer.context.Context` of the export.
        name: Name of the function.
        application: The application with its input arrays.
        conversion: The conversion of the graph, for converters that expand a function into others.
    """

    def __init__(
        self,
        application: Application,
        input_names: list[str],
        output_names: list[str],
        conversion: GraphConversion,
    ) -> None:
        self.application = application
        self.func: Any = application.function
        self.name = application.name
        self.input_names = input_names
        self.output_names = output_names
        self.conversion = conversion
        self.context: Context = conversion.context
        self.opset_version: int = conversion.opset_version
