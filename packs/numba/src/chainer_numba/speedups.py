"""How many times as fast as the reference each kernel serves a call that it supports.

``chainer.config.accelerate`` compares these numbers between providers. They are geometric means of
forward and backward in the tables of the README, one thread. Kernels with a price for each call
have a least size, measured by ``packs/ideep4py/benchmarks/sizes.py``.
"""

from __future__ import annotations

from typing import Any

from chainer.kernel import SpeedupBySize

# Activations.
relu = SpeedupBySize(((1 << 16, 1.2), (1 << 18, 1.8)))
leaky_relu = SpeedupBySize(((1 << 16, 1.4),))
sigmoid = SpeedupBySize(((1 << 14, 1.1), (1 << 16, 1.4), (1 << 20, 2.0)))
elu = SpeedupBySize(((1 << 12, 1.15), (1 << 14, 1.8), (1 << 16, 2.6)))
gelu = SpeedupBySize(((1 << 11, 1.6), (1 << 18, 2.2)))
softplus = SpeedupBySize(((1 << 14, 1.6), (1 << 20, 3.3)))
hard_sigmoid = SpeedupBySize(((1 << 14, 1.4), (1 << 20, 2.1)))
clipped_relu = SpeedupBySize(((1 << 14, 1.7), (1 << 20, 2.7)))
rrelu = SpeedupBySize(((1 << 15, 1.5),))
crelu = SpeedupBySize(((1 << 14, 2.3),))
prelu = SpeedupBySize(((1 << 14, 2.7),))
swish = SpeedupBySize(((1 << 14, 1.4),))

# Rows, normalizations and losses.
softmax = SpeedupBySize(((1 << 12, 1.2), (1 << 14, 1.6), (1 << 16, 2.2)))
log_softmax = SpeedupBySize(((1 << 12, 1.25), (1 << 14, 1.7), (1 << 16, 2.2)))
softmax_cross_entropy = SpeedupBySize(((1 << 8, 1.15), (1 << 14, 1.4), (1 << 18, 2.0)))
connectionist_temporal_classification = 1.9
dropout = SpeedupBySize(((1 << 20, 1.05),))
batch_normalization = SpeedupBySize(((1 << 14, 1.6), (1 << 17, 1.8)))
fixed_batch_normalization = SpeedupBySize(((1 << 14, 1.15),))
batch_renormalization = SpeedupBySize(((1 << 14, 1.25), (1 << 20, 1.6)))
layer_normalization = SpeedupBySize(((1, 2.0), (1 << 14, 2.5)))
rms_normalization = 2.0
group_normalization = SpeedupBySize(((1 << 14, 2.7),))
local_response_normalization = SpeedupBySize(((1 << 14, 1.5), (1 << 18, 1.7)))

# Cells and networks.
lstm_cell = SpeedupBySize(((1 << 10, 1.4), (1 << 16, 1.7)))
# As one node of the graph, against the functions of which a step consists.
gru_cell = 2.0
s_lstm_cell = SpeedupBySize(((1 << 10, 1.5), (1 << 16, 2.5)))
tree_lstm_cell = SpeedupBySize(((1 << 10, 1.5), (1 << 16, 2.5)))


#: Rows of any number of units for which an LSTM over sequences is faster than oneDNN.
_FEW_ROWS = 16

#: Rows and units of an LSTM over sequences up to which one thread is faster than oneDNN, and units
#: up to which several threads are. Time of oneDNN / time here, forward and backward, one thread: 20
#: and 32 rows of 200 units 1.07 and 1.06, 20 rows of 300 and 512 units 1.05 and 1.04, 16 of 400
#: units 1.07, 64 of 200 units 1.03, of 650 units 0.96, 128 of 300 units 0.98. Two threads: 1 and 8
#: rows of 64 units 1.5 and 1.28, 32 of 128 units 1.03, 8 of 200 units 0.99, 20 of 512 units 0.76
#: (AMD EPYC with AVX2, quiet, in turns). With AVX-512, one thread: 20 rows of 200 units 1.08, of
#: 512 units 0.95.
_MOST_ROWS, _MOST_UNITS, _MOST_UNITS_OF_THREADS = 32, 400, 128


def _gains_most(spec: Any) -> bool:
    """Returns whether an LSTM over sequences is faster than oneDNN's, if that serves it."""
    # Imported where Numba is in use already: supports() has asked what the processor has.
    from chainer_numba.launching import config

    _, rows, units = spec.arrays[1].shape
    if config.NUMBA_NUM_THREADS > 1:
        return rows <= _MOST_ROWS and units <= _MOST_UNITS_OF_THREADS
    return rows <= _FEW_ROWS or units >= 800 or (rows <= _MOST_ROWS and units <= _MOST_UNITS)


n_step_rnn = SpeedupBySize(((0, 1.25), (1, 1.4)), _gains_most)


def _selected(spec: Any) -> int:
    """Returns the number of elements that an embedding selects."""
    x, W = spec.arrays
    return x.size * W.shape[1]


def _negative_rows(spec: Any) -> int:
    """Returns a number that is the larger the fewer rows a product has."""
    return -spec.arrays[0].shape[0]


# Against the OpenBLAS of NumPy 2.4: the fewer rows, the more.
linear = SpeedupBySize(((-1024, 1.05), (-160, 1.15), (-40, 1.5)), _negative_rows)
# The reference widens blocks of the weight in memory.
packed_product = 4.0
scaled_dot_product_attention = 2.0
embedding = SpeedupBySize(((1 << 11, 1.15), (1 << 15, 2.0)), _selected)
scatter_add = SpeedupBySize(((1 << 14, 2.0),))
axes_sum = SpeedupBySize(((1 << 17, 1.3),))

# Loops and sums of rows of captured steps. The recorder keeps those that are faster where it runs.
native_loops = 1.5
# One pool of threads beside iDeep instead of two.
shared_threads = 1.5
selected_row_sums = 2.0

# Images and regions.
max_pooling_nd = SpeedupBySize(((1 << 20, 1.7),))
average_pooling_nd = SpeedupBySize(((1 << 20, 1.9),))
unpooling_nd = SpeedupBySize(((1 << 18, 2.5),))
roi_pooling_2d = SpeedupBySize(((1 << 14, 5.0),))
roi_max_pooling_2d = SpeedupBySize(((1 << 14, 5.0),))
roi_average_pooling_2d = SpeedupBySize(((1 << 14, 3.0),))
roi_average_align_2d = SpeedupBySize(((1 << 14, 2.5),))
roi_max_align_2d = SpeedupBySize(((1 << 14, 2.8),))

# Updates and hooks of optimizers: one call serves all parameters.
gradient_hooks = 1.5
sgd_update = 1.8
momentum_sgd_update = 1.7
corrected_momentum_sgd_update = 1.7
nesterov_ag_update = 1.7
ada_grad_update = 2.5
ada_delta_update = 2.5
adam_update = 3.3
rmsprop_update = 2.5
rmsprop_graves_update = 2.5
smorms3_update = 2.5
msvag_update = 2.5
