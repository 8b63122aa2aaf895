from __future__ import annotations

import sys
import threading
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from chainer.core.lazy import lazy_module
from chainer.core.registry import registries
from chainer.core.registry.registry import (
    Entry,
    EntryLoadError,
    NameConflictError,
    Provenance,
    Registry,
    UnavailablePlugin,
    UnknownNameError,
)

ALPHA = Provenance("alpha", "1.0", "a")
BETA = Provenance("beta", "2.0", "b")


class FakeProvider:
    """Has one builtin and one installed name, and a log of the calls."""

    def __init__(self, unavailable: list[UnavailablePlugin] | None = None) -> None:
        self.calls: list[str] = []
        self._unavailable = unavailable or []

    def load_builtin(self, registry: Registry) -> bool:
        self.calls.append("load_builtin")
        registry.add(Entry("own", "math:sin"))
        return True

    def load_installed(self, registry: Registry) -> None:
        self.calls.append("load_installed")
        if registry.find("other") is None:
            registry.add(Entry("other", "math:cos"))

    def unavailable(self, registry: Registry) -> list[UnavailablePlugin]:
        return self._unavailable

    def suggest(self, registry: Registry, name: str) -> str | None:
        return "install beta" if name == "beta" else None


@pytest.fixture
def registry() -> Registry:
    return Registry("codecs")


def test_objects_and_lazy_references(registry: Registry) -> None:
    registry.register("one", 1)
    registry.register("path", "os.path:join")
    assert registry.get("one") == 1
    assert registry.entry("path").loaded is False
    import os.path

    assert registry.get("path") is os.path.join
    assert registry.entry("path").loaded is True
    assert registry.names() == list(registry) == ["one", "path"]
    assert len(registry) == 2
    assert "one" in registry
    assert "two" not in registry
    assert 1 not in registry


def test_nothing_is_imported_before_the_first_use(
    registry: Registry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "lazy_target_module.py").write_text("class Outer:\n    inner = 5\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    registry.register("x", "lazy_target_module:Outer.inner")
    assert "x" in registry
    assert registry.names() == ["x"]
    assert "lazy_target_module" not in sys.modules
    assert registry.get("x") == 5
    del sys.modules["lazy_target_module"]


@pytest.mark.parametrize(
    "target", ["nocolon", "a:", ":b", "a b:c", "a..b:c", "a:b.", "pkg.mod:attr:more"]
)
def test_malformed_references_are_refused_at_once(registry: Registry, target: str) -> None:
    with pytest.raises(ValueError, match=r"codec 'x' must look like 'package.module:attribute'"):
        registry.register("x", target)
    assert "x" not in registry


def test_names_are_non_empty_strings(registry: Registry) -> None:
    with pytest.raises(TypeError, match=r"name of a codec must be a string, got 3"):
        registry.register(3, object())  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="must not be empty"):
        registry.register("", object())
    with pytest.raises(ValueError, match="must not contain spaces, got 'two words'"):
        registry.register("two words", object())


def test_unknown_name_lists_similar_ones(registry: Registry) -> None:
    registry.register("sigmoid", 1)
    with pytest.raises(
        UnknownNameError, match=r"^no codec named 'sigmiod'; did you mean 'sigmoid'\?$"
    ) as info:
        registry.get("sigmiod")
    assert isinstance(info.value, AttributeError)
    assert isinstance(info.value, LookupError)
    with pytest.raises(UnknownNameError, match=r"^no codec named 'zzz'$"):
        registry.get("zzz")


def test_failure_to_load_names_entry_target_and_provenance(registry: Registry) -> None:
    registry.register("m", "no_such_module_here:x", provenance=ALPHA)
    registry.register("a", "math:nothing")
    with pytest.raises(
        EntryLoadError,
        match=r"'m' could not be loaded from 'no_such_module_here:x', registered by plugin 'a' of "
        r"alpha 1.0: ModuleNotFoundError: No module named 'no_such_module_here'",
    ) as info:
        registry.get("m")
    assert isinstance(info.value.__cause__, ModuleNotFoundError)
    with pytest.raises(EntryLoadError, match="registered by code run by the user") as info:
        registry.get("a")
    assert isinstance(info.value.__cause__, AttributeError)


def test_first_owner_keeps_a_name(registry: Registry) -> None:
    registry.register("x", "math:sin", provenance=ALPHA)
    with pytest.raises(NameConflictError) as info:
        registry.register("x", "math:cos", provenance=BETA)
    text = str(info.value)
    assert "codec 'x' of plugin 'b' of beta 2.0 (as 'math:cos') is not registered" in text
    assert "plugin 'a' of alpha 1.0 (as 'math:sin') already owns the name" in text
    assert "override=True" in text
    import math

    assert registry.get("x") is math.sin
    assert (info.value.owner.provenance, info.value.rejected.provenance) == (ALPHA, BETA)


def test_override_and_back(registry: Registry) -> None:
    for value in (1, 2, 3):
        registry.register("x", value, override=value > 1)
    assert registry.get("x") == 3
    assert registry.unregister("x").target == 3
    assert registry.get("x") == 2
    registry.unregister("x")
    registry.unregister("x")
    with pytest.raises(UnknownNameError):
        registry.unregister("x")


def test_replaced_entry_can_leave_silently(registry: Registry) -> None:
    registry.register("x", 1)
    first = registry.entry("x")
    registry.register("x", 2, override=True)
    registry.remove(first)
    assert registry.get("x") == 2
    registry.remove(first)  # no effect
    registry.unregister("x")
    assert "x" not in registry


def test_listeners_hear_every_change(registry: Registry) -> None:
    heard: list[str] = []
    registry.add_listener(heard.append)
    registry.register("x", 1)
    registry.register("x", 2, override=True)
    registry.unregister("x")
    assert heard == ["x", "x", "x"]


def test_provider_is_asked_at_first_use_and_when_a_name_is_missing(registry: Registry) -> None:
    provider = FakeProvider()
    registry.set_provider(provider)
    assert provider.calls == []
    registry.get("own")
    registry.get("own")
    assert provider.calls == ["load_builtin"]
    assert registry.names() == ["own"]
    registry.get("other")
    assert provider.calls == ["load_builtin", "load_installed"]
    assert registry.names() == ["other", "own"]


def test_own_names_come_before_those_of_the_user(registry: Registry) -> None:
    registry.set_provider(FakeProvider())
    with pytest.raises(NameConflictError, match="'own' of code run by the user"):
        registry.register("own", 1)


def test_unknown_name_lists_plugins_that_were_not_loaded(registry: Registry) -> None:
    cause = ImportError("no libfoo")
    registry.set_provider(
        FakeProvider(
            [UnavailablePlugin("alpha is blocked", None), UnavailablePlugin("beta", cause)]
        )
    )
    with pytest.raises(UnknownNameError, match=r"not loaded:\n  alpha is blocked\n  beta") as info:
        registry.get("zzz")
    assert info.value.__cause__ is cause


def test_unknown_name_tells_how_to_get_it(registry: Registry) -> None:
    registry.set_provider(FakeProvider())
    with pytest.raises(UnknownNameError, match="^no codec named 'beta'; install beta$"):
        registry.get("beta")


def test_loading_is_repeated_until_it_is_complete(registry: Registry) -> None:
    answers = [False, True]

    class Provider(FakeProvider):
        def load_builtin(self, registry: Registry) -> bool:
            self.calls.append("load_builtin")
            return answers.pop(0)

    provider = Provider()
    registry.set_provider(provider)
    registry.find("x")
    registry.find("x")
    registry.find("x")
    assert provider.calls == ["load_builtin", "load_builtin"]


def test_many_threads_see_one_object(
    registry: Registry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "slow_target_module.py").write_text("import time\ntime.sleep(0.05)\nx = object()\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    registry.register("x", "slow_target_module:x")
    results = _in_threads(lambda: registry.get("x"))
    assert len({id(result) for result in results}) == 1
    del sys.modules["slow_target_module"]


def test_concurrent_claims_have_one_winner(registry: Registry) -> None:
    def claim() -> bool:
        try:
            registry.register("x", object())
        except NameConflictError:
            return False
        return True

    assert sum(_in_threads(claim)) == 1


def _in_threads(function: Callable[[], Any], count: int = 8) -> list[Any]:
    results: list[Any] = []
    barrier = threading.Barrier(count)

    def work() -> None:
        barrier.wait()
        results.append(function())

    threads = [threading.Thread(target=work) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert len(results) == count
    return results


@pytest.fixture
def module(registry: Registry) -> Any:
    module: Any = types.ModuleType("some_codecs")
    module.__getattr__, module.__dir__ = lazy_module(module.__dict__, registry=registry)
    return module


def test_module_attribute_is_plain_after_the_first_access(registry: Registry, module: Any) -> None:
    registry.register("sin", "math:sin")
    import math

    assert "sin" in dir(module)
    assert "sin" not in vars(module)
    assert module.sin is math.sin
    assert vars(module)["sin"] is math.sin


def test_star_import_gives_all_names_that_can_be_imported(
    registry: Registry, module: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    registry.register("sin", "math:sin")
    registry.register("broken", "no_such_module_at_all:name")
    module.own, module._private = 1, 2
    monkeypatch.setitem(sys.modules, "some_codecs", module)
    names: dict[str, Any] = {}
    exec("from some_codecs import *", names)
    assert names["own"] == 1
    assert names["sin"](0) == 0
    assert not {"broken", "_private"} & set(names)
    with pytest.raises(ImportError, match="no_such_module_at_all"):
        _ = module.broken


def test_module_attribute_follows_the_registry(registry: Registry, module: Any) -> None:
    registry.register("x", 1)
    assert module.x == 1
    registry.register("x", 2, override=True)
    assert module.x == 2
    registry.unregister("x")
    assert module.x == 1
    registry.unregister("x")
    assert not hasattr(module, "x")


def test_module_does_not_drop_its_own_attributes(registry: Registry, module: Any) -> None:
    module.x = "its own"
    registry.register("x", 1)
    registry.unregister("x")
    assert module.x == "its own"


def test_probing_a_module_loads_nothing(registry: Registry, module: Any) -> None:
    provider = FakeProvider()
    registry.set_provider(provider)
    for name in ("__wrapped__", "_repr_html_", "__path__"):
        assert not hasattr(module, name)
    assert provider.calls == []


def test_package_gives_its_submodules(registry: Registry) -> None:
    package: Any = types.ModuleType("email")
    import email

    package.__path__ = email.__path__
    package.__getattr__, package.__dir__ = lazy_module(package.__dict__, registry=registry)
    assert package.mime is sys.modules["email.mime"]
    assert not hasattr(package, "no_such_submodule")


def test_every_registry_is_listed_under_its_kind() -> None:
    assert {
        name: value for name, value in vars(registries).items() if isinstance(value, Registry)
    } == registries.ALL


def test_a_known_name_needs_no_lock(registry: Registry) -> None:
    registry.register("x", 1)
    lock = registry._lock
    taken, release = threading.Event(), threading.Event()
    released: list[bool] = []

    def hold() -> None:
        with lock:
            taken.set()
            released.append(release.wait(60))

    holder = threading.Thread(target=hold)
    holder.start()
    assert taken.wait(60)
    assert registry.get("x") == 1
    release.set()
    holder.join()
    assert released == [True]
