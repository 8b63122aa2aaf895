"""Prints which PyTorch torchvision is built for, and what a compiled operator of it computes.

Run by the interpreter that has them: ``python read_torchvision.py > data/torchvision.json``.
"""

from __future__ import annotations

import json
import re
from importlib.metadata import requires, version

import numpy as np
import torch
import torchvision


def main() -> None:
    # "torch (>=2.14.0)" or "torch==2.14.1", with or without a condition behind.
    pattern = re.compile(r"torch ?\(?[=>]=([\w.]+)\)?(?:\s*;.*)?")
    needed = [m[1] for m in map(pattern.fullmatch, requires("torchvision") or []) if m]
    x = np.random.RandomState(0).standard_normal((2, 3, 8, 9)).astype(np.float32)
    rois = torch.tensor([[0, 0.5, 1, 6, 5.5], [1, 2, 0, 7.5, 7], [0, 3, 3, 8, 7]])
    # In the shared library of torchvision, which another PyTorch cannot load.
    y = torchvision.ops.roi_align(torch.from_numpy(x), rois, (2, 3), 0.9, 2, aligned=False)
    print(
        json.dumps(
            {
                "torch": version("torch"),
                "torch.build": torch.__version__.partition("+")[2],
                "torchvision": version("torchvision"),
                "torchvision.build": torchvision.__version__.partition("+")[2],
                "needed": needed,
                "rois": rois.tolist(),
                "roi_align": [float(f"{v:.7g}") for v in y.reshape(-1).tolist()],
            }
        )
    )


if __name__ == "__main__":
    main()
