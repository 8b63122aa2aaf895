from __future__ import annotations

import inspect

import pytest

from chainer.core.registry import registries
from chainer.plugins import hookspecs
from chainer.plugins.hooks import hook_names

EVENTS = {"chainer_trainer_start": ["trainer"], "chainer_trainer_end": ["trainer"]}


def test_there_is_one_hook_for_each_registry_and_the_events() -> None:
    assert set(hook_names()) == {f"chainer_{kind}" for kind in registries.ALL} | set(EVENTS)


@pytest.mark.parametrize("name", hook_names())
def test_hooks_are_documented_and_typed(name: str) -> None:
    hook = getattr(hookspecs, name)
    signature = inspect.signature(hook)
    assert list(signature.parameters) == EVENTS.get(name, ["registry"])
    assert all(p.annotation is not p.empty for p in signature.parameters.values())
    assert signature.return_annotation == "None"
    assert hook.__doc__
    assert hook.__doc__.startswith(("Registers", "Called"))
