"""Options and names in files that the convolutional networks of timm and torchvision share.

Files of timm have an option ``architecture``, such as "resnet50", in place of ``model_type``.
torchvision has no ``config.json``; a file for its weights has the ``model_type``
"torchvision/resnet50".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy
from chainer.typing import HostArray

from chainer_models.errors import ModelFileError
from chainer_models.model import Model
from chainer_models.names import Row, Transform, norm, weights
from chainer_models.options import Options, architecture_name


def _as_matrix(array: HostArray) -> HostArray:
    return array.reshape(array.shape[:2])


def _as_pointwise(array: HostArray) -> HostArray:
    return array.reshape((*array.shape, 1, 1))


#: A convolution with a kernel of one element, for vectors: a matrix.
POINTWISE = Transform(_as_matrix, _as_pointwise)


class Convolutional(Model):
    """A convolutional network with batch normalization."""

    #: Files of PyTorch count the batches of the statistics. Nothing uses the number.
    ignored = ("*.num_batches_tracked",)

    def constants(self) -> Mapping[str, HostArray]:
        """Returns how many batches the statistics are of, which nothing uses."""
        name = ".running_mean"
        return {
            named.file.removesuffix(name) + ".num_batches_tracked": numpy.array(0, numpy.int64)
            for named in self.file_names()
            if named.file.endswith(name)
        }


def normalized(own: str, convolution: str, normalization: str) -> list[Row]:
    """Returns the rows of a convolution and its batch normalization.

    Args:
        own: Path of the link, which has the children ``conv`` and ``bn``.
        convolution: Name of the convolution in the file.
        normalization: Name of the normalization in the file.
    """
    return [
        *weights(f"{own}/conv", convolution),
        *norm(f"{own}/bn", normalization),
        Row(f"{own}/bn/avg_mean", f"{normalization}.running_mean"),
        Row(f"{own}/bn/avg_var", f"{normalization}.running_var"),
    ]


def library_and_variant(config: Options) -> tuple[str, str]:
    """Returns ``"timm"`` or ``"torchvision"``, and the name of the network in it.

    Args:
        config: Options of ``config.json``.
    """
    library, _, variant = architecture_name(config).partition("/")
    # The labels and mean colors of timm's file are about pictures, not about the network.
    config.skip("architecture", "num_features", "pretrained_cfg", "do_pooling", "model_args")
    config.skip("label_names", "label_descriptions", "library_name")
    config.choice("global_pool", ("avg", ""), "avg")
    arguments = config.part("model_args")
    if arguments is not None:
        raise ModelFileError(
            f"'model_args' of {config.source} must be empty: sizes follow from the name "
            f"{variant!r}; got {arguments.as_dict()}"
        )
    return library, variant


def class_count(config: Options) -> int:
    """Returns the number of classes; 0 for a network without a head.

    Args:
        config: Options of ``config.json``.
    """
    names = config.part("id2label")
    if names is not None:
        return len(names)
    return config.integer("num_classes", "num_labels", default=1000, least=0)


def common_options(config: Options, values: Mapping[str, Any]) -> Options:
    """Returns options in the form of transformers for a network that timm or torchvision names.

    Args:
        config: Options of ``config.json``.
        values: The options that the name of the network implies.
    """
    classes = class_count(config)
    head: Sequence[str] = ["ForImageClassification"] if classes else []
    return Options({**values, "architectures": head, "num_labels": classes or 1}, config.source)
