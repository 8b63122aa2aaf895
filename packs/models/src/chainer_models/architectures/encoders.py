"""Encoders of text: BERT, RoBERTa and DistilBERT."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

import chainer
import chainer.functions as F
import chainer.links as L
from chainer import Variable
from chainer.backend import get_array_module
from chainer.typing import Array

from chainer_models import heads as task_heads
from chainer_models.blocks import Block, BlockOptions, Reading, activation
from chainer_models.errors import ModelFileError
from chainer_models.model import Model
from chainer_models.names import Row, norm, weights
from chainer_models.options import Options


class BERT(Model):
    """BERT (``model_type`` "bert"), with the head for masked words if the files have it.

    See: `BERT <https://arxiv.org/abs/1810.04805>`_

    Args:
        config: Options of ``config.json``.
    """

    prefixes: ClassVar[tuple[str, ...]] = ("bert.",)
    # Numbers of positions, which older versions of transformers saved, and layers of pretraining:
    # files have them although a model with another head does not use them.
    ignored: ClassVar[tuple[str, ...]] = (
        "*.position_ids",
        "bert.pooler.*",
        "cls.seq_relationship.*",
    )
    #: Name of the vectors of the first and the second text; None if there are none.
    types: ClassVar[str | None] = "type_vocab_size"
    #: Heads beside that for masked words.
    heads: ClassVar[task_heads.Heads] = task_heads.BERT
    #: Whether a model without a head has a layer for the first token.
    has_pooler: ClassVar[bool] = True

    def __init__(self, config: Options) -> None:
        super().__init__(config)
        options = self.layer_options(config)
        size = options.size
        vocabulary = config.integer("vocab_size", default=30522)
        n_types = 0 if self.types is None else config.integer(self.types, default=2)
        n_layers = config.integer("num_hidden_layers", "n_layers", default=12)
        config.choice("position_embedding_type", ("absolute",), "absolute")
        if config.flag("is_decoder") or config.flag("sinusoidal_pos_embds"):
            raise ModelFileError(f"'is_decoder' of {config.source} must be false")
        masked = {"ForMaskedLM": "masked", "ForPreTraining": "masked"}
        self.has_head = self.head_of(config, masked | {name: name for name in self.heads})
        self.dropout = options.dropout
        self.activation = options.activation
        # Read, so that it counts as understood: the head for words always has the weight of the
        # embeddings.
        config.flag("tie_word_embeddings", True)
        with self.init_scope():
            self.word = L.EmbedID(vocabulary, size)
            self.position = L.EmbedID(config.integer("max_position_embeddings", default=512), size)
            if n_types:
                self.type = L.EmbedID(n_types, size)
            self.norm = options.make_norm()
            self.layers = chainer.ChainList(*[Block(options) for _ in range(n_layers)])
            if self.has_head in self.heads:
                self.task = task_heads.TaskHead(self.heads[self.has_head], size, config)
            elif self.has_head:
                self.head = L.Linear(size, size)
                self.head_norm = options.make_norm()
                self.head_bias = chainer.Parameter(0, vocabulary)
            elif self.has_pooler:
                self.pooler = L.Linear(size, size)

    def layer_options(self, config: Options) -> BlockOptions:
        """Returns the options of a layer.

        Args:
            config: Options of ``config.json``.
        """
        size = config.integer("hidden_size", "dim", default=768)
        return BlockOptions(
            size,
            config.integer("num_attention_heads", "n_heads", default=12),
            config.integer("intermediate_size", "hidden_dim", default=4 * size),
            eps=config.number("layer_norm_eps", default=1e-12),
            activation=config.text("hidden_act", "activation", default="gelu"),
            norm_first=False,
            dropout=config.probability("hidden_dropout_prob", "dropout", default=0.1),
            attention_dropout=config.probability(
                "attention_probs_dropout_prob", "attention_dropout", default=0.1
            ),
        )

    def positions(self, ids: Array) -> Array:
        """Returns the positions of tokens.

        Args:
            ids: The tokens, shape ``(B, T)``.
        """
        return get_array_module(ids).arange(ids.shape[1])

    def forward(
        self, ids: Array, mask: Array | None = None, types: Array | None = None
    ) -> Variable:
        """Computes logits of words or classes, or hidden states if the model has no head.

        Args:
            ids: Tokens, shape ``(B, T)``.
            mask: True (or 1) for tokens that are no padding, shape ``(B, T)``; None for all.
            types: 0 for tokens of the first text and 1 for the second, shape ``(B, T)``.

        Returns:
            Variable: Shape ``(B, T, vocabulary)`` or ``(B, T, C)``. A head for classes of texts has
            the shape ``(B, classes)``, one for classes of tokens ``(B, T, classes)``, and one for
            answers ``(B, T, 2)``: scores of the begin and the end.
        """
        positions = self.positions(ids)
        last = int(positions.max()) if positions.size else 0
        if last >= self.position.W.shape[0]:
            raise ValueError(
                f"the model has {self.position.W.shape[0]} positions, and the text has a token "
                f"at position {last}"
            )
        h = self.word(ids)
        h = h + F.broadcast_to(self.position(positions), h.shape)
        if self.types is not None:
            types = ids * 0 if types is None else types
            h = h + self.type(types)
        h = F.reshape(self.norm(h), (-1, h.shape[-1]))
        if self.dropout:
            h = F.dropout(h, self.dropout)
        reading = Reading(len(ids), None if mask is None else mask.astype(bool))
        for layer in self.layers:
            h = layer(h, reading)
        if self.has_head in self.heads:
            return self.task(F.reshape(h, (*ids.shape, -1)), ids, mask)
        if self.has_head:
            h = self.head_norm(activation(self.activation)(self.head(h)))
            h = F.linear(h, self.word.W, self.head_bias)
        return F.reshape(h, (*ids.shape, -1))

    def rows(self) -> Sequence[Row]:
        """Returns the table of names."""
        own, file = "/layers/*", "bert.encoder.layer.*"
        return [
            *self._embedding_rows("bert.embeddings"),
            *self._layer_rows(own, file),
            *weights("/head", "cls.predictions.transform.dense"),
            *norm("/head_norm", "cls.predictions.transform.LayerNorm"),
            Row("/head_bias", "cls.predictions.bias"),
            *self._task_rows(),
        ]

    def _task_rows(self) -> list[Row]:
        return self.task.rows("/task") if self.has_head in self.heads else []

    def pooled(self, h: Variable) -> Variable:
        """Returns a vector for each text, made of its first token; for models without a head.

        Args:
            h: Hidden states, shape ``(B, T, C)``.
        """
        return F.tanh(self.pooler(h[:, 0]))

    @staticmethod
    def _embedding_rows(file: str) -> list[Row]:
        rows = weights("/pooler", file.removesuffix("embeddings") + "pooler.dense")
        names = {"word": "word", "position": "position", "type": "token_type"}
        rows += [Row(f"/{own}/W", f"{file}.{n}_embeddings.weight") for own, n in names.items()]
        return [*rows, *norm("/norm", f"{file}.LayerNorm")]

    @staticmethod
    def _layer_rows(own: str, file: str) -> list[Row]:
        rows: list[Row] = []
        for name in ("query", "key", "value"):
            rows += weights(f"{own}/attn/{name[0]}", f"{file}.attention.self.{name}")
        return [
            *rows,
            *weights(f"{own}/attn/o", f"{file}.attention.output.dense"),
            *norm(f"{own}/ln1", f"{file}.attention.output.LayerNorm"),
            *weights(f"{own}/mlp/up", f"{file}.intermediate.dense"),
            *weights(f"{own}/mlp/down", f"{file}.output.dense"),
            *norm(f"{own}/ln2", f"{file}.output.LayerNorm"),
        ]

    def copies(self) -> Mapping[str, str]:
        """Returns names of the head's weight and bias, which some files have twice."""
        if self.has_head in self.heads:
            return {}
        return {
            "cls.predictions.decoder.weight": "bert.embeddings.word_embeddings.weight",
            "cls.predictions.decoder.bias": "cls.predictions.bias",
        }


class RoBERTa(BERT):
    """RoBERTa (``model_type`` "roberta"): positions are counted without padding.

    See: `RoBERTa <https://arxiv.org/abs/1907.11692>`_

    Args:
        config: Options of ``config.json``.
    """

    prefixes: ClassVar[tuple[str, ...]] = ("roberta.",)
    ignored: ClassVar[tuple[str, ...]] = ("*.position_ids", "roberta.pooler.*")
    heads: ClassVar[task_heads.Heads] = task_heads.ROBERTA

    def __init__(self, config: Options) -> None:
        super().__init__(config)
        self.padding = config.integer("pad_token_id", default=1, least=0)

    def positions(self, ids: Array) -> Array:
        """Returns the positions of tokens: from the number of the padding token on.

        Args:
            ids: The tokens, shape ``(B, T)``.
        """
        seen = (ids != self.padding).astype(ids.dtype)
        return get_array_module(ids).cumsum(seen, axis=1) * seen + self.padding

    def rows(self) -> Sequence[Row]:
        """Returns the table of names."""
        return [
            *self._embedding_rows("roberta.embeddings"),
            *self._layer_rows("/layers/*", "roberta.encoder.layer.*"),
            *weights("/head", "lm_head.dense"),
            *norm("/head_norm", "lm_head.layer_norm"),
            Row("/head_bias", "lm_head.bias"),
            *self._task_rows(),
        ]

    def copies(self) -> Mapping[str, str]:
        """Returns names of the head's weight and bias, which some files have twice."""
        if self.has_head in self.heads:
            return {}
        return {
            "lm_head.decoder.weight": "roberta.embeddings.word_embeddings.weight",
            "lm_head.decoder.bias": "lm_head.bias",
        }


class DistilBERT(BERT):
    """DistilBERT (``model_type`` "distilbert"): BERT without vectors of the texts.

    See: `DistilBERT <https://arxiv.org/abs/1910.01108>`_
    """

    prefixes: ClassVar[tuple[str, ...]] = ("distilbert.",)
    types: ClassVar[str | None] = None
    heads: ClassVar[task_heads.Heads] = task_heads.DISTILBERT
    has_pooler: ClassVar[bool] = False

    def rows(self) -> Sequence[Row]:
        """Returns the table of names."""
        own, file = "/layers/*", "distilbert.transformer.layer.*"
        rows = self._embedding_rows("distilbert.embeddings")
        for name in "qkv":
            rows += weights(f"{own}/attn/{name}", f"{file}.attention.{name}_lin")
        return [
            *rows,
            *weights(f"{own}/attn/o", f"{file}.attention.out_lin"),
            *norm(f"{own}/ln1", f"{file}.sa_layer_norm"),
            *weights(f"{own}/mlp/up", f"{file}.ffn.lin1"),
            *weights(f"{own}/mlp/down", f"{file}.ffn.lin2"),
            *norm(f"{own}/ln2", f"{file}.output_layer_norm"),
            *weights("/head", "vocab_transform"),
            *norm("/head_norm", "vocab_layer_norm"),
            Row("/head_bias", "vocab_projector.bias"),
            *self._task_rows(),
        ]

    def copies(self) -> Mapping[str, str]:
        """Returns the name of the head's weight, which some files have twice."""
        return {"vocab_projector.weight": "distilbert.embeddings.word_embeddings.weight"}
