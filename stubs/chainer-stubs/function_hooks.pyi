# Written by scripts/make_stubs.py. Do not edit.

from typing import Any

from chainer.functions.hooks import *
from chainer.functions.hooks import (
    cuda_profile as cuda_profile,
    cupy_memory_profile as cupy_memory_profile,
    debug_print as debug_print,
    profiler as profiler,
    timer as timer,
)

# Installed packs register more names.
def __getattr__(name: str) -> Any: ...
