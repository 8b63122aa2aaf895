"""Computes the outputs of a loaded model for the inputs of its case, as make_reference.py does."""

import chainer.functions as F
import numpy as np
from reference_models import (
    CASES,
    ended_tokens,
    image_size,
    images,
    right_padding,
    sounds,
    tokens,
)


def masked(output, mask):
    """Outputs without padding, whose outputs mean nothing."""
    return output * F.broadcast_to(mask[:, :, None].astype("f"), output.shape)


def _causal(model, case):
    return model(tokens())


def _encoder(model, case):
    ids, mask = tokens(), right_padding()
    if case == "roberta":
        # It counts positions by the padding token.
        ids[mask == 0] = 1
    return masked(model(ids, mask), mask)


def _head(model, case):
    ids, mask = tokens(), right_padding()
    ids[mask == 0] = 1
    output = model(ids, mask=mask)
    return masked(output, mask) if output.ndim == 3 else output


def _sequence(model, case):
    mask = right_padding()
    outputs = np.concatenate([np.zeros((2, 1), int), tokens(2, 6, seed=9)], axis=1)
    return model(outputs, model.encode(tokens(), mask), mask)


def _image(model, case):
    dtype = next(p.dtype for p in model.params() if p.dtype.kind == "f")
    return model(images(image_size(CASES[case][2])).astype(dtype))


def _clip(model, case):
    return model(ended_tokens(), images())


def _sound(model, case):
    outputs = np.concatenate([np.ones((2, 1), int), tokens(2, 6, seed=9)], axis=1)
    return model(outputs, model.encode(sounds()))


_KINDS = {
    "causal": _causal,
    "encoder": _encoder,
    "head": _head,
    "sequence": _sequence,
    "image": _image,
    "named": _image,
    "clip": _clip,
    "sound": _sound,
}


def output_of(case, model):
    """Returns the output of a model for the inputs of its case."""
    return _KINDS[CASES[case][0]](model, case)
