"""The same architectures in transformers on PyTorch, with its fused attention"""

from __future__ import annotations

import functools
import os
import tempfile

import model_sizes as sizes
import numpy as np
import torch
import transformers

torch.set_num_threads(int(os.environ["OMP_NUM_THREADS"]))
torch.set_grad_enabled(False)
transformers.logging.set_verbosity_error()

from bench_case import Case  # noqa: E402

UNIT = "ms"
DTYPE = getattr(torch, os.environ.get("CHAINER_BENCH_DTYPE") or "float32")


@functools.lru_cache(maxsize=1)
def model_of(kind, key):
    """The model of the rows that follow each other."""
    options = dict(sizes.DECODERS[key] if kind == "decoder" else sizes.ENCODERS[key][0])
    config = transformers.AutoConfig.for_model(options.pop("model_type"), **options)
    auto = transformers.AutoModelForCausalLM if kind == "decoder" else transformers.AutoModel
    return auto.from_config(config, attn_implementation="sdpa").to(DTYPE).eval()


@functools.lru_cache(maxsize=1)
def folder():
    """A file of GPT-2 small, and the folder that is removed with it."""
    place = tempfile.TemporaryDirectory()
    model_of("decoder", "GPT-2").save_pretrained(place.name)
    return place


def words(count):
    return torch.from_numpy(np.random.RandomState(0).randint(3, 30000, (1, count)))


def decoding(name):
    def prepare():
        model = model_of("decoder", name)

        def prompt(_):
            return model(words(sizes.KNOWN), use_cache=True, logits_to_keep=1).past_key_values

        def decode(cache):
            token = torch.tensor([[5]])
            for _ in range(sizes.NEW):
                out = model(token, past_key_values=cache, use_cache=True, logits_to_keep=1)
                token = out.logits[:, -1].argmax(-1)[:, None]

        return Case([("_prompt", prompt), ("", decode)])

    return prepare


def reading(name):
    def prepare():
        model = model_of("decoder", name)
        ids = words(sizes.PROMPT)
        return lambda: model(ids, use_cache=True, logits_to_keep=1)

    return prepare


def encoding(row):
    def prepare():
        shape = sizes.ENCODERS[row][1]
        model = model_of("encoder", row)
        x = words(shape[1]) if len(shape) == 2 else torch.randn(shape, dtype=DTYPE)
        return lambda: model(x)

    return prepare


def loading():
    place = folder()
    return lambda: transformers.AutoModelForCausalLM.from_pretrained(place.name)


def depthwise(row):
    def prepare():
        batch, channels, size, kernel, stride = sizes.DEPTHWISE[row]
        x = torch.randn(batch, channels, size, size, dtype=DTYPE)
        W = torch.randn(channels, 1, kernel, kernel, dtype=DTYPE)
        options = {"stride": stride, "padding": kernel // 2, "groups": channels}
        return lambda: torch.nn.functional.conv2d(x, W, **options)

    return prepare


CASES = {sizes.LOADING: loading}
for _name in sizes.DECODERS:
    CASES[sizes.decoding(_name)] = decoding(_name)
    CASES[sizes.reading(_name)] = reading(_name)
    # transformers copies a file into memory; ours in memory and mapped are compared with that.
    for _captured in (False, True):
        _row = sizes.decoding(_name, is_captured=_captured, is_mapped=False)
        CASES[_row] = decoding(_name)
    # Weights of fewer bits are compared with those that everybody has.
    for _weights in ("bfloat16", "int8", "int4"):
        CASES[sizes.decoding(_name, _weights)] = decoding(_name)
    for _weights in ("", "bfloat16", "int8"):
        CASES[sizes.decoding(_name, _weights, is_captured=True)] = decoding(_name)
CASES |= {row: encoding(row) for row in sizes.ENCODERS}
CASES |= {row: depthwise(row) for row in sizes.DEPTHWISE}
