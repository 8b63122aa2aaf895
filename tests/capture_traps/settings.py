"""Settings of the framework and of NumPy."""

from __future__ import annotations

import numpy as np

from .corpus import trap

X = [[1, 2, 3]]


@trap
def training_mode(f):
    link = f.linear()
    step = f.compile(lambda x: f.dropout(link(x)), link)
    for i in range(10):
        with f.training(i % 3 != 2):
            yield step(f.array(X * 4))


@trap
def mode_without_gradients(f):
    link = f.linear()
    step = f.compile(lambda x: link(x), link)
    for i in range(10):
        if i % 3 == 2:
            with f.no_grad():
                yield step(f.array(X))
        else:
            yield step(f.array(X))


@trap
def overflow_is_an_error(f):
    """NumPy raises where the step as written does."""
    step = f.compile(lambda x: f.exp(x) * 2)
    for i in range(8):
        try:
            with f.errors_raise():
                yield step(f.array([200.0 if i > 5 else 1.0]))
        except FloatingPointError:
            yield "raised"


@trap
def overflow_within_a_function_is_no_error(f):
    """The function turns the error off for itself: exp(-x * x / 2) may underflow."""
    step = f.compile(lambda x: f.gelu(x))
    for i in range(8):
        try:
            with f.errors_raise():
                yield step(f.array([float(5 * i), -60.0, 30.0]))
        except FloatingPointError:
            yield "raised"


@trap
def errors_are_ignored_in_the_step(f):
    if f.name != "chainer":
        f.missing("floating-point errors")

    def step(x):
        with np.errstate(all="ignore"):
            y = x / 0
        return y * 2

    step = f.compile(step)
    for _ in range(8):
        with np.errstate(all="raise"):
            yield step(f.array(X))


@trap
def errors_raise_in_the_step(f):
    if f.name != "chainer":
        f.missing("floating-point errors")

    def step(x):
        with np.errstate(divide="raise"):
            y = 1 / x
        return y * 2

    step = f.compile(step)
    for i in range(8):
        try:
            yield step(f.array([1.0, 0.0 if i > 5 else 2.0]))
        except FloatingPointError:
            yield "raised"


@trap
def setting_of_the_user_is_read(f):
    if f.name != "chainer":
        f.missing("settings of the user")
    link = f.linear()
    f.c.global_config.trap_scale = 1.0
    try:
        step = f.compile(lambda x: link(x) * f.c.config.trap_scale, link)
        for i in range(9):
            with f.c.using_config("trap_scale", 3.0 if i > 5 else 1.0):
                yield step(f.array(X))
    finally:
        del f.c.global_config.trap_scale
