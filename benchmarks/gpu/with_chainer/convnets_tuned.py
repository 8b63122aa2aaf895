"""ResNet50 in half precision, candidates of cuDNN timed first: autotune against benchmark mode"""

from __future__ import annotations

from convnets import BUDGETS, PER_CALL, UNIT, resnet50

__all__ = ["BUDGETS", "PER_CALL", "UNIT"]

CASES = {"ResNet50 float16": resnet50("float16", autotune=True)}
