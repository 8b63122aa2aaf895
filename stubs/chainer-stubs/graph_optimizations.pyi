# Written by scripts/make_stubs.py. Do not edit.

from chainer.training.capturing import *
from chainer.training.capturing import (
    capture as capture,
    circumstances as circumstances,
    comparison as comparison,
    guards as guards,
    loaded_step as loaded_step,
    machine as machine,
    pace as pace,
    recorders as recorders,
    snapshot as snapshot,
    state as state,
    static_graph as static_graph,
    static_graph_utilities as static_graph_utilities,
    static_record as static_record,
    static_schedule as static_schedule,
    step_file as step_file,
    step_record as step_record,
    structure as structure,
    substitution as substitution,
    surroundings as surroundings,
)
