# Written by scripts/make_stubs.py. Do not edit.

from chainer.core.arrays.random_states import seed as seed
from chainer.core.autograd.sparse import (
    CooMatrix as CooMatrix,
    get_order as get_order,
    to_coo as to_coo,
)
from chainer.core.installation import install_command as install_command
from chainer.core.utils import (
    argument as argument,
    array as array,
    atomic_file as atomic_file,
    cache as cache,
    conv as conv,
    conv_nd as conv_nd,
    error as error,
    imgproc as imgproc,
    meta as meta,
    precision as precision,
    sparse as sparse,
    type_check as type_check,
    walker_alias as walker_alias,
)
from chainer.core.utils._experimental import experimental as experimental
from chainer.core.utils._nondeterministic import nondeterministic as nondeterministic
from chainer.core.utils._tempdir import tempdir as tempdir
from chainer.core.utils.arrays import (
    force_array as force_array,
    force_type as force_type,
    size_of_shape as size_of_shape,
    sum_to as sum_to,
)
from chainer.core.utils.conv import (
    get_conv_outsize as get_conv_outsize,
    get_deconv_outsize as get_deconv_outsize,
)
from chainer.core.utils.meta import enable_final as enable_final, final as final
from chainer.core.utils.walker_alias import WalkerAlias as WalkerAlias
