"""Checks of a file before memory is used for what it declares."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from onnx_chainer.importing.errors import ONNXFormatError

#: Elements from which on a size that a file declares is refused.
_LARGEST_TENSOR = 2**33

#: How often the bytes of a file of data may be read. Tied weights may be two tensors of the same
#: bytes; thousands of tensors of the same bytes would fill the memory.
_MOST_READS = 4

#: Graphs inside of graphs. Exporters nest a handful.
_DEEPEST = 50


def tensors_of(proto: Any) -> Iterator[Any]:
    """Yields all tensors of a model (``onnx.TensorProto``), also of bodies and functions.

    Args:
        proto (onnx.ModelProto): The model.

    Raises:
        ONNXFormatError: If graphs are nested too deeply.
    """
    yield from _of_graph(proto.graph, 0)
    for function in proto.functions:
        yield from _of_nodes(function.node, 0)
        yield from _of_attributes(function.attribute_proto, 0)


def _of_graph(graph: Any, depth: int) -> Iterator[Any]:
    if depth > _DEEPEST:
        raise ONNXFormatError(f"graphs are nested more than {_DEEPEST} deep")
    yield from graph.initializer
    for sparse in graph.sparse_initializer:
        yield from (sparse.values, sparse.indices)
    yield from _of_nodes(graph.node, depth)


def _of_nodes(nodes: Any, depth: int) -> Iterator[Any]:
    for node in nodes:
        yield from _of_attributes(node.attribute, depth)


def _of_attributes(attributes: Any, depth: int) -> Iterator[Any]:
    for attribute in attributes:
        if attribute.HasField("t"):
            yield attribute.t
        yield from attribute.tensors
        if attribute.HasField("sparse_tensor"):
            _check_dims("a sparse tensor", attribute.sparse_tensor.dims)
            yield from (attribute.sparse_tensor.values, attribute.sparse_tensor.indices)
        if attribute.HasField("g"):
            yield from _of_graph(attribute.g, depth + 1)
        for graph in attribute.graphs:
            yield from _of_graph(graph, depth + 1)


def check_sizes(proto: Any) -> None:
    """Refuses tensors whose declared size the data cannot have.

    Args:
        proto (onnx.ModelProto): The model.

    Raises:
        ONNXFormatError: If a tensor declares more elements than it has.
    """
    for tensor in tensors_of(proto):
        size = _check_dims(f"tensor {tensor.name!r}", tensor.dims)
        if is_external(tensor):
            continue
        # A bit for each element is the least that any type takes.
        if size > 8 * max(tensor.ByteSize(), 8):
            raise ONNXFormatError(
                f"tensor {tensor.name!r} declares {size} elements, but has "
                f"{tensor.ByteSize()} bytes"
            )


def _check_dims(name: str, dims: Any) -> int:
    size = 1
    for length in dims:
        if length < 0:
            raise ONNXFormatError(f"{name} has the negative length {length}")
        size *= length
    if size > _LARGEST_TENSOR:
        raise ONNXFormatError(f"{name} declares {size} elements, more than {_LARGEST_TENSOR}")
    return size


def is_external(tensor: Any) -> bool:
    """Returns whether the data of a tensor are in another file."""
    return tensor.data_location == type(tensor).EXTERNAL


def check_external_data(proto: Any, folder: str | None) -> None:
    """Refuses data in files outside of the folder of the model, and more data than a file has.

    Args:
        proto (onnx.ModelProto): The model.
        folder: The folder; None if the model was not read from a path.

    Raises:
        ONNXFormatError: If a location leaves the folder, is missing, or is shorter than declared,
            or if tensors share its bytes too often.
    """
    read: dict[str, int] = {}
    for tensor in tensors_of(proto):
        if not is_external(tensor):
            continue
        entries = {entry.key: entry.value for entry in tensor.external_data}
        location = entries.get("location", "")
        if folder is None:
            raise ONNXFormatError(
                f"the data of tensor {tensor.name!r} are in the file {location!r}; load the model "
                "by its path, so that the file is found"
            )
        if "\0" in location:
            raise ONNXFormatError(
                f"the location of the data of tensor {tensor.name!r} is not a path: {location!r}"
            )
        root = os.path.realpath(folder)
        path = os.path.realpath(os.path.join(root, location))
        if not location or os.path.isabs(location) or os.path.commonpath([root, path]) != root:
            raise ONNXFormatError(
                f"the data of tensor {tensor.name!r} are outside of the folder of the model: "
                f"{location!r}"
            )
        if not os.path.isfile(path):
            raise ONNXFormatError(
                f"the data of tensor {tensor.name!r} are missing: there is no file {location!r}"
            )
        size = os.path.getsize(path)
        read[path] = read.get(path, 0) + _check_range(tensor, entries, size)
        if read[path] > _MOST_READS * size:
            raise ONNXFormatError(
                f"the tensors in the file {location!r} have {read[path]} bytes, more than "
                f"{_MOST_READS} times its {size} bytes"
            )


def _check_range(tensor: Any, entries: dict[str, str], size: int) -> int:
    """Returns the number of bytes that a tensor takes from a file of a size."""
    try:
        offset, length = int(entries.get("offset", 0)), int(entries.get("length", 0))
    except ValueError as error:
        raise ONNXFormatError(
            f"tensor {tensor.name!r} has an offset or a length that is not a number"
        ) from error
    if offset < 0 or length < 0 or offset + length > size:
        raise ONNXFormatError(
            f"tensor {tensor.name!r} declares the bytes {offset} to {offset + length} of a file of "
            f"{size} bytes"
        )
    # Without a length the data go to the end of the file.
    return length if length or "length" in entries else size - offset
