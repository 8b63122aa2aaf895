"""Values that the step reads from closures, globals and objects, and that change between calls."""

from __future__ import annotations

import functools
import os
import types

from .corpus import add, trap

X = [[1, 2, 3]]
SCALE = 1.0
OPTIONS = {"scale": 1.0, "deep": {"scale": [1.0]}}
settings = types.SimpleNamespace(scale=1.0, inner=types.SimpleNamespace(scale=1.0))


def helper(x):
    return x * SCALE


def _changes(read, change, audit=False):
    """A step that multiplies by a number that changes after the fifth and the seventh call."""

    def run(f):
        link = f.linear()
        change(1.0)
        try:
            step = f.compile(lambda x: link(x) * read(), link)
            for i in range(10):
                if i in (5, 7):
                    change(float(i))
                yield step(f.array(X))
        finally:
            change(1.0)

    return run


def _set_scale(value):
    global SCALE
    SCALE = value


def _set_default(value):
    _with_default.__defaults__ = (value,)


def _with_default(scale=1.0):
    return scale


class Config:
    scale = 1.0

    @property
    def doubled(self):
        return self.scale * 2


config = Config()


def _environment(value):
    os.environ["CHAINER_TRAP"] = str(value)


for _name, (_read, _change, _audit) in {
    "global_number": (lambda: SCALE, _set_scale, False),
    "global_read_by_a_helper": (lambda: helper(1), _set_scale, False),
    "global_dict": (lambda: OPTIONS["scale"], lambda v: OPTIONS.update(scale=v), False),
    "nested_dict": (
        lambda: OPTIONS["deep"]["scale"][0],
        lambda v: OPTIONS["deep"].update(scale=[v]),
        False,
    ),
    "nested_list": (
        lambda: OPTIONS["deep"]["scale"][0],
        lambda v: OPTIONS["deep"]["scale"].__setitem__(0, v),
        False,
    ),
    "attribute_of_an_object": (
        lambda: settings.scale,
        lambda v: setattr(settings, "scale", v),
        False,
    ),
    "attribute_of_an_inner_object": (
        lambda: settings.inner.scale,
        lambda v: setattr(settings.inner, "scale", v),
        False,
    ),
    "attribute_of_a_user_object": (
        lambda: config.scale,
        lambda v: setattr(config, "scale", v),
        False,
    ),
    "property_of_a_user_object": (
        lambda: config.doubled,
        lambda v: setattr(config, "scale", v),
        False,
    ),
    "default_of_a_function": (lambda: _with_default(), _set_default, False),
    "attribute_by_a_computed_name": (
        lambda: getattr(settings, "sc" + "ale".lower()),
        lambda v: setattr(settings, "scale", v),
        True,
    ),
    "environment_variable": (
        lambda: float(os.environ["CHAINER_TRAP"]),
        _environment,
        True,
    ),
    "attribute_by_vars": (
        lambda: vars(settings)["scale"],
        lambda v: setattr(settings, "scale", v),
        True,
    ),
}.items():
    add("surroundings", _name, _changes(_read, _change), _audit)


@trap
def closure_number(f):
    link, scale = f.linear(), 1.0
    step = f.compile(lambda x: link(x) * scale, link)
    for i in range(8):
        scale = 3.0 if i > 4 else 1.0
        yield step(f.array(X))


@trap
def closure_array_is_replaced(f):
    link, mask = f.linear(), f.array([1, 0])
    step = f.compile(lambda x: link(x) * mask, link)
    for i in range(8):
        if i == 5:
            mask = f.array([0, 1])
        yield step(f.array(X))


@trap
def closure_array_is_changed_in_place(f):
    if f.name == "jax":
        f.missing("arrays that can be changed")
    link, mask = f.linear(), f.array([1, 0])
    step = f.compile(lambda x: link(x) * mask, link)
    for i in range(8):
        if i == 5:
            mask += 2
        yield step(f.array(X))


@trap
def closure_array_is_changed_by_the_step(f):
    if f.name == "jax":
        f.missing("arrays that can be changed")
    link, total = f.linear(), f.array([[0, 0]])

    def step(x):
        nonlocal total
        y = link(x)
        total += f.detach(y)
        return y

    step = f.compile(step, link)
    for i in range(6):
        yield step(f.array([[i, 1, 2]]))
        yield f.plain(total)


@trap
def closure_function_is_replaced(f):
    link, activation = f.linear(), f.tanh
    step = f.compile(lambda x: activation(link(x)), link)
    for i in range(8):
        if i == 5:
            activation = f.exp
        yield step(f.array(X))


@trap
def another_model_in_the_closure(f):
    link, teacher = f.linear(), f.linear()
    step = f.compile(lambda x: link(x) - teacher(x) * 2, link)
    for i in range(8):
        if i == 5:
            f.set_weight(teacher, [[1, 1, 1], [2, 2, 2]])
        yield step(f.array(X))


@trap
def attribute_of_the_object_of_a_method(f):
    class Task:
        def __init__(self):
            self.link, self.scale = f.linear(), 1.0

        def step(self, x):
            return self.link(x) * self.scale

    task = Task()
    step = f.compile(task.step, task.link)
    for i in range(8):
        task.scale = 4.0 if i > 4 else 1.0
        yield step(f.array(X))


@trap
def bound_argument(f):
    link, options = f.linear(), {"scale": 1.0}
    step = f.compile(functools.partial(lambda o, x: link(x) * o["scale"], options), link)
    for i in range(8):
        options["scale"] = 4.0 if i > 4 else 1.0
        yield step(f.array(X))


@trap
def attribute_of_the_model(f):
    link = f.module(lambda self, x: self.inner(x) * self.scale, scale=1.0)
    step = f.compile(lambda x: link(x), link)
    for i in range(8):
        link.scale = 4.0 if i > 4 else 1.0
        yield step(f.array(X))


@trap
def list_in_an_attribute_of_the_model(f):
    link = f.module(lambda self, x: self.inner(x) * self.scales[0][1], scales=[[1.0, 1.0]])
    step = f.compile(lambda x: link(x), link)
    for i in range(8):
        link.scales[0][1] = 4.0 if i > 4 else 1.0
        yield step(f.array(X))


@trap
def type_of_a_number_changes(f):
    """An int and a float that are equal make results of other dtypes."""
    link = f.module(lambda self, x: x * self.scale, scale=2)
    step = f.compile(lambda x: link(x), link)
    for i in range(8):
        link.scale = 2.0 if i > 4 else 2
        yield step(f.array([3, 5], "int32"))


@trap
def sign_of_zero_changes(f):
    link = f.module(lambda self, x: 1 / (x * self.scale), scale=0.0)
    step = f.compile(lambda x: link(x), link)
    for i in range(8):
        link.scale = -0.0 if i > 4 else 0.0
        yield step(f.array([1.0, 2.0]))
