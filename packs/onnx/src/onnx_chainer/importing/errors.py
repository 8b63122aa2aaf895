"""Errors of files and of models that cannot be loaded."""

from __future__ import annotations

from chainer.serializers import FileFormatError


class ONNXFormatError(FileFormatError):
    """The file is not a valid model of ONNX; a FileFormatError of ``chainer.serializers``."""


class UnsupportedOperatorError(ValueError):
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
