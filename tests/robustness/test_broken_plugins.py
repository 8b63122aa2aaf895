"""Plugins that are broken in many ways: commands survive all of them and name the plugin."""

from __future__ import annotations

import textwrap

import pytest

from tests.plugins.conftest import Site

#: Name -> the pack, and a phrase of what is said about it.
BROKEN = {
    "number_as_function": (
        """
        def chainer_functions(registry):
            registry.register("number", 3)
        """,
        "function 'number' must be a function, class or other callable, got 3",
    ),
    "function_as_link": (
        """
        def layer(x):
            return x
        def chainer_links(registry):
            registry.register("Layer", layer)
        """,
        "link 'Layer' must be a subclass of chainer.Link, got function layer",
    ),
    "object_as_backend": (
        """
        def chainer_backends(registry):
            registry.register("thing", object())
        """,
        "backend 'thing' must be an instance of chainer.backend.Backend, got an object of type",
    ),
    "lazy_function_as_link": (
        """
        def layer(x):
            return x
        def chainer_links(registry):
            registry.register("LazyLayer", "lazy_function_as_link:layer")
        """,
        "it must be a subclass of chainer.Link, it is function layer",
    ),
    "lazy_object_as_backend": (
        """
        thing = object()
        def chainer_backends(registry):
            registry.register("lazy_thing", "lazy_object_as_backend:thing")
        """,
        "it must be an instance of chainer.backend.Backend",
    ),
    "backend_that_fails": (
        """
        from chainer.backend import Backend
        class Failing(Backend):
            name = "failing"
            array_types = ()
            def unavailable_reason(self):
                raise AttributeError("no such device")
            def xp(self): ...
            def from_host(self, array): ...
            def to_host(self, array): ...
        def chainer_backends(registry):
            registry.register("failing", Failing())
        """,
        "no such device",
    ),
    "backend_that_exits": (
        """
        from chainer.backend import Backend
        class Exiting(Backend):
            name = "exiting"
            array_types = ()
            def unavailable_reason(self):
                raise SystemExit(3)
            def xp(self): ...
            def from_host(self, array): ...
            def to_host(self, array): ...
        def chainer_backends(registry):
            registry.register("exiting", Exiting())
        """,
        "SystemExit",
    ),
    "no_parameter": (
        """
        def chainer_functions():
            pass
        """,
        "must have the parameter 'registry'",
    ),
    "other_parameter": (
        """
        def chainer_functions(table):
            pass
        """,
        "table",
    ),
    "misspelled_hook": (
        """
        def chainer_funktions(registry):
            pass
        """,
        "did you mean 'chainer_functions'?",
    ),
    "raises_at_import": ("raise OSError('out of order')", "out of order"),
    "exits_at_import": ("import sys; sys.exit(1)", "sys.exit(1)"),
    "syntax_error": ("def chainer_functions(registry", "SyntaxError"),
    "missing_dependency": ("import a_package_that_is_not_there", "a_package_that_is_not_there"),
    "raises_in_hook": (
        """
        def chainer_functions(registry):
            registry.register("half", "math:sin")
            raise KeyError("half of it")
        """,
        "half of it",
    ),
    "name_that_is_no_text": (
        """
        def chainer_functions(registry):
            registry.register(3, "math:sin")
        """,
        "must be a string, got 3",
    ),
    "recursion": (
        """
        def chainer_functions(registry):
            chainer_functions(registry)
        """,
        "RecursionError",
    ),
}


@pytest.fixture(scope="module")
def all_broken(tmp_path_factory):
    site = Site(tmp_path_factory.mktemp("broken"))
    for name, (code, _) in BROKEN.items():
        site.add(name, entry_points={name: name}, modules={name: textwrap.dedent(code)})
    good = 'def chainer_functions(registry):\n    registry.register("works", "math:sin")\n'
    site.add("good", entry_points={"good": "good"}, modules={"good": good})
    return site


@pytest.fixture(scope="module")
def doctor(all_broken):
    return all_broken.run("-W", "ignore", "-m", "chainer.plugins.cli", "doctor")


def test_doctor_survives(doctor):
    assert doctor.returncode == 1, doctor.stderr
    assert "Traceback" not in doctor.stderr
    assert "something is wrong" in doctor.stdout


@pytest.mark.parametrize("name", BROKEN)
def test_doctor_names_the_plugin_and_its_fault(doctor, name):
    text = " ".join(doctor.stdout.split())
    assert f"'{name}'" in text
    assert BROKEN[name][1] in text


@pytest.mark.parametrize(
    "arguments",
    [
        ("-m", "chainer.plugins.cli", "info"),
        ("-m", "chainer.plugins.cli", "info", "--json"),
        ("-m", "chainer.plugins.cli", "backends"),
        ("-m", "chainer.plugins.cli", "backends", "--json"),
        ("-m", "chainer.plugins.cli", "plugins"),
        ("-m", "chainer.plugins.cli", "list", "functions"),
        ("-m", "chainer.plugins.cli", "kernels"),
        ("-c", "import chainer; chainer.print_runtime_info()"),
    ],
    ids=" ".join,
)
def test_commands_survive(all_broken, arguments):
    done = all_broken.run("-W", "ignore", *arguments)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    if "backends" in arguments or arguments[0] == "-c":
        assert "no such device" in done.stdout
        assert "backend_that_fails" in done.stdout


def test_what_works_is_used(all_broken):
    code = "import chainer.functions as F; assert F.works(0) == 0; print('used')"
    assert all_broken.run("-W", "ignore", "-c", code).stdout == "used\n"


def test_of_two_plugins_of_one_name_the_one_that_works_serves(tmp_path):
    site = Site(tmp_path)
    pack = 'def chainer_functions(registry):\n    registry.register("twice", "{}:sin")\n'
    site.add("a-broken", entry_points={"a": "a"}, modules={"a": pack.format("no_such_module")})
    site.add("b-works", entry_points={"b": "b"}, modules={"b": pack.format("math")})
    code = """
        import warnings, chainer.functions as F
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            assert F.twice(0) == 0
        print(*[w.message for w in caught])
    """
    said = site.python(code).stdout
    assert "'twice' is that of plugin 'b' of b-works 1.0" in said
    assert "plugin 'a' of a-broken 1.0 does not work" in said


def test_of_two_distributions_with_one_entry_point_the_one_that_works_is_loaded(tmp_path):
    site = Site(tmp_path)
    site.add("a-broken", entry_points={"same": "a"}, modules={"a": "raise OSError('broken')"})
    good = 'def chainer_functions(registry):\n    registry.register("sine", "math:sin")\n'
    site.add("b-works", entry_points={"same": "b"}, modules={"b": good})
    code = """
        import warnings, chainer
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            chainer.plugins.load("same")
        assert chainer.functions.sine(0) == 0
        print(*[w.message for w in caught])
    """
    said = site.python(code).stdout
    assert "a-broken" in said
    assert "b-works 1.0 serves" in said
