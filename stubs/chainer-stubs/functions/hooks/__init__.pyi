# Written by scripts/make_stubs.py. Do not edit.

from typing import Any

from chainer.functions.hooks import (
    cuda_profile as cuda_profile,
    cupy_memory_profile as cupy_memory_profile,
    debug_print as debug_print,
    profiler as profiler,
    timer as timer,
)
from chainer.functions.hooks.cuda_profile import CUDAProfileHook as CUDAProfileHook
from chainer.functions.hooks.cupy_memory_profile import (
    CupyMemoryProfileHook as CupyMemoryProfileHook,
)
from chainer.functions.hooks.debug_print import PrintHook as PrintHook
from chainer.functions.hooks.timer import TimerHook as TimerHook

# Installed packs register more names.
def __getattr__(name: str) -> Any: ...
