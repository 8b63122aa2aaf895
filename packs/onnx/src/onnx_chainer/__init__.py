"""Export of Chainer models to ONNX, and import of ONNX models.

The names are imported at first use, so that ``import onnx_chainer`` works without the package onnx.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from onnx_chainer.versions import MAXIMUM_OPSET_VERSION, MINIMUM_OPSET_VERSION

if TYPE_CHECKING:
    from onnx_chainer.converter_registry import converter, register_converter
    from onnx_chainer.exporting import export
    from onnx_chainer.importing.errors import (
        LimitError,
        ONNXFormatError,
        ONNXModelError,
        OperatorError,
        UnsupportedAttributeError,
        UnsupportedOperatorError,
    )
    from onnx_chainer.importing.load import load
    from onnx_chainer.importing.operators import register_operator
    from onnx_chainer.quantization.exporting import export_quantized
    from onnx_chainer.tensors import convert_parameter
    from onnx_chainer.testcases import export_testcase

__version__ = "8.0.0"

__all__ = [
    "MAXIMUM_OPSET_VERSION",
    "MINIMUM_OPSET_VERSION",
    "LimitError",
    "ONNXFormatError",
    "ONNXModelError",
    "OperatorError",
    "UnsupportedAttributeError",
    "UnsupportedOperatorError",
    "__version__",
    "convert_parameter",
    "converter",
    "export",
    "export_quantized",
    "export_testcase",
    "load",
    "register_converter",
    "register_operator",
]

_PLACES = {
    "LimitError": "onnx_chainer.importing.errors",
    "ONNXFormatError": "onnx_chainer.importing.errors",
    "ONNXModelError": "onnx_chainer.importing.errors",
    "OperatorError": "onnx_chainer.importing.errors",
    "UnsupportedAttributeError": "onnx_chainer.importing.errors",
    "UnsupportedOperatorError": "onnx_chainer.importing.errors",
    "convert_parameter": "onnx_chainer.tensors",
    "converter": "onnx_chainer.converter_registry",
    "export": "onnx_chainer.exporting",
    "export_quantized": "onnx_chainer.quantization.exporting",
    "export_testcase": "onnx_chainer.testcases",
    "load": "onnx_chainer.importing.load",
    "register_converter": "onnx_chainer.converter_registry",
    "register_operator": "onnx_chainer.importing.operators",
}

# Programs of earlier releases use these submodules after `import onnx_chainer` alone.
_SUBMODULES = ("context", "functions", "mapping", "onnx_helper", "replace_func", "testing")


def __getattr__(name: str) -> Any:
    place = _PLACES.get(name)
    if place is not None:
        value = getattr(importlib.import_module(place), name)
    elif name in _SUBMODULES:
        value = importlib.import_module(f"onnx_chainer.{name}")
    else:
        raise AttributeError(f"module 'onnx_chainer' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_SUBMODULES})
