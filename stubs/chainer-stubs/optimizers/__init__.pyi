# Written by scripts/make_stubs.py. Do not edit.

from typing import Any

from chainer.training.optimizers import *
from chainer.training.optimizers import (
    ada_delta as ada_delta,
    ada_grad as ada_grad,
    adafactor as adafactor,
    adam as adam,
    changes as changes,
    corrected_momentum_sgd as corrected_momentum_sgd,
    declaration as declaration,
    deprecated_hooks as deprecated_hooks,
    half_updates as half_updates,
    hook_registry as hook_registry,
    hooks as hooks,
    hyperparameter as hyperparameter,
    lamb as lamb,
    lion as lion,
    loaded_state as loaded_state,
    loss_scaling as loss_scaling,
    misuse_checks as misuse_checks,
    mixed_precision as mixed_precision,
    momentum_sgd as momentum_sgd,
    msvag as msvag,
    muon as muon,
    nadam as nadam,
    nesterov_ag as nesterov_ag,
    optimizer as optimizer,
    parameter_group as parameter_group,
    radam as radam,
    recorded_scalars as recorded_scalars,
    rmsprop as rmsprop,
    rmsprop_graves as rmsprop_graves,
    schedules as schedules,
    sgd as sgd,
    smorms3 as smorms3,
    state_memory as state_memory,
    update_rule as update_rule,
    updates as updates,
)

# Installed packs register more names.
def __getattr__(name: str) -> Any: ...
