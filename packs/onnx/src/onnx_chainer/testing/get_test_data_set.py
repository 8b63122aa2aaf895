"""Writes a model and its data where tests find them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from chainer import Link
from onnx_chainer.testcases import export_testcase

if TYPE_CHECKING:
    from chainer.typing import Array


def gen_test_data_set(
    model: Link, args: Array, name: str, opset_version: int, **kwargs: Any
) -> str:
    """Exports a model with its inputs and outputs to ``out/opset<n>/<name>``.

    Args:
        model (chainer.Link): The model.
        args: Its arguments.
        name (str): Name of the test.
        opset_version (int): Version of the operator set.
        **kwargs: Other arguments of :func:`onnx_chainer.export_testcase`.

    Returns:
        str: The directory.
    """
    folder = os.path.join("out", f"opset{opset_version}", name)
    export_testcase(model, args, folder, opset_version=opset_version, **kwargs)
    return folder
