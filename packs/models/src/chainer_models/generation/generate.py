"""Texts from a model, token by token."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol

import chainer
import numpy
from chainer.backend import get_array_module
from chainer.typing import Array

from chainer_models.errors import ModelFileError
from chainer_models.generation.beams import search
from chainer_models.generation.captured import CapturedDecoder
from chainer_models.generation.processors import Processor
from chainer_models.generation.steps import Steps


class Tokenizer(Protocol):
    """Methods of a tokenizer that generation uses, for texts that end it and for streaming."""

    def decode(self, ids: Sequence[int]) -> Any:
        """Returns the text of tokens."""
        ...


def generate(
    model: Any,
    ids: Array | None = None,
    *,
    max_new_tokens: int = 20,
    mask: Array | None = None,
    inputs: Any = None,
    num_beams: int = 1,
    length_penalty: float = 1.0,
    processors: Iterable[Processor] = (),
    rng: numpy.random.Generator | int | None = None,
    eos_token_id: int | Sequence[int] | None = None,
    pad_token_id: int | None = None,
    stop: Sequence[str] = (),
    tokenizer: Tokenizer | None = None,
    stream: Callable[[Any], Any] | None = None,
    use_cache: bool = True,
    capture: bool | CapturedDecoder = False,
) -> Array:
    """Continues texts.

    By default the most likely token follows each time. With ``rng`` tokens are drawn at random
    according to their probabilities, and with ``num_beams`` the most likely of several texts is
    kept.

    Args:
        model (Model): A model that generates text.
        ids (array): Tokens of the texts, integers of shape ``(B, T)``. Shorter texts are padded on
            the left, with ``mask``. Models with an encoder begin with their start token if None.
        max_new_tokens (int): Number of tokens that follow, at most.
        mask (array): True (or 1) for tokens that are no padding, shape ``(B, T)``; of ``inputs``
            for models with an encoder.
        inputs: What the encoder of the model reads: tokens, or the features of sounds.
        num_beams (int): Number of texts that beam search keeps; 1 means no beam search.
        length_penalty (float): Beam search compares sums of logarithms of probabilities, divided
            by ``length ** length_penalty``.
        processors (iterable): Functions ``(ids, scores) -> scores``, such as
            :func:`~chainer_models.temperature` and :func:`~chainer_models.top_p`, in this order.
        rng (Generator or int): Source of random numbers, or a seed.
        eos_token_id (int or list): Tokens that end a text; those of the model's files if None.
        pad_token_id (int): Token that follows the end of a text; the first end token if None.
        stop (list of str): Texts that end a generation; needs ``tokenizer``.
        tokenizer: An object with ``decode(ids)``.
        stream (callable): Called with each new part of the text if there is a tokenizer, otherwise
            with each new token; for a batch of one text.
        use_cache (bool): Whether keys of earlier tokens are kept. False computes all tokens anew
            each time.
        capture (bool or CapturedDecoder): Whether the step of a token is recorded and repeated,
            see :func:`chainer.capture`. True records it for this call, which pays off for long
            texts; a :class:`~chainer_models.CapturedDecoder` is recorded once for many calls.

    Returns:
        array: Tokens of the texts with what follows, shape ``(B, T + new)``.

    Raises:
        ValueError: If an argument is out of range, or arguments do not go together.

    Example:
        >>> import chainer_models as cm
        >>> model = cm.from_config(
        ...     {"model_type": "gpt2", "n_embd": 8, "n_head": 2, "n_layer": 1, "vocab_size": 11},
        ...     initialize=True,
        ... )
        >>> cm.generate(model, np.array([[1, 2, 3]]), max_new_tokens=4).shape
        (1, 7)
    """
    _check(max_new_tokens, num_beams, rng, stop, tokenizer, stream)
    chain = list(processors)
    with chainer.no_backprop_mode(), chainer.using_config("train", False):
        decoder = _decoder(model, ids, max_new_tokens, use_cache, capture)
        steps = Steps(model, ids, mask, inputs, use_cache, decoder)
        ends = _end_tokens(model, eos_token_id)
        padding = pad_token_id if pad_token_id is not None else (ends[0] if ends else 0)
        if num_beams > 1:
            return search(steps, max_new_tokens, num_beams, length_penalty, chain, ends, padding)
        choose = _Chooser(rng)
        watcher = _Watcher(steps.ids, stop, tokenizer, stream)
        return _continue(steps, max_new_tokens, chain, choose, ends, padding, watcher)


def _decoder(
    model: Any,
    ids: Array | None,
    max_new_tokens: int,
    use_cache: bool,
    capture: bool | CapturedDecoder,
) -> CapturedDecoder | None:
    """Returns what computes the scores by a captured step, or None."""
    if capture is False:
        return None
    if not use_cache:
        raise ValueError("use_cache must be True with capture")
    # The last token has no successor, so that its keys are not kept.
    length = (0 if ids is None else ids.shape[-1]) + max(max_new_tokens - 1, 0)
    if capture is True:
        return CapturedDecoder(model, max(length, 1))
    if capture.model is not model:
        raise ValueError("capture must be a decoder of this model, got one of another model")
    if capture.length < length:
        raise ValueError(
            f"capture must have memory for {length} tokens, got a decoder for {capture.length}"
        )
    return capture


def _continue(
    steps: Steps,
    max_new_tokens: int,
    processors: list[Processor],
    choose: _Chooser,
    ends: list[int],
    padding: int,
    watcher: _Watcher,
) -> Array:
    xp = get_array_module(steps.ids)
    done = xp.zeros(len(steps.ids), bool)
    for _ in range(max_new_tokens):
        scores = steps.scores()
        for process in processors:
            scores = process(steps.ids, scores)
        token = xp.where(done, padding, choose(scores))
        steps.append(token)
        # No token is -1: without end tokens nothing ends early.
        done = done | xp.isin(token, xp.asarray(ends or [-1]))
        done = done | watcher.look(steps.ids, done)
        if bool(done.all()):
            break
    watcher.finish()
    return steps.ids


class _Chooser:
    """Chooses the next token of each text."""

    def __init__(self, rng: numpy.random.Generator | int | None) -> None:
        self._rng = numpy.random.default_rng(rng) if isinstance(rng, int) else rng

    def __call__(self, scores: Array) -> Array:
        xp = get_array_module(scores)
        if self._rng is None:
            return xp.argmax(scores, axis=-1)
        # Sums over a vocabulary of 100,000 words would lose digits in float32.
        weights = xp.exp((scores - scores.max(axis=-1, keepdims=True)).astype(numpy.float64))
        total = xp.cumsum(weights, axis=-1)
        # A random number per text, on the host, so that a seed means the same on all devices.
        drawn = xp.asarray(self._rng.random(len(scores)))[:, None] * total[:, -1:]
        # The product may be rounded up to the total, which no word exceeds.
        return xp.minimum((total <= drawn).sum(axis=-1), scores.shape[-1] - 1)


class _Watcher:
    """Finds texts that end a generation, and hands on what is new.

    Args:
        ids: Tokens at the beginning.
        stop: Texts that end a generation.
        tokenizer: Makes texts of tokens, or None.
        stream: Gets what is new, or None.
    """

    def __init__(
        self,
        ids: Array,
        stop: Sequence[str],
        tokenizer: Tokenizer | None,
        stream: Callable[[Any], Any] | None,
    ) -> None:
        self._start = ids.shape[1]
        self._stop = [stop] if isinstance(stop, str) else list(stop)
        self._tokenizer = tokenizer
        self._stream = stream
        self._given = ""
        self._text = ""
        if stream is not None and len(ids) != 1:
            raise ValueError(f"stream must be None unless there is one text, got {len(ids)} texts")

    def look(self, ids: Array, done: Array) -> Array:
        """Looks at the tokens so far, and returns which texts contain one that ends them."""
        xp = get_array_module(ids)
        found = xp.zeros(len(ids), bool)
        if self._stream is not None and self._tokenizer is None:
            self._stream(int(ids[0, -1]))
        if self._tokenizer is None or not (self._stop or self._stream):
            return found
        for row, tokens in enumerate(ids[:, self._start :].tolist()):
            if bool(done[row]):
                continue
            text = str(self._tokenizer.decode(tokens))
            found[row] = any([end in text for end in self._stop])
            if row == 0:
                self._text = text
        # The last character may still change: tokens are parts of characters.
        if self._stream is not None and not self._text.endswith("\N{REPLACEMENT CHARACTER}"):
            self._give()
        return found

    def finish(self) -> None:
        """Hands on the rest."""
        if self._stream is not None and self._tokenizer is not None:
            self._give()

    def _give(self) -> None:
        new = self._text[len(self._given) :]
        if new and self._stream is not None:
            self._given = self._text
            self._stream(new)


def _end_tokens(model: Any, given: int | Sequence[int] | None) -> list[int]:
    """Returns the tokens that end a text: the given ones, or the ones in the model's files."""
    found: Any = model.generation_option("eos_token_id") if given is None else given
    if found is None:
        return []
    several = isinstance(found, Sequence) and not isinstance(found, str)
    tokens: list[Any] = list(found) if several else [found]
    # Some files write -1 where there is no such token.
    if all([_is_integer(token) and -1 <= token < 1 << 31 for token in tokens]):
        return [int(token) for token in tokens]
    text = f"must be a token or a list of tokens, got {found!r}"
    if given is None:
        raise ModelFileError(f"'eos_token_id' in the files of {type(model).__name__} {text}")
    raise ValueError(f"eos_token_id {text}")


def _is_integer(value: Any) -> bool:
    return isinstance(value, (int, numpy.integer)) and not isinstance(value, bool)


def _check(
    max_new_tokens: int,
    num_beams: int,
    rng: Any,
    stop: Sequence[str],
    tokenizer: Any,
    stream: Any,
) -> None:
    if max_new_tokens < 0:
        raise ValueError(f"max_new_tokens must not be negative, got {max_new_tokens}")
    if num_beams < 1:
        raise ValueError(f"num_beams must be positive, got {num_beams}")
    if num_beams > 1 and (rng is not None or stream is not None or stop):
        raise ValueError("num_beams must be 1 with rng, stream or stop")
    if stop and tokenizer is None:
        raise ValueError("stop needs tokenizer, an object with decode(ids)")
