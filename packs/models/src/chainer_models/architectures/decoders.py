"""Decoders that generate text: GPT-2, Llama, Mistral, Qwen 2 and 3, Gemma 1 and 2.

They are one class. A function for each reads the differences from ``config.json``, and two tables
hold their names in files.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import chainer
import chainer.functions as F
import chainer.links as L
from chainer import Variable
from chainer.backend import get_array_module
from chainer.typing import Array

from chainer_models import heads as task_heads
from chainer_models.blocks import Block, BlockOptions, Reading
from chainer_models.caches import Cache
from chainer_models.errors import ModelFileError
from chainer_models.generation.captured import FixedCache
from chainer_models.model import Model
from chainer_models.names import TRANSPOSED, Row, norm, weights
from chainer_models.options import Options
from chainer_models.packing import scores_of_words
from chainer_models.rotation import rotary_options


@dataclass(frozen=True)
class DecoderOptions:
    """Differences between the decoders.

    Attributes:
        vocabulary: Number of tokens.
        layers: Options of each layer.
        positions: Number of learned positions; 0 if positions are rotations.
        base: Base of the rotations.
        scaling: How the rotations are stretched, or None.
        embedding_scale: Factor of the embeddings.
        embedding_dropout: Dropout ratio of the embeddings.
        logit_cap: Cap of the logits, or None.
        tied: Whether the head has the weight of the embeddings.
    """

    vocabulary: int
    layers: tuple[BlockOptions, ...]
    positions: int = 0
    base: float = 10000.0
    scaling: Mapping[str, Any] | None = None
    embedding_scale: float = 1.0
    embedding_dropout: float = 0.0
    logit_cap: float | None = None
    tied: bool = True


class Decoder(Model):
    """A decoder.

    Args:
        config: Options of ``config.json``.
    """

    #: Heads beside that for the next token.
    heads: ClassVar[task_heads.Heads] = {}

    def __init__(self, config: Options) -> None:
        super().__init__(config)
        self.options = options = self.read_options(config)
        names = [str(name) for name in config.sequence("architectures") or []]
        ends = [end for end in self.heads if names and names[0].endswith(end)]
        self.task_name = ends[0] if ends else ""
        first = options.layers[0]
        with self.init_scope():
            self.embed = L.EmbedID(options.vocabulary, first.size)
            if options.positions:
                self.position = L.EmbedID(options.positions, first.size)
            self.layers = chainer.ChainList(*[Block(layer) for layer in options.layers])
            self.norm = first.make_norm()
            if self.task_name:
                self.task = task_heads.TaskHead(self.heads[self.task_name], first.size, config)
            elif not options.tied:
                self.head = L.Linear(first.size, options.vocabulary, nobias=True)
            else:
                self.tied_embeddings = ("/embed",)

    def read_options(self, config: Options) -> DecoderOptions:
        """Returns what distinguishes the model.

        Args:
            config: Options of ``config.json``.
        """
        raise NotImplementedError(f"{type(self).__name__} must define read_options()")

    def make_cache(self) -> Cache:
        """Returns a cache for a batch of texts.

        Raises:
            TypeError: If the head of the model is for other tasks.
        """
        if self.task_name:
            raise TypeError(f"{type(self).__name__}{self.task_name} does not generate text")
        return Cache([layer.window for layer in self.options.layers])

    def forward(
        self,
        ids: Array,
        cache: Cache | FixedCache | None = None,
        mask: Array | None = None,
        positions: Array | None = None,
        last: int | None = None,
    ) -> Variable:
        """Computes the logits of the next token after each token.

        Args:
            ids: Tokens, integers of shape ``(B, T)``.
            cache: Keys of earlier tokens; the keys of ``ids`` are added to it. No gradient flows
                through it.
            mask: True (or 1) for tokens that are no padding, shape ``(B, T)``; None if there is no
                padding.
            positions: Positions of the tokens, shape ``(T,)`` or ``(B, T)``. By default they are
                counted from the number of tokens in the cache, without padding.
            last: If given, logits of the last ``last`` tokens only.

        Returns:
            Variable: Logits, shape ``(B, T, vocabulary)``; ``(B, classes)`` of a head for classes
            of texts, and ``(B, T, classes)`` of one for classes of tokens.

        Raises:
            ValueError: If ``ids`` or ``mask`` do not have the shape ``(B, T)``, or ``last`` is not
                positive.
        """
        reading, h = self._begin(ids, cache, mask, positions)
        count, final = ids.shape[1], len(self.layers) - 1
        # Later tokens need the keys of the last layer, but nothing needs its other results. The
        # head has a column for each word, and generation needs one row of it.
        if last is not None and last < 1:
            raise ValueError(f"last must be positive, got {last}")
        few = None if self.task_name or last is None or last >= count else last
        for i, layer in enumerate(self.layers):
            store = None if cache is None else cache.stores[i]
            h = layer(h, reading, store, last=few if i == final else None)
        if cache is not None:
            cache.advance(count)
        h = F.reshape(h, (len(ids), count if few is None else few, h.shape[-1]))
        if self.task_name:
            return self.task(self.norm(h), ids, mask)
        return self._logits(self.norm(h))

    def _begin(
        self,
        ids: Array,
        cache: Cache | FixedCache | None,
        mask: Array | None,
        positions: Array | None,
    ) -> tuple[Reading, Variable]:
        """Returns what the layers share, and the embeddings."""
        options = self.options
        if ids.ndim != 2 or (mask is not None and mask.shape != ids.shape):
            shape = None if mask is None else mask.shape
            raise ValueError(
                f"ids and mask must have the shape (batch, tokens), got {ids.shape} and {shape}"
            )
        xp = get_array_module(ids)
        mask = None if mask is None else mask.astype(bool)
        if positions is None:
            positions = (cache or Cache(())).positions(xp, ids.shape[1])
            # A fixed cache takes tokens one by one, which are no padding.
            is_first = cache is None or (not isinstance(cache, FixedCache) and not cache.length)
            if mask is not None and is_first:
                # Texts of a batch are padded on the left: each begins at its own first token.
                positions = xp.maximum(xp.cumsum(mask, axis=1) - 1, 0)
        tables = None
        h = self.embed(ids)
        if not options.positions:
            first = options.layers[0]
            dtype = h.dtype
            # Cosines of float16 would be rounded before they are used.
            tables = F.rotary_tables(
                positions,
                first.head,
                options.base,
                options.scaling,
                "d" if dtype == "d" else "f",
            )
        if options.embedding_scale != 1.0:
            # Rounded to the type of the weights, as published models were trained.
            h = h * h.dtype.type(options.embedding_scale)
        if options.positions:
            self._check_positions(positions, cache)
            h = h + F.broadcast_to(self.position(positions), h.shape)
        if options.embedding_dropout:
            h = F.dropout(h, options.embedding_dropout)
        return Reading(len(ids), mask, tables=tables), F.reshape(h, (-1, h.shape[-1]))

    def _check_positions(self, positions: Array, cache: Cache | FixedCache | None) -> None:
        # A captured step cannot look at values: all of its positions are checked at once.
        if isinstance(cache, FixedCache):
            last = cache.capacity - 1
        else:
            last = int(positions.max()) if positions.size else 0
        if last >= self.options.positions:
            raise ValueError(
                f"the model has {self.options.positions} positions, and the text has a token at "
                f"position {last}"
            )

    def _logits(self, h: Variable) -> Variable:
        options = self.options
        if options.tied:
            y = scores_of_words(self.embed, h)
        else:
            y = self.head(h, n_batch_axes=2)
        if options.logit_cap is not None:
            y = F.tanh(y / options.logit_cap) * options.logit_cap
        return y

    def task_rows(self) -> list[Row]:
        """Returns the table of names of a head for other tasks."""
        return self.task.rows("/task") if self.task_name else []

    def copies(self) -> Mapping[str, str]:
        """Returns the name of the head, which some files have although it is tied."""
        if not self.options.tied or self.task_name:
            return {}
        embedding = next(row.file for row in self.rows() if row.own == "/embed/W")
        return {"lm_head.weight": embedding}


class GPT2(Decoder):
    """GPT-2 (``model_type`` "gpt2").

    See: `Language Models are Unsupervised Multitask Learners
    <https://cdn.openai.com/better-language-models/language_models_are_unsupervised_multitask_learners.pdf>`_
    """

    prefixes: ClassVar[tuple[str, ...]] = ("transformer.",)
    # Causal masks, which older versions of transformers saved with the weights.
    ignored: ClassVar[tuple[str, ...]] = ("*.attn.bias", "*.attn.masked_bias")
    heads: ClassVar[task_heads.Heads] = task_heads.GPT2

    def read_options(self, config: Options) -> DecoderOptions:
        """Returns what distinguishes the model.

        Args:
            config: Options of ``config.json``.
        """
        size, heads = config.integer("n_embd", default=768), config.integer("n_head", default=12)
        dropout = config.probability("resid_pdrop", default=0.1)
        layer = BlockOptions(
            size,
            heads,
            config.optional_integer("n_inner") or 4 * size,
            eps=config.number("layer_norm_epsilon", default=1e-5),
            activation=config.text("activation_function", default="gelu_new"),
            fused=True,
            causal=True,
            scale=None if config.flag("scale_attn_weights", True) else 1.0,
            dropout=dropout,
            attention_dropout=config.probability("attn_pdrop", default=0.1),
        )
        # It changes the order of roundings only.
        config.flag("reorder_and_upcast_attn")
        layers = [layer] * config.integer("n_layer", default=12)
        if config.flag("scale_attn_by_inverse_layer_idx"):
            scale = layer.head**-0.5 if layer.scale is None else layer.scale
            layers = [replace(layer, scale=scale / (i + 1)) for i in range(len(layers))]
        if config.flag("add_cross_attention"):
            raise ModelFileError(f"'add_cross_attention' of {config.source} must be false")
        return DecoderOptions(
            config.integer("vocab_size", default=50257),
            tuple(layers),
            positions=config.integer("n_positions", "n_ctx", default=1024),
            embedding_dropout=config.probability("embd_pdrop", default=0.1),
            tied=config.flag("tie_word_embeddings", True),
        )

    def rows(self) -> Sequence[Row]:
        """Returns the table of names."""
        own, file = "/layers/*", "transformer.h.*"
        return [
            Row("/embed/W", "transformer.wte.weight"),
            Row("/position/W", "transformer.wpe.weight"),
            *norm("/norm", "transformer.ln_f"),
            *norm(f"{own}/ln1", f"{file}.ln_1"),
            *norm(f"{own}/ln2", f"{file}.ln_2"),
            *weights(f"{own}/attn/qkv", f"{file}.attn.c_attn", TRANSPOSED),
            *weights(f"{own}/attn/o", f"{file}.attn.c_proj", TRANSPOSED),
            *weights(f"{own}/mlp/up", f"{file}.mlp.c_fc", TRANSPOSED),
            *weights(f"{own}/mlp/down", f"{file}.mlp.c_proj", TRANSPOSED),
            *weights("/head", "lm_head"),
            *self.task_rows(),
        ]


class Llama(Decoder):
    """Llama 1, 2 and 3 (``model_type`` "llama"), and base of its relatives.

    See: `LLaMA <https://arxiv.org/abs/2302.13971>`_, `The Llama 3 Herd of Models
    <https://arxiv.org/abs/2407.21783>`_
    """

    prefixes: ClassVar[tuple[str, ...]] = ("model.",)
    # Frequencies of the rotations, which older versions of transformers saved with the weights.
    ignored: ClassVar[tuple[str, ...]] = ("*.rotary_emb.inv_freq",)
    heads: ClassVar[task_heads.Heads] = task_heads.LLAMA

    #: Names of the normalizations in files, by our names.
    norms: ClassVar[Mapping[str, str]] = {
        "ln1": "input_layernorm",
        "ln2": "post_attention_layernorm",
    }

    def read_options(self, config: Options) -> DecoderOptions:
        """Returns what distinguishes the model.

        Args:
            config: Options of ``config.json``.
        """
        base, scaling = rotary_options(config)
        layer = self.layer_options(config)
        windows = self.windows(config, config.integer("num_hidden_layers", default=32))
        return DecoderOptions(
            config.integer("vocab_size", default=32000),
            tuple([replace(layer, window=window) for window in windows]),
            base=base,
            scaling=scaling,
            tied=config.flag("tie_word_embeddings", self.tied_by_default),
        )

    #: Value of ``tie_word_embeddings`` if a file has none.
    tied_by_default: ClassVar[bool] = False

    def layer_options(self, config: Options) -> BlockOptions:
        """Returns the options of a layer.

        Args:
            config: Options of ``config.json``.
        """
        heads = config.integer("num_attention_heads", default=32)
        bias = "qkvo" if config.flag("attention_bias") else ""
        return BlockOptions(
            config.integer("hidden_size", default=4096),
            heads,
            config.integer("intermediate_size", default=11008),
            key_heads=config.optional_integer("num_key_value_heads"),
            head_size=config.optional_integer("head_dim"),
            norm="rms",
            eps=config.number("rms_norm_eps", default=1e-6),
            activation=config.text("hidden_act", default="silu"),
            gated=True,
            bias=frozenset([*bias, *(["mlp"] if config.flag("mlp_bias") else [])]),
            causal=True,
            attention_dropout=config.probability("attention_dropout", default=0.0),
        )

    def windows(self, config: Options, n_layers: int) -> list[int | None]:
        """Returns the window of each layer; None for attention to all tokens.

        Args:
            config: Options of ``config.json``.
            n_layers: Number of layers.
        """
        return [None] * n_layers

    def rows(self) -> Sequence[Row]:
        """Returns the table of names."""
        own, file = "/layers/*", "model.layers.*"
        rows = [
            Row("/embed/W", "model.embed_tokens.weight"),
            *norm("/norm", "model.norm"),
            *weights("/head", "lm_head"),
            *self.task_rows(),
        ]
        for name in "qkvo":
            rows += weights(f"{own}/attn/{name}", f"{file}.self_attn.{name}_proj")
        for name in ("gate", "up", "down"):
            rows += weights(f"{own}/mlp/{name}", f"{file}.mlp.{name}_proj")
        for name in ("q_norm", "k_norm"):
            rows += norm(f"{own}/attn/{name}", f"{file}.self_attn.{name}")
        for name, other in self.norms.items():
            rows += norm(f"{own}/{name}", f"{file}.{other}")
        return rows


class Mistral(Llama):
    """Mistral (``model_type`` "mistral"): Llama with a sliding window.

    See: `Mistral 7B <https://arxiv.org/abs/2310.06825>`_
    """

    def windows(self, config: Options, n_layers: int) -> list[int | None]:
        """Returns the window of each layer.

        Args:
            config: Options of ``config.json``.
            n_layers: Number of layers.
        """
        return [config.optional_integer("sliding_window")] * n_layers


class Qwen2(Llama):
    """Qwen 2 (``model_type`` "qwen2"): Llama with biases of queries, keys and values.

    See: `Qwen2 Technical Report <https://arxiv.org/abs/2407.10671>`_
    """

    def layer_options(self, config: Options) -> BlockOptions:
        """Returns the options of a layer.

        Args:
            config: Options of ``config.json``.
        """
        return replace(super().layer_options(config), bias=frozenset("qkv"))

    def windows(self, config: Options, n_layers: int) -> list[int | None]:
        """Returns the window of each layer: the later ones have one, if any.

        Args:
            config: Options of ``config.json``.
            n_layers: Number of layers.
        """
        window = config.optional_integer("sliding_window")
        full = config.integer("max_window_layers", default=28, least=0)
        if not config.flag("use_sliding_window"):
            window = None
        plain = ["full_attention" if i < full else "sliding_attention" for i in range(n_layers)]
        return windows_of_types(config, n_layers, window, plain)


class Qwen3(Qwen2):
    """Qwen 3 (``model_type`` "qwen3"): queries and keys of each head are normalized.

    See: `Qwen3 Technical Report <https://arxiv.org/abs/2505.09388>`_
    """

    def layer_options(self, config: Options) -> BlockOptions:
        """Returns the options of a layer.

        Args:
            config: Options of ``config.json``.
        """
        layer = Llama.layer_options(self, config)
        return replace(layer, head_norm=True, head_size=layer.head_size or 128)


class Gemma(Llama):
    """Gemma (``model_type`` "gemma"): factors of normalizations are offsets from one.

    See: `Gemma <https://arxiv.org/abs/2403.08295>`_
    """

    tied_by_default: ClassVar[bool] = True

    def layer_options(self, config: Options) -> BlockOptions:
        """Returns the options of a layer.

        Args:
            config: Options of ``config.json``.
        """
        layer = super().layer_options(config)
        # Files of the first release say "gelu" and mean the approximation.
        function = config.text("hidden_activation", default="gelu_pytorch_tanh")
        return replace(
            layer, norm_offset=1.0, activation=function, head_size=layer.head_size or 256
        )

    def read_options(self, config: Options) -> DecoderOptions:
        """Returns what distinguishes the model.

        Args:
            config: Options of ``config.json``.
        """
        options = super().read_options(config)
        return replace(options, embedding_scale=options.layers[0].size ** 0.5)


class Gemma2(Gemma):
    """Gemma 2 (``model_type`` "gemma2"): capped scores and logits, a window in every other layer.

    See: `Gemma 2 <https://arxiv.org/abs/2408.00118>`_
    """

    norms: ClassVar[Mapping[str, str]] = {
        "ln1": "input_layernorm",
        "post1": "post_attention_layernorm",
        "ln2": "pre_feedforward_layernorm",
        "post2": "post_feedforward_layernorm",
    }

    def layer_options(self, config: Options) -> BlockOptions:
        """Returns the options of a layer.

        Args:
            config: Options of ``config.json``.
        """
        return replace(
            super().layer_options(config),
            norm_outputs=True,
            scale=config.positive("query_pre_attn_scalar", default=256) ** -0.5,
            softcap=config.optional_positive("attn_logit_softcapping"),
        )

    def windows(self, config: Options, n_layers: int) -> list[int | None]:
        """Returns the window of each layer: the first, the third and so on have one.

        Args:
            config: Options of ``config.json``.
            n_layers: Number of layers.
        """
        window = config.integer("sliding_window", default=4096)
        plain = ["full_attention" if i % 2 else "sliding_attention" for i in range(n_layers)]
        return windows_of_types(config, n_layers, window, plain)

    def read_options(self, config: Options) -> DecoderOptions:
        """Returns what distinguishes the model.

        Args:
            config: Options of ``config.json``.
        """
        cap = config.optional_positive("final_logit_softcapping")
        return replace(super().read_options(config), logit_cap=cap)


def windows_of_types(
    config: Options, n_layers: int, window: int | None, plain: list[str]
) -> list[int | None]:
    """Returns the window of each layer by the option ``layer_types``.

    Args:
        config: Options of ``config.json``.
        n_layers: Number of layers.
        window: The window.
        plain: Types of the layers if the file has none.
    """
    found: list[int | None] = []
    for kind in config.sequence("layer_types", n_layers) or plain:
        if kind not in ("full_attention", "sliding_attention"):
            raise ModelFileError(
                f"'layer_types' of {config.source} must have the values 'full_attention' and "
                f"'sliding_attention', got {kind!r}"
            )
        found.append(window if kind == "sliding_attention" else None)
    return found
