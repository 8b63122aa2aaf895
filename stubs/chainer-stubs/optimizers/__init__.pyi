# Written by scripts/make_stubs.py. Do not edit.

from typing import Any

from chainer.training.optimizers import *
from chainer.training.optimizers import (
    ada_delta as ada_delta,
    ada_grad as ada_grad,
    adafactor as adafactor,
    adam as adam,
    adam_variants as adam_variants,
    corrected_momentum_sgd as corrected_momentum_sgd,
    lion as lion,
    loaded_state as loaded_state,
    momentum_sgd as momentum_sgd,
    msvag as msvag,
    muon as muon,
    nesterov_ag as nesterov_ag,
    rmsprop as rmsprop,
    rmsprop_graves as rmsprop_graves,
    sgd as sgd,
    smorms3 as smorms3,
)

# Installed packs register more names.
def __getattr__(name: str) -> Any: ...
