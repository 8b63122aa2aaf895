"""The differences between releases that are intended; the page of the documentation explains each.

``docs/differences-from-7.md`` has a paragraph for each name here. A test compares the two.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from tests.comparison.compare import Difference


@dataclass(frozen=True)
class Intended:
    """A group of differences.

    Attributes:
        name: Name, which is that of a paragraph of the page.
        functions: Regular expression for whole names of functions.
        stages: Regular expression for stages.
        kinds: Regular expression for kinds of difference.
        theirs: Regular expression that is searched for in the answer of 7.8.1.
        ours: Regular expression that is searched for in the answer of this release.
    """

    name: str
    functions: str = ".*"
    stages: str = ".*"
    kinds: str = ".*"
    theirs: str = ""
    ours: str = ""

    def covers(self, difference: Difference) -> bool:
        """Returns whether a difference belongs to the group."""
        return (
            re.fullmatch(self.functions, difference.function) is not None
            and re.fullmatch(self.stages, difference.stage) is not None
            and re.fullmatch(self.kinds, difference.kind) is not None
            and re.search(self.theirs, _text(difference.theirs)) is not None
            and re.search(self.ours, _text(difference.ours)) is not None
        )


def _text(answer: Any) -> str:
    if isinstance(answer, dict):
        return f"{answer['error'][0]}: {answer['text']}"
    return str(answer)


#: Texts of errors that NumPy or Python raised inside 7.8.1, at a point where nothing was checked.
_INTERNAL = "|".join(
    (
        "Expr instance cannot be evaluated as bool",
        "tuple index out of range",
        "(not enough|too many) values to unpack",
        "cannot reshape array",
        "operands could not be broadcast",
        "cannot broadcast inputs",
        "shape-mismatch for sum",
        "mismatch in its core dimension",
        "out of bounds for array of dimension",
        "too many indices for array",
        "invalid index to scalar variable",
        "division (or modulo )?by zero",
        "object has no attribute",
        "has no identity",
        "index can.t contain",
        "AssertionError: $",
        "unsupported in linalg",
        "forward output must be a tuple of ndarrays",
        "has a bug",
        "number of gradients returned from backward is incorrect",
        "Value must be a scalar",
        "repeated axis",
        "duplicate value in 'axis'",
        "axes don't match array",
        "could not broadcast",
        "all the input array dimensions",
        "all the input arrays must have same number of dimensions",
        "unexpected keyword argument",
    )
)

INTENDED = (
    Intended("second gradients", stages="second", kinds="accepts"),
    Intended(
        "second gradients of local convolution",
        "local_convolution_2d",
        "second",
        "missing|value|structure",
    ),
    Intended(
        "second gradients of max pooling",
        "max_pooling_.*|spatial_pyramid_pooling_2d",
        "second",
        "value",
        "-inf|.*",
    ),
    Intended(
        "finite second gradients", "batch_normalization|contrastive", "second", "value", "nan"
    ),
    Intended(
        "gradients in the shape of the input",
        "arctan2|fmod|polygamma|zeta|pad|split_axis|repeat|as_strided",
        "gradient",
        "shape",
    ),
    Intended(
        "gradients in the dtype of the input",
        "einsum|arctan2|scatter_add|(fixed_batch|group)_normalization|sparse_matmul"
        "|fixed_batch_renormalization|softmax_cross_entropy"
        "|dropout|gaussian|transpose_sequence|zoneout",
        "gradient|second",
        "dtype",
    ),
    Intended("mixed dtypes in backward", ".*normalization", "gradient", "accepts", _INTERNAL),
    Intended("mixed dtypes in backward", "gaussian", "gradient", "accepts", "lhs.dtype"),
    Intended("as_strided of one element", "as_strided", "gradient", "accepts", "IndexError"),
    Intended("empty arrays", ".*", "forward|gradient", "accepts", "cannot reshape array of size 0"),
    Intended("empty arrays", ".*", "forward", "accepts", "size > 0|shape.0. > 0|has no identity"),
    Intended(
        "empty arrays",
        "softmax_cross_entropy|deconvolution_.*|convolution_.*",
        "gradient",
        "accepts",
        _INTERNAL,
    ),
    Intended(
        "empty arrays", "unpooling_.*", "gradient", "accepts", "Output sizes should be positive"
    ),
    Intended("empty arrays", "pad_sequence", "gradient", "accepts", "number of gradients"),
    Intended("means of nothing", ".*", "forward|gradient", "accepts", "ZeroDivisionError"),
    Intended("means of nothing", "hinge", "forward", "value", "nan"),
    Intended("half precision", ".*", "forward|gradient", ".*", "unsupported in linalg"),
    Intended(
        "half precision", "batch_matmul|resize_images|bilinear", "forward", "accepts", "dtype"
    ),
    Intended("half precision", "deformable_.*", "gradient", "value", "float16"),
    Intended("half precision", "(layer_)?normaliz.*", ".*", "value", "float16"),
    Intended("half precision", "black_out", "forward", "value", "float16"),
    Intended("more dtypes", "flip.*|moveaxis", "forward", "accepts", "kind == f"),
    Intended("more dtypes", "batch_renormalization", "forward", "accepts", "casting"),
    Intended("more dtypes", "roi_.*", "forward", "accepts", "numpy.(int|float)32"),
    Intended("more dtypes", "lambda x, y: x (\\*|//) y|scale", "forward", "accepts", "kind == f"),
    Intended("more dtypes", "deformable_.*", "forward", "accepts", "float32 != float16"),
    Intended(
        "arrays without axes",
        stages="forward|gradient",
        theirs="must be a tuple of ndarrays|incompatible array types are mixed",
    ),
    Intended("negative axes", "maxout|permutate", "forward", "accepts|shape"),
    Intended("negative axes", "tensordot", "gradient", "accepts", "shape mismatch|IndexError"),
    Intended("shapes of sum_to", "sum_to", "forward", "refuses|error"),
    Intended("soft targets", "softmax_cross_entropy", "gradient", "value"),
    Intended("ties", "argmax_crf1d", "gradient|second", "value"),
    Intended("gradient of roi_pooling_2d", "roi_pooling_2d", "gradient", "value"),
    Intended(
        "equal dtypes",
        "deformable_.*|gumbel_softmax|n_step_.*|zoneout|transpose_sequence|crf1d|argmax_crf1d",
        "forward",
        "refuses",
        "",
        "dtype|kind",
    ),
    Intended(
        "masks and noise",
        "dropout|gaussian",
        "forward",
        "refuses|error",
        "",
        "must have a shape that is broadcast",
    ),
    Intended("masks and noise", "simplified_dropconnect", "forward", "accepts", "W.shape"),
    Intended("second gradients of local convolution", "local_convolution_2d", "second", "refuses"),
    Intended("checked arguments", "black_out", "forward", "refuses|error", "", "'reduce'"),
    Intended("checked arguments", "split_axis", "forward", "refuses|error"),
    Intended("checked arguments", "n_step_.*", "forward", "refuses", "", "not supported anymore"),
    Intended(
        "checked shapes",
        "zoneout|permutate|batch_renormalization|discriminative_margin_based_clustering_loss|fixed_decorrelated_batch_normalization"
        "|argmax_crf1d|crf1d|black_out|det|softmax_cross_entropy|negative_sampling|n_step_.*|unpooling_.*|depth2space",
        "forward",
        "refuses|error|shape",
    ),
    Intended("deconvolution of constants", "deconvolution_2d", "gradient", "accepts"),
    Intended(
        "errors of type checks",
        ".*",
        "forward",
        "error",
        _INTERNAL,
        "Expect:|must|got|cannot broadcast",
    ),
    # Both the number of axes and the dtypes are wrong.
    Intended("errors of type checks", "tensordot", "forward", "error", "Expect:", "dot-axes count"),
    # Labels are missing, or inputs fit by accident: the error of 7.8.1 comes from a later function.
    Intended("errors of type checks", "black_out", "forward", "error", "", "Expect:|must|got"),
    Intended(
        "zeros as Variables",
        "discriminative_margin_based_clustering_loss",
        "forward",
        "kind",
        "float",
    ),
    Intended("weights of the input's shape", "average|mean", "forward", "accepts", "prod"),
    Intended("checked arguments", "average|mean", "forward", "refuses", "", "Expect: x.ndim"),
    Intended(
        "errors of type checks",
        "einsum",
        "forward",
        "error",
        "x0.shape|tuple index",
        "(more|fewer) dimensions",
    ),
    Intended("weights without axes", "average|mean", "forward", "error|refuses", "", "tuple axis"),
    Intended("dtypes of arrays without axes", "arctan2", "forward", "dtype"),
    Intended("infinite sums", "logsumexp", "forward|gradient", "value|accepts"),
)

#: What differs beside NaN and infinities, which calls have only if they are asked for.
NAN_AND_INFINITIES = (
    Intended(
        "NaN and infinities",
        "connectionist_temporal_classification|.*convolution.*|fft|fixed_.*|lambda x, y: x // y"
        "|leaky_relu|max_pooling_.*|n_step_.*|roi_.*|rrelu|spatial_.*",
    ),
    Intended("NaN and infinities", "batch_det", "gradient", "refuses", "", "singular matrices"),
)


def intended_name(difference: Difference, special: bool = False) -> str | None:
    """Returns the name of the group that a difference belongs to; None if it is not intended.

    Args:
        difference: The difference.
        special: Whether some elements of inputs and gradients were NaN or infinite.
    """
    for group in (*NAN_AND_INFINITIES, *INTENDED) if special else INTENDED:
        if group.covers(difference):
            return group.name
    return None
