"""Values of the oneDNN 3.x enumerations that this package uses."""

from __future__ import annotations

from typing import Final

# status
SUCCESS: Final = 0
STATUS_NAMES: Final = {
    1: "out of memory",
    2: "invalid arguments",
    3: "unimplemented",
    4: "last implementation reached",
    5: "runtime error",
    6: "not required",
    7: "invalid graph",
    8: "invalid graph operation",
    9: "invalid shape",
    10: "invalid data type",
}
UNIMPLEMENTED: Final = 3

CPU: Final = 1  # engine kind
IN_ORDER: Final = 1  # stream flag
MAX_NDIM: Final = 12

# data types
F16, BF16, F32, S32, S8, U8, F64 = 1, 2, 3, 4, 5, 6, 7

FPMATH_STRICT: Final = 0
TAG_ANY: Final = 1
# number of axes -> channels in a block -> tag of (N, C / block, ..., block)
TAG_CHANNEL_BLOCKS: Final = {
    3: {4: 60, 8: 69, 16: 56, 32: 59},
    4: {4: 84, 8: 102, 16: 78, 32: 83},
    5: {4: 128, 8: 142, 16: 121, 32: 127},
}
FORMAT_BLOCKED: Final = 2

# propagation
TRAINING, INFERENCE, BACKWARD, BACKWARD_DATA, BACKWARD_WEIGHTS = 64, 96, 128, 160, 192

# algorithms
CONVOLUTION_DIRECT, DECONVOLUTION_DIRECT = 0x1, 0xA
POOL_MAX, POOL_AVG_INCLUDE, POOL_AVG_EXCLUDE = 0x1FF, 0x2FF, 0x3FF
LRN_ACROSS, LRN_WITHIN = 0xAFF, 0xBFF
BINARY: Final = {
    name: 0x1FFF0 + i
    for i, name in enumerate(
        ("add", "mul", "max", "min", "div", "sub", "ge", "gt", "le", "lt", "eq", "ne")
    )
}
REDUCTION_MAX, REDUCTION_MIN, REDUCTION_SUM, REDUCTION_MUL, REDUCTION_MEAN = (
    0x2FFF2 + i for i in range(5)
)
SOFTMAX, LOG_SOFTMAX = 0x30000, 0x30001
ELTWISE: Final = {
    name: 0x20 + i
    for i, name in enumerate(
        (
            "relu",
            "tanh",
            "elu",
            "square",
            "abs",
            "sqrt",
            "linear",
            "soft_relu",
            "hardsigmoid",
            "logistic",
            "exp",
            "gelu_tanh",
            "swish",
            "log",
            "clip",
            "clip_v2",
            "pow",
            "gelu_erf",
            "round",
            "mish",
            "hardswish",
        )
    )
}
ELTWISE_FROM_OUTPUT: Final = {
    name: 0x100 + i
    for i, name in enumerate(("relu", "tanh", "elu", "sqrt", "logistic", "exp", "clip_v2"))
}

# normalization flags
GLOBAL_STATS, USE_SCALE, USE_SHIFT, FUSE_RELU = 1, 2, 4, 8

# recurrent directions
LEFT2RIGHT, RIGHT2LEFT, BIDIRECTIONAL_CONCAT, BIDIRECTIONAL_SUM = 1, 2, 3, 4

# execution arguments
(SRC, SRC_1, SRC_2) = (1, 2, 3)
(DST, DST_1, DST_2) = (17, 18, 19)
(WEIGHTS, WEIGHTS_1) = (33, 34)
BIAS = 41
(MEAN, VARIANCE, SCALE, SHIFT) = (49, 50, 51, 52)
WORKSPACE, SCRATCHPAD = 64, 80
(DIFF_SRC, DIFF_SRC_1, DIFF_SRC_2) = (129, 130, 131)
(DIFF_DST, DIFF_DST_1, DIFF_DST_2) = (145, 146, 147)
(DIFF_WEIGHTS, DIFF_WEIGHTS_1) = (161, 162)
DIFF_BIAS = 169
DIFF_SCALE, DIFF_SHIFT = 255, 256
MULTIPLE_SRC = 1024
SCALES = 4096  # the scale of argument i: SCALES | i
POST_OP_BASE = 32768  # argument of post-op i: POST_OP_BASE * (i + 1) | SRC_1

# queries
QUERY_IMPL_INFO = 8
QUERY_SRC = 129
QUERY_DIFF_SRC = 130
QUERY_WEIGHTS = 131
QUERY_DIFF_WEIGHTS = 132
QUERY_DST = 133
QUERY_DIFF_DST = 134
QUERY_WORKSPACE = 135
QUERY_SCRATCHPAD = 136
QUERY_EXEC_ARG = 255
QUERY_NDIMS = 256
QUERY_DIMS = 257
QUERY_DATA_TYPE = 258
QUERY_OFFSET = 259
QUERY_PADDED_DIMS = 260
QUERY_PADDED_OFFSETS = 261
QUERY_FORMAT_KIND = 262
QUERY_INNER_NBLKS = 263
QUERY_INNER_BLKS = 264
QUERY_INNER_IDXS = 265
QUERY_STRIDES = 14  # of a memory descriptor as well

ISA_NAMES: Final = {
    0x0: "default",
    0x1: "sse41",
    0x3: "avx",
    0x7: "avx2",
    0xF: "avx2_vnni",
    0x1F: "avx2_vnni_2",
    0x27: "avx512_core",
    0x67: "avx512_core_vnni",
    0xE7: "avx512_core_bf16",
    0x1EF: "avx512_core_fp16",
    0xFEF: "avx512_core_amx",
    0x1FEF: "avx512_core_amx_fp16",
}
