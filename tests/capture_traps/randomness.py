"""Random numbers of the step."""

from __future__ import annotations

import random
import time

import numpy as np

from .corpus import trap

X = [[1, 2, 3]]


@trap
def numbers_of_numpy(f):
    link = f.linear()
    step = f.compile(lambda x: link(x) + f.array(np.random.rand(1, 2)), link)
    for _ in range(8):
        yield step(f.array(X))


@trap
def number_of_python(f):
    link, rng = f.linear(), random.Random(0)
    step = f.compile(lambda x: link(x) * rng.random(), link)
    for _ in range(8):
        yield step(f.array(X))


@trap
def generator_object(f):
    link, rng = f.linear(), np.random.RandomState(0)
    step = f.compile(lambda x: link(x) + f.array(rng.rand(1, 2)), link)
    for _ in range(8):
        yield step(f.array(X))


@trap
def coin_is_tossed(f):
    link, rng = f.linear(), random.Random(3)
    step = f.compile(lambda x: link(x) * 2 if rng.random() > 0.5 else link(x), link)
    for _ in range(12):
        yield step(f.array(X))


@trap
def noise_that_no_result_depends_on(f):
    """Later numbers depend on how many were drawn."""
    link = f.linear()

    def step(x):
        np.random.rand(3)
        return link(x)

    step = f.compile(step, link)
    for _ in range(6):
        yield step(f.array(X))
    yield float(np.random.rand())


@trap
def shuffled_rows(f):
    link = f.linear()
    step = f.compile(lambda x: link(x)[int(np.random.permutation(3)[0])], link)
    for _ in range(9):
        yield step(f.array([[1, 2, 3], [4, 5, 6], [7, 8, 9]]))


@trap
def dropout(f):
    link = f.linear()
    step = f.compile(lambda x: f.dropout(link(x)), link)
    for _ in range(8):
        yield step(f.array(X * 4))
    yield float(np.random.rand())


@trap
def dropout_twice(f):
    link = f.linear()
    step = f.compile(lambda x: f.dropout(link(x)) + f.dropout(link(x)), link)
    for _ in range(8):
        yield step(f.array(X * 4))


@trap
def seed_between_calls(f):
    link = f.linear()
    step = f.compile(lambda x: f.dropout(link(x)), link)
    for i in range(8):
        f.seed(i % 2)
        yield step(f.array(X * 4))


@trap
def numbers_are_arguments(f):
    link, rng = f.linear(), np.random.RandomState(0)
    step = f.compile(lambda x, noise: link(x) + noise, link)
    for _ in range(8):
        yield step(f.array(X), f.array(rng.rand(1, 2)))


@trap
def clock(f):
    """The clock is replaced by a list, so that both runs read the same times."""
    link, ticks, original = f.linear(), iter(range(100)), time.monotonic
    time.monotonic = lambda: next(ticks)
    try:
        step = f.compile(lambda x: link(x) * (time.monotonic() + 1), link)
        for _ in range(6):
            yield step(f.array(X))
    finally:
        time.monotonic = original
