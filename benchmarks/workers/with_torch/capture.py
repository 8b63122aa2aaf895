"""Training steps with Adam, as written and captured, against PyTorch's fused Adam"""

from __future__ import annotations

from mlp import batch

UNIT = "us"

CASES = {
    "MLP batch 32 as written": batch(32, fused=True),
    "MLP batch 32 captured": batch(32, fused=True),
}
