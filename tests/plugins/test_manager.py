"""The manager with empty registries and one folder of distributions, in this process."""

from __future__ import annotations

import re
import sys
import types
import warnings
from typing import Any

import pytest

from chainer.core.registry.registry import NameConflictError, UnknownNameError
from chainer.plugins import _builtin, hookimpl
from chainer.plugins.errors import (
    IncompatiblePluginError,
    PluginError,
    PluginWarning,
    UnknownHookError,
)
from chainer.plugins.manager import PluginManager

GOOD = """
    def chainer_functions(registry):
        registry.register("halve", "good_functions:halve")
"""


def states(manager: PluginManager) -> dict[str, str]:
    return {record.name: record.state for record in manager.records()}


def pack(**hooks: Any) -> Any:
    """Returns a module with functions that register ``name=target`` for each hook."""
    module: Any = types.ModuleType("run_time_pack")
    for hook, names in hooks.items():

        def implementation(registry: Any, names: dict[str, Any] = names) -> None:
            for name, target in names.items():
                registry.register(name, target)

        implementation.__module__ = module.__name__
        setattr(module, hook, implementation)
    return module


# Installed packs


def test_a_pack_is_imported_when_a_name_is_missing(manager: Any, tables: Any, site: Any) -> None:
    site.add(
        "good",
        entry_points={"good": "good"},
        modules={"good": GOOD, "good_functions": "def halve(x): return x / 2"},
    )
    assert states(manager) == {"good": "found"}
    assert tables["functions"].names() == []
    assert "good" not in sys.modules
    assert tables["functions"].get("halve")(8) == 4
    (record,) = manager.records()
    assert record.state == "loaded"
    assert record.seconds > 0
    assert record.registered_names() == {"functions": ["halve"]}
    assert str(tables["functions"].entry("halve").provenance) == "plugin 'good' of good 1.0"


def test_a_pack_may_point_to_an_object(manager: Any, tables: Any, site: Any) -> None:
    code = """
        class Pack:
            chainer_api = 1
            def chainer_links(self, registry):
                registry.register("answer", 42 .__add__)
        pack = Pack()
    """
    site.add("objects", entry_points={"o": "objects_pack:pack"}, modules={"objects_pack": code})
    assert tables["links"].get("answer")(0) == 42


def test_hookimpl_marks_work_and_so_do_other_names(manager: Any, tables: Any, site: Any) -> None:
    code = """
        from chainer.plugins import hookimpl
        @hookimpl(specname="chainer_functions")
        def my_functions(registry):
            registry.register("f", "math:sin")
        @hookimpl
        def chainer_links(registry):
            pass
    """
    site.add("marked", entry_points={"m": "marked"}, modules={"marked": code})
    assert "f" in tables["functions"]


def test_what_was_installed_later_is_found(manager: Any, tables: Any, site: Any) -> None:
    assert "halve" not in tables["functions"]
    site.add(
        "good",
        entry_points={"good": "good"},
        modules={"good": GOOD, "good_functions": "halve = 1"},
    )
    assert tables["functions"].get("halve") == 1


def test_own_packs_load_with_the_registry_they_fill(
    manager: Any, tables: Any, site: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_builtin, "PACKS", {"functions": "own_f", "links": "own_l"})
    for name, kind in (("own_f", "functions"), ("own_l", "links")):
        code = f"def chainer_{kind}(registry): registry.register('x', 'math:sin')"
        (site.path / f"{name}.py").write_text(code)
    site.add("good", entry_points={"good": "good"}, modules={"good": GOOD})
    assert tables["functions"].names() == ["x"]
    assert states(manager) == {"functions": "loaded", "links": "found", "good": "found"}
    assert tables["functions"].entry("x").provenance.distribution == "chainer"


def test_own_names_win_over_those_of_others(
    manager: Any, tables: Any, site: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_builtin, "PACKS", {"functions": "own_f", "links": "own_l"})
    for name, kind in (("own_f", "functions"), ("own_l", "links")):
        code = f"def chainer_{kind}(registry): registry.register('x', 'math:sin')"
        (site.path / f"{name}.py").write_text(code)
    code = "def chainer_links(registry): registry.register('x', 'math:cos')"
    site.add("rival", entry_points={"rival": "rival"}, modules={"rival": code})
    with pytest.warns(PluginWarning, match="link 'x' of plugin 'rival' of rival 1.0"):
        manager.load("rival")
    assert tables["links"].entry("x").provenance.distribution == "chainer"


# Packs that fail


def failing(site: Any, name: str, code: str) -> None:
    site.add(name, entry_points={name: name}, modules={name: code})


def test_failure_is_isolated_reported_once_and_chained(
    manager: Any, tables: Any, site: Any
) -> None:
    failing(site, "broken", "raise OSError('libbroken.so is missing')")
    site.add(
        "good", entry_points={"good": "good"}, modules={"good": GOOD, "good_functions": "halve = 1"}
    )
    with pytest.warns(
        PluginWarning, match=r"plugin 'broken' of broken 1.0 is not used \(failed\): OSError: lib"
    ):
        assert tables["functions"].get("halve") == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UnknownNameError, match=r"plugin 'broken' of broken 1\.0") as info:
            tables["functions"].get("third")
    assert isinstance(info.value.__cause__, OSError)
    assert states(manager) == {"broken": "failed", "good": "loaded"}
    with pytest.raises(PluginError, match=r"cannot be used \(failed\)") as info2:
        manager.load("broken")
    assert isinstance(info2.value.__cause__, OSError)


def test_a_pack_that_fails_midway_leaves_nothing(manager: Any, tables: Any, site: Any) -> None:
    failing(
        site,
        "midway",
        """
        def chainer_functions(registry):
            registry.register("f", "math:sin")
        def chainer_links(registry):
            registry.register("l", "math:sin")
            raise RuntimeError("second thoughts")
        """,
    )
    with pytest.warns(PluginWarning, match="RuntimeError: second thoughts"):
        assert "f" not in tables["functions"]
    assert "l" not in tables["links"]


@pytest.mark.parametrize(
    ("code", "error", "message"),
    [
        (
            "def chainer_function(registry): pass",
            UnknownHookError,
            r"unknown hook 'chainer_function' \(did you mean 'chainer_functions'\?\)",
        ),
        (
            "from chainer.plugins import hookimpl\n@hookimpl\ndef entirely_different(): pass",
            UnknownHookError,
            "unknown hook 'entirely_different'; hooks are chainer_backends",
        ),
        ("def chainer_functions(registry, color): pass", Exception, "color"),
        (
            "def chainer_functions(registry):\n  registry.register('f', 'no colon')",
            ValueError,
            "lazy reference of function 'f' must look like",
        ),
        (
            "def chainer_functions(registry):\n"
            "  registry.register('f', 'a:b')\n  registry.register('f', 'a:c')",
            NameConflictError,
            "function 'f' of",
        ),
        ("import sys; sys.exit(3)", PluginError, r"it called sys.exit\(3\)"),
        ("x = 1 +", SyntaxError, "invalid syntax"),
    ],
)
def test_mistakes_of_packs(
    manager: Any, tables: Any, site: Any, code: str, error: type, message: str
) -> None:
    failing(site, "mistaken", code)
    with pytest.warns(PluginWarning, match=message):
        assert "f" not in tables["functions"]
    (record,) = manager.records()
    assert record.state == "failed"
    assert isinstance(record.error, error)


def test_an_imported_helper_is_no_hook(manager: Any, tables: Any, site: Any) -> None:
    code = """
        from helper_tools import chainer_helper
        def chainer_functions(registry):
            registry.register("halve", "math:sin")
    """
    tools = "def chainer_helper(): pass"
    site.add(
        "helper", entry_points={"h": "helper"}, modules={"helper": code, "helper_tools": tools}
    )
    assert "halve" in tables["functions"]


def test_missing_module_and_malformed_entry_point(manager: Any, tables: Any, site: Any) -> None:
    site.add("gone", entry_points={"gone": "not_installed_module"})
    site.add("malformed", entry_points={"bad": "a module"})
    with pytest.warns(PluginWarning) as caught:
        assert "f" not in tables["functions"]
    texts = sorted(str(warning.message) for warning in caught)
    assert "No module named 'not_installed_module'" in texts[1]
    assert "must point to 'module' or 'module:object', got 'a module'" in texts[0]


def test_strict_mode_raises_at_once(
    manager: Any, tables: Any, site: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CHAINER_PLUGINS_STRICT", "1")
    failing(site, "broken", "raise OSError('libbroken.so is missing')")
    with pytest.raises(PluginError, match=r"plugin 'broken' of broken 1\.0 failed") as info:
        tables["functions"].load_all()
    assert isinstance(info.value.__cause__, OSError)


# Names registered twice


def test_two_packs_that_claim_one_name(manager: Any, tables: Any, site: Any) -> None:
    for name, version in (("first", "1.0"), ("second", "2.5")):
        code = f"""
            def chainer_functions(registry):
                registry.register("shared", "{name}_functions:f")
                registry.register("only_{name}", "{name}_functions:f")
        """
        site.add(name, version, entry_points={"same": name}, modules={name: code})
    with pytest.warns(PluginWarning, match=r"second 2.5 .* first 1.0") as caught:
        tables["functions"].load_all()
    assert len(caught) == 1
    assert tables["functions"].names() == ["only_first", "only_second", "shared"]
    assert tables["functions"].entry("shared").provenance.distribution == "first"
    first, second = manager.records()
    assert (first.state, second.state) == ("loaded", "loaded")
    (conflict,) = second.conflicts
    assert conflict.owner.provenance.version == "1.0"
    assert conflict.rejected.provenance.version == "2.5"
    assert "first 1.0" in second.as_dict()["conflicts"][0]


def test_in_strict_mode_a_conflict_refuses_the_whole_pack(
    manager: Any, tables: Any, site: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CHAINER_PLUGINS_STRICT", "1")
    for name in ("first", "second"):
        code = f"""
            def chainer_functions(registry):
                registry.register("only_{name}", "math:sin")
                registry.register("shared", "math:sin")
        """
        site.add(name, entry_points={name: name}, modules={name: code})
    with pytest.raises(PluginError, match="function 'shared' of plugin 'second'"):
        tables["functions"].load_all()
    assert tables["functions"].names() == ["only_first", "shared"]


def test_override_is_explicit(manager: Any, tables: Any, site: Any) -> None:
    for name, override in (("first", False), ("second", True)):
        code = f"""
            def chainer_functions(registry):
                registry.register("shared", "math:sin", override={override})
        """
        site.add(name, entry_points={name: name}, modules={name: code})
    with pytest.warns(PluginWarning, match="does not replace function 'shared'. Enable it by"):
        tables["functions"].load_all()
    assert tables["functions"].entry("shared").provenance.distribution == "first"
    manager.load("second")
    assert tables["functions"].entry("shared").provenance.distribution == "second"
    manager.unregister("second")
    assert tables["functions"].entry("shared").provenance.distribution == "first"
    assert states(manager)["second"] == "blocked"
    manager.load("second")
    assert tables["functions"].entry("shared").provenance.distribution == "second"


# Blocked and incompatible packs


@pytest.mark.parametrize("name", ["b", "blocked-pack", "Blocked.Pack"])
def test_a_blocked_pack_is_never_imported(
    manager: Any, tables: Any, site: Any, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv("CHAINER_DISABLE_PLUGINS", f"other, {name}")
    code = "raise AssertionError('imported')"
    site.add("blocked-pack", entry_points={"b": "blocked"}, modules={"blocked": code})
    with pytest.raises(
        UnknownNameError,
        match=r"plugin 'b' of blocked-pack 1.0 \(blocked\): blocked by CHAINER_DISABLE_PLUGINS",
    ):
        tables["functions"].get("f")
    assert states(manager) == {"b": "blocked"}
    with pytest.raises(PluginError, match="blocked by CHAINER_DISABLE_PLUGINS"):
        manager.load("b")


@pytest.mark.parametrize("declaration", ["chainer_api = 99", "chainer_api: int = 99  # later"])
def test_another_api_version_is_refused_before_import(
    manager: Any, tables: Any, site: Any, declaration: str
) -> None:
    code = f"import no_longer_existing_part_of_chainer\n{declaration}\n"
    site.add("later", entry_points={"later": "later"}, modules={"later": code})
    with pytest.warns(
        PluginWarning,
        match=r"'later' of later 1.0 is not used \(incompatible\): .* written for version 99 of "
        r"the plugin API, this chainer has version 1; update chainer",
    ):
        assert "f" not in tables["functions"]
    (record,) = manager.records()
    assert record.state == "incompatible"
    assert isinstance(record.error, IncompatiblePluginError)
    assert "later" not in sys.modules


def test_another_api_version_is_refused_after_import_where_the_source_does_not_show_it(
    manager: Any, tables: Any, site: Any
) -> None:
    code = "globals()['chainer_api'] = 0\n" + "def chainer_functions(registry): 1 / 0\n"
    site.add("hidden", entry_points={"hidden": "hidden"}, modules={"hidden": code})
    with pytest.warns(PluginWarning, match=r"version 0 of the plugin API.* update the plugin"):
        assert "f" not in tables["functions"]


def test_api_version_must_be_an_integer(manager: Any, tables: Any, site: Any) -> None:
    site.add("text", entry_points={"t": "text_api"}, modules={"text_api": "chainer_api = '1'"})
    with pytest.warns(PluginWarning, match="chainer_api must be an integer such as 1, got"):
        assert "f" not in tables["functions"]


# By name and at run time


def test_load_by_name(manager: Any, tables: Any, site: Any) -> None:
    site.add("good-pack", entry_points={"good": "good"}, modules={"good": GOOD})
    failing(site, "broken", "raise OSError")
    (record,) = manager.load("Good_Pack")
    assert record.state == "loaded"
    assert record.enabled
    assert states(manager) == {"broken": "found", "good": "loaded"}
    with pytest.raises(PluginError, match="no plugin named 'god' is installed; there are broken"):
        manager.load("god")


def test_plugins_enabled_by_the_environment_load_at_first_use(
    manager: Any, tables: Any, site: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CHAINER_ENABLE_PLUGINS", "good,missing")
    site.add("good", entry_points={"good": "good"}, modules={"good": GOOD})
    with pytest.warns(PluginWarning, match="CHAINER_ENABLE_PLUGINS: no plugin named 'missing'"):
        assert tables["functions"].names() == ["halve"]
    assert manager.records()[0].enabled


def test_register_and_unregister_at_run_time(manager: Any, tables: Any) -> None:
    plugin = pack(chainer_functions={"f": "math:sin"}, chainer_links={"L": 5})
    record = manager.register(plugin)
    assert (record.name, record.state, record.distribution) == ("run_time_pack", "loaded", "")
    assert tables["links"].get("L") == 5
    assert tables["functions"].entry("f").origin == (
        "plugin 'run_time_pack', registered at run time"
    )
    with pytest.raises(PluginError, match="is registered already; unregister it first"):
        manager.register(plugin)
    manager.unregister(plugin)
    assert "f" not in tables["functions"]
    assert manager.records() == []
    with pytest.raises(PluginError, match="no loaded plugin is, or is named"):
        manager.unregister(plugin)
    manager.register(plugin, name="other")
    manager.unregister("other")


def test_register_is_all_or_nothing(manager: Any, tables: Any) -> None:
    manager.register(pack(chainer_functions={"f": 1}), "one")
    with pytest.raises(NameConflictError, match=r"'two'.*'one'"):
        manager.register(pack(chainer_functions={"g": 1, "f": 2}), "two")
    assert tables["functions"].names() == ["f"]
    with pytest.raises(UnknownHookError, match="'chainer_functoins'"):
        manager.register(pack(chainer_functoins={}), "three")
    plugin = pack(chainer_functions={"h": 1})
    plugin.chainer_api = 2
    with pytest.raises(IncompatiblePluginError):
        manager.register(plugin, "four")
    assert states(manager) == {"one": "loaded"}


def test_events_reach_only_plugins_the_user_asked_for(manager: Any, tables: Any, site: Any) -> None:
    code = GOOD + "    def chainer_trainer_start(trainer): trainer.append(__name__)\n"
    site.add("good", entry_points={"good": "good"}, modules={"good": code})
    heard: list[str] = []
    manager.emit("chainer_trainer_start", {"trainer": heard})
    tables["functions"].load_all()
    manager.emit("chainer_trainer_start", {"trainer": heard})
    assert heard == []
    manager.load("good")

    class Listener:
        @hookimpl
        def chainer_trainer_start(self, trainer: list[str]) -> None:
            trainer.append("listener")

        @hookimpl
        def chainer_trainer_end(self) -> None:
            heard.append("end")

    listener = Listener()
    manager.register(listener)
    manager.emit("an_event_without_a_hook", {"value": 1})
    manager.emit("chainer_trainer_start", {"trainer": heard})
    assert sorted(heard) == ["good", "listener"]
    manager.unregister("good")
    manager.emit("chainer_trainer_end", {"trainer": heard})
    manager.unregister(listener)
    manager.emit("chainer_trainer_end", {"trainer": heard})
    assert sorted(heard) == ["end", "good", "listener"]


def test_a_pack_that_asks_for_missing_names_while_it_loads(
    manager: Any, tables: Any, site: Any
) -> None:
    code = """
        import test_manager_tables
        assert "anything" not in test_manager_tables.tables["functions"]
        def chainer_functions(registry):
            registry.register("f", "math:sin")
    """
    site.add("asking", entry_points={"asking": "asking"}, modules={"asking": code})
    module: Any = types.ModuleType("test_manager_tables")
    module.tables = tables
    sys.modules["test_manager_tables"] = module
    try:
        assert "f" in tables["functions"]
    finally:
        del sys.modules["test_manager_tables"]


def test_trace_prints_what_happens(
    manager: Any,
    tables: Any,
    site: Any,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("CHAINER_PLUGINS_TRACE", "1")
    site.add("good", entry_points={"good": "good"}, modules={"good": GOOD})
    tables["functions"].load_all()
    lines = capsys.readouterr().err.splitlines()
    assert all(line.startswith("chainer plugins: ") for line in lines)
    text = "\n".join(lines)
    assert "looked for packs in" in text
    assert "found plugin 'good' of good 1.0 -> good" in text
    assert "registered function 'halve' -> 'good_functions:halve'" in text
    timings = r"in \d+\.\d ms \(import \d+\.\d ms\)"
    assert re.search(rf"loaded plugin 'good' of good 1\.0 -> good {timings}, registered", text)
    assert lines[-1].endswith("registered 1 function")
