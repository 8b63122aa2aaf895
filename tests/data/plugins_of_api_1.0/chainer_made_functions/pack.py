"""What the distribution supplies. Chainer imports this to find the names, so it is light."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from chainer.plugins.staging import PackRegistry

chainer_api = 1
"""Version of the plugin API that this is written for."""


def chainer_functions(registry: PackRegistry) -> None:
    """Registers functions: they become attributes of ``chainer.functions``."""
    registry.register("softcap", "chainer_made_functions.softcap:softcap")


def chainer_onnx_converters(registry: PackRegistry) -> None:
    """Registers converters to ONNX, by the names of the classes of function nodes."""
    registry.register("Softcap", "chainer_made_functions.onnx:convert_softcap")
