# Written by scripts/make_stubs.py. Do not edit.

from chainer.core.utils import (
    argument as argument,
    atomic_file as atomic_file,
    conv as conv,
    conv_nd as conv_nd,
    meta as meta,
    type_check as type_check,
    walker_alias as walker_alias,
)
from chainer.core.utils._experimental import experimental as experimental
from chainer.core.utils.arrays import (
    force_array as force_array,
    force_type as force_type,
    size_of_shape as size_of_shape,
)
from chainer.core.utils.conv import (
    get_conv_outsize as get_conv_outsize,
    get_deconv_outsize as get_deconv_outsize,
)
from chainer.core.utils.meta import enable_final as enable_final, final as final
from chainer.core.utils.walker_alias import WalkerAlias as WalkerAlias
