"""T5 and T5 v1.1: an encoder and a decoder with biases of distances."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import ClassVar

import chainer
import chainer.functions as F
import chainer.links as L
from chainer import Variable
from chainer.typing import Array

from chainer_models.blocks import Block, BlockOptions, Reading
from chainer_models.caches import Cache
from chainer_models.errors import ModelFileError
from chainer_models.model import Model
from chainer_models.names import Row, norm, weights
from chainer_models.options import Options

#: ``feed_forward_proj`` -> activation, and whether there is a gate.
_NETWORKS = {
    "relu": ("relu", False),
    "gelu": ("gelu", False),
    "gated-gelu": ("gelu_new", True),
    "gated-relu": ("relu", True),
    "gated-silu": ("silu", True),
}


class T5(Model):
    """T5 (``model_type`` "t5").

    See: `Exploring the Limits of Transfer Learning with a Unified Text-to-Text Transformer
    <https://arxiv.org/abs/1910.10683>`_

    Args:
        config: Options of ``config.json``.

    Attributes:
        start_token (int): Token that each output begins with.
    """

    ignored: ClassVar[tuple[str, ...]] = (
        "decoder.block.0.layer.1.EncDecAttention.relative_attention_bias.weight",
    )
    # Products with them are scaled by one over the root of their length.
    embedding_scale = 1.0

    def __init__(self, config: Options) -> None:
        super().__init__(config)
        name = config.choice("feed_forward_proj", tuple(_NETWORKS), "relu")
        # Both say again what feed_forward_proj says.
        config.skip("dense_act_fn", "is_gated_act")
        function, gated = _NETWORKS[name]
        encoder = BlockOptions(
            config.integer("d_model", default=512),
            config.integer("num_heads", default=8),
            config.integer("d_ff", default=2048),
            head_size=config.integer("d_kv", default=64),
            norm="rms",
            eps=config.number("layer_norm_epsilon", default=1e-6),
            activation=function,
            gated=gated,
            bias=frozenset(),
            # Scores are not divided by the root of the size: the weights were initialized for that.
            scale=1.0,
            dropout=config.probability("dropout_rate", default=0.1),
            attention_dropout=config.probability("dropout_rate", default=0.1),
            inner_dropout=config.probability("dropout_rate", default=0.1),
        )
        decoder = replace(encoder, causal=True, cross=True)
        size, heads = encoder.size, encoder.heads
        n_encoder = config.integer("num_layers", default=6)
        n_decoder = config.optional_integer("num_decoder_layers") or n_encoder
        buckets = config.integer("relative_attention_num_buckets", default=32, least=4)
        self.longest = config.integer("relative_attention_max_distance", default=128)
        if self.longest <= buckets // 2:
            raise ModelFileError(
                f"'relative_attention_max_distance' of {config.source} must be more than half of "
                f"the buckets, got {self.longest}"
            )
        vocabulary = config.integer("vocab_size", default=32128)
        self.tied = config.flag("tie_word_embeddings", True)
        self.scaled = config.flag("scale_decoder_outputs", self.tied)
        self.start_token = config.integer("decoder_start_token_id", default=0, least=0)
        with self.init_scope():
            self.embed = L.EmbedID(vocabulary, size)
            self.encoder = chainer.ChainList(*[Block(encoder) for _ in range(n_encoder)])
            self.encoder_bias = L.EmbedID(buckets, heads)
            self.encoder_norm = encoder.make_norm()
            self.decoder = chainer.ChainList(*[Block(decoder) for _ in range(n_decoder)])
            self.decoder_bias = L.EmbedID(buckets, heads)
            self.decoder_norm = decoder.make_norm()
            if not self.tied:
                self.head = L.Linear(size, vocabulary, nobias=True)

    def make_cache(self) -> Cache:
        """Returns a cache for a batch of texts."""
        return Cache([None] * len(self.decoder))

    def encode(self, ids: Array, mask: Array | None = None) -> Variable:
        """Reads the input.

        Args:
            ids: Tokens, shape ``(B, S)``.
            mask: True (or 1) for tokens that are no padding, shape ``(B, S)``; None for all.

        Returns:
            Variable: Hidden states, shape ``(B * S, C)``, for the argument ``memory``.
        """
        length = ids.shape[1]
        bias = F.relative_position_bias(
            self.encoder_bias.W, length, length, max_distance=self.longest
        )
        reading = Reading(len(ids), None if mask is None else mask.astype(bool), bias)
        h = F.reshape(self.embed(ids), (-1, self.embed.W.shape[1]))
        for layer in self.encoder:
            h = layer(h, reading)
        return self.encoder_norm(h)

    def forward(
        self,
        ids: Array,
        memory: Variable,
        memory_mask: Array | None = None,
        cache: Cache | None = None,
        last: int | None = None,
    ) -> Variable:
        """Computes the logits of the next token after each token of the output.

        Args:
            ids: Tokens of the output so far, shape ``(B, T)``; the first is :attr:`start_token`.
            memory: Result of :meth:`encode`.
            memory_mask: Mask of the input, as in :meth:`encode`.
            cache: Keys of earlier tokens, or None.
            last: If given, logits of the last ``last`` tokens only.

        Returns:
            Variable: Logits, shape ``(B, T, vocabulary)``.
        """
        known = 0 if cache is None else cache.length
        length = ids.shape[1]
        bias = F.relative_position_bias(
            self.decoder_bias.W,
            length,
            known + length,
            bidirectional=False,
            max_distance=self.longest,
        )
        memory_mask = None if memory_mask is None else memory_mask.astype(bool)
        reading = Reading(len(ids), None, bias, None, memory, memory_mask)
        h = F.reshape(self.embed(ids), (-1, self.embed.W.shape[1]))
        for i, layer in enumerate(self.decoder):
            if cache is None:
                h = layer(h, reading)
            else:
                h = layer(h, reading, cache.stores[i], cache.cross[i])
        if cache is not None:
            cache.advance(length)
        h = F.reshape(h, (*ids.shape, h.shape[-1]))
        h = self.decoder_norm(h if last is None else h[:, -last:])
        if self.scaled:
            h = h * h.dtype.type(h.shape[-1] ** -0.5)
        # The weight of the embeddings is the head of T5; T5 1.1 has a head of its own.
        if self.tied:
            return F.linear(h, self.embed.W, n_batch_axes=2)
        return self.head(h, n_batch_axes=2)

    def rows(self) -> Sequence[Row]:
        """Returns the table of names."""
        rows = [Row("/embed/W", "shared.weight"), *weights("/head", "lm_head")]
        for side, last in (("encoder", 1), ("decoder", 2)):
            own, file = f"/{side}/*", f"{side}.block.*.layer"
            attention = "SelfAttention.relative_attention_bias.weight"
            rows += [
                Row(f"/{side}_bias/W", f"{side}.block.0.layer.0.{attention}"),
                *norm(f"/{side}_norm", f"{side}.final_layer_norm"),
                *norm(f"{own}/ln1", f"{file}.0.layer_norm"),
                *norm(f"{own}/ln_cross", f"{file}.1.layer_norm"),
                *norm(f"{own}/ln2", f"{file}.{last}.layer_norm"),
            ]
            for name in "qkvo":
                rows += weights(f"{own}/attn/{name}", f"{file}.0.SelfAttention.{name}")
                rows += weights(f"{own}/cross/{name}", f"{file}.1.EncDecAttention.{name}")
            network = f"{file}.{last}.DenseReluDense"
            gated = self.encoder[0].options.gated
            rows += weights(f"{own}/mlp/gate", f"{network}.wi_0")
            rows += weights(f"{own}/mlp/up", f"{network}.{'wi_1' if gated else 'wi'}")
            rows += weights(f"{own}/mlp/down", f"{network}.wo")
        return rows

    def copies(self) -> Mapping[str, str]:
        """Returns names of the embeddings, which some files have several times."""
        names = ["encoder.embed_tokens.weight", "decoder.embed_tokens.weight"]
        return dict.fromkeys([*names, *(["lm_head.weight"] if self.tied else [])], "shared.weight")
