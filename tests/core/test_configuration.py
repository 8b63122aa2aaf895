import io
import os
import pickle
import re
import subprocess
import sys
import threading

import numpy as np
import pytest

import chainer
from chainer.core.config.configuration import GlobalConfig, LocalConfig, declare, using_config
from chainer.core.config.entries import ConfigEntry, declared

DEFAULTS = {
    "_will_recompute": False,
    "accelerate": "never",
    "autotune": False,
    "blas_threads": None,
    "cast_inputs": False,
    "compute_mode": None,
    "cudnn_deterministic": False,
    "cudnn_fast_batch_normalization": False,
    "debug": False,
    "dtype": np.dtype("float32"),
    "enable_backprop": True,
    "enable_plugins": (),
    "in_recomputing": False,
    "initialize": True,
    "keep_graph_on_report": False,
    "kernels": (),
    "lazy_grad_sum": False,
    "pace_collector": False,
    "schedule_func": None,
    "train": True,
    "type_check": True,
    "use_cudnn": "auto",
    "use_cudnn_tensor_core": "auto",
    "use_ideep": "never",
    "use_static_graph": True,
    "warn_nondeterministic": False,
}


def in_thread(function):
    results = []
    thread = threading.Thread(target=lambda: results.append(function()))
    thread.start()
    thread.join()
    return results[0]


def in_process(code, **environment):
    clean = {k: v for k, v in os.environ.items() if not k.startswith("CHAINER_")}
    return subprocess.run(
        [sys.executable, "-c", code],
        env={**clean, **environment},
        capture_output=True,
        text=True,
        check=False,
    )


class TestEntries:
    def test_objects(self):
        assert isinstance(chainer.global_config, GlobalConfig)
        assert isinstance(chainer.config, LocalConfig)
        assert chainer.configuration.config is chainer.config

    def test_defaults(self):
        code = "import chainer; print({n: getattr(chainer.global_config, n) for n in %r})"
        result = in_process(code % sorted(DEFAULTS))
        assert result.stdout.strip() == str({n: DEFAULTS[n] for n in sorted(DEFAULTS)})

    def test_unknown_entry(self):
        with pytest.raises(AttributeError, match="no entry 'nonsense'"):
            chainer.config.nonsense

    @pytest.mark.parametrize("name", ["use_cudnn", "use_ideep", "use_cudnn_tensor_core"])
    def test_choices(self, name):
        for value in ("always", "auto", "never"):
            with using_config(name, value):
                assert getattr(chainer.config, name) == value
        for config in (chainer.config, chainer.global_config):
            with pytest.raises(ValueError, match=f"config.{name} must be 'always'.* got True"):
                setattr(config, name, True)
        assert getattr(chainer.config, name) == DEFAULTS[name]

    @pytest.mark.parametrize(
        ("name", "value", "accepted"),
        [
            ("dtype", "float23", "a data type of NumPy, such as 'float32', or chainer.mixed16"),
            ("dtype", "f4,(", "a data type of NumPy, such as 'float32', or chainer.mixed16"),
            ("dtype", "mixed16", "a data type of NumPy, such as 'float32', or chainer.mixed16"),
            ("compute_mode", "cudnn_fats", "'cudnn_fast' or None"),
            ("kernels", 5, "tuple of str, or str"),
            ("kernels", ("ideep", 5), "tuple of str, or str"),
            ("schedule_func", 5, "callable or None"),
            ("autotune", [], "bool"),
            ("cudnn_deterministic", np.array([True, False]), "bool"),
            ("use_cudnn", np.array([1, 2]), "'always', 'auto' or 'never'"),
            ("blas_threads", 0, "a positive int, 'auto' or None"),
        ],
    )
    def test_what_is_not_accepted(self, name, value, accepted):
        text = re.escape(f"config.{name} must be {accepted}, got {value!r}")
        with using_config("user_before", 1):
            for config in (chainer.config, chainer.global_config):
                with pytest.raises(ValueError, match=text):
                    setattr(config, name, value)
            with pytest.raises(ValueError, match=text), using_config(name, value):
                pass
        assert getattr(chainer.config, name) == DEFAULTS[name]
        with using_config("train", False), using_config("use_ideep", "auto"):
            assert not chainer.config.train

    @pytest.mark.parametrize(
        "value", ["float16", np.float64, np.dtype("f"), float, chainer.mixed16]
    )
    def test_dtypes(self, value):
        with using_config("dtype", value):
            assert chainer.get_dtype() == (np.float16 if value is chainer.mixed16 else value)

    def test_entry_of_a_plugin(self):
        name = "user_of_this_test"
        declare(ConfigEntry(name, 0.5, accepted="a number up to 1", accepts=lambda rate: rate <= 1))
        try:
            for value in (2, "much", np.array([0, 1])):
                text = re.escape(f"config.{name} must be a number up to 1, got {value!r}")
                with pytest.raises(ValueError, match=text):
                    setattr(chainer.config, name, value)
            with using_config(name, 0.25):
                assert chainer.config.user_of_this_test == 0.25
            with pytest.raises(ValueError, match="must be an odd number, got 2"):
                declare(
                    ConfigEntry(name, 2, accepted="an odd number", accepts=lambda value: value % 2)
                )
        finally:
            del declared[name]
            delattr(GlobalConfig, name)
            delattr(LocalConfig, name)
            delattr(chainer.global_config, name)

    def test_user_entries(self):
        chainer.config.user_value = 3
        try:
            assert chainer.config.user_value == 3
            assert not hasattr(chainer.global_config, "user_value")
        finally:
            del chainer.config.user_value
        assert not hasattr(chainer.config, "user_value")

    def test_dir(self):
        assert set(DEFAULTS) <= set(dir(chainer.config))


class TestLocalAndGlobal:
    def test_local_hides_global(self):
        shared = GlobalConfig()
        local = LocalConfig(shared)
        shared.x = 1
        assert local.x == 1
        local.x = 2
        assert (local.x, shared.x) == (2, 1)
        del local.x
        assert local.x == 1

    def test_delete_needs_a_local_value(self):
        with pytest.raises(AttributeError, match="no thread-local entry 'train'"):
            del chainer.config.train

    def test_threads(self):
        with using_config("train", False):
            assert in_thread(lambda: chainer.config.train) is True
            assert chainer.config.train is False

    def test_global_values_reach_all_threads(self):
        chainer.global_config.user_shared = 5
        try:
            assert chainer.config.user_shared == 5
            assert in_thread(lambda: chainer.config.user_shared) == 5
        finally:
            del chainer.global_config.user_shared

    def test_global_switch_works_at_once_everywhere(self):
        from tests.core.nodes import multiply, var

        started, go_on = threading.Event(), threading.Event()
        results = []

        def work():
            results.append(multiply(var(1), var(2)).creator)
            started.set()
            go_on.wait(60)
            results.append(multiply(var(1), var(2)).creator)

        thread = threading.Thread(target=work)
        thread.start()
        started.wait(60)
        chainer.global_config.enable_backprop = False
        try:
            go_on.set()
            thread.join()
            assert multiply(var(1), var(2)).creator is None
        finally:
            chainer.global_config.enable_backprop = True
        assert results[0] is not None
        assert results[1] is None
        assert multiply(var(1), var(2)).creator is not None

    def test_pickle(self):
        shared = GlobalConfig()
        shared.x = 1
        assert pickle.loads(pickle.dumps(shared)).x == 1


class TestUsingConfig:
    def test_restores(self):
        with using_config("train", False):
            assert chainer.config.train is False
        assert chainer.config.train is True

    def test_nests(self):
        with using_config("train", False):
            with using_config("train", True):
                assert chainer.config.train
            assert not chainer.config.train

    def test_restores_after_an_error(self):
        with pytest.raises(KeyError), using_config("train", False):
            raise KeyError
        assert chainer.config.train

    def test_leaves_no_local_value(self):
        with using_config("train", True):
            pass
        chainer.global_config.train = False
        try:
            assert chainer.config.train is False
        finally:
            chainer.global_config.train = True

    def test_keeps_a_local_value(self):
        chainer.config.train = False
        try:
            with using_config("train", True):
                pass
            assert chainer.config.train is False
        finally:
            del chainer.config.train

    def test_new_entry(self):
        with using_config("user_new", 1):
            assert chainer.config.user_new == 1
        assert not hasattr(chainer.config, "user_new")

    def test_own_configuration(self):
        shared = GlobalConfig()
        shared.x = 1
        local = LocalConfig(shared)
        with using_config("x", 2, local):
            assert local.x == 2
        assert local.x == 1

    def test_bad_value_changes_nothing(self):
        with pytest.raises(ValueError, match="use_ideep"), using_config("use_ideep", "sometimes"):
            pass
        assert chainer.config.use_ideep == "never"


class TestShow:
    def test_sorted_and_padded(self):
        shared = GlobalConfig()
        shared.type_check = True
        shared.debug = False
        local = LocalConfig(shared)
        local.train = True
        local.enable_backprop = True
        stream = io.StringIO()
        local.show(stream)
        assert stream.getvalue() == (
            "debug           False\nenable_backprop True\ntrain           True\n"
            "type_check      True\n"
        )

    def test_global(self):
        shared = GlobalConfig()
        shared.a, shared.bbb = 1, 2
        stream = io.StringIO()
        shared.show(stream)
        assert stream.getvalue() == "a   1\nbbb 2\n"

    def test_standard_output(self, capsys):
        chainer.config.show()
        lines = capsys.readouterr().out.splitlines()
        assert [line.split()[0] for line in lines] == sorted(DEFAULTS)


class TestEnvironment:
    @pytest.mark.parametrize(
        ("variable", "text", "entry", "value"),
        [
            ("CHAINER_DEBUG", "1", "debug", "True"),
            ("CHAINER_DEBUG", "0", "debug", "False"),
            ("CHAINER_KEEP_GRAPH_ON_REPORT", "1", "keep_graph_on_report", "True"),
            ("CHAINER_LAZY_GRAD_SUM", "1", "lazy_grad_sum", "True"),
            ("CHAINER_TYPE_CHECK", "0", "type_check", "False"),
            ("CHAINER_USE_CUDNN", "never", "use_cudnn", "never"),
            ("CHAINER_USE_IDEEP", "auto", "use_ideep", "auto"),
            ("CHAINER_DTYPE", "float16", "dtype", "float16"),
            ("CHAINER_DTYPE", "mixed16", "dtype is chainer.mixed16", "True"),
            ("CHAINER_KERNELS", "one,two", "kernels", "('one', 'two')"),
        ],
    )
    def test_values(self, variable, text, entry, value):
        result = in_process(f"import chainer; print(chainer.config.{entry})", **{variable: text})
        assert result.stdout.strip() == value, result.stderr

    @pytest.mark.parametrize(
        ("variable", "text"),
        [
            ("CHAINER_DEBUG", "yes"),
            ("CHAINER_USE_IDEEP", "1"),
            ("CHAINER_USE_CUDNN", ""),
            ("CHAINER_DTYPE", "float99"),
            ("CHAINER_DTYPE", "int32"),
        ],
    )
    def test_bad_values(self, variable, text):
        result = in_process("import chainer", **{variable: text})
        assert result.returncode != 0
        error = "TypeError" if variable == "CHAINER_DTYPE" else "ValueError"
        assert f"{error}: environment variable {variable} must" in result.stderr
        assert repr(text) in result.stderr
