"""Peak memory of training steps, as allocated from the pool"""

from __future__ import annotations

import convnets
import language_model
import mlp
from ours_on_gpu import DEVICE, ON_GPU

UNIT = "MB"
MEASURED = True


def case(prepare):
    def prepared():
        (call,) = [function for _, function in prepare().phases]

        def measure():
            with peak() as found:
                call()
            return found[0]

        return measure

    return prepared


class Peak:
    """Context in which allocations of the device are watched; gives a list of the peak."""

    def __enter__(self):
        self.found = []
        if ON_GPU:
            self._hook = _watching(DEVICE.xp)
            self._hook.__enter__()
        return self.found

    def __exit__(self, *error):
        if ON_GPU:
            self._hook.__exit__(*error)
            self.found.append(float(self._hook.highest))
        else:
            import resource

            self.found.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024.0)


peak = Peak


def _watching(cupy):
    class Watching(cupy.cuda.MemoryHook):
        name = "peak"

        def __init__(self):
            self.used = self.highest = cupy.get_default_memory_pool().used_bytes()

        def malloc_postprocess(self, **kwargs):
            self.used += kwargs["mem_size"]
            self.highest = max(self.highest, self.used)

        def free_postprocess(self, **kwargs):
            self.used -= kwargs["mem_size"]

    return Watching()


CASES = {
    "MLP, 1000 units": case(mlp.CASES["1000 units, batch 256"]),
    "ResNet50 float32": case(convnets.CASES["ResNet50 float32"]),
    "ResNet50 float16": case(convnets.CASES["ResNet50 float16"]),
    "language model": case(language_model.CASES["dropout 0.5"]),
}
