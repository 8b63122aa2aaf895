"""Makes functions and links of the layers of a Caffe model: ``make_<type>(layer)``."""

from __future__ import annotations

import math
from typing import Any

import numpy

from chainer.core.typing import Array, HostArray, Shape
from chainer.links.caffe import _functions, _schema
from chainer.links.caffe._wire import Message
from chainer.links.connection.convolution_2d import Convolution2D
from chainer.links.connection.deconvolution_2d import Deconvolution2D
from chainer.links.connection.linear import Linear
from chainer.links.connection.scale import Scale
from chainer.links.errors import UnsupportedOptionError
from chainer.links.initializers.constant import Constant
from chainer.links.normalization.batch_normalization import BatchNormalization

#: Upper limit for kernel sizes, strides, paddings and the like. Larger values are an error, so that
#: a file of a few bytes cannot make this process allocate huge arrays.
MAX_SIZE = 4096


def parameters(layer: Message, name: str) -> Message:
    """Returns parameters of a layer; those the format defines as default where there are none."""
    value = getattr(layer, name, None)  # layers of early files lack some
    return Message(_schema.PARAMETER_SCHEMAS[name]) if value is None else value


def blob_array(blob: Message, kernel: tuple[int, int] = (0, 0)) -> Any:
    """Returns the array of a blob.

    Args:
        blob: Blob.
        kernel: Last two lengths of a weight that has none, as in some old files.

    Raises:
        ValueError: If the shape does not fit the data.
    """
    data = blob.data if len(blob.data) else blob.double_data
    data = numpy.asarray(data, dtype=numpy.float32)
    if blob.shape is not None:
        shape = tuple(blob.shape.dim)
    elif any(blob.has(name) for name in ("num", "channels", "height", "width")):
        spatial = (blob.height, blob.width)
        shape = (blob.num, blob.channels, *(spatial if any(spatial) else kernel))
    else:
        shape = (data.size,)
    if len(shape) == 1:
        # Chainer 7 exported biases of deconvolutions with the length of the input channels. The
        # layers check the lengths of vectors.
        shape = (data.size,)
    if len(shape) > 32 or min(shape, default=1) < 0 or math.prod(shape) != data.size:
        raise ValueError(f"a blob of shape {shape} has {data.size} values")
    return data.reshape(shape)


def _blobs(layer: Message, *counts: int, kernel: tuple[int, int] = (0, 0)) -> list[Any]:
    """Returns the arrays of the blobs of a layer.

    Args:
        layer: Layer.
        counts: Numbers of blobs that it may have.
        kernel: Kernel size of a convolution.
    """
    if len(layer.blobs) not in counts:
        wanted = " or ".join(map(str, counts))
        raise ValueError(
            f"a layer of type {layer.type} needs {wanted} blobs, got {len(layer.blobs)}"
        )
    return [blob_array(blob, kernel) for blob in layer.blobs]


def _checked(what: str, low: int, *values: int) -> tuple[int, int]:
    for value in values:
        if not low <= value <= MAX_SIZE:
            raise ValueError(f"{what} must be between {low} and {MAX_SIZE}, got {value}")
    return values[0], values[-1]


def _pair(param: Message, repeated: str, h: str, w: str, default: int, low: int) -> tuple[int, int]:
    """Returns a size that is given once, for both axes, or by two fields of their own."""
    if param.has(h) or param.has(w):
        return _checked(repeated, low, getattr(param, h), getattr(param, w))
    value = getattr(param, repeated)
    if not isinstance(value, list):
        value = [value]
    if len(value) > 2:
        raise ValueError(f"{repeated} must have one or two values, got {len(value)}")
    return _checked(repeated, low, *(value or [default]))


def _fixed(array: Array) -> Constant:
    """Returns an initializer that copies an array, because its memory belongs to the whole file."""
    return Constant(array)


def make_convolution(layer: Message) -> Any:
    return _make_convolution(layer, transposed=False)


def make_deconvolution(layer: Message) -> Any:
    return _make_convolution(layer, transposed=True)


def _channels(shape: Shape, param: Message, transposed: bool) -> tuple[int, int]:
    """Returns the numbers of input and output channels of a convolution, given its weight."""
    # The second axis of a weight covers one group only; the first covers all.
    if transposed:
        n_in, n_out = shape[0], shape[1] * param.group
    else:
        n_in, n_out = shape[1] * param.group, shape[0]
    _check_outputs(shape, n_out, param)
    if n_in % param.group or n_out % param.group:
        raise ValueError(f"weight of shape {shape} does not fit {param.group} groups")
    return n_in, n_out


def _without_groups(weight: HostArray, groups: int) -> HostArray:
    """Returns a weight that covers all channels, with zeros between the groups.

    Programs copy such weights to links without groups, as release 7 gave them.
    """
    if groups == 1:
        return weight
    rows, columns = weight.shape[0] // groups, weight.shape[1]
    whole = numpy.zeros((len(weight), columns * groups, *weight.shape[2:]), weight.dtype)
    for i in range(groups):
        block = slice(i * rows, (i + 1) * rows)
        whole[block, i * columns : (i + 1) * columns] = weight[block]
    return whole


def _check_outputs(shape: Shape, n_out: int, param: Message) -> None:
    # Files made by programs may leave it out: the weight has it, too.
    if param.has("num_output") and n_out != param.num_output:
        raise ValueError(f"weight of shape {shape} does not fit {param.num_output} outputs")


def _make_convolution(layer: Message, transposed: bool) -> Any:
    param = parameters(layer, "convolution_param")
    ksize = _pair(param, "kernel_size", "kernel_h", "kernel_w", 0, 1)
    stride = _pair(param, "stride", "stride_h", "stride_w", 1, 1)
    pad = _pair(param, "pad", "pad_h", "pad_w", 0, 0)
    dilation = _checked("dilation", 1, *(param.dilation or [1]))
    if param.axis != 1:
        raise ValueError(f"convolution is supported for axis 1, got {param.axis}")
    if param.group < 1:
        raise ValueError(f"group must be positive, got {param.group}")
    weight, *rest = _blobs(layer, 2 if param.bias_term else 1, kernel=ksize)
    if weight.ndim != 4 or weight.shape[2:] != ksize:
        raise ValueError(
            f"weight must have shape (out, in, {ksize[0]}, {ksize[1]}), got {weight.shape}"
        )
    n_in, n_out = _channels(weight.shape, param, transposed)
    bias = rest[0].reshape(-1) if rest else None
    if bias is not None and bias.size != n_out:
        raise ValueError(f"bias must have {n_out} values, got {bias.size}")
    link = Deconvolution2D if transposed else Convolution2D
    return link(
        n_in,
        n_out,
        ksize,
        stride,
        pad,
        nobias=bias is None,
        initialW=_fixed(_without_groups(weight, param.group)),
        initial_bias=None if bias is None else _fixed(bias),
        dilate=dilation,
    )


def _matrix(blob: Message) -> Any:
    """Returns the weight of an inner product. The last two of four lengths are its shape."""
    shape = blob.shape.dim if blob.shape is not None else None
    if shape is None:
        shape = [blob.num, blob.channels, blob.height, blob.width]
    if len(shape) not in (2, 4) or 0 in shape[-2:]:
        raise UnsupportedOptionError(f"{len(shape)}-dimensional array is not supported")
    data = numpy.asarray(blob.data if len(blob.data) else blob.double_data, numpy.float32)
    if min(shape) < 0 or math.prod(shape[-2:]) != data.size:
        raise ValueError(f"weight must be a matrix, got shape {tuple(shape)}, {data.size} values")
    return data.reshape(shape[-2:])


def make_inner_product(layer: Message) -> Any:
    param = parameters(layer, "inner_product_param")
    if param.axis != 1:
        raise UnsupportedOptionError(
            f"Non-default axis in InnerProduct is not supported, got {param.axis}"
        )
    if len(layer.blobs) != (2 if param.bias_term else 1):
        _blobs(layer, 2 if param.bias_term else 1)  # which says what is wrong
    weight = _matrix(layer.blobs[0])
    rest = [blob_array(blob) for blob in layer.blobs[1:]]
    if param.transpose:
        weight = weight.T
    n_out, n_in = weight.shape
    _check_outputs(weight.shape, n_out, param)
    bias = rest[0].reshape(-1) if rest else None
    if bias is not None and bias.size != n_out:
        raise ValueError(f"bias must have {n_out} values, got {bias.size}")
    return Linear(
        n_in,
        n_out,
        nobias=bias is None,
        initialW=_fixed(weight),
        initial_bias=None if bias is None else _fixed(bias),
    )


def make_batch_norm(layer: Message) -> Any:
    param = parameters(layer, "batch_norm_param")
    mean, variance, *factor = _blobs(layer, 2, 3)
    if mean.size != variance.size:
        raise ValueError(
            f"mean and variance must be vectors of one length, got {mean.shape}, {variance.shape}"
        )
    # Early files give vectors four lengths, all but one of them 1.
    mean, variance = mean.reshape(-1), variance.reshape(-1)
    if factor:
        # Caffe keeps sums over the batches seen and their (decayed) number.
        scale = float(factor[0].reshape(-1)[0]) if factor[0].size == 1 else math.nan
        if not math.isfinite(scale):
            raise ValueError(f"the third blob must be one number, got shape {factor[0].shape}")
        scale = 1 / scale if scale else 0.0
        mean, variance = mean * scale, variance * scale
    link = BatchNormalization(
        mean.size,
        decay=param.moving_average_fraction,
        eps=param.eps,
        use_gamma=False,
        use_beta=False,
    )
    # Copies: the arrays of the file are read-only, and training changes these.
    link.avg_mean, link.avg_var = (numpy.array(s, numpy.float32) for s in (mean, variance))
    return link


def make_scale(layer: Message) -> Any:
    param = parameters(layer, "scale_param")
    _checked("axis", -32, param.axis)
    if len(layer.bottom) > 1:
        blobs = _blobs(layer, 1 if param.bias_term else 0)
        return _with_bias(Scale(param.axis, None, param.bias_term, *_shapes(blobs)), blobs)
    weight, *rest = _blobs(layer, 2 if param.bias_term else 1)
    link = Scale(param.axis, weight.shape, param.bias_term)
    link.W.array[...] = weight
    return _with_bias(link, rest)


def _shapes(blobs: list[Any]) -> list[tuple[int, ...]]:
    return [blob.shape for blob in blobs]


def _with_bias(link: Scale, blobs: list[Array]) -> Scale:
    if blobs:
        bias: Array = link.bias.b.array
        if bias.shape != blobs[0].shape:
            raise ValueError(f"bias must have shape {bias.shape}, got {blobs[0].shape}")
        bias[...] = blobs[0]
    return link


def make_concat(layer: Message) -> Any:
    param = parameters(layer, "concat_param")
    axis = param.axis if param.has("axis") else param.concat_dim
    return _functions._ListArgumentFunction("concat", axis=axis)


def make_dropout(layer: Message) -> Any:
    ratio = parameters(layer, "dropout_param").dropout_ratio
    if not 0 <= ratio < 1:
        raise ValueError(f"dropout_ratio must be in [0, 1), got {ratio}")
    return _functions._SingleArgumentFunction("dropout", ratio=ratio)


def make_eltwise(layer: Message) -> Any:
    param = parameters(layer, "eltwise_param")
    if param.operation not in (0, 1, 2):
        raise ValueError(f"operation must be PROD (0), SUM (1) or MAX (2), got {param.operation}")
    return _functions._EltwiseFunction(param.operation, [float(c) for c in param.coeff])


def make_lrn(layer: Message) -> Any:
    param = parameters(layer, "lrn_param")
    if param.norm_region != _schema.LRN_ACROSS_CHANNELS:
        raise UnsupportedOptionError("Within-channel LRN is not supported")
    size, _ = _checked("local_size", 1, param.local_size)
    return _functions._SingleArgumentFunction(
        *("local_response_normalization",),
        n=size,
        k=param.k,
        alpha=param.alpha / size,
        beta=param.beta,
    )


def make_pooling(layer: Message) -> Any:
    param = parameters(layer, "pooling_param")
    names = {_schema.POOL_MAX: "max_pooling_2d", _schema.POOL_AVE: "average_pooling_2d"}
    if param.pool == _schema.POOL_STOCHASTIC:
        raise UnsupportedOptionError("Stochastic pooling is not supported")
    if param.pool not in names:
        raise ValueError(f"pool must be MAX (0) or AVE (1), got {param.pool}")
    _pair(param, "pad", "pad_h", "pad_w", 0, 0)
    _pair(param, "stride", "stride_h", "stride_w", 1, 1)
    stride, pad = get_stride(param), get_pad(param)
    if param.global_pooling:
        return _functions._GlobalPooling(names[param.pool], stride, pad)
    _pair(param, "kernel_size", "kernel_h", "kernel_w", 0, 1)
    ksize = get_ksize(param)
    return _functions._SingleArgumentFunction(names[param.pool], ksize, stride=stride, pad=pad)


def make_relu(layer: Message) -> Any:
    slope = parameters(layer, "relu_param").negative_slope
    if not slope:
        return _functions._SingleArgumentFunction("relu")
    return _functions._SingleArgumentFunction("leaky_relu", slope=slope)


def make_reshape(layer: Message) -> Any:
    param = parameters(layer, "reshape_param")
    dims = () if param.shape is None else tuple(param.shape.dim)
    if len(dims) > 32 or min(dims, default=0) < -1 or dims.count(-1) > 1:
        raise ValueError(f"shape must have sizes of at least -1, that only once, got {dims[:33]}")
    return _functions._Reshape(dims, param.axis, param.num_axes)


def make_slice(layer: Message) -> Any:
    param = parameters(layer, "slice_param")
    axis = param.axis if param.has("axis") else param.slice_dim
    points = tuple(param.slice_point)
    if points and (len(points) != len(layer.top) - 1 or list(points) != sorted(set(points))):
        raise ValueError(f"slice points {points[:33]} do not fit {len(layer.top)} outputs")
    sections = list(points) if points else len(layer.top)
    # A single output would not come in a tuple otherwise.
    single = {"force_tuple": True} if len(layer.top) == 1 else {}
    return _functions._SingleArgumentFunction(
        *("split_axis",), indices_or_sections=sections, axis=axis, **single
    )


def make_softmax(layer: Message) -> Any:
    param = parameters(layer, "softmax_param")
    _check_softmax_axis(param, "")
    if param.engine == _schema.ENGINE_DEFAULT:
        return _functions._SingleArgumentFunction("softmax")
    use_cudnn = param.engine == _schema.ENGINE_CUDNN
    return _functions._SingleArgumentFunctionWithCudnn(use_cudnn, "softmax")


def _check_softmax_axis(param: Message, where: str) -> None:
    if param.axis != 1:
        raise UnsupportedOptionError(
            f"Softmax along non-channel axis is not supported{where}, got {param.axis}"
        )


def make_softmax_with_loss(layer: Message) -> Any:
    _check_softmax_axis(parameters(layer, "softmax_param"), " in SoftmaxWithLoss")
    param = parameters(layer, "loss_param")
    options: dict[str, Any] = {}
    if not param.normalize:
        options["normalize"] = False
    if param.ignore_label is not None:
        options["ignore_label"] = param.ignore_label
    return _functions._SeveralArgumentsFunction("softmax_cross_entropy", **options)


def make_sigmoid(layer: Message) -> Any:
    return _functions._SingleArgumentFunction("sigmoid")


def _one_or_pair(param: Message, name: str, h: str, w: str, default: int) -> Any:
    height, width = getattr(param, h), getattr(param, w)
    if height > 0 or width > 0:
        return height, width
    value = getattr(param, name)
    if isinstance(value, int):
        return value
    values = list(value)
    return default if not values else values[0] if len(values) == 1 else tuple(values[:2])


def get_ksize(param: Message) -> int | tuple[int, int]:
    """Returns the kernel size of parameters of a convolution or pooling, one number or two."""
    return _one_or_pair(param, "kernel_size", "kernel_h", "kernel_w", 0)


def get_stride(param: Message) -> int | tuple[int, int]:
    """Returns the stride of parameters of a convolution or pooling, one number or two."""
    return _one_or_pair(param, "stride", "stride_h", "stride_w", 1)


def get_pad(param: Message) -> int | tuple[int, int]:
    """Returns the padding of parameters of a convolution or pooling, one number or two."""
    return _one_or_pair(param, "pad", "pad_h", "pad_w", 0)


#: Layers that only bring data: their blobs are given by the caller.
DATA_LAYERS = frozenset({"Data", "DummyData", "HDF5Data", "ImageData", "Input", "MemoryData"})
