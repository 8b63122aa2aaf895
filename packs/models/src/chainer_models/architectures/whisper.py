"""Whisper: texts of sounds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

import chainer
import chainer.functions as F
import chainer.links as L
from chainer import Variable
from chainer.backend import get_array_module
from chainer.typing import Array, VariableLike

from chainer_models.blocks import Block, BlockOptions, Reading
from chainer_models.caches import Cache
from chainer_models.model import Model
from chainer_models.names import Row, norm, weights
from chainer_models.options import Options


class Whisper(Model):
    """Whisper (``model_type`` "whisper").

    See: `Robust Speech Recognition via Large-Scale Weak Supervision
    <https://arxiv.org/abs/2212.04356>`_

    Args:
        config: Options of ``config.json``.

    Attributes:
        start_token (int): Token that each output begins with.
    """

    prefixes: ClassVar[tuple[str, ...]] = ("model.",)

    def __init__(self, config: Options) -> None:
        super().__init__(config)
        size = config.integer("d_model", default=384)
        encoder, decoder = (self._layer(config, side, size) for side in ("encoder", "decoder"))
        bins = config.integer("num_mel_bins", default=80)
        self.sources = config.integer("max_source_positions", default=1500)
        self.targets = config.integer("max_target_positions", default=448)
        self.scale = size**0.5 if config.flag("scale_embedding") else 1.0
        self.dropout = encoder.dropout
        self.start_token = config.integer("decoder_start_token_id", default=50257, least=0)
        # Read, so that it counts as understood: the head always has the weight of the embeddings.
        config.flag("tie_word_embeddings", True)
        # Options of training and of generation with timestamps.
        config.skip(
            *[n for n in config if n.startswith(("mask_", "median_", "begin_", "suppress_"))],
            *("num_hidden_layers", "use_weighted_layer_sum", "classifier_proj_size"),
            *("encoder_layerdrop", "decoder_layerdrop", "apply_spec_augment", "max_length"),
        )
        counts = [config.integer(f"{s}_layers", default=4) for s in ("encoder", "decoder")]
        with self.init_scope():
            self.conv1 = L.Convolution1D(bins, size, 3, pad=1)
            # It halves the number of frames: spectra have twice as many as the encoder has
            # positions.
            self.conv2 = L.Convolution1D(size, size, 3, stride=2, pad=1)
            self.encoder_position = L.EmbedID(self.sources, size)
            self.encoder = chainer.ChainList(*[Block(encoder) for _ in range(counts[0])])
            self.encoder_norm = encoder.make_norm()
            self.embed = L.EmbedID(config.integer("vocab_size", default=51865), size)
            self.decoder_position = L.EmbedID(self.targets, size)
            self.decoder = chainer.ChainList(*[Block(decoder) for _ in range(counts[1])])
            self.decoder_norm = decoder.make_norm()

    @staticmethod
    def _layer(config: Options, side: str, size: int) -> BlockOptions:
        is_decoder = side == "decoder"
        return BlockOptions(
            size,
            config.integer(f"{side}_attention_heads", default=6),
            config.integer(f"{side}_ffn_dim", default=4 * size),
            activation=config.text("activation_function", default="gelu"),
            # Keys have no bias: it would add the same number to all scores of a query, which
            # softmax ignores.
            bias=frozenset({"q", "v", "o", "mlp"}),
            causal=is_decoder,
            cross=is_decoder,
            dropout=config.probability("dropout", default=0.0),
            attention_dropout=config.probability("attention_dropout", default=0.0),
            inner_dropout=config.probability("activation_dropout", default=0.0),
        )

    def make_cache(self) -> Cache:
        """Returns a cache for a batch of texts."""
        return Cache([None] * len(self.decoder))

    def encode(self, features: VariableLike, mask: Array | None = None) -> Variable:
        """Reads sounds.

        Args:
            features: Logarithms of mel spectra, shape ``(B, num_mel_bins, 2 *
                max_source_positions)``.
            mask: None: Whisper hears the silence after a short sound.

        Returns:
            Variable: Hidden states, shape ``(B * max_source_positions, C)``.

        Raises:
            ValueError: If the features have another shape, or there is a mask.
        """
        expected = (self.conv1.W.shape[1], 2 * self.sources)
        if features.ndim != 3 or features.shape[1:] != expected:
            raise ValueError(f"features must have the shape (B, *{expected}), got {features.shape}")
        if mask is not None:
            raise ValueError("mask must be None for Whisper")
        h = F.gelu(self.conv2(F.gelu(self.conv1(features))))
        h = F.transpose(h, (0, 2, 1))
        h = h + F.broadcast_to(self.encoder_position.W, h.shape)
        h = F.reshape(h, (-1, h.shape[-1]))
        if self.dropout:
            h = F.dropout(h, self.dropout)
        for layer in self.encoder:
            h = layer(h, Reading(len(features)))
        return self.encoder_norm(h)

    def forward(
        self,
        ids: Array,
        memory: Variable,
        memory_mask: Array | None = None,
        cache: Cache | None = None,
        last: int | None = None,
    ) -> Variable:
        """Computes the logits of the next token after each token of the text.

        Args:
            ids: Tokens of the text so far, shape ``(B, T)``; the first is :attr:`start_token`.
            memory: Result of :meth:`encode`.
            memory_mask: None.
            cache: Keys of earlier tokens, or None.
            last: If given, logits of the last ``last`` tokens only.

        Returns:
            Variable: Logits, shape ``(B, T, vocabulary)``.
        """
        start = 0 if cache is None else cache.length
        length = ids.shape[1]
        if start + length > self.targets:
            raise ValueError(
                f"the model has {self.targets} positions, and the text {start + length} tokens"
            )
        xp = get_array_module(ids)
        h = self.embed(ids)
        if self.scale != 1.0:
            h = h * h.dtype.type(self.scale)
        positions = self.decoder_position(xp.arange(start, start + length))
        h = F.reshape(h + F.broadcast_to(positions, h.shape), (-1, h.shape[-1]))
        if self.dropout:
            h = F.dropout(h, self.dropout)
        reading = Reading(len(ids), memory=memory, memory_mask=memory_mask)
        for i, layer in enumerate(self.decoder):
            if cache is None:
                h = layer(h, reading)
            else:
                h = layer(h, reading, cache.stores[i], cache.cross[i])
        if cache is not None:
            cache.advance(length)
        h = F.reshape(h, (*ids.shape, h.shape[-1]))
        h = self.decoder_norm(h if last is None else h[:, -last:])
        return F.linear(h, self.embed.W, n_batch_axes=2)

    def rows(self) -> Sequence[Row]:
        """Returns the table of names."""
        rows = [
            *weights("/conv1", "model.encoder.conv1"),
            *weights("/conv2", "model.encoder.conv2"),
            Row("/embed/W", "model.decoder.embed_tokens.weight"),
        ]
        for side in ("encoder", "decoder"):
            own, file = f"/{side}/*", f"model.{side}.layers.*"
            rows.append(Row(f"/{side}_position/W", f"model.{side}.embed_positions.weight"))
            for name, other in zip("qkvo", ("q", "k", "v", "out"), strict=True):
                rows += weights(f"{own}/attn/{name}", f"{file}.self_attn.{other}_proj")
                rows += weights(f"{own}/cross/{name}", f"{file}.encoder_attn.{other}_proj")
            rows += [
                *norm(f"/{side}_norm", f"model.{side}.layer_norm"),
                *norm(f"{own}/ln1", f"{file}.self_attn_layer_norm"),
                *norm(f"{own}/ln_cross", f"{file}.encoder_attn_layer_norm"),
                *norm(f"{own}/ln2", f"{file}.final_layer_norm"),
                *weights(f"{own}/mlp/up", f"{file}.fc1"),
                *weights(f"{own}/mlp/down", f"{file}.fc2"),
            ]
        return rows

    def copies(self) -> Mapping[str, str]:
        """Returns the name of the head, which some files have although it is tied."""
        return {"proj_out.weight": "model.decoder.embed_tokens.weight"}
