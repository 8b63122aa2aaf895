# Written by scripts/make_stubs.py. Do not edit.

from typing import Any

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
from chainer.training.optimizers.ada_delta import AdaDelta as AdaDelta
from chainer.training.optimizers.ada_grad import AdaGrad as AdaGrad
from chainer.training.optimizers.adafactor import Adafactor as Adafactor
from chainer.training.optimizers.adam import (
    AMSBound as AMSBound,
    AMSGrad as AMSGrad,
    AdaBound as AdaBound,
    Adam as Adam,
    AdamW as AdamW,
)
from chainer.training.optimizers.corrected_momentum_sgd import (
    CorrectedMomentumSGD as CorrectedMomentumSGD,
)
from chainer.training.optimizers.lamb import LAMB as LAMB
from chainer.training.optimizers.lion import Lion as Lion
from chainer.training.optimizers.momentum_sgd import MomentumSGD as MomentumSGD
from chainer.training.optimizers.msvag import MSVAG as MSVAG
from chainer.training.optimizers.muon import Muon as Muon
from chainer.training.optimizers.nadam import NAdam as NAdam
from chainer.training.optimizers.nesterov_ag import NesterovAG as NesterovAG
from chainer.training.optimizers.radam import RAdam as RAdam
from chainer.training.optimizers.rmsprop import RMSprop as RMSprop
from chainer.training.optimizers.rmsprop_graves import RMSpropGraves as RMSpropGraves
from chainer.training.optimizers.sgd import SGD as SGD
from chainer.training.optimizers.smorms3 import SMORMS3 as SMORMS3

# Installed packs register more names.
def __getattr__(name: str) -> Any: ...
