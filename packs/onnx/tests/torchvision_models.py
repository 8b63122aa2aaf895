"""Writes torchvision's ResNet-18 with random weights as ONNX, by both exporters of PyTorch.

Run by test_torchvision.py with the Python of ``.peers/models``. The folder gets ``traced.onnx``,
``exported.onnx`` (whose normalizations are folded into the convolutions), and ``expected.npz`` with
images and the outputs of PyTorch.
"""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

import numpy as np
import torch

EXAMPLE = Path(__file__).parent.parent / "examples" / "fine_tune.py"


def main(folder: Path, size: int) -> None:
    """Writes the files.

    Args:
        folder: Folder to write to.
        size: Height and width of the images.
    """
    torch.manual_seed(0)
    example = runpy.run_path(str(EXAMPLE))
    model = example["write_torchvision_resnet18"](folder / "traced.onnx", size)
    images = torch.randn(3, 3, size, size)
    torch.onnx.export(
        model,
        (images,),
        folder / "exported.onnx",
        input_names=["images"],
        dynamic_shapes=({0: torch.export.Dim("n")},),
        dynamo=True,
    )
    with torch.no_grad():
        y = model(images)
    np.savez(folder / "expected.npz", x=images.numpy(), y=y.numpy())


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
