"""Models of ONNX as they are checked and written."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping
from typing import Any

from chainer import Variable
from chainer.utils.atomic_file import replacing
from onnx_chainer.optional import require
from onnx_chainer.tensors import value_info


def file_version(opset_version: int) -> int:
    """Returns the smallest version of the file format for an operator set.

    A newer one makes no difference to the model, but runtimes refuse versions that they do not
    know. From version 4 on parameters need not be inputs of the graph.
    """
    onnx = require("onnx")
    # The table of the package has the operator sets of its releases only.
    newest = onnx.defs.onnx_opset_version()
    ids = [onnx.helper.make_opsetid("", min(opset_version, newest))]
    return max(4, onnx.helper.find_min_ir_version_for(ids))


def with_inferred_outputs(proto: Any, outputs: Mapping[str, Variable]) -> Any:
    """Returns a model whose outputs have the shapes that follow from the inputs."""
    onnx = require("onnx")
    inferred = onnx.shape_inference.infer_shapes(proto)
    found = {value.name: value for value in inferred.graph.output}
    for value in proto.graph.output:
        known = value.type.tensor_type.HasField("shape")
        if not known and found[value.name].type.tensor_type.HasField("shape"):
            value.type.CopyFrom(found[value.name].type)
    for value in proto.graph.output:
        # Without inference the number of axes at least is known.
        if not value.type.tensor_type.HasField("shape"):
            y = outputs[value.name]
            value.CopyFrom(value_info(value.name, y.dtype, [None] * len(y.shape)))
    return proto


def check_model(proto: Any, has_external_converters: bool, has_external_imports: bool) -> None:
    """Checks a model.

    Operators of external converters in the default domain do not pass the check: with such
    converters, and no domain for them, an error becomes a warning.
    """
    onnx = require("onnx")
    try:
        onnx.checker.check_model(proto)
    except onnx.checker.ValidationError as error:
        if not has_external_converters or has_external_imports:
            raise
        warnings.warn(f"the checker of onnx refuses the model: {error}", UserWarning, stacklevel=3)


#: Largest message of protobuf: larger models have their tensors in a file of their own.
_LARGEST_MESSAGE = 2**31 - 1


def write_model(proto: Any, filename: Any, save_text: bool) -> None:
    """Writes a model to a file.

    Args:
        proto: The model.
        filename: Path of the file, or a file object.
        save_text: Whether ``<filename>.txt`` gets the model as text.
    """
    onnx = require("onnx")
    if hasattr(filename, "write"):
        filename.write(proto.SerializeToString())
        return
    path = os.fspath(filename)
    if proto.ByteSize() > _LARGEST_MESSAGE:
        name = os.path.basename(path) + ".data"
        onnx.save_model(proto, path, save_as_external_data=True, location=name)
    else:
        # A file that was cut off never has the final name.
        with replacing(path) as temporary, open(temporary, "wb") as file:
            file.write(proto.SerializeToString())
    if save_text:
        with open(f"{path}.txt", "w", encoding="utf-8") as file:
            file.write(str(proto))
