"""Gradients, optimizers, and models in training."""

from __future__ import annotations

from .corpus import add, trap

BATCHES = [[[i % 3, 1, 2], [1, i % 5, 1]] for i in range(12)]


def _train(f, change=lambda i, link, optimizer: None, clears=True, updates=True):
    link = f.linear()
    optimizer = f.sgd(link)

    def step(x):
        loss = f.sum((link(x) - 1) ** 2)
        if clears:
            f.clear(link)
        f.backward(loss)
        if updates:
            f.update(optimizer)
        return f.detach(loss)

    step = f.compile(step, link, optimizer)
    for i, x in enumerate(BATCHES):
        change(i, link, optimizer)
        yield step(f.array(x) * 0.1)
        if not updates:
            yield f.gradient(link)
    yield f.weight(link)


def _at(number, change):
    def changed(f, i, link, optimizer):
        if i == number:
            change(f, link, optimizer)

    return changed


def _with(change):
    return lambda f: _train(f, lambda i, link, optimizer: change(f, i, link, optimizer))


for _name, _change in {
    "plain_training": lambda f, i, link, optimizer: None,
    "learning_rate_of_each_step": lambda f, i, link, optimizer: f.set_lr(optimizer, 0.1 / (1 + i)),
    "momentum_changes": _at(6, lambda f, link, optimizer: f.set_momentum(optimizer, 0.1)),
    "weight_is_replaced": _at(6, lambda f, link, o: f.set_weight(link, [[1, 0, 1], [0, 1, 0]])),
    "weight_is_scaled": _at(6, lambda f, link, optimizer: f.scale_weight(link, 0.5)),
    "layer_is_frozen": _at(6, lambda f, link, optimizer: f.freeze(link)),
    "layer_is_frozen_and_thawed": lambda f, i, link, optimizer: (
        f.freeze(link) if i == 5 else f.thaw(link) if i == 8 else None
    ),
}.items():
    add("training", _name, _with(_change))


@trap
def gradients_are_added_up(f):
    yield from _train(f, clears=False)


@trap
def gradients_are_left_to_the_caller(f):
    yield from _train(f, updates=False)


@trap
def gradients_are_added_up_for_the_caller(f):
    yield from _train(f, clears=False, updates=False)


@trap
def gradients_are_cleared_between_calls(f):
    yield from _train(f, lambda i, link, o: f.clear(link) if i % 2 else None, clears=False)


@trap
def hook_of_the_optimizer_counts(f):
    seen = []

    def change(i, link, optimizer):
        if i == 5:
            f.on_update(optimizer, lambda: seen.append(1))

    yield from _train(f, change)
    yield len(seen)


@trap
def hook_of_the_model_counts(f):
    seen = []

    def change(i, link, optimizer):
        if i == 5:
            f.on_forward(link, seen)

    yield from _train(f, change)
    yield len(seen)


@trap
def learning_rate_decays_in_the_step(f):
    link = f.linear()
    optimizer, rate = f.sgd(link), [0.1]

    def step(x):
        loss = f.sum((link(x) - 1) ** 2)
        f.clear(link)
        f.backward(loss)
        f.update(optimizer)
        rate[0] *= 0.5
        f.set_lr(optimizer, rate[0])
        return f.detach(loss)

    step = f.compile(step, link, optimizer)
    for x in BATCHES:
        yield step(f.array(x) * 0.1)
    yield f.weight(link)


@trap
def learning_rate_decays_by_the_optimizer(f):
    """The step reads the rate from the optimizer, and nothing else changes."""
    link = f.linear()
    optimizer = f.sgd(link)
    if f.name != "chainer":
        f.missing("an attribute of the optimizer for the rate")

    def step(x):
        loss = f.sum((link(x) - 1) ** 2)
        f.clear(link)
        f.backward(loss)
        f.update(optimizer)
        optimizer.lr *= 0.5
        return f.detach(loss)

    step = f.compile(step, link, optimizer)
    for x in BATCHES:
        yield step(f.array(x) * 0.1)
    yield f.weight(link)


@trap(audit=True)
def count_of_updates_is_read(f):
    link = f.linear()
    optimizer = f.sgd(link)

    def step(x):
        loss = f.sum((link(x) - 1) ** 2) * (2 if f.count(optimizer) > 6 else 1)
        f.clear(link)
        f.backward(loss)
        f.update(optimizer)
        return f.detach(loss)

    step = f.compile(step, link, optimizer)
    for x in BATCHES:
        yield step(f.array(x) * 0.1)


@trap
def two_optimizers(f):
    first, second = f.linear(), f.linear()
    one, other = f.sgd(first), f.sgd(second, 0.05)

    def step(x):
        loss = f.sum((first(x) - second(x) - 1) ** 2)
        f.clear(first)
        f.clear(second)
        f.backward(loss)
        f.update(one)
        f.update(other)
        return f.detach(loss)

    step = f.compile(step, first, second, one, other)
    for x in BATCHES:
        yield step(f.array(x) * 0.1)
    yield f.weight(first)
    yield f.weight(second)


@trap
def another_step_updates_the_model(f):
    link = f.linear()
    optimizer = f.sgd(link)

    def make(target):
        def step(x):
            loss = f.sum((link(x) - target) ** 2)
            f.clear(link)
            f.backward(loss)
            f.update(optimizer)
            return f.detach(loss)

        return step

    steps = [f.compile(make(1), link, optimizer), make(-1), f.compile(make(2), link, optimizer)]
    for i in range(18):
        yield steps[i % 3](f.array(BATCHES[i % 12]) * 0.1)
    yield f.weight(link)


@trap
def update_every_second_call(f):
    link = f.linear()
    optimizer, calls = f.sgd(link), [0]

    def step(x):
        loss = f.sum((link(x) - 1) ** 2)
        f.backward(loss)
        calls[0] += 1
        if calls[0] % 2 == 0:
            f.update(optimizer)
            f.clear(link)
        return f.detach(loss)

    step = f.compile(step, link, optimizer)
    f.clear(link)
    for x in BATCHES:
        yield step(f.array(x) * 0.1)
    yield f.weight(link)


@trap
def running_statistics(f):
    link, norm = f.linear(), f.batch_norm()
    step = f.compile(lambda x: norm(link(x)), link, norm)
    for x in BATCHES:
        yield step(f.array(x))
        yield f.running_mean(norm)


@trap
def gradient_is_cut(f):
    link = f.linear()
    optimizer = f.sgd(link)

    def step(x):
        y = link(x)
        loss = f.sum((y - f.detach(y) * 0.5 - 1) ** 2)
        f.clear(link)
        f.backward(loss)
        f.update(optimizer)
        return f.detach(loss)

    step = f.compile(step, link, optimizer)
    for x in BATCHES:
        yield step(f.array(x) * 0.1)
    yield f.weight(link)


@trap
def backward_of_a_result(f):
    """The caller differentiates the result of the step."""
    link = f.linear()
    step = f.compile(lambda x: f.sum(link(x) ** 2), link)
    for x in BATCHES:
        f.clear(link)
        try:
            f.backward(step(f.array(x)))
        except RuntimeError:
            f.backward(f.sum(link(f.array(x)) ** 2))  # the error tells to do so
        yield f.gradient(link)
