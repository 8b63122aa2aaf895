"""Values of arrays decide what the step does."""

from __future__ import annotations

from .corpus import add, trap


def _read(read):
    def run(f):
        link = f.linear()
        step = f.compile(lambda x: link(x) * read(x), link)
        for i in range(6):
            yield step(f.array([[i - 2.5, 1, 2]]))

    return run


for _name, _function in {
    "branch_on_the_sign": lambda x: 2 if x.sum() > 0 else 1,
    "branch_on_an_element": lambda x: 3 if x[0, 0] < 0 else 1,
    "value_as_float": lambda x: float(x[0, 0]),
    "value_as_int": lambda x: int(x[0, 0] * 2),
    "value_by_item": lambda x: x[0, 0].item(),
    "value_as_list": lambda x: x.tolist()[0][0],
    "value_in_a_text": lambda x: len(str(x)),
    "all_elements": lambda x: 2 if (x > 0).all() else 1,
    "any_element": lambda x: 2 if (x < -1).any() else 1,
    "largest_element": lambda x: int(x.argmax()) + 1,
    "number_of_selected_elements": lambda x: len(x[x > 0]),
    "loop_until_a_value": lambda x: sum([1 for i in range(9) if float(x[0, 0]) > i - 4]),
    "assertion_on_a_value": lambda x: bool(abs(x).sum() > 0) * 2,
    "minimum_by_python": lambda x: float(min(x[0, 0], x[0, 1])),
}.items():
    add("values", _name, _read(_function))


@trap
def value_of_the_loss_stops_training(f):
    link = f.linear()
    optimizer = f.sgd(link)

    def step(x):
        loss = f.sum(link(x) ** 2)
        f.clear(link)
        f.backward(loss)
        if float(f.detach(loss)) > 0.05:
            f.update(optimizer)
        return f.detach(loss)

    step = f.compile(step, link, optimizer)
    for i in range(9):
        yield step(f.array([[1, i % 3, 2]]))
    yield f.weight(link)


@trap
def value_selects_a_row(f):
    link = f.linear()
    step = f.compile(lambda x, i: link(x)[int(i[0])], link)
    for i in range(6):
        yield step(f.array([[i, 1, 2], [3, i, 1]]), f.array([i % 2], "int64"))


@trap
def nan_is_replaced_by_python(f):
    link = f.linear()

    def step(x):
        y = link(x)
        total = float(f.detach(f.sum(y)))
        return y if total == total else y * 0

    step = f.compile(step, link)
    for i in range(6):
        yield step(f.array([[1, 2, float("nan") if i == 5 else 3]]))
