"""Peak memory of training steps, as allocated from the pool"""

from __future__ import annotations

import convnets
import language_model
import mlp
import torch
from torch_on_gpu import ON_GPU

UNIT = "MB"
MEASURED = True


def case(prepare):
    def prepared():
        (call,) = [function for _, function in prepare().phases]

        def measure():
            if ON_GPU:
                torch.cuda.reset_peak_memory_stats()
                call()
                return float(torch.cuda.max_memory_allocated())
            import resource

            call()
            return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024.0

        return measure

    return prepared


CASES = {
    "MLP, 1000 units": case(mlp.CASES["1000 units, batch 256"]),
    "ResNet50 float32": case(convnets.CASES["ResNet50 float32"]),
    "ResNet50 float16": case(convnets.CASES["ResNet50 float16"]),
    "language model": case(language_model.CASES["dropout 0.5"]),
}
