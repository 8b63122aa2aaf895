"""``BackendConfig`` and ``inject_backend_tests``."""

import os
import subprocess
import sys
import unittest
from pathlib import Path

import numpy as np
import pytest

import chainer
from chainer import testing
from chainer.core.warnings import MisuseWarning
from chainer.testing import BackendConfig
from tests.testing.cases import outcomes, run

ROOT = Path(__file__).parents[2]


class TestBackendConfig:
    def test_defaults(self):
        config = BackendConfig({})
        assert (config.use_cuda, config.cuda_device) == (False, None)
        assert (config.use_cudnn, config.use_ideep) == ("never", "never")
        assert (config.cudnn_deterministic, config.autotune) == (False, False)
        assert config.use_chainerx is False
        assert config.device == chainer.get_device("@numpy")
        assert config.xp is np
        assert config.unavailable_reason() is None
        assert repr(config) == (
            "<BackendConfig use_chainerx=False chainerx_device=None use_cuda=False "
            "cuda_device=None use_cudnn='never' cudnn_deterministic=False autotune=False "
            "cudnn_fast_batch_normalization=False use_ideep='never'>"
        )
        assert config.label == "cpu"

    def test_unknown_parameter(self):
        with pytest.raises(ValueError, match="Parameter foo is not defined"):
            BackendConfig({"foo": 1})

    def test_unknown_attribute(self):
        with pytest.raises(AttributeError, match="foo"):
            _ = BackendConfig({}).foo

    def test_device(self):
        config = BackendConfig({"device": "strict:1"})
        assert str(config.device) == "@strict:1"
        assert config.label == "strict_1"
        assert BackendConfig({"device": "@strict:1"}).label == "strict_1"
        sent = config.get_array([np.ones(2, "f"), None, {"a": np.ones(1, "f")}])
        assert chainer.backend.get_device_from_array(sent[0]) == config.device
        assert sent[1] is None
        assert chainer.backend.get_device_from_array(sent[2]["a"]) == config.device

    def test_context(self):
        strict = chainer.get_device("@strict")
        before = strict.backend.device(), chainer.config.use_cudnn
        params = {"device": "@strict:1", "use_cudnn": "always", "autotune": True}
        with BackendConfig({**params, "kernels": ("x",)}) as config:
            assert strict.backend.device() == config.device
            assert (chainer.config.use_cudnn, chainer.config.autotune) == ("always", True)
            assert chainer.config.kernels == ("x",)
        assert before == (strict.backend.device(), chainer.config.use_cudnn)

    def test_context_that_cannot_be_entered(self):
        before = chainer.get_device("@strict").backend.device(), chainer.config.use_cudnn
        with (
            pytest.raises(ValueError, match="maybe"),
            BackendConfig({"device": "@strict:1", "use_cudnn": "always", "use_ideep": "maybe"}),
        ):
            pass
        assert before == (chainer.get_device("@strict").backend.device(), chainer.config.use_cudnn)

    def test_gpu(self):
        assert BackendConfig({"use_cuda": True}).cuda_device == 0
        config = BackendConfig({"use_cuda": True, "cuda_device": 1})
        assert config.device_name == "@cupy:1"
        assert config.label == "use_cuda_cuda_device_1"

    def test_reasons(self):
        assert "'nonsense' is not installed" in (
            BackendConfig({"device": "@nonsense"}).unavailable_reason()
        )
        assert "'@strict:7'" in BackendConfig({"device": "@strict:7"}).unavailable_reason()
        assert (
            "ChainerX"
            in BackendConfig(
                {"use_chainerx": True, "chainerx_device": "native"}
            ).unavailable_reason()
        )

    def test_ideep_that_is_missing(self, monkeypatch):
        backend = chainer.get_device("@numpy").backend
        monkeypatch.setattr(
            "chainer.core.registry.registries.backends.get",
            lambda name: (
                type("Missing", (), {"unavailable_reason": lambda self: "no " + name})()
                if name == "ideep"
                else backend
            ),
        )
        config = BackendConfig({"use_ideep": "always"})
        assert config.unavailable_reason() == "backend 'ideep' is not available: no ideep"


class TestInjection:
    def test_each_configuration(self):
        seen = []

        @testing.inject_backend_tests(["test_a"], [{}, {"device": "@strict:1"}])
        class Case(unittest.TestCase):
            def test_a(self, backend_config):
                x = backend_config.get_array(np.ones(2, "f"))
                seen.append(str(chainer.backend.get_device_from_array(x)))

            def test_b(self):
                seen.append("b")

        assert set(outcomes(Case).values()) == {"passed"}
        assert seen == ["@numpy", "@strict:1", "b"]  # what gets no configuration runs once
        default = "Case_" + testing.BackendConfig({}).get_func_str()
        names = [default, f"{default}__device_@strict:1", "Case_other_tests"]
        assert [case.class_name for case in Case.cases] == names
        assert Case.cases[1].klass is globals()[names[1]]

    def test_all_that_take_it(self):
        seen = []

        @testing.inject_backend_tests(None, [{}])
        class Case(unittest.TestCase):
            def test_a(self, backend_config):
                seen.append(("a", backend_config.label))

            def test_b(self):
                seen.append("b")

        assert run(Case).wasSuccessful()
        assert seen == [("a", "cpu"), "b"]

    def test_skips_what_is_missing(self):
        @testing.inject_backend_tests(
            None, [{"use_chainerx": True, "chainerx_device": "native:0"}, {"device": "@nonsense"}]
        )
        class Case(testing.FunctionTestCase):
            pass

        result = run(Case)
        assert result.wasSuccessful()
        assert len(result.skipped) == result.testsRun == 6

    def test_failure_names_the_configuration(self):
        @testing.inject_backend_tests(None, [{"device": "@strict:1"}])
        class Case(unittest.TestCase):
            def test_a(self, backend_config):
                raise KeyError("a")

        message = outcomes(Case)["test_a"]
        assert "Backend configuration: <BackendConfig use_chainerx=False" in message
        assert "device='@strict:1'>" in message

    def test_combinations(self):
        seen = []

        @testing.inject_backend_tests(["test_a"], [{}, {"device": "@strict"}])
        @testing.parameterize({"n": 1}, {"n": 2})
        class First(unittest.TestCase):
            def test_a(self, backend_config):
                seen.append((self.n, backend_config.label))

        @testing.parameterize({"n": 1}, {"n": 2})
        @testing.inject_backend_tests(["test_a"], [{}, {"device": "@strict"}])
        class Second(unittest.TestCase):
            test_a = First.base.test_a

        expected = {(n, label) for n in (1, 2) for label in ("cpu", "strict")}
        assert run(First).wasSuccessful()
        assert (set(seen), len(seen)) == (expected, 4)
        seen.clear()
        assert run(Second).wasSuccessful()
        assert (set(seen), len(seen)) == (expected, 4)

    def test_function_case(self):
        @testing.inject_backend_tests(None, [{}, {"device": "@strict:1"}])
        class Case(testing.FunctionTestCase):
            dtypes = ("float16", "float32")

            def generate_inputs(self):
                return (np.random.uniform(-1, 1, (2, 3)),)

            def forward(self, inputs, device):
                assert device == self.backend_config.device
                return (chainer.functions.tanh(inputs[0]),)

            def forward_expected(self, inputs):
                return (np.tanh(inputs[0]),)

        result = run(Case)
        assert result.wasSuccessful()
        assert result.testsRun == 12

    def test_no_such_test(self):
        with pytest.warns(MisuseWarning, match="Case has no test 'test_nope'"):
            testing.inject_backend_tests(["test_nope"], [{}])(type("Case", (), {}))

    def test_bad_parameter(self):
        with pytest.raises(ValueError, match="Parameter foo is not defined"):
            testing.inject_backend_tests(None, [{"foo": 1}])

    def test_decorates_classes(self):
        with pytest.raises(TypeError, match="decorates a test class"):
            testing.inject_backend_tests(None, [{}])(lambda: None)


PROGRAM = """
import unittest
import numpy as np
from chainer import functions as F, testing

@testing.inject_backend_tests(None, [{}, {"use_cuda": True}, {"device": "@nonsense"}])
class TestTanh(testing.FunctionTestCase):
    def generate_inputs(self):
        return np.random.uniform(-1, 1, (2, 3)).astype("f"),

    def forward(self, inputs, device):
        return F.tanh(inputs[0]),

    def forward_expected(self, inputs):
        return np.tanh(inputs[0]),
"""


def run_program(tmp_path, text, *arguments):
    path = tmp_path / "test_program.py"
    path.write_text(text)
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("PYTEST", "CHAINER_"))}
    return subprocess.run(
        [sys.executable, *arguments, str(path)],
        capture_output=True,
        text=True,
        check=False,
        env={**clean, "PYTHONPATH": str(ROOT), "CHAINER_TEST_GPU_LIMIT": "0"},
        cwd=tmp_path,
    )


def test_under_pytest(tmp_path):
    more = """
@testing.inject_backend_tests(["test_a"], [{}])
class TestWithoutUnittest:
    def test_a(self, backend_config):
        assert backend_config.label == "cpu"
"""
    result = run_program(tmp_path, PROGRAM + more, "-m", "pytest", "-rs", "-p", "no:cacheprovider")
    assert result.returncode == 0, result.stdout
    assert "needs a GPU" in result.stdout
    assert "backend 'nonsense' is not installed" in result.stdout
    assert "4 passed, 6 skipped" in result.stdout


def test_without_pytest(tmp_path):
    blocker = "import sys; sys.modules['pytest'] = None\n"
    result = run_program(tmp_path, blocker + PROGRAM + "\nunittest.main()\n")
    assert result.returncode == 0, result.stderr
    assert "Ran 9 tests" in result.stderr
    assert "OK (skipped=6)" in result.stderr
