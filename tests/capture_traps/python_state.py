"""Python objects that the step changes or reads."""

from __future__ import annotations

from .corpus import add, trap

X = [[1, 2, 3]]


def _counts(change):
    """A step that multiplies by a number that it has changed before."""

    def run(f):
        state = {"n": 0, "list": [], "link": f.linear()}
        step = f.compile(lambda x: state["link"](x) * change(state), state["link"])
        for _ in range(6):
            yield step(f.array(X))
        yield state["n"]
        yield len(state["list"])

    return run


def _count(state):
    state["n"] += 1
    return state["n"]


def _append(state):
    state["list"].append(1)
    return len(state["list"])


def _silent_count(state):
    state["n"] += 1
    return 2


for _name, _function in {
    "counter_in_a_dict": _count,
    "list_that_grows": _append,
    "counter_that_no_result_depends_on": _silent_count,
    "entry_that_is_popped": lambda state: state["list"].append(1) or state["list"].pop() * 2,
    "key_that_is_added": lambda state: len(state.setdefault(f"k{len(state)}", "ab")),
}.items():
    add("python_state", _name, _counts(_function))


@trap
def counter_of_a_nonlocal_variable(f):
    link, n = f.linear(), 0

    def step(x):
        nonlocal n
        n += 1
        return link(x) * n

    step = f.compile(step, link)
    for _ in range(6):
        yield step(f.array(X))
    yield n


@trap
def counter_in_an_attribute_of_the_model(f):
    def body(self, x):
        self.calls += 1
        return self.inner(x) * self.calls

    link = f.module(body, calls=0)
    step = f.compile(lambda x: link(x), link)
    for _ in range(6):
        yield step(f.array(X))
    yield link.calls


@trap
def flag_that_the_first_call_sets(f):
    def body(self, x):
        first, self.started = not self.started, True
        return self.inner(x) * (10 if first else 1)

    link = f.module(body, started=False)
    step = f.compile(lambda x: link(x), link)
    for _ in range(6):
        yield step(f.array(X))
    link.started = False
    for _ in range(3):
        yield step(f.array(X))


@trap
def results_are_collected_in_a_list(f):
    link, kept = f.linear(), []

    def step(x):
        y = link(x)
        kept.append(f.detach(y))
        return y

    step = f.compile(step, link)
    for i in range(6):
        step(f.array([[i, 2, 3]]))
    yield len(kept)
    yield from kept


@trap
def last_result_is_kept_in_an_object(f):
    class Log:
        last = None

    link, log = f.linear(), Log()

    def step(x):
        log.last = f.detach(link(x))
        return log.last * 2

    step = f.compile(step, link)
    for i in range(6):
        yield step(f.array([[i, 2, 3]]))
        yield log.last


@trap
def generator_is_advanced(f):
    link, scales = f.linear(), iter(range(1, 100))
    step = f.compile(lambda x: link(x) * next(scales), link)
    for _ in range(6):
        yield step(f.array(X))


@trap
def cache_by_identity(f):
    link, cache = f.linear(), {}

    def step(x):
        key = tuple(x.shape)
        if key not in cache:
            cache[key] = len(cache) + 1
        return link(x) * cache[key]

    step = f.compile(step, link)
    for i in range(8):
        yield step(f.array(X * (1 + i % 2)))
    yield len(cache)


@trap
def exponential_average_in_python(f):
    link, average = f.linear(), [0.0]

    def step(x):
        y = link(x)
        average[0] = 0.9 * average[0] + 0.1 * float(f.detach(f.sum(y)))
        return y * average[0]

    step = f.compile(step, link)
    for i in range(6):
        yield step(f.array([[i, 2, 3]]))
    yield average[0]


@trap
def history_in_an_attribute_of_the_model(f):
    def body(self, x):
        self.history.append(len(self.history))
        return self.inner(x) * len(self.history)

    link = f.module(body, history=[])
    step = f.compile(lambda x: link(x), link)
    for _ in range(6):
        yield step(f.array(X))
    yield len(link.history)


@trap
def state_of_the_model_is_carried(f):
    def body(self, x):
        y = self.inner(x)
        self.h = y if self.h is None else f.tanh(self.h) + y
        return self.h

    link = f.module(body, h=None)

    def step(x):
        y = link(x)
        link.h = f.detach(link.h)
        return y

    step = f.compile(step, link)
    for i in range(9):
        if i == 6:
            link.h = None
        yield step(f.array([[i, 1, 2]]))
