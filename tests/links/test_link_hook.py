"""Link hooks: registration, order of the callbacks, arguments."""

from __future__ import annotations

import copy
import threading

import numpy as np
import pytest

import chainer
import chainer.functions as F
import chainer.links as L
from chainer.link_hook import (
    _ForwardPostprocessCallbackArgs,
    _ForwardPreprocessCallbackArgs,
    hook_count,
)

X = np.ones((1, 2), np.float32)


class Recorder(chainer.LinkHook):
    def __init__(self, name, log):
        self.name = name
        self.log = log

    def added(self, link):
        self.log.append((self.name, "added", link))

    def deleted(self, link):
        self.log.append((self.name, "deleted", link))

    def forward_preprocess(self, args):
        self.log.append((self.name, "pre", args.link.name))

    def forward_postprocess(self, args):
        self.log.append((self.name, "post", args.link.name))


@pytest.fixture
def log():
    return []


@pytest.fixture
def link():
    link = L.Linear(2, 3)
    link.name = "l"
    return link


def test_of_a_thread(log, link):
    hook = Recorder("a", log)
    with hook as entered:
        assert entered is hook
        assert chainer._get_link_hooks() == {"a": hook}
        link(X)
    link(X)
    assert log == [
        ("a", "added", None),
        ("a", "pre", "l"),
        ("a", "post", "l"),
        ("a", "deleted", None),
    ]
    assert chainer._get_link_hooks() == {}


def test_of_a_link(log, link):
    hook = Recorder("a", log)
    assert link.add_hook(hook) is link
    assert link.local_link_hooks == {"a": hook}
    link(X)
    L.Linear(2, 2)(X)
    link.delete_hook("a")
    link(X)
    assert log == [
        ("a", "added", link),
        ("a", "pre", "l"),
        ("a", "post", "l"),
        ("a", "deleted", link),
    ]


def test_order(log, link):
    link.add_hook(Recorder("b", log)).add_hook(Recorder("c", log))
    replacement = Recorder("d", log)
    link.add_hook(replacement, name="a")
    with Recorder("z", log), Recorder("a", log):
        log.clear()
        link(X)
    # The hook of the link that is registered as "a" takes the place of that of the thread.
    names = ["z", "d", "b", "c"]
    expected = [(name, when, "l") for when in ("pre", "post") for name in names]
    assert log[: len(expected)] == expected


def test_containers_run_their_hooks_around_those_of_their_children(log):
    model = chainer.Sequential(L.Linear(2, 2), F.relu, chainer.Sequential(L.Linear(2, 2)))
    model.name = "model"
    with Recorder("a", log):
        model(X)
    assert [entry[1:] for entry in log[1:-1]] == [
        ("pre", "model"),
        *(("pre", "0"), ("post", "0")),
        *(("pre", "1"), ("pre", "0"), ("post", "0"), ("post", "1")),
        ("post", "model"),
    ]


def test_other_threads_are_not_affected(log, link):
    with Recorder("a", log):
        thread = threading.Thread(target=link, args=(X,))
        thread.start()
        thread.join()
    assert [entry[1] for entry in log] == ["added", "deleted"]


def test_errors(link, log):
    hook = Recorder("a", log)
    with pytest.raises(TypeError, match="Hook must be of type LinkHook, got int"):
        link.add_hook(3)
    link.add_hook(hook)
    with pytest.raises(KeyError, match="Hook a already exists"):
        link.add_hook(hook)
    link.add_hook(hook, "b")
    with pytest.raises(KeyError, match="Hook c does not exist"):
        link.delete_hook("c")
    with hook, pytest.raises(KeyError, match="hook a already exists"):
        hook.__enter__()
    assert chainer._get_link_hooks() == {}


def test_hooks_are_removed_after_an_exception(log, link):
    with pytest.raises(ZeroDivisionError), Recorder("a", log):
        raise ZeroDivisionError
    assert chainer._get_link_hooks() == {}
    assert log[-1] == ("a", "deleted", None)


def test_no_postprocess_if_the_call_raises(log, link):
    link.add_hook(Recorder("a", log))
    with pytest.raises(chainer.utils.type_check.InvalidType):
        link(np.zeros((1, 5), np.float32))
    assert [entry[1] for entry in log] == ["added", "pre"]


def test_arguments(link):
    seen = []

    class Keep(chainer.LinkHook):
        def forward_preprocess(self, args):
            assert type(args) is _ForwardPreprocessCallbackArgs
            seen.append((args, dict(vars(args))))
            args.args = ()

        def forward_postprocess(self, args):
            assert type(args) is _ForwardPostprocessCallbackArgs
            seen.append((args, dict(vars(args))))
            args.out.array[...] = 7

    with Keep():
        y = link(X, n_batch_axes=1)
    assert (y.array == 7).all()
    (before, first), (after, second) = seen
    assert first == {
        "link": link,
        "forward_name": "forward",
        "args": (X,),
        "kwargs": {"n_batch_axes": 1},
    }
    assert second == {**first, "out": y}
    assert repr(_ForwardPreprocessCallbackArgs(link, "forward", (1,), {})) == (
        "<chainer.link_hook._ForwardPreprocessCallbackArgs "
        "link=Linear(in_size=2, out_size=3, nobias=False) forward_name=forward args=(1,) kwargs={}>"
    )
    assert repr(after).startswith("<chainer.link_hook._ForwardPostprocessCallbackArgs link=Linear(")
    assert " out=variable(" in repr(after).replace("\n", " ") or "out=" in repr(after)
    assert before.forward_name == "forward"


def test_keyword_arguments_can_be_changed_in_place(link):
    class Change(chainer.LinkHook):
        def forward_preprocess(self, args):
            args.kwargs["n_batch_axes"] = 2

    with Change():
        assert link(x=np.zeros((4, 5, 2), np.float32), n_batch_axes=1).shape == (4, 5, 3)


def test_calls_that_hooks_do_not_see(log):
    class Own(chainer.Link):
        def __call__(self, x):
            return x + 1

    class Derived(L.Linear):
        def forward(self, x):
            return super().forward(x) * 2

    own, derived = Own(), Derived(2, 2)
    with Recorder("a", log):
        assert own(1) == 2
        assert [entry[1] for entry in log] == ["added"]
        derived(X)
        assert [entry[1] for entry in log] == ["added", "pre", "post"]


def test_mixin(log):
    class Mixin:
        def __call__(self, x):
            return ("mixin", x)

    class Mixed(chainer.Link, Mixin):
        def forward(self, x):
            raise AssertionError

    class Derived(Mixed):
        pass

    with Recorder("a", log):
        assert Derived()(3) == ("mixin", 3)
    assert Mixed()(3) == ("mixin", 3)
    assert [entry[1] for entry in log] == ["added", "pre", "post", "deleted"]


def test_copies(log, link):
    link.add_hook(Recorder("a", log))
    assert link.copy().local_link_hooks is link.local_link_hooks
    assert list(link.copy("copy").local_link_hooks) == ["a"]
    assert link.copy("copy").local_link_hooks["a"] is not link.local_link_hooks["a"]
    assert copy.deepcopy(link).local_link_hooks["a"].name == "a"


def test_base_class(link):
    hook = chainer.LinkHook()
    assert hook.name == "LinkHook"
    with hook:
        assert link(X).shape == (1, 3)


def test_dictionary_of_a_thread(log, link):
    # Released packages change it directly. The count is not zero after config.cast_inputs was set.
    before = hook_count.value
    hooks = chainer._get_link_hooks()
    hook = Recorder("direct", log)
    hooks["direct"] = hook
    hooks["direct"] = hook
    link(X)
    recorded = len(log)
    assert recorded > 0
    hooks.update(other=Recorder("other", log))
    assert hooks.pop("other").name == "other"
    del hooks["direct"]
    link(X)
    assert len(log) == recorded
    assert hook_count.value == before


def test_a_hook_replaces_the_result():
    class Doubled(chainer.LinkHook):
        name = "doubled"

        def forward_postprocess(self, args):
            args.replace_out(2 * args.out)

    link = L.Linear(2, 3)
    expected = 2 * link(X).array
    with Doubled():
        y = link(X)
    np.testing.assert_allclose(y.array, expected)
    y.grad = np.ones_like(y.array)
    link.cleargrads()
    y.backward()
    np.testing.assert_allclose(link.b.grad, 2)
