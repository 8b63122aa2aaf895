"""ResNet-50 and a decoder of the size of GPT-2, loaded from ONNX, at batch 1, in test mode"""

from __future__ import annotations

import chainer
import numpy as np
import onnx_chainer
import onnx_files

from bench_case import Case

UNIT = "ms"
BASE = "ours-fast"
PEERS = ["ours", "ours-fast", "torch", "onnxruntime"]
THREADS = [1]
BEST_BUDGETS = {
    "onnxruntime": dict.fromkeys(onnx_files.MODELS, 1.5),
    "torch": dict.fromkeys(onnx_files.MODELS, 1.0),
}

#: Calls until a step is recorded, compared with the step as written, and in use.
_CALLS_TO_CAPTURE = 5


def case(make, sample, captures):
    def prepare():
        model = onnx_chainer.load(make())
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
