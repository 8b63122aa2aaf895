"""Errors of files and of models that cannot be loaded or computed."""

from __future__ import annotations

from chainer.serializers import FileFormatError


class ONNXModelError(FileFormatError):
    """A model cannot be loaded or computed: the base class of all errors about models of ONNX.

    It is a FileFormatError of ``chainer.serializers``, and so a ValueError.
    """


class ONNXFormatError(ONNXModelError):
    """The file is not a valid model of ONNX."""


class UnsupportedOperatorError(ONNXModelError):
    """The model has operators that Chainer has no function for.

    Args:
        names: Their names.

    Attributes:
        names: The names of the operators.
    """

    def __init__(self, names: list[str]) -> None:
        super().__init__(
            f"the model has operators that cannot be loaded: {', '.join(names)}; "
            "load(..., operators={name: function}) takes functions for them, and packages register "
            "functions in the hook chainer_onnx_operators"
        )
        self.names = names


class UnsupportedAttributeError(ONNXModelError):
    """An operator is asked for a variant that Chainer cannot compute.

    Attributes:
        operator: Name of the operator.
        attribute: Name of the attribute, or of the input.
        value: Its value.
    """

    def __init__(self, operator: str, attribute: str, value: object) -> None:
        super().__init__(f"{operator} with {attribute}={value!r} cannot be loaded")
        self.operator = operator
        self.attribute = attribute
        self.value = value


class LimitError(ONNXModelError):
    """A model asks for more memory or work than the limits of this package.

    Args:
        operator: Name of the operator.
        what: The quantity, such as elements.
        value: The number.
        limit: Name of the limit in ``onnx_chainer.importing.limits``.
        most: The limit.
    """

    def __init__(self, operator: str, what: str, value: int, limit: str, most: int) -> None:
        super().__init__(
            f"{operator}: {what}: {value} is more than {most}; the limit is "
            f"onnx_chainer.importing.limits.{limit}"
        )
        self.operator = operator


class OperatorError(ONNXModelError):
    """A node of a model cannot be computed. The cause is chained.

    Args:
        operator: Name of the operator.
        node: Name of the node, or of its first output.
        inputs: Descriptions of the inputs.
        error: The cause.

    Attributes:
        operator: Name of the operator.
        node: Name of the node, or of its first output.
    """

    def __init__(self, operator: str, node: str, inputs: list[str], error: BaseException) -> None:
        super().__init__(
            f"{operator} {node!r} cannot be computed for the inputs "
            f"({', '.join(inputs)}): {type(error).__name__}: {error}"
        )
        self.operator = operator
        self.node = node
