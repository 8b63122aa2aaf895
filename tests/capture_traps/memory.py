"""Arrays that share memory, and arrays that are written in place."""

from __future__ import annotations

from .corpus import trap


def _only_with_writes(f):
    if f.name == "jax":
        f.missing("arrays that can be changed")


@trap
def argument_is_changed_by_the_step(f):
    _only_with_writes(f)
    link = f.linear()

    def step(x):
        x *= 2
        return link(x)

    step = f.compile(step, link)
    for i in range(6):
        x = f.array([[i, 1, 2]])
        yield step(x)
        yield x


@trap
def argument_is_reused_by_the_caller(f):
    _only_with_writes(f)
    link, x = f.linear(), f.array([[0, 1, 2]])
    step = f.compile(lambda x: link(x), link)
    for i in range(6):
        x[0, 0] = i
        yield step(x)


@trap
def result_is_changed_by_the_caller(f):
    _only_with_writes(f)
    link = f.linear()
    step = f.compile(lambda x: f.detach(link(x)), link)
    kept = []
    for i in range(6):
        y = step(f.array([[i, 1, 2]]))
        y += 100
        kept.append(y)
    yield from kept


@trap
def results_of_earlier_calls_are_kept(f):
    link = f.linear()
    step = f.compile(lambda x: link(x), link)
    yield from [step(f.array([[i, 1, 2]])) for i in range(6)]


@trap
def same_array_as_two_arguments(f):
    link = f.linear()
    step = f.compile(lambda x, y: link(x) + y * 2, link)
    for i in range(8):
        x = f.array([[i, 1, 2], [3, 4, 5]])
        y = f.array([[7, 8], [9, i]])
        yield step(x, y if i % 3 else x[:, :2])


@trap
def argument_is_a_view_of_another(f):
    _only_with_writes(f)
    link, base = f.linear(), f.array([[0, 1, 2], [3, 4, 5]])
    step = f.compile(lambda x, y: link(x) * f.sum(y), link)
    for i in range(6):
        base[1, 2] = i
        yield step(base, base[1])


@trap
def part_of_a_new_array_is_written(f):
    _only_with_writes(f)
    link = f.linear()

    def step(x):
        y = f.detach(link(x)) * 1
        y[:, 0] = y[:, 1] * 2
        return y

    step = f.compile(step, link)
    for i in range(6):
        yield step(f.array([[i, 1, 2]]))


@trap
def write_through_a_transposed_view(f):
    _only_with_writes(f)
    link = f.linear()

    def step(x):
        y = f.detach(link(x)) * 1
        y.T[0] += 5
        return y

    step = f.compile(step, link)
    for i in range(6):
        yield step(f.array([[i, 1, 2], [i, 2, 1]]))


@trap
def result_is_an_argument(f):
    link = f.linear()
    step = f.compile(lambda x: (link(x), x), link)
    for i in range(6):
        y, x = step(f.array([[i, 1, 2]]))
        yield y
        yield x


@trap
def same_result_twice(f):
    _only_with_writes(f)
    link = f.linear()

    def step(x):
        y = f.detach(link(x)) * 2
        return y, y

    step = f.compile(step, link)
    for i in range(6):
        a, b = step(f.array([[i, 1, 2]]))
        a += 1
        yield a
        yield b


@trap
def weight_is_changed_between_calls(f):
    link = f.linear()
    step = f.compile(lambda x: link(x), link)
    for i in range(8):
        if i in (4, 6):
            f.scale_weight(link, 2)
        yield step(f.array([[1, 2, 3]]))


@trap
def weight_is_replaced_between_calls(f):
    link = f.linear()
    step = f.compile(lambda x: link(x), link)
    for i in range(8):
        if i == 5:
            f.set_weight(link, [[1, 1, 1], [2, 2, 2]])
        yield step(f.array([[1, 2, 3]]))


@trap
def last_result_is_the_next_argument(f):
    link, x = f.linear(), f.array([[1, 2]])
    step = f.compile(lambda x: x @ f.array([[0.5, 0.1, 0.2], [0.3, 0.4, 0.1]]), link)
    back = f.compile(lambda h: link(h), link)
    for _ in range(6):
        x = f.detach(back(step(x)))
        yield x


@trap
def unused_elements_are_not_initialized(f):
    link = f.linear()
    step = f.compile(lambda x: link(x)[:, :1] + f.array([[1, 2]])[:, 1:], link)
    for i in range(6):
        yield step(f.array([[i, 1, 2]]))


@trap
def argument_in_another_layout(f):
    _only_with_writes(f)
    link = f.linear()
    step = f.compile(lambda x: link(x), link)
    for i in range(8):
        x = f.array([[i, 1], [2, 3], [4, 5]]).T if i % 2 else f.array([[i, 2, 4], [1, 3, 5]])
        yield step(x)
