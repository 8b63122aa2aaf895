"""The functions of Chainer that compute operators of ONNX."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from onnx_chainer.importing import elementwise, layers, recurrent, shapes

OPERATORS: dict[str, Callable[..., Any]] = {
    **elementwise.OPERATORS,
    **layers.OPERATORS,
    **recurrent.OPERATORS,
    **shapes.OPERATORS,
}
"""Operator -> function of its attributes and inputs."""
