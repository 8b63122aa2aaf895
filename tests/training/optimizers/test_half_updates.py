"""An update that an exception ends midway: the optimizer knows which parameters are left."""

from __future__ import annotations

import copy
import os
import pickle
import re
import signal
import sys
import threading
import warnings

import numpy as np
import pytest

import chainer
from chainer.core.utils.termination import deferred, sigterm_raises_system_exit
from chainer.training import optimizers as O


class Stop(BaseException):
    """Is raised at any point of an update."""


def make(dtypes="fff", rule=None, **hooks):
    model = chainer.Link()
    with model.init_scope():
        for name, char in zip("abc", dtypes, strict=True):
            setattr(model, name, chainer.Parameter(np.ones(3, char)))
    optimizer = O.Adam()
    optimizer.use_fp32_update()
    optimizer.setup(model)
    for name, hook in hooks.items():
        getattr(model, name).update_rule.add_hook(hook, "hook")
    set_gradients(model)
    return model, optimizer


def set_gradients(model):
    for param in model.params():
        param.grad = np.ones_like(param.array)


def fail(rule, param):
    raise ValueError("no more")


def left_of(message):
    return re.findall(r"/(\w)\b", str(message).split("in part only:")[1].split(". All")[0])


def values(model):
    return {p.name: (p.array.tobytes(), p.update_rule.t) for p in model.params()}


def complete():
    model, optimizer = make()
    optimizer.update()
    return values(model)


@pytest.mark.parametrize(("name", "left"), [("a", "abc"), ("b", "bc"), ("c", "c")])
def test_a_hook_that_fails(name, left):
    model, optimizer = make(**{name: fail})
    with pytest.raises(ValueError, match="no more") as caught:
        optimizer.update()
    assert left_of(caught.value.__notes__[0]) == list(left)
    done = set("abc") - set(left)
    expected, found = complete(), values(model)
    assert all(found[p] == expected[p] for p in done)
    getattr(model, name).update_rule.remove_hook("hook")
    set_gradients(model)
    with pytest.warns(RuntimeWarning, match="number 1 was ended by ValueError: no more") as said:
        optimizer.update()
    assert left_of(said[0].message) == list(left)
    assert said[0].filename == __file__
    set_gradients(model)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        optimizer.update()  # said once


def test_a_kernel_that_fails(monkeypatch):
    model, optimizer = make("fdf")
    kernel = type(optimizer.target.a.update_rule).declaration.operation.select(model.a.array)
    plain = kernel.update_many

    def update_many(rows, scalars):
        if rows[0][0].dtype == np.float64:
            raise MemoryError
        plain(rows, scalars)

    monkeypatch.setattr(kernel, "update_many", update_many)
    with pytest.raises(MemoryError) as caught:
        optimizer.update()
    assert left_of(caught.value.__notes__[0]) == ["b"]
    assert values(model)["a"] == complete()["a"]
    assert values(model)["c"] == complete()["c"]


def test_an_update_that_is_refused_is_undone():
    model = chainer.Link()
    with model.init_scope():
        model.a, model.b = (chainer.Parameter(np.ones(3, char)) for char in "fe")
    optimizer = O.RMSprop().setup(model)
    set_gradients(model)
    begun = values(model)
    with pytest.raises(ValueError, match="eps of RMSprop"):
        optimizer.update()
    assert (optimizer.t, values(model)) == (0, begun)
    optimizer.eps = 1e-3
    optimizer.update()  # a warning would be an error
    assert {t for _, t in values(model).values()} == {1}


def test_saving_tells_and_loading_forgets(tmp_path):
    _, optimizer = make(b=fail)
    chainer.serializers.save_npz(tmp_path / "before", optimizer)
    with pytest.raises(ValueError):
        optimizer.update()
    for duplicate in (copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))):
        with pytest.warns(RuntimeWarning, match="was ended by ValueError"):
            chainer.serializers.save_npz(tmp_path / "half", duplicate(optimizer))
    chainer.serializers.load_npz(tmp_path / "before", optimizer)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        chainer.serializers.save_npz(tmp_path / "again", optimizer)


def test_parameters_that_are_not_updated_are_not_named():
    model, optimizer = make(c=fail)
    model.a.update_rule.enabled = False
    with pytest.raises(ValueError) as caught:
        optimizer.update()
    assert left_of(caught.value.__notes__[0]) == ["c"]


def test_a_failing_hook_after_the_update_leaves_it_complete():
    model, optimizer = make()

    def hook(optimizer):
        raise ValueError("afterwards")

    optimizer.add_hook(hook, "hook", timing="post")
    with pytest.raises(ValueError) as caught:
        optimizer.update()
    assert not hasattr(caught.value, "__notes__")
    assert values(model) == complete()


def update_and_stop(number, dtypes):
    """Makes an update that ends before an opcode; returns what it leaves and the exception."""
    model, optimizer = make(dtypes)
    count = 0

    def trace(frame, event, _):
        nonlocal count
        if not frame.f_globals.get("__name__", "").startswith("chainer.training.optimizers.upd"):
            return trace
        if frame.f_code.co_qualname.startswith("HeldSignals."):
            return None  # a signal comes to its handler, and cannot end its methods
        frame.f_trace_opcodes = True
        if event == "opcode":
            count += 1
            if count == number:
                raise Stop
        return trace

    caught = None
    previous = sys.gettrace()
    sys.settrace(trace)
    try:
        optimizer.update()
    except Stop as error:
        caught = error
    finally:
        sys.settrace(previous)
    return count, values(model), caught


@pytest.mark.parametrize("dtypes", ["fff", "fef", "fdf"])
def test_all_parameters_that_are_not_named_are_complete(dtypes):
    update_and_stop(None, dtypes)
    count, expected, _ = update_and_stop(None, dtypes)
    begun = values(make(dtypes)[0])
    kinds = set()
    for number in range(1, count + 1, max(1, count // 200)):
        _, found, caught = update_and_stop(number, dtypes)
        assert caught is not None
        if found == begun:
            continue
        notes = getattr(caught, "__notes__", [])
        left = left_of(notes[0]) if notes else []
        kinds.add(len(left))
        for name in set("abc") - set(left):
            assert found[name] == expected[name], f"opcode {number} of {count}: {name}"
    assert 3 in kinds


@pytest.mark.parametrize("ctrl_c", [signal.default_int_handler, signal.SIG_IGN, signal.SIG_DFL])
def test_sigterm_waits_for_the_end_of_an_update(ctrl_c):
    """Shells start programs in the background with Ctrl-C ignored."""
    before = signal.signal(signal.SIGINT, ctrl_c)
    try:
        check_sigterm()
        assert signal.getsignal(signal.SIGINT) is ctrl_c
    finally:
        signal.signal(signal.SIGINT, before)


def check_sigterm():
    model, optimizer = make(b=lambda rule, param: os.kill(os.getpid(), signal.SIGTERM))
    with pytest.raises(SystemExit) as caught, sigterm_raises_system_exit():
        optimizer.update()
    assert caught.value.code == 128 + signal.SIGTERM
    assert values(model) == complete()
    assert (deferred.depth, deferred.status) == (0, None)


def test_ctrl_c_is_not_lost_if_the_update_fails():
    def hook(rule, param):
        signal.raise_signal(signal.SIGINT)
        raise ValueError("as well")

    _, optimizer = make(b=hook)
    with pytest.raises(KeyboardInterrupt) as caught:
        optimizer.update()
    assert isinstance(caught.value.__context__, ValueError)


@pytest.mark.parametrize("ctrl_c", [signal.default_int_handler, signal.SIG_IGN])
def test_another_thread_holds_no_signals(ctrl_c):
    _, optimizer = make(a=lambda rule, param: depths.append(deferred.depth))
    depths = []
    before = signal.signal(signal.SIGINT, ctrl_c)
    try:
        thread = threading.Thread(target=optimizer.update)
        thread.start()
        thread.join()
    finally:
        signal.signal(signal.SIGINT, before)
    assert depths == [0]


def test_many_names_are_counted():
    model = chainer.Link(**{f"p{i}": (2,) for i in range(9)})
    for param in model.params():
        param.array[...] = 0
    optimizer = O.SGD().setup(model)
    set_gradients(model)
    model.p0.update_rule.add_hook(fail, "hook")
    with pytest.raises(ValueError) as caught:
        optimizer.update()
    assert "/p0, /p1, /p2 and 6 more" in caught.value.__notes__[0]
