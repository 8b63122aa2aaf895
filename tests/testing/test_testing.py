"""``chainer.testing``: assertions, parameters, markers, retries, seeds."""

import os
import subprocess
import sys
import unittest
import warnings
from pathlib import Path

import numpy as np
import pytest

import chainer
from chainer import testing
from tests.core.nodes import exp, f32, multiply

ROOT = Path(__file__).parents[2]


def run(case):
    result = unittest.TestResult()
    unittest.defaultTestLoader.loadTestsFromTestCase(case).run(result)
    return result


def problems(result):
    return [text for _, text in result.failures + result.errors]


class TestNames:
    def test_all_are_there(self):
        for name in testing.__all__:
            assert callable(getattr(testing, name))
        assert set(testing.__all__) <= set(dir(testing))

    def test_unknown(self):
        with pytest.raises(AttributeError, match="nonsense"):
            testing.nonsense

    def test_import_is_light(self):
        code = (
            "import sys, chainer, chainer.testing, chainer.testing.pytest_plugin;"
            "print([m for m in ('pytest', 'unittest', 'scipy') if m in sys.modules])"
        )
        result = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True
        )
        assert result.stdout.strip() == "[]"


class TestAssertAllclose:
    def test_close(self):
        testing.assert_allclose(f32(1, 2), [1, 2.0001])
        testing.assert_allclose(chainer.Variable(f32(1)), np.ones(1))
        testing.assert_allclose(chainer.get_device("@strict").send(f32(1, 2)), f32(1, 2))
        testing.assert_allclose(f32(np.nan, np.inf), f32(np.nan, np.inf))
        testing.assert_allclose(3, 3)

    def test_message_names_the_worst(self):
        with pytest.raises(AssertionError) as error:
            testing.assert_allclose(f32(1, 1, 1), f32(1, 1.5, 3), atol=0.1, rtol=0)
        text = str(error.value)
        assert "assert_allclose failed" in text
        assert "i: (2,)" in text
        assert "x[i]: 1.0" in text
        assert "absolute error[i]: 2.0" in text
        assert "shape: (3,) (3,)" in text
        assert "dtype: float32 float32" in text

    def test_nan_is_the_worst(self):
        with pytest.raises(AssertionError, match=r"i: \(0,\)"):
            testing.assert_allclose(f32(np.nan, 1), f32(1, 100))

    def test_terse(self):
        with pytest.raises(AssertionError) as error:
            testing.assert_allclose(f32(1), f32(2), verbose=False)
        assert "\nx: " not in str(error.value)

    def test_shapes(self):
        with pytest.raises(AssertionError, match="shape"):
            testing.assert_allclose(f32(1, 2), f32(1, 2, 3))

    def test_tolerance(self):
        testing.assert_allclose(f32(1), f32(1.1), atol=0.2)
        testing.assert_allclose(f32(1), f32(1.1), atol=0, rtol=0.1)
        with pytest.raises(AssertionError):
            testing.assert_allclose(f32(1), f32(1.1), atol=0, rtol=0.05)

    def test_others_are_refused(self):
        with pytest.raises(TypeError, match="array"):
            testing.assert_allclose(object(), f32(1))


class TestAssertWarns:
    def test_given(self):
        with testing.assert_warns(DeprecationWarning):
            warnings.warn("old", DeprecationWarning)
        with testing.assert_warns(Warning):
            warnings.warn("any", UserWarning)

    def test_not_given(self):
        with (
            pytest.raises(AssertionError, match="DeprecationWarning not triggered$"),
            testing.assert_warns(DeprecationWarning),
        ):
            pass

    def test_another(self):
        with (
            pytest.raises(AssertionError, match="not triggered; other warnings: UserWarning"),
            testing.assert_warns(DeprecationWarning),
        ):
            warnings.warn("x", UserWarning)


class TestHelpers:
    def test_patch_lets_the_original_work(self):
        with testing.patch("chainer.testing.matrix.generate_matrix") as mock:
            from chainer.testing import matrix

            a = matrix.generate_matrix((2, 2), singular_values=1)
        assert a.shape == (2, 2)
        mock.assert_called_once()

    def test_patch_of_something_missing(self):
        with pytest.raises(ModuleNotFoundError, match="no_such_package"):
            testing.patch("no_such_package.thing")

    @pytest.mark.parametrize(
        ("requirements", "satisfied"),
        [
            (["numpy>=2.0"], True),
            (["numpy>=2.0", "numpy<1.0"], False),
            (["no-such-distribution"], False),
        ],
    )
    def test_requirements(self, requirements, satisfied):
        class Case(unittest.TestCase):
            @testing.with_requires(*requirements)
            def test_with(self):
                pass

            @testing.without_requires(*requirements)
            def test_without(self):
                pass

        (skipped,) = run(Case).skipped
        assert ("test_without" in str(skipped[0])) == satisfied

    def test_run_module(self, tmp_path):
        path = tmp_path / "test_it.py"
        path.write_text(
            "from chainer import testing\ndef test_it():\n    assert 1 == 2\n"
            "testing.run_module(__name__, __file__)\n"
        )
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTEST_ADDOPTS": ""}
        result = subprocess.run(
            [sys.executable, str(path)],
            capture_output=True,
            text=True,
            env=environment,
            cwd=tmp_path,
            check=False,
        )
        assert result.returncode == 1
        assert "1 failed" in result.stdout

    def test_run_module_when_imported(self):
        assert testing.run_module("some.module", "file") is None


class TestGenerateMatrix:
    @pytest.mark.parametrize("shape", [(3, 3), (2, 4), (5, 2, 3, 2)])
    @pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex128])
    def test_singular_values(self, shape, dtype):
        rank = min(shape[-2:])
        values = np.arange(1, rank + 1)
        a = testing.generate_matrix(shape, dtype, singular_values=values)
        assert a.shape == shape
        assert a.dtype == dtype
        found = np.linalg.svd(a, compute_uv=False)
        np.testing.assert_allclose(
            np.sort(found, axis=-1), np.broadcast_to(values, found.shape), 1e-4
        )

    @pytest.mark.parametrize(
        ("arguments", "values", "error", "match"),
        [
            (((3,),), 1, ValueError, "at least 2 dimensions"),
            (((3, 3), int), 1, TypeError, "floating-point"),
            (((3, 3),), -1, ValueError, "negative"),
            (((3, 3),), 1j, TypeError, "real"),
        ],
    )
    def test_errors(self, arguments, values, error, match):
        with pytest.raises(error, match=match):
            testing.generate_matrix(*arguments, singular_values=values)


def _square(x):
    return multiply(x, x)


class TestUnaryMathFunctionUnittest:
    def run(self, func, **kwargs):
        class Case(unittest.TestCase):
            pass

        bundle = testing.unary_math_function_unittest(func, **kwargs)(Case)
        failed = set()
        for case in bundle:
            result = run(case)
            failed |= {test.id().rpartition(".")[2] for test, _ in result.failures + result.errors}
            del globals()[case.__name__]
        return failed

    def test_right(self):
        assert self.run(exp, label_expected="Exp") == set()

    def test_label(self):
        assert self.run(exp) == {"test_label"}

    def test_expected_values(self):
        expected = lambda x: x * x
        assert self.run(_square, func_expected=expected, label_expected="Multiply") == set()
        failed = self.run(_square, func_expected=np.cos, label_expected="Multiply")
        assert failed == {"test_forward_cpu"}

    def test_no_numpy_function(self):
        with pytest.raises(ValueError, match="NumPy has no function '_square'"):
            testing.unary_math_function_unittest(_square)

    def test_data(self):
        shapes = []

        def make_data(shape, dtype):
            shapes.append((shape, np.dtype(dtype).name))
            return tuple(np.full(shape, 0.5, dtype) for _ in range(3))

        assert self.run(exp, label_expected="Exp", make_data=make_data) == set()
        assert {shape for shape, _ in shapes} == {(), (3, 2)}
        assert {dtype for _, dtype in shapes} == {"float16", "float32", "float64"}

    def test_options(self):
        impossible = {"atol": 0, "rtol": 0}
        failed = self.run(
            exp,
            label_expected="Exp",
            backward_options=impossible,
            double_backward_options=impossible,
        )
        assert failed == {"test_backward_cpu", "test_double_backward_cpu"}

    def test_linear(self):
        double = lambda x: x + x
        with pytest.warns(DeprecationWarning, match="is_linear"):
            failed = self.run(
                double, func_expected=lambda x: 2 * x, label_expected="_ + _", is_linear=True
            )
        assert failed == set()


class TestSerializers:
    def test_save_and_load(self, tmp_path):
        loaded = {}
        testing.save_and_load(
            "content",
            loaded,
            "name.txt",
            lambda path, src: Path(path).write_text(src),
            lambda path, dst: dst.update(text=Path(path).read_text(), name=Path(path).name),
        )
        assert loaded == {"text": "content", "name": "name.txt"}

    @pytest.mark.parametrize("form", ["npz", "hdf5"])
    def test_forms(self, form):
        source, target = chainer.links.Linear(2, 3), chainer.links.Linear(2, 3)
        getattr(testing, f"save_and_load_{form}")(source, target)
        np.testing.assert_array_equal(source.W.array, target.W.array)


class TestTrainer:
    def test_counts(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        seen = []
        trainer = testing.get_trainer_with_mock_updater((6, "iteration"), iter_per_epoch=3)
        updater = trainer.updater
        trainer.extend(
            lambda t: seen.append((updater.iteration, updater.epoch, updater.is_new_epoch)),
            name="watch",
            trigger=(1, "iteration"),
        )
        trainer.run()
        assert seen == [
            (1, 0, False),
            (2, 0, False),
            (3, 1, True),
            (4, 1, False),
            (5, 1, False),
            (6, 2, True),
        ]
        assert updater.epoch_detail == 2
