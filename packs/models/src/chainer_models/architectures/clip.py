"""CLIP: texts and images as vectors that are compared."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import chainer
import chainer.functions as F
import chainer.links as L
from chainer import Variable
from chainer.backend import get_array_module
from chainer.typing import Array, VariableLike

from chainer_models.architectures.vision import patches
from chainer_models.blocks import Block, BlockOptions, Reading
from chainer_models.errors import ModelFileError
from chainer_models.model import Model
from chainer_models.names import Row, norm, weights
from chainer_models.options import Options


def _layer(config: Options, causal: bool, size: int) -> BlockOptions:
    size = config.integer("hidden_size", default=size)
    # Options of the file that do not change what a loaded model computes.
    config.skip("projection_dim", "attention_probs_dropout_prob", "dropout")
    return BlockOptions(
        size,
        config.integer("num_attention_heads", default=size // 64),
        config.integer("intermediate_size", default=4 * size),
        eps=config.number("layer_norm_eps", default=1e-5),
        activation=config.text("hidden_act", default="quick_gelu"),
        causal=causal,
        attention_dropout=config.probability("attention_dropout", default=0.0),
    )


class TextEncoder(chainer.Chain):
    """The encoder of texts.

    Args:
        config: Options of the part ``text_config``.
    """

    def __init__(self, config: Options) -> None:
        super().__init__()
        options = _layer(config, True, 512)
        self.size = options.size
        self.end = config.integer("eos_token_id", default=49407, least=0)
        n_layers = config.integer("num_hidden_layers", default=12)
        with self.init_scope():
            self.word = L.EmbedID(config.integer("vocab_size", default=49408), options.size)
            longest = config.integer("max_position_embeddings", default=77)
            self.position = L.EmbedID(longest, options.size)
            self.layers = chainer.ChainList(*[Block(options) for _ in range(n_layers)])
            self.norm = options.make_norm()

    def forward(self, ids: Array, mask: Array | None = None) -> Variable:
        """Returns the vector of the end token of each text.

        Args:
            ids: Tokens, shape ``(B, T)``.
            mask: True for tokens that are no padding, or None.
        """
        longest = self.position.W.shape[0]
        if ids.ndim != 2 or ids.shape[1] > longest:
            raise ValueError(f"ids must have the shape (B, T) with T <= {longest}, got {ids.shape}")
        xp = get_array_module(ids)
        h = self.word(ids)
        h = h + F.broadcast_to(self.position(xp.arange(ids.shape[1])), h.shape)
        reading = Reading(len(ids), None if mask is None else mask.astype(bool))
        h = F.reshape(h, (-1, h.shape[-1]))
        for layer in self.layers:
            h = layer(h, reading)
        h = F.reshape(self.norm(h), (*ids.shape, -1))
        # Files of the first release say 2 and mean the largest token, which is the end.
        place = xp.argmax(ids if self.end == 2 else ids == self.end, axis=1)
        return h[xp.arange(len(ids)), place]


class ImageEncoder(chainer.Chain):
    """The encoder of images.

    Args:
        config: Options of the part ``vision_config``.
    """

    def __init__(self, config: Options) -> None:
        super().__init__()
        options = _layer(config, False, 768)
        self.size = size = options.size
        self.image = config.integer("image_size", default=224)
        patch = config.integer("patch_size", default=32)
        self.n_channels = config.integer("num_channels", default=3)
        n_layers = config.integer("num_hidden_layers", default=12)
        with self.init_scope():
            self.cls = chainer.Parameter(0, size)
            n_patches = (self.image // patch) ** 2
            self.position = L.EmbedID(n_patches + 1, size)
            self.patch = L.Convolution2D(self.n_channels, size, patch, stride=patch, nobias=True)
            self.pre_norm = options.make_norm()
            self.layers = chainer.ChainList(*[Block(options) for _ in range(n_layers)])
            self.norm = options.make_norm()

    def forward(self, pixels: VariableLike) -> Variable:
        """Returns the vector of each image.

        Args:
            pixels: Images, shape ``(B, channels, image_size, image_size)``.
        """
        expected = (self.n_channels, self.image, self.image)
        if pixels.ndim != 4 or pixels.shape[1:] != expected:
            raise ValueError(f"pixels must have the shape (B, *{expected}), got {pixels.shape}")
        h = patches(self.patch(pixels), F.reshape(self.cls, (1, 1, -1)))
        h = self.pre_norm(h + F.broadcast_to(self.position.W, h.shape))
        batch, length, size = h.shape
        h = F.reshape(h, (-1, size))
        for layer in self.layers:
            h = layer(h, Reading(batch))
        return self.norm(F.reshape(h, (batch, length, size))[:, 0])


class CLIP(Model):
    """CLIP (``model_type`` "clip").

    See: `Learning Transferable Visual Models From Natural Language Supervision
    <https://arxiv.org/abs/2103.00020>`_

    Args:
        config: Options of ``config.json``.
    """

    ignored: ClassVar[tuple[str, ...]] = ("*.position_ids",)

    def __init__(self, config: Options) -> None:
        super().__init__(config)
        size = config.integer("projection_dim", default=512)
        config.skip("logit_scale_init_value", "text_config_dict", "vision_config_dict")
        text, vision = self._part("text_config"), self._part("vision_config")
        with self.init_scope():
            self.text = TextEncoder(text)
            self.vision = ImageEncoder(vision)
            self.text_projection = L.Linear(self.text.size, size, nobias=True)
            self.visual_projection = L.Linear(self.vision.size, size, nobias=True)
            # A logarithm, so that the factor stays positive in training.
            self.logit_scale = chainer.Parameter(0, ())

    def _part(self, name: str) -> Options:
        part = self.config.part(name)
        if part is None:
            raise ModelFileError(f"{self.config.source} lacks the option {name!r}")
        return part

    def encode_text(self, ids: Array, mask: Array | None = None) -> Variable:
        """Returns vectors of texts, of length one.

        Args:
            ids: Tokens, shape ``(B, T)``.
            mask: True for tokens that are no padding, or None.
        """
        # transformers divides by the length alone; the default eps, 1e-5, would change digits.
        return F.normalize(self.text_projection(self.text(ids, mask)), eps=1e-12)

    def encode_image(self, pixels: VariableLike) -> Variable:
        """Returns vectors of images, of length one.

        Args:
            pixels: Images, shape ``(B, channels, image_size, image_size)``.
        """
        return F.normalize(self.visual_projection(self.vision(pixels)), eps=1e-12)

    def forward(self, ids: Array, pixels: VariableLike, mask: Array | None = None) -> Variable:
        """Compares images with texts.

        Args:
            ids: Tokens of the texts, shape ``(B, T)``.
            pixels: Images, shape ``(N, channels, image_size, image_size)``.
            mask: True for tokens that are no padding, or None.

        Returns:
            Variable: Logits, shape ``(N, B)``: similarity of each image and each text.
        """
        similarity = F.matmul(self.encode_image(pixels), self.encode_text(ids, mask), transb=True)
        return similarity * F.broadcast_to(F.exp(self.logit_scale), similarity.shape)

    def rows(self) -> Sequence[Row]:
        """Returns the table of names."""
        rows: list[Any] = [
            Row("/logit_scale", "logit_scale"),
            *weights("/text_projection", "text_projection"),
            *weights("/visual_projection", "visual_projection"),
            Row("/text/word/W", "text_model.embeddings.token_embedding.weight"),
            Row("/text/position/W", "text_model.embeddings.position_embedding.weight"),
            *norm("/text/norm", "text_model.final_layer_norm"),
            Row("/vision/cls", "vision_model.embeddings.class_embedding"),
            Row("/vision/position/W", "vision_model.embeddings.position_embedding.weight"),
            *weights("/vision/patch", "vision_model.embeddings.patch_embedding"),
            # Spelled so in all files.
            *norm("/vision/pre_norm", "vision_model.pre_layrnorm"),
            *norm("/vision/norm", "vision_model.post_layernorm"),
        ]
        for side in ("text", "vision"):
            own, file = f"/{side}/layers/*", f"{side}_model.encoder.layers.*"
            for name, other in zip("qkvo", ("q", "k", "v", "out"), strict=True):
                rows += weights(f"{own}/attn/{name}", f"{file}.self_attn.{other}_proj")
            rows += norm(f"{own}/ln1", f"{file}.layer_norm1")
            rows += norm(f"{own}/ln2", f"{file}.layer_norm2")
            rows += weights(f"{own}/mlp/up", f"{file}.mlp.fc1")
            rows += weights(f"{own}/mlp/down", f"{file}.mlp.fc2")
        return rows
