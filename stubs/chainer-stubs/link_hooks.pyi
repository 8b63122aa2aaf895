# Written by scripts/make_stubs.py. Do not edit.

from typing import Any

from chainer.links.hooks import *
from chainer.links.hooks import (
    cast_inputs as cast_inputs,
    spectral_normalization as spectral_normalization,
    timer as timer,
    weight_standardization as weight_standardization,
)

# Installed packs register more names.
def __getattr__(name: str) -> Any: ...
