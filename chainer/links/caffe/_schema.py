"""The messages of Caffe's model files, as far as they are read or written here.

Numbers, types and defaults come from the published file format (``caffe.proto``). Enumerations are
integers.
"""

from __future__ import annotations

from typing import Any

from chainer.links.caffe._wire import Field, Schema


def _optional(name: str, kind: Any, default: Any = None) -> Field:
    return Field(name, kind, default)


def _repeated(name: str, kind: Any) -> Field:
    return Field(name, kind, repeated=True)


POOL_MAX, POOL_AVE, POOL_STOCHASTIC = 0, 1, 2
ELTWISE_PROD, ELTWISE_SUM, ELTWISE_MAX = 0, 1, 2
LRN_ACROSS_CHANNELS = 0
ENGINE_DEFAULT, ENGINE_CAFFE, ENGINE_CUDNN = 0, 1, 2

BLOB_SHAPE = Schema("BlobShape", {1: _repeated("dim", "int")})

BLOB = Schema(
    "BlobProto",
    {
        1: _optional("num", "int", 0),
        2: _optional("channels", "int", 0),
        3: _optional("height", "int", 0),
        4: _optional("width", "int", 0),
        5: _repeated("data", "float"),
        7: _optional("shape", BLOB_SHAPE),
        8: _repeated("double_data", "double"),
    },
)

BATCH_NORM = Schema(
    "BatchNormParameter",
    {
        1: _optional("use_global_stats", "bool", False),
        2: _optional("moving_average_fraction", "float", 0.999),
        3: _optional("eps", "float", 1e-5),
    },
)

CONCAT = Schema(
    "ConcatParameter", {1: _optional("concat_dim", "int", 1), 2: _optional("axis", "int", 1)}
)

CONVOLUTION = Schema(
    "ConvolutionParameter",
    {
        1: _optional("num_output", "int", 0),
        2: _optional("bias_term", "bool", True),
        3: _repeated("pad", "int"),
        4: _repeated("kernel_size", "int"),
        5: _optional("group", "int", 1),
        6: _repeated("stride", "int"),
        9: _optional("pad_h", "int", 0),
        10: _optional("pad_w", "int", 0),
        11: _optional("kernel_h", "int", 0),
        12: _optional("kernel_w", "int", 0),
        13: _optional("stride_h", "int", 0),
        14: _optional("stride_w", "int", 0),
        16: _optional("axis", "int", 1),
        18: _repeated("dilation", "int"),
    },
)

DROPOUT = Schema("DropoutParameter", {1: _optional("dropout_ratio", "float", 0.5)})

ELTWISE = Schema(
    "EltwiseParameter",
    {1: _optional("operation", "int", ELTWISE_SUM), 2: _repeated("coeff", "float")},
)

INNER_PRODUCT = Schema(
    "InnerProductParameter",
    {
        1: _optional("num_output", "int", 0),
        2: _optional("bias_term", "bool", True),
        5: _optional("axis", "int", 1),
        6: _optional("transpose", "bool", False),
    },
)

INPUT = Schema("InputParameter", {1: _repeated("shape", BLOB_SHAPE)})

LOSS = Schema(
    "LossParameter",
    {1: _optional("ignore_label", "int"), 2: _optional("normalize", "bool", True)},
)

LRN = Schema(
    "LRNParameter",
    {
        1: _optional("local_size", "int", 5),
        2: _optional("alpha", "float", 1.0),
        3: _optional("beta", "float", 0.75),
        4: _optional("norm_region", "int", LRN_ACROSS_CHANNELS),
        5: _optional("k", "float", 1.0),
    },
)

POOLING = Schema(
    "PoolingParameter",
    {
        1: _optional("pool", "int", POOL_MAX),
        2: _optional("kernel_size", "int", 0),
        3: _optional("stride", "int", 1),
        4: _optional("pad", "int", 0),
        5: _optional("kernel_h", "int", 0),
        6: _optional("kernel_w", "int", 0),
        7: _optional("stride_h", "int", 0),
        8: _optional("stride_w", "int", 0),
        9: _optional("pad_h", "int", 0),
        10: _optional("pad_w", "int", 0),
        12: _optional("global_pooling", "bool", False),
    },
)

RELU = Schema("ReLUParameter", {1: _optional("negative_slope", "float", 0.0)})

RESHAPE = Schema(
    "ReshapeParameter",
    {
        1: _optional("shape", BLOB_SHAPE),
        2: _optional("axis", "int", 0),
        3: _optional("num_axes", "int", -1),
    },
)

SCALE = Schema(
    "ScaleParameter",
    {
        1: _optional("axis", "int", 1),
        2: _optional("num_axes", "int", 1),
        4: _optional("bias_term", "bool", False),
    },
)

SLICE = Schema(
    "SliceParameter",
    {
        1: _optional("slice_dim", "int", 1),
        2: _repeated("slice_point", "int"),
        3: _optional("axis", "int", 1),
    },
)

SOFTMAX = Schema(
    "SoftmaxParameter", {1: _optional("engine", "int", 0), 2: _optional("axis", "int", 1)}
)

#: Parameters of layers: name, schema, number in LayerParameter, number in V1LayerParameter.
_LAYER_PARAMETERS = (
    ("batch_norm_param", BATCH_NORM, 139, None),
    ("concat_param", CONCAT, 104, 9),
    ("convolution_param", CONVOLUTION, 106, 10),
    ("dropout_param", DROPOUT, 108, 12),
    ("eltwise_param", ELTWISE, 110, 24),
    ("inner_product_param", INNER_PRODUCT, 117, 17),
    ("input_param", INPUT, 143, None),
    ("loss_param", LOSS, 101, 42),
    ("lrn_param", LRN, 118, 18),
    ("pooling_param", POOLING, 121, 19),
    ("relu_param", RELU, 123, 30),
    ("reshape_param", RESHAPE, 133, None),
    ("scale_param", SCALE, 142, None),
    ("slice_param", SLICE, 126, 31),
    ("softmax_param", SOFTMAX, 125, 39),
)

#: A layer since 2014; its type is a text.
LAYER = Schema(
    "LayerParameter",
    {
        1: _optional("name", "str", ""),
        2: _optional("type", "str", ""),
        3: _repeated("bottom", "str"),
        4: _repeated("top", "str"),
        7: _repeated("blobs", BLOB),
        **{number: _optional(name, schema) for name, schema, number, _ in _LAYER_PARAMETERS},
    },
)

#: A layer of earlier files; its type is a number.
V1_LAYER = Schema(
    "V1LayerParameter",
    {
        2: _repeated("bottom", "str"),
        3: _repeated("top", "str"),
        4: _optional("name", "str", ""),
        5: _optional("type", "int", 0),
        6: _repeated("blobs", BLOB),
        **{
            number: _optional(name, schema)
            for name, schema, _, number in _LAYER_PARAMETERS
            if number is not None
        },
    },
)

#: Types of earlier files by number.
V1_TYPES = {
    3: "Concat",
    4: "Convolution",
    5: "Data",
    6: "Dropout",
    12: "ImageData",
    14: "InnerProduct",
    15: "LRN",
    17: "Pooling",
    18: "ReLU",
    19: "Sigmoid",
    20: "Softmax",
    21: "SoftmaxWithLoss",
    22: "Split",
    25: "Eltwise",
    29: "MemoryData",
    33: "Slice",
    39: "Deconvolution",
}

#: Names of these types in text files.
V1_NAMES = {
    "CONCAT": 3,
    "CONVOLUTION": 4,
    "DATA": 5,
    "DROPOUT": 6,
    "INNER_PRODUCT": 14,
    "LRN": 15,
    "POOLING": 17,
    "RELU": 18,
    "SIGMOID": 19,
    "SOFTMAX": 20,
    "SOFTMAX_LOSS": 21,
    "SPLIT": 22,
    "ELTWISE": 25,
    "SLICE": 33,
    "DECONVOLUTION": 39,
}

#: A whole model.
NET = Schema(
    "NetParameter",
    {
        1: _optional("name", "str", ""),
        2: _repeated("layers", V1_LAYER),
        3: _repeated("input", "str"),
        100: _repeated("layer", LAYER),
    },
)

PARAMETER_SCHEMAS = {name: schema for name, schema, _, _ in _LAYER_PARAMETERS}
"""Name of the parameters of a layer -> schema."""
