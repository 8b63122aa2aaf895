"""Heads that classify texts and tokens, or find answers: one link, and tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import chainer
import chainer.functions as F
import chainer.links as L
from chainer import Variable
from chainer.backend import get_array_module
from chainer.typing import Array

from chainer_models.architectures.vision import count_classes
from chainer_models.blocks import activation
from chainer_models.names import Row, weights
from chainer_models.options import Options


@dataclass(frozen=True)
class Head:
    """A head of published models.

    Attributes:
        output: Name of the last layer in files.
        place: Of which tokens it reads the hidden states: ``"each"``, ``"first"`` or ``"last"``.
        hidden: Name of a layer before it, or ``""``.
        function: Activation of that layer.
        bias: Whether the last layer has a bias.
        size: Number of outputs; the number of classes if None.
        dropouts: Names of the option with the dropout ratio, the first that is given.
        dropout: The ratio if none is given.
    """

    output: str
    place: str = "each"
    hidden: str = ""
    function: str = "tanh"
    bias: bool = True
    size: int | None = None
    dropouts: tuple[str, ...] = ()
    dropout: float = 0.0


class TaskHead(chainer.Chain):
    """The layers of a head.

    Args:
        head: Its parts.
        size: Size of the hidden states.
        config: Options of ``config.json``.
    """

    def __init__(self, head: Head, size: int, config: Options) -> None:
        super().__init__()
        self.head = head
        has_padding = config.get("pad_token_id") is not None
        self.padding = config.integer("pad_token_id", least=0) if has_padding else None
        self.dropout = (
            config.probability(*head.dropouts, default=head.dropout)
            if head.dropouts
            else head.dropout
        )
        with self.init_scope():
            if head.hidden:
                self.hidden = L.Linear(size, size)
            outputs = count_classes(config) if head.size is None else head.size
            self.output = L.Linear(size, outputs, nobias=not head.bias)

    def forward(self, h: Variable, ids: Array, mask: Array | None) -> Variable:
        """Computes the outputs.

        Args:
            h: Hidden states, shape ``(B, T, C)``.
            ids: The tokens, shape ``(B, T)``.
            mask: True for tokens that are no padding, or None.

        Returns:
            Variable: Shape ``(B, T, outputs)``, or ``(B, outputs)`` for a head that reads one
            token of each text.
        """
        if self.head.place == "first":
            h = h[:, 0]
        elif self.head.place == "last":
            h = h[get_array_module(ids).arange(len(ids)), self._last(ids, mask)]
        batch_axes = h.ndim - 1
        if self.head.hidden:
            h = activation(self.head.function)(self.hidden(h, n_batch_axes=batch_axes))
        if self.dropout:
            h = F.dropout(h, self.dropout)
        return self.output(h, n_batch_axes=batch_axes)

    def _last(self, ids: Array, mask: Array | None) -> Array:
        """Returns the position of the last token of each text."""
        xp = get_array_module(ids)
        seen: Any = mask
        if mask is None:
            seen = xp.ones(ids.shape, bool) if self.padding is None else ids != self.padding
        # The greatest position that is not padding, on whichever side the padding is.
        return (xp.arange(ids.shape[1]) * seen.astype(bool)).argmax(axis=1)

    def rows(self, own: str) -> list[Row]:
        """Returns the table of names.

        Args:
            own: Path of this link.
        """
        rows = weights(f"{own}/output", self.head.output)
        return [*rows, *weights(f"{own}/hidden", self.head.hidden)] if self.head.hidden else rows


_BERT = ("classifier_dropout", "hidden_dropout_prob")
_EACH = Head("classifier", dropouts=_BERT, dropout=0.1)
_ANSWERS = Head("qa_outputs", size=2)

#: End of the name of a class -> head.
Heads = Mapping[str, Head]
BERT: Heads = {
    "ForSequenceClassification": Head(
        "classifier", "first", "bert.pooler.dense", dropouts=_BERT, dropout=0.1
    ),
    "ForTokenClassification": _EACH,
    "ForQuestionAnswering": _ANSWERS,
}
ROBERTA: Heads = {
    **BERT,
    "ForSequenceClassification": Head(
        "classifier.out_proj", "first", "classifier.dense", dropouts=_BERT, dropout=0.1
    ),
}
DISTILBERT: Heads = {
    "ForSequenceClassification": Head(
        "classifier",
        "first",
        "pre_classifier",
        "relu",
        dropouts=("seq_classif_dropout",),
        dropout=0.2,
    ),
    "ForTokenClassification": Head("classifier", dropouts=("dropout",), dropout=0.1),
    "ForQuestionAnswering": Head("qa_outputs", size=2, dropouts=("qa_dropout",), dropout=0.1),
}
# For classes of texts the layer "score" of transformers has no bias, for classes of tokens it has
# one.
_TEXTS = Head("score", "last", bias=False)
GPT2: Heads = {
    "ForSequenceClassification": _TEXTS,
    "ForTokenClassification": Head(
        "classifier", dropouts=("classifier_dropout", "hidden_dropout"), dropout=0.1
    ),
}
LLAMA: Heads = {
    "ForSequenceClassification": _TEXTS,
    "ForTokenClassification": Head(
        "score", dropouts=("classifier_dropout", "hidden_dropout"), dropout=0.1
    ),
}
