"""Plugins that replace names: only if the user enables them, and then from the first use on."""

from __future__ import annotations

import json

import pytest

import chainer
from tests.plugins.conftest import Site

TAN = """
def chainer_functions(registry):
    registry.register("relu", "math:tan", override=True)
    registry.register("extra_name", "math:sin")
def chainer_trainer_start(trainer):
    pass
"""


@pytest.fixture
def shiny(site: Site) -> Site:
    return site.add("shiny-pack", entry_points={"shiny": "shiny"}, modules={"shiny": TAN})


def test_installing_changes_nothing(shiny: Site) -> None:
    done = shiny.python(
        """
        import math
        import chainer.functions as F
        relu = F.relu
        assert not hasattr(F, "typo") and "relu" in dir(F)  # both load all packs
        assert F.relu is relu is not math.tan and F.extra_name is math.sin
        hasattr(F, "another_typo")
        """
    )
    assert done.stderr.count("does not replace function 'relu'") == 1
    assert "chainer.plugins.enable('shiny') or CHAINER_ENABLE_PLUGINS=shiny" in done.stderr


ENABLING = {
    "variable": "",
    "configuration": "chainer.global_config.enable_plugins = ('shiny',)",
    "call": "chainer.plugins.enable('shiny')",
    "distribution": "chainer.plugins.enable('Shiny_Pack')",
}


@pytest.mark.parametrize("way", ENABLING)
def test_enabling(shiny: Site, way: str) -> None:
    variables = {"CHAINER_ENABLE_PLUGINS": "shiny"} if way == "variable" else {}
    done = shiny.python(
        f"""
        import math, chainer
        {ENABLING[way]}
        assert chainer.functions.relu is math.tan
        """,
        **variables,
    )
    assert "does not replace" not in done.stderr


def test_enabling_later(shiny: Site) -> None:
    shiny.python(
        """
        import math, warnings, chainer
        import numpy as np
        warnings.simplefilter("ignore")
        F = chainer.functions
        assert F.relu is not math.tan and not hasattr(F, "typo")
        chainer.config.enable_plugins = "shiny"
        assert F.relu is math.tan
        assert "replaces" in str(chainer.explain("relu", np.zeros(2, "f")))
        chainer.plugins.unregister("shiny")
        assert F.relu is not math.tan
        """
    )


def test_commands_show_overrides(shiny: Site) -> None:
    (record,) = json.loads(
        shiny.run("-m", "chainer.plugins.cli", "plugins", "shiny", "--json").stdout
    )
    assert record["refused"] == ["function 'relu'"] and record["replaced"] == []
    assert record["event_hooks"] == ["chainer_trainer_start"]
    for command in ("plugins", "info"):
        text = shiny.run("-m", "chainer.plugins.cli", command).stdout
        assert "does not replace function 'relu' unless it is enabled" in text
        assert "chainer_trainer_start are not called unless it is enabled" in text
    done = shiny.run(
        "-m", "chainer.plugins.cli", "plugins", "--json", CHAINER_ENABLE_PLUGINS="shiny"
    )
    (record,) = [r for r in json.loads(done.stdout) if r["name"] == "shiny"]
    assert record["refused"] == [] and record["replaced"] == ["function 'relu'"]


@pytest.mark.parametrize("names", ["xy", "xx"])
def test_order_of_folders(tmp_path, names) -> None:
    """The distribution whose name comes first in the alphabet keeps a contested name."""
    code = """
    def chainer_functions(registry):
        registry.register("contested", "math:{}")
    """
    folders = [Site(tmp_path / "z"), Site(tmp_path / "a")]
    folders[0].add("a-pack", entry_points={names[0]: "xa"}, modules={"xa": code.format("sin")})
    folders[1].add("b-pack", entry_points={names[1]: "yb"}, modules={"yb": code.format("cos")})
    for first, second in (folders, folders[::-1]):
        found = first.value(
            f"""
            import json, math, sys, warnings
            sys.path.insert(1, {str(second.path)!r})
            warnings.simplefilter("ignore")
            import chainer.functions as F
            print(json.dumps(F.contested is math.sin))
            """
        )
        assert found is True


@pytest.mark.parametrize(("order", "winner"), [("xa,yb", "cos"), ("yb,xa", "sin")])
def test_of_two_enabled_plugins_the_last_one_wins(tmp_path, order: str, winner: str) -> None:
    """The last one in the list of the user, not the last one that was loaded."""
    code = """
    def chainer_functions(registry):
        registry.register("relu", "math:{}", override=True)
    """
    folders = [Site(tmp_path / "z"), Site(tmp_path / "a")]
    folders[0].add("a-pack", entry_points={"xa": "xa"}, modules={"xa": code.format("sin")})
    folders[1].add("b-pack", entry_points={"yb": "yb"}, modules={"yb": code.format("cos")})
    for first, second in (folders, folders[::-1]):
        first.python(
            f"""
            import math, sys
            sys.path.insert(1, {str(second.path)!r})
            import chainer.functions as F
            assert F.relu is math.{winner}
            """,
            CHAINER_ENABLE_PLUGINS=order,
        )


def test_bad_value() -> None:
    with pytest.raises(ValueError, match=r"enable_plugins must be tuple of str, or str, got 3"):
        chainer.config.enable_plugins = 3


class TestLateAndWrongNames:
    def test_after_the_hook(self) -> None:
        class Plugin:
            def chainer_functions(self, registry):
                self.registry = registry

        plugin = Plugin()
        chainer.plugins.register(plugin, "late")
        try:
            with pytest.raises(
                chainer.plugins.PluginError, match="plugin 'late'.* cannot register function 'f'"
            ):
                plugin.registry.register("f", len)
        finally:
            chainer.plugins.unregister(plugin)

    def test_underscore(self) -> None:
        class Plugin:
            def chainer_functions(self, registry):
                registry.register("_hidden", len)

        with pytest.raises(ValueError, match="must not begin with an underscore, got '_hidden'"):
            chainer.plugins.register(Plugin())

    def test_reference_to_itself(self) -> None:
        class Plugin:
            def chainer_functions(self, registry):
                registry.register("echo", "chainer.functions:echo")

        plugin = Plugin()
        chainer.plugins.register(plugin, "circle")
        try:
            with pytest.raises(ImportError, match="'circle'.* refers to the registered name"):
                _ = chainer.functions.echo
        finally:
            chainer.plugins.unregister(plugin)

    def test_parameter_of_a_hook(self) -> None:
        class Plugin:
            def chainer_functions(self, registri):
                pass

        with pytest.raises(
            chainer.plugins.PluginError,
            match=r"chainer_functions\(\) has the unknown parameter 'registri'; did you mean",
        ):
            chainer.plugins.register(Plugin())


ODD = {
    "text": """
        class Odd(Exception):
            def __str__(self):
                raise RuntimeError("no text")
        raise Odd
        """,
    "base": """
        class Odd(BaseException):
            pass
        raise Odd("very odd")
        """,
    "exit": "raise GeneratorExit",
}


@pytest.mark.parametrize("kind", ODD)
@pytest.mark.parametrize("command", ["doctor", "info", "plugins"])
def test_odd_errors(site: Site, kind: str, command: str) -> None:
    site.add("odd-pack", entry_points={"odd": "odd"}, modules={"odd": ODD[kind]})
    done = site.run("-m", "chainer.plugins.cli", command)
    assert "Traceback" not in done.stderr
    expected = "GeneratorExit" if kind == "exit" else "Odd"
    assert expected in done.stdout
