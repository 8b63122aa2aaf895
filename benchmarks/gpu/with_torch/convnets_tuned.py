"""ResNet50 in half precision, candidates of cuDNN timed first: autotune against benchmark mode"""

from __future__ import annotations

import torch
from convnets import PER_CALL, UNIT, resnet50

__all__ = ["PER_CALL", "UNIT"]

CASES = {"ResNet50 float16": resnet50(torch.float16, autotune=True)}
