"""Arguments of other shapes, dtypes and types."""

from __future__ import annotations

from .corpus import trap


@trap
def smaller_last_batch(f):
    link = f.linear()
    step = f.compile(lambda x: link(x) * x.shape[0], link)
    for i in range(12):
        yield step(f.array([[i, 1, 2]] * (1 if i % 4 == 3 else 2)))


@trap
def ever_other_lengths(f):
    link = f.linear()
    step = f.compile(lambda x: link(x) / len(x), link)
    for i in range(24):
        yield step(f.array([[i, 1, 2]] * (1 + i // 2)))


@trap
def other_dtype(f):
    step = f.compile(lambda x: x * 2 + x)
    for i in range(10):
        yield step(f.array([i, 1, 2], "float32" if i % 2 else "int32"))


@trap
def number_as_argument(f):
    link = f.linear()
    step = f.compile(lambda x, scale: link(x) * scale, link)
    for i in range(8):
        yield step(f.array([[1, 2, 3]]), i % 2 + 0.5)


@trap
def true_instead_of_one(f):
    """True and 1 are equal keys of a dictionary."""
    link = f.linear()
    step = f.compile(lambda x, flag: link(x) * (5 if flag is True else 1), link)
    for i in range(12):
        yield step(f.array([[1, 2, 3]]), True if i % 2 else 1)


@trap
def float_instead_of_int(f):
    step = f.compile(lambda x, scale: x * scale)
    for i in range(12):
        yield step(f.array([1, 2], "int32"), 2.0 if i % 2 else 2)


@trap
def text_as_argument(f):
    link = f.linear()
    step = f.compile(lambda x, kind="plain": f.tanh(link(x)) if kind == "tanh" else link(x), link)
    for i in range(10):
        if f.name == "jax":
            f.missing("texts as arguments")
        yield step(f.array([[1, 2, 3]]), kind="tanh" if i % 2 else "plain")


@trap
def order_of_a_dict(f):
    link = f.linear()

    def step(batch):
        total = 0
        for i, x in enumerate(batch.values()):
            total = total + link(x) * (i + 1)
        return total

    step = f.compile(step, link)
    for i in range(10):
        a, b = f.array([[i, 1, 2]]), f.array([[3, 4, i]])
        if f.name == "jax":
            f.missing("the order of dicts")
        yield step({"b": b, "a": a} if i % 2 else {"a": a, "b": b})


@trap
def list_of_other_length(f):
    link = f.linear()
    step = f.compile(lambda xs: sum([link(x) for x in xs]), link)
    for i in range(10):
        yield step([f.array([[i, 1, 2]])] * (1 + i % 2))


@trap
def optional_argument(f):
    link = f.linear()
    step = f.compile(lambda x, mask=None: link(x) if mask is None else link(x) * mask, link)
    for i in range(10):
        x = f.array([[i, 1, 2]])
        yield step(x, f.array([[1, 0]])) if i % 2 else step(x)


@trap
def empty_batch(f):
    link = f.linear()
    step = f.compile(lambda x: link(x), link)
    for i in range(10):
        yield step(f.array([[1, 2, 3]] * 2)[: 0 if i % 2 else 2])


@trap
def array_without_axes(f):
    step = f.compile(lambda x: x * 2)
    for i in range(10):
        yield step(f.array(float(i)) if i % 2 else f.array([float(i)]))
