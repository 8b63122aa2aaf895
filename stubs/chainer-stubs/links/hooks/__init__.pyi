# Written by scripts/make_stubs.py. Do not edit.

from typing import Any

from chainer.links.hooks import (
    cast_inputs as cast_inputs,
    spectral_normalization as spectral_normalization,
    timer as timer,
    weight_standardization as weight_standardization,
)
from chainer.links.hooks.cast_inputs import CastInputs as CastInputs
from chainer.links.hooks.spectral_normalization import (
    SpectralNormalization as SpectralNormalization,
)
from chainer.links.hooks.timer import TimerHook as TimerHook
from chainer.links.hooks.weight_standardization import (
    WeightStandardization as WeightStandardization,
)

# Installed packs register more names.
def __getattr__(name: str) -> Any: ...
