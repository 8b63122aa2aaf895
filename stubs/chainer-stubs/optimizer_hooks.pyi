# Written by scripts/make_stubs.py. Do not edit.

from typing import Any

from chainer.training.optimizers.hooks import *
from chainer.training.optimizers.hooks import (
    gradient_clipping as gradient_clipping,
    gradient_hard_clipping as gradient_hard_clipping,
    gradient_lars as gradient_lars,
    gradient_noise as gradient_noise,
    grouping as grouping,
    lasso as lasso,
    weight_decay as weight_decay,
)

# Installed packs register more names.
def __getattr__(name: str) -> Any: ...
