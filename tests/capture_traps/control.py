"""Exceptions, threads, recursion, and steps within steps."""

from __future__ import annotations

from .corpus import trap
from .frameworks import in_thread

X = [[1, 2, 3]]


@trap
def error_in_one_call(f):
    link = f.linear()

    def step(x, fails):
        y = link(x)
        if fails:
            raise ValueError("on purpose")
        return y

    step = f.compile(step, link)
    for i in range(10):
        if f.name == "jax":
            f.missing("flags as arguments")
        try:
            yield step(f.array(X), i in (1, 6))
        except ValueError as error:
            yield str(error)


@trap
def error_by_a_shape(f):
    link = f.linear()
    step = f.compile(lambda x: link(x), link)
    for i in range(10):
        try:
            yield step(f.array([[1, 2, 3]] if i not in (2, 6) else [[1, 2]]))
        except Exception:
            yield "raised"


@trap
def error_is_caught_in_the_step(f):
    def step(x):
        try:
            return x * (1 / len(x[3:]))
        except ZeroDivisionError:
            return x * 7

    step = f.compile(step)
    for i in range(9):
        yield step(f.array([1.0, 2.0, 3.0] + [4.0] * (i % 3)))


@trap
def error_after_a_change(f):
    """A step that fails leaves what it has changed before."""
    link = f.linear()
    optimizer = f.sgd(link)

    def step(x, fails):
        loss = f.sum(link(x) ** 2)
        f.clear(link)
        f.backward(loss)
        f.update(optimizer)
        if fails:
            raise ValueError("on purpose")
        return f.detach(loss)

    step = f.compile(step, link, optimizer)
    for i in range(10):
        try:
            yield step(f.array(X) * 0.1, i in (1, 6))
        except ValueError:
            yield "raised"
        yield f.weight(link)


@trap
def calls_in_other_threads(f):
    link = f.linear()
    step = f.compile(lambda x: link(x), link)
    for i in range(9):
        x = f.array([[i, 1, 2]])
        yield in_thread(lambda x=x: step(x)) if i % 3 == 2 else step(x)


@trap
def two_threads_at_once(f):
    from concurrent.futures import ThreadPoolExecutor

    link = f.linear()
    step = f.compile(lambda x: f.sum(f.tanh(link(x))) + link(x), link)
    batches = [f.array([[i % 7, 1, 2]] * 64) for i in range(60)]
    for x in batches[:5]:
        step(x)
    with ThreadPoolExecutor(4) as pool:
        yield from list(pool.map(step, batches))


@trap
def step_calls_itself(f):
    link = f.linear()

    def step(x, depth):
        return link(x) if depth == 0 else compiled(x, depth - 1) + x[:, :2]

    if f.name == "jax":
        f.missing("numbers as arguments")
    compiled = f.compile(step, link)
    for i in range(10):
        yield compiled(f.array([[i, 1, 2]]), i % 3)


@trap
def step_within_a_step(f):
    link = f.linear()
    inner = f.compile(lambda x: f.tanh(link(x)), link)
    outer = f.compile(lambda x: inner(x) * 2, link)
    for i in range(10):
        x = f.array([[i, 1, 2]])
        yield inner(x) if i % 3 == 2 else outer(x)


@trap
def two_steps_share_a_function(f):
    link, other = f.linear(), f.linear()
    f.set_weight(other, [[1, 0, 0], [0, 1, 0]])

    def make(target):
        return f.compile(lambda x: target(x), target)

    steps = [make(link), make(other)]
    for i in range(12):
        yield steps[i % 2](f.array([[i, 1, 2]]))


@trap
def function_is_a_generator(f):
    """Iterating over rows: the number of rows is part of the program."""

    def rows(x):
        for i in range(x.shape[0]):
            yield x[i] * (i + 1)

    step = f.compile(lambda x: sum(rows(x)))
    for i in range(10):
        yield step(f.array([[i, 1, 2]] * (2 + i % 2)))


@trap
def step_that_returns_nothing(f):
    if f.name == "jax":
        f.missing("optimizers")
    link = f.linear()
    optimizer = f.sgd(link)

    def step(x):
        f.clear(link)
        f.backward(f.sum(link(x) ** 2))
        f.update(optimizer)

    step = f.compile(step, link, optimizer)
    for i in range(8):
        yield step(f.array([[i % 2, 1, 1]]) * 0.1)
        yield f.weight(link)


@trap
def step_that_returns_a_number(f):
    link = f.linear()
    step = f.compile(lambda x: (link(x), x.shape[0] + 0.5), link)
    for i in range(8):
        y, number = step(f.array([[i, 1, 2]]))
        yield y
        yield float(number)
