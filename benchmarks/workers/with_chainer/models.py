"""Published architectures with random weights, batch 1; transformers on PyTorch beside them"""

from __future__ import annotations

import functools
import tempfile

import chainer
import chainer.functions as F
import chainer_models as cm
import model_sizes as sizes
import numpy as np

import bench_case
from bench_case import Case, Missing

UNIT = "ms"
PEERS = ["ours", "ours-ideep", "ours-numba", "transformers", "transformers-bfloat16"]
THREADS = [1, 2]

_PACKED = {sizes.decoding(name, w) for name in sizes.DECODERS for w in ("bfloat16", "int8")}
_PROMPTS = {sizes.reading(name): 1 / 0.95 for name in sizes.DECODERS}
_FLOAT32 = {sizes.decoding(name, is_mapped=m) for name in sizes.DECODERS for m in (True, False)}
BUDGETS = {
    "ours/transformers": dict.fromkeys(_FLOAT32, 1 / 1.2) | _PROMPTS,
    "ours-numba/transformers": dict.fromkeys(_FLOAT32, 1 / 1.6)
    | dict.fromkeys(_PACKED, 1 / 2.5),
    "ours-ideep/transformers": {"BERT": 1.0, "ViT": 1.0, "depthwise": 1.5},
}

if bench_case.USE_IDEEP:
    chainer.global_config.use_ideep = "auto"
chainer.global_config.train = False
chainer.global_config.enable_backprop = False


@functools.lru_cache(maxsize=1)
def model_of(kind, key):
    """The model of the rows that follow each other.

    Decoders are loaded from their files, as programs have them: products with a vector take other
    times where a weight is in another order, and files of GPT-2 have theirs transposed.
    """
    if kind in ("mapped", "in memory"):
        return cm.load_pretrained(folder(key).name, mapped=kind == "mapped")
    return random_model(sizes.ENCODERS[key][0])


def random_model(options):
    """A model with weights as large as trained ones."""
    model = cm.from_config(options)
    draw = np.random.default_rng(0).standard_normal
    for path, parameter in sorted(model.namedparams()):
        if parameter.ndim > 1:
            parameter.array = draw(parameter.shape, np.float32) * np.float32(0.02)
        elif path.endswith("gamma"):
            parameter.array[...] = 1
    return model


@functools.lru_cache(maxsize=1)
def folder(key):
    """The file of a decoder, and the folder that is removed with it."""
    place = tempfile.TemporaryDirectory()
    cm.save_pretrained(random_model(sizes.DECODERS[key]), place.name)
    return place


def words(count):
    return np.random.RandomState(0).randint(3, 30000, (1, count))


def decoding(name, weights="", is_captured=False, is_mapped=True):
    def prepare():
        if weights and not chainer.config.kernels:
            raise Missing("packed weights need the kernel of chainer-numba to be fast")
        model = model_of("mapped" if is_mapped else "in memory", name)
        if weights:
            model_of.cache_clear()
            cm.pack_weights(model, weights)

        # One for all rounds: the first one records the step.
        decoder = cm.CapturedDecoder(model, sizes.KNOWN + sizes.NEW) if is_captured else None

        def prompt(_):
            cache = model.make_cache()
            model(words(sizes.KNOWN), cache=cache, last=1)
            if decoder is None:
                return lambda token: model(token, cache=cache, last=1)
            decoder.begin(cache)
            return decoder

        def decode(step):
            token = np.array([[5]])
            for _ in range(sizes.NEW):
                token = step(token).array[:, -1].argmax(axis=-1)[:, None]

        return Case([("_prompt", prompt), ("", decode)])

    return prepare


def reading(name):
    def prepare():
        model = model_of("mapped", name)
        ids = words(sizes.PROMPT)
        return lambda: model(ids, cache=model.make_cache(), last=1)

    return prepare


def memory(name, weights):
    """No token of a batch of one takes less time: each needs all weights, which no cache holds."""

    def prepare():
        count = model_of("mapped", name).count_params()
        model_of.cache_clear()
        numbers = np.ones(int(count * sizes.WIDTHS[weights]) // 8, np.int64)

        def read():
            for _ in range(sizes.NEW):
                numbers.max()  # the reduction of NumPy that reads most in a second

        return read

    return prepare


def encoding(row):
    def prepare():
        shape = sizes.ENCODERS[row][1]
        model = model_of("encoder", row)
        if bench_case.USE_IDEEP:
            model.to_device("@intel64")
        if len(shape) == 2:
            x = words(shape[1])
        else:
            x = np.random.RandomState(0).randn(*shape).astype(np.float32)
        return lambda: model(x)

    return prepare


def loading():
    place = folder("GPT-2")
    return lambda: cm.load_pretrained(place.name)


def depthwise(row):
    def prepare():
        batch, channels, size, kernel, stride = sizes.DEPTHWISE[row]
        random = np.random.RandomState(0).randn
        x = random(batch, channels, size, size).astype(np.float32)
        W = random(channels, 1, kernel, kernel).astype(np.float32)
        options = {"stride": stride, "pad": kernel // 2, "groups": channels}
        return lambda: F.convolution_2d(x, W, **options)

    return prepare


CASES = {sizes.LOADING: loading}
for _name in sizes.DECODERS:
    CASES[sizes.decoding(_name)] = decoding(_name)
    CASES[sizes.reading(_name)] = reading(_name)
    for _weights in ("bfloat16", "int8", "int4"):
        CASES[sizes.decoding(_name, _weights)] = decoding(_name, _weights)
    for _weights in ("", "bfloat16", "int8"):
        _row = sizes.decoding(_name, _weights, is_captured=True)
        CASES[_row] = decoding(_name, _weights, is_captured=True)
    for _captured in (False, True):
        _row = sizes.decoding(_name, is_captured=_captured, is_mapped=False)
        CASES[_row] = decoding(_name, is_captured=_captured, is_mapped=False)
    CASES |= {sizes.memory(_name, kind): memory(_name, kind) for kind in sizes.WIDTHS}
CASES |= {row: encoding(row) for row in sizes.ENCODERS}
CASES |= {row: depthwise(row) for row in sizes.DEPTHWISE}
