# Written by scripts/make_stubs.py. Do not edit.

from chainer.core.utils import *
from chainer.core.utils import (
    argument as argument,
    array as array,
    arrays as arrays,
    atomic_file as atomic_file,
    cache as cache,
    conv as conv,
    conv_nd as conv_nd,
    conv_nd_kernel as conv_nd_kernel,
    documentation as documentation,
    error as error,
    imgproc as imgproc,
    installed as installed,
    meta as meta,
    output_locks as output_locks,
    placed_memory as placed_memory,
    precision as precision,
    repr_texts as repr_texts,
    start_method as start_method,
    temporary_names as temporary_names,
    termination as termination,
    type_check as type_check,
    walker_alias as walker_alias,
)
