"""Transformers that see: ViT and DINOv2."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar

import chainer
import chainer.functions as F
import chainer.links as L
from chainer import Variable
from chainer.typing import VariableLike

from chainer_models.blocks import Block, BlockOptions, Reading
from chainer_models.errors import ModelFileError
from chainer_models.model import Model
from chainer_models.names import Row, norm, weights
from chainer_models.options import Options


class ViT(Model):
    """Vision Transformer (``model_type`` "vit").

    See: `An Image is Worth 16x16 Words <https://arxiv.org/abs/2010.11929>`_

    Args:
        config: Options of ``config.json``.
    """

    prefixes: ClassVar[tuple[str, ...]] = ("vit.",)
    ignored: ClassVar[tuple[str, ...]] = ("vit.pooler.*",)
    #: Whether a model without a head has a layer for the first vector.
    has_pooler: ClassVar[bool] = True

    def __init__(self, config: Options) -> None:
        super().__init__(config)
        options = self.layer_options(config)
        size = options.size
        self.image = config.integer("image_size", default=224)
        patch = config.integer("patch_size", default=16)
        self.n_channels = config.integer("num_channels", default=3)
        if self.image % patch:
            raise ModelFileError(
                f"'patch_size' of {config.source} must divide 'image_size', got {patch} and "
                f"{self.image}"
            )
        self.has_head = self.head_of(config, {"ForImageClassification": "classes"})
        config.optional_integer("encoder_stride")
        n_layers = config.integer("num_hidden_layers", default=12)
        with self.init_scope():
            self.cls = chainer.Parameter(0, (1, 1, size))
            self.pos = chainer.Parameter(0, (1, (self.image // patch) ** 2 + 1, size))
            self.patch = L.Convolution2D(self.n_channels, size, patch, stride=patch)
            self.layers = chainer.ChainList(*[Block(options) for _ in range(n_layers)])
            self.norm = options.make_norm()
            if self.has_head:
                self.head = L.Linear(self.head_inputs * size, count_classes(config))
            elif self.has_pooler:
                self.pooler = L.Linear(size, size)

    #: Number of vectors that the head reads.
    head_inputs: ClassVar[int] = 1

    def layer_options(self, config: Options) -> BlockOptions:
        """Returns the options of a layer.

        Args:
            config: Options of ``config.json``.
        """
        size = config.integer("hidden_size", default=768)
        bias = "qkv" if config.flag("qkv_bias", True) else ""
        return BlockOptions(
            size,
            config.integer("num_attention_heads", default=12),
            self.inner_size(config, size),
            eps=config.number("layer_norm_eps", default=1e-12),
            activation=config.text("hidden_act", default="gelu"),
            bias=frozenset([*bias, "o", "mlp"]),
            dropout=config.probability("hidden_dropout_prob", default=0.0),
            attention_dropout=config.probability("attention_probs_dropout_prob", default=0.0),
        )

    def inner_size(self, config: Options, size: int) -> int:
        """Returns the size of the layer in the middle of the networks.

        Args:
            config: Options of ``config.json``.
            size: Size of the hidden states.
        """
        config.skip("pooler_output_size", "pooler_act")
        return config.integer("intermediate_size", default=4 * size)

    def forward(self, pixels: VariableLike) -> Variable:
        """Computes logits of classes, or hidden states if the model has no head.

        Args:
            pixels: Images, shape ``(B, channels, image_size, image_size)``.

        Returns:
            Variable: Shape ``(B, classes)`` or ``(B, patches + 1, C)``.

        Raises:
            ValueError: If the images have another shape.
        """
        if pixels.ndim != 4 or pixels.shape[1:] != (self.n_channels, self.image, self.image):
            raise ValueError(
                f"pixels must have the shape (B, {self.n_channels}, {self.image}, {self.image}), "
                f"got {pixels.shape}"
            )
        h = patches(self.patch(pixels), self.cls)
        h = h + F.broadcast_to(self.pos, h.shape)
        batch, length, size = h.shape
        h = F.reshape(h, (-1, size))
        for layer in self.layers:
            h = layer(h, Reading(batch))
        h = F.reshape(self.norm(h), (batch, length, size))
        return self.classify(h) if self.has_head else h

    def classify(self, h: Variable) -> Variable:
        """Computes the logits of the classes.

        Args:
            h: Hidden states, shape ``(B, patches + 1, C)``.
        """
        return self.head(h[:, 0])

    def pooled(self, h: Variable) -> Variable:
        """Returns a vector for each image, made of its first vector; for models without a head.

        Args:
            h: Hidden states, shape ``(B, patches + 1, C)``.
        """
        return F.tanh(self.pooler(h[:, 0]))

    def rows(self) -> Sequence[Row]:
        """Returns the table of names."""
        own, file = "/layers/*", "vit.encoder.layer.*"
        return [
            *_rows("vit", own, file),
            *norm(f"{own}/ln1", f"{file}.layernorm_before"),
            *norm(f"{own}/ln2", f"{file}.layernorm_after"),
            *weights(f"{own}/mlp/up", f"{file}.intermediate.dense"),
            *weights(f"{own}/mlp/down", f"{file}.output.dense"),
        ]


class DINOv2(ViT):
    """DINOv2 (``model_type`` "dinov2"): outputs of layers have learned factors.

    See: `DINOv2 <https://arxiv.org/abs/2304.07193>`_

    Args:
        config: Options of ``config.json``.
    """

    prefixes: ClassVar[tuple[str, ...]] = ("dinov2.",)
    head_inputs: ClassVar[int] = 2
    has_pooler: ClassVar[bool] = False

    def __init__(self, config: Options) -> None:
        super().__init__(config)
        for name in ("use_swiglu_ffn", "drop_path_rate"):
            if config.get(name):
                raise ModelFileError(f"{name!r} of {config.source} must be off")
        config.skip("out_features", "out_indices", "stage_names", "layerscale_value")
        config.skip("apply_layernorm", "reshape_hidden_states", "use_mask_token")
        with self.init_scope():
            # A token for hidden patches of pretraining: here it is only kept for the files.
            self.mask = chainer.Parameter(0, (1, self.pos.shape[-1]))

    def layer_options(self, config: Options) -> BlockOptions:
        """Returns the options of a layer.

        Args:
            config: Options of ``config.json``.
        """
        eps = config.number("layer_norm_eps", default=1e-6)
        return replace(super().layer_options(config), layer_scale=True, eps=eps)

    def inner_size(self, config: Options, size: int) -> int:
        """Returns the size of the layer in the middle of the networks.

        Args:
            config: Options of ``config.json``.
            size: Size of the hidden states.
        """
        return size * config.integer("mlp_ratio", default=4)

    def classify(self, h: Variable) -> Variable:
        """Computes the logits of the classes from the first vector and the mean of the patches.

        Args:
            h: Hidden states, shape ``(B, patches + 1, C)``.
        """
        return self.head(F.concat([h[:, 0], F.average(h[:, 1:], axis=1)], axis=1))

    def rows(self) -> Sequence[Row]:
        """Returns the table of names."""
        own, file = "/layers/*", "dinov2.encoder.layer.*"
        return [
            *_rows("dinov2", own, file),
            Row("/mask", "dinov2.embeddings.mask_token"),
            *norm(f"{own}/ln1", f"{file}.norm1"),
            *norm(f"{own}/ln2", f"{file}.norm2"),
            *weights(f"{own}/mlp/up", f"{file}.mlp.fc1"),
            *weights(f"{own}/mlp/down", f"{file}.mlp.fc2"),
            Row(f"{own}/ls1/gamma", f"{file}.layer_scale1.lambda1"),
            Row(f"{own}/ls2/gamma", f"{file}.layer_scale2.lambda1"),
        ]


def patches(images: Variable, first: Any) -> Variable:
    """Returns patches as a sequence that begins with a learned vector.

    Args:
        images: Vectors of the patches, shape ``(B, C, height, width)``.
        first: The learned vector, shape ``(1, 1, C)``.
    """
    batch, size = images.shape[:2]
    h = F.transpose(F.reshape(images, (batch, size, -1)), (0, 2, 1))
    return F.concat([F.broadcast_to(first, (batch, 1, size)), h], axis=1)


def count_classes(config: Options) -> int:
    """Returns the number of classes, which files give as a list of names.

    Args:
        config: Options of ``config.json``.
    """
    names = config.part("id2label")
    return len(names) if names is not None else config.integer("num_labels", default=2)


def _rows(prefix: str, own: str, file: str) -> list[Row]:
    rows: list[Row] = []
    for name in ("query", "key", "value"):
        rows += weights(f"{own}/attn/{name[0]}", f"{file}.attention.attention.{name}")
    return [
        *rows,
        *weights(f"{own}/attn/o", f"{file}.attention.output.dense"),
        Row("/cls", f"{prefix}.embeddings.cls_token"),
        Row("/pos", f"{prefix}.embeddings.position_embeddings"),
        *weights("/patch", f"{prefix}.embeddings.patch_embeddings.projection"),
        *norm("/norm", f"{prefix}.layernorm"),
        *weights("/head", "classifier"),
        *weights("/pooler", f"{prefix}.pooler.dense"),
    ]
