# Written by scripts/make_stubs.py. Do not edit.

from chainer.plugins.testing.specs import *
from chainer.plugins.testing.specs import (
    activation as activation,
    array as array,
    array_images as array_images,
    array_joining as array_joining,
    connection as connection,
    connection_convolutions as connection_convolutions,
    connection_others as connection_others,
    evaluation as evaluation,
    formulas as formulas,
    loss as loss,
    math as math,
    math_elementwise as math_elementwise,
    math_linear_algebra as math_linear_algebra,
    math_reductions as math_reductions,
    noise as noise,
    noise_others as noise_others,
    normalization as normalization,
    normalization_others as normalization_others,
    pooling as pooling,
    pooling_others as pooling_others,
    rnn as rnn,
    structured_loss as structured_loss,
    windows as windows,
)
