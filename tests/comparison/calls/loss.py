"""Calls of losses, measures of evaluation, noise and checkpoints."""

from __future__ import annotations

import numpy as np

from tests.comparison.calls.draw import Source


def two_alike(low=0, high=3):
    def generate(draw):
        shape = draw.shape(low, high)
        return [draw.floats(shape), draw.floats(shape)], {}

    return generate


def reduced(count, *values, **options):
    low = options.get("low", 0)

    def generate(draw):
        shape = draw.shape(low, 3)
        args = [draw.floats(shape) for _ in range(count)]
        return args, draw.choice({}, *[{"reduce": value} for value in values])

    return generate


def black_out(draw):
    n, size, vocabulary, samples = draw.integer(1, 3), draw.integer(1, 3), 5, draw.integer(1, 3)
    return [
        draw.floats(n, size),
        draw.integers(n, high=vocabulary - 1),
        draw.floats(vocabulary, size),
        draw.integers(n, samples, high=vocabulary - 1),
    ], draw.choice({}, {"reduce": "no"}, {"reduce": "sum"})


def ctc(draw):
    n, classes, steps = draw.integer(1, 2), draw.integer(3, 4), draw.integer(3, 5)
    xs = [draw.floats(n, classes) for _ in range(steps)]
    t = draw.integers(n, 1, low=1, high=classes - 1)
    return [xs, t, 0], draw.choice({}, {"reduce": "no"})


def contrastive(draw):
    n, size = draw.integer(1, 4), draw.size()
    return [draw.floats(n, size), draw.floats(n, size), draw.integers(n, high=1)], draw.choice(
        {}, {"reduce": "no"}, {"margin": 2}, {"reduce": "x"}
    )


def crf1d(draw):
    n, labels, steps = draw.integer(1, 3), draw.integer(2, 3), draw.integer(1, 3)
    xs = [draw.floats(n, labels) for _ in range(steps)]
    ys = [draw.integers(n, high=labels - 1) for _ in range(steps)]
    return [draw.floats(labels, labels), xs, ys], draw.choice({}, {"reduce": "no"})


def argmax_crf1d(draw):
    n, labels, steps = draw.integer(1, 3), draw.integer(2, 3), draw.integer(1, 3)
    return [draw.floats(labels, labels), [draw.floats(n, labels) for _ in range(steps)]], {}


def cross_covariance(draw):
    n = draw.integer(1, 4)
    return [draw.floats(n, draw.integer(1, 3)), draw.floats(n, draw.integer(1, 3))], draw.choice(
        {}, {"reduce": "no"}, {"reduce": "mean"}
    )


def decov(draw):
    return [draw.floats(draw.integer(1, 4), draw.integer(1, 3))], draw.choice({}, {"reduce": "no"})


def discriminative(draw):
    dim = draw.integer(1, 3)
    n = draw.choice(1, dim)
    e = draw.floats(n, dim, 2, 3)
    return [e, draw.integers(n, 2, 3, high=dim), 0.3, 1.0, dim], {"norm": 1}


def hinge(draw):
    n, m = draw.size(), draw.integer(1, 4)
    return [draw.floats(n, m), draw.integers(n, high=m - 1)], draw.choice(
        {}, {"norm": "L2"}, {"reduce": "no"}, {"norm": "L3"}
    )


def huber(draw):
    shape = draw.shape(1, 3)
    return [draw.floats(shape), draw.floats(shape), draw.choice(0.5, 1, 1.0)], draw.choice(
        {}, {"reduce": "no"}
    )


def negative_sampling(draw):
    n, size = draw.integer(1, 3), draw.integer(1, 3)
    sampler = Source("lambda shape: np.arange(int(np.prod(shape)), dtype='i').reshape(shape) % 4")
    return [draw.floats(n, size), draw.integers(n, high=3), draw.floats(4, size), sampler, 2], (
        draw.choice({}, {"reduce": "no"}, {"return_samples": True})
    )


def sigmoid_cross_entropy(draw):
    shape = draw.shape(1, 3)
    return [draw.floats(shape), draw.integers(*shape, low=-1, high=1)], draw.choice(
        {}, {"normalize": False}, {"reduce": "no"}
    )


def softmax_cross_entropy(draw):
    n, classes, rest = draw.size(), draw.integer(2, 4), draw.choice((), (), (2,))
    x = draw.floats((n, classes, *rest))
    options = {}
    if draw.maybe(0.3):
        options["normalize"] = draw.maybe(0.5)
    if draw.maybe(0.3):
        options["reduce"] = draw.choice("no", "mean")
    if draw.maybe(0.3):
        options["soft_target_loss"] = draw.choice("kl-divergence", "cross-entropy", "x")
    if draw.maybe(0.35):
        values = draw.random.uniform(0.1, 1, (n, classes, *rest))
        t = draw.floats(x.array.shape, variable=False)
        # Probabilities: the gradient is meant for them.
        t.array = (values / np.sum(values, axis=1, keepdims=True)).astype(t.array.dtype)
        return [x, t], options
    if draw.maybe(0.2):
        options["class_weight"] = draw.floats(classes, low=0.5, high=2, variable=False)
    if draw.maybe(0.3):
        options["enable_double_backprop"] = True
    return [x, draw.integers(n, *rest, low=-1, high=classes - 1)], options


def triplet(draw):
    shape = (draw.integer(1, 3), draw.integer(1, 3))
    return [draw.floats(*shape) for _ in range(3)], draw.choice({}, {"margin": 1}, {"reduce": "no"})


def accuracy(draw):
    n, classes = draw.size(), draw.integer(1, 4)
    return [draw.floats(n, classes), draw.integers(n, high=classes - 1)], draw.choice(
        {}, {"ignore_label": 1}
    )


def binary_accuracy(draw):
    shape = draw.shape(1, 2)
    return [draw.floats(shape), draw.integers(*shape, low=-1, high=1)], {}


def summary(draw):
    n, classes = draw.integer(1, 6), draw.integer(2, 3)
    return [draw.floats(n, classes), draw.integers(n, high=classes - 1)], draw.choice(
        {}, {"label_num": 3}, {"ignore_label": 0}
    )


def r2_score(draw):
    shape = (draw.integer(2, 4), *draw.choice((), (2,)))
    return [draw.floats(*shape), draw.floats(*shape)], draw.choice(
        {}, {"multioutput": "raw_values"}, {"multioutput": "x"}
    )


def dropout(draw):
    x = draw.floats()
    mask = draw.integers(*x.array.shape, high=1)
    mask.array = (mask.array * 2).astype(x.array.dtype)
    return [x, *draw.choice([], [0.5])], {"mask": mask, "return_mask": draw.maybe(0.3)}


def gaussian(draw):
    shape = draw.shape()
    return [draw.floats(shape), draw.floats(shape)], {
        "eps": draw.floats(shape, variable=False),
        "return_eps": draw.maybe(0.3),
    }


def gumbel_softmax(draw):
    return [draw.floats(draw.integer(1, 3), draw.integer(1, 3)), 0.5], {}


def dropconnect(draw):
    n, size, out = draw.integer(1, 3), draw.integer(1, 3), draw.integer(1, 3)
    batchwise = draw.maybe(0.5)
    mask = draw.integers(*((n, out, size) if batchwise else (out, size)), high=1, dtype="?")
    return [draw.floats(n, size), draw.floats(out, size), *draw.choice([], [draw.floats(out)])], {
        "mask": mask,
        "use_batchwise_mask": batchwise,
    }


def zoneout(draw):
    shape = draw.shape(1, 3)
    return [draw.floats(shape), draw.floats(shape), draw.choice(0.0, 1.0)], {}


def forget(draw):
    shape = draw.shape()
    source = Source(
        draw.choice(
            "lambda x, y: F.tanh(x) * y",
            "lambda x, y: (x * y, F.sigmoid(y))",
            "lambda x, y: x.array",
            "lambda x, y: [x, y]",
        )
    )
    return [source, draw.floats(shape), draw.floats(shape)], {}


GENERATORS = {
    "absolute_error": two_alike(),
    "accuracy": accuracy,
    "argmax_crf1d": argmax_crf1d,
    "bernoulli_nll": reduced(2, "no", "mean", "x"),
    "binary_accuracy": binary_accuracy,
    "black_out": black_out,
    "classification_summary": summary,
    "connectionist_temporal_classification": ctc,
    "contrastive": contrastive,
    "crf1d": crf1d,
    "cross_covariance": cross_covariance,
    "decov": decov,
    "discriminative_margin_based_clustering_loss": discriminative,
    "dropout": dropout,
    "f1_score": summary,
    "forget": forget,
    "gaussian": gaussian,
    "gaussian_kl_divergence": reduced(2, "no", "mean"),
    "gaussian_nll": reduced(3, "no", "mean"),
    "gumbel_softmax": gumbel_softmax,
    "hinge": hinge,
    "huber_loss": huber,
    "mean_absolute_error": two_alike(),
    "mean_squared_error": two_alike(),
    "negative_sampling": negative_sampling,
    "precision": summary,
    "r2_score": r2_score,
    "recall": summary,
    "sigmoid_cross_entropy": sigmoid_cross_entropy,
    "simplified_dropconnect": dropconnect,
    "softmax_cross_entropy": softmax_cross_entropy,
    "squared_error": two_alike(),
    "triplet": triplet,
    "zoneout": zoneout,
}
