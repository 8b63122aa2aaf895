"""ResNet-50 and a decoder of the size of GPT-2, loaded from ONNX, at batch 1, in test mode"""

from __future__ import annotations

import chainer
import numpy as np
import onnx_chainer
import onnx_files

import bench_case
from bench_case import Case

UNIT = "ms"
PEERS = ["ours", "ours-ideep", "torch", "onnxruntime"]
THREADS = [1]
_CAPTURED = ("ResNet-50, captured", "GPT-2 size, captured")
BUDGETS = {
    "ours-ideep/onnxruntime": dict.fromkeys(_CAPTURED, 1.5),
    "ours-ideep/torch": dict.fromkeys(_CAPTURED, 1.0),
}

#: Calls until a step is recorded, compared with the step as written, and in use.
_CALLS_TO_CAPTURE = 5

if bench_case.USE_IDEEP:
    chainer.global_config.use_ideep = "auto"


def case(make, sample, captures):
    def prepare():
        model = onnx_chainer.load(make())
        if bench_case.USE_IDEEP:
            model.to_device("@intel64")
        x = sample()

        def forward(x):
            with chainer.using_config("train", False), chainer.no_backprop_mode():
                return model(x)

        call = forward
        if captures:
            call = chainer.capture(forward, model)
            for _ in range(_CALLS_TO_CAPTURE):
                call(x)
        return Case([("", lambda: call(x))], lambda: onnx_files.summary(np.asarray(call(x).array)))

    return prepare


CASES = {
    name + how: case(make, sample, captures)
    for name, (make, sample) in onnx_files.MODELS.items()
    for how, captures in (("", False), (", captured", True))
}
