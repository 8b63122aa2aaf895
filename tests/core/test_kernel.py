"""Which kernel serves a call, with an operation and kernels made up for the purpose."""

import numpy as np
import pytest

import chainer
from chainer.core import misuse
from chainer.core.arrays.backend import Backend, get_backend, get_device
from chainer.core.arrays.kernel import (
    ArraySpec,
    CallSpec,
    Kernel,
    Operation,
    ReferenceKernel,
    explain,
    get_operation,
    register_kernel,
)
from chainer.core.config.configuration import using_config
from chainer.core.registry import registries
from tests.core.nodes import f32, var


class TwiceReference(ReferenceKernel):
    name = "reference"

    def forward(self, x, factor=2):
        return self.xp.multiply(x, factor)


class Twice(Operation):
    """Multiplies by two."""

    name = "test_twice"
    methods = ("forward",)
    reference = TwiceReference


class Fast:
    """A kernel; the name of its provider is its own."""

    def __init__(self, backend):
        self.backend = backend
        self.name = "fast"

    def forward(self, x, factor=2):
        return x + x


class Faster(Fast):
    def __init__(self, backend):
        super().__init__(backend)
        self.name = "faster"


@pytest.fixture
def operation():
    before = set(registries.kernels.names())
    operation = Twice()
    registries.operations.register("test_twice", operation)
    yield operation
    registries.operations.unregister("test_twice")
    for name in set(registries.kernels.names()) - before:
        registries.kernels.unregister(name)


def declare(provider="fast", load=Fast, **kwargs):
    kernel = Kernel("test_twice", np.ndarray, provider, load, **kwargs)
    register_kernel(kernel)
    return kernel


def chosen(operation, array=None, **attributes):
    kernel = operation.select(f32(1, 2) if array is None else array, **attributes)
    return getattr(kernel, "name", "reference")  # the reference may be wrapped


class TestReference:
    def test_serves_every_backend(self, operation):
        for name in ("numpy", "strict"):
            array = get_device(f"@{name}").send(f32(1, 2))
            kernel = operation.select(array)
            assert kernel.name == "reference"
            assert kernel.xp is get_backend(name).xp
            assert get_device("@numpy").send(kernel.forward(array)).tolist() == [2, 4]

    def test_is_made_once_per_backend(self, operation):
        assert operation.select(f32(1)) is operation.select(f32(2))
        assert operation.reference_for(get_backend("numpy")) is operation.select(f32(1))

    def test_lazy_reference(self):
        class Lazy(Twice):
            name = "test_lazy"
            reference = f"{__name__}:TwiceReference"

        assert Lazy().select(f32(1)).name == "reference"

    def test_no_array(self, operation):
        with pytest.raises(TypeError, match="test_twice: .*expected"):
            operation.select([1])

    def test_missing_method(self):
        class Demanding(Twice):
            name = "test_demanding"
            methods = ("forward", "backward", "sideways")

        with pytest.raises(
            TypeError, match="the reference for operation 'test_demanding' lacks backward, sideways"
        ):
            Demanding().select(f32(1))


class TestProviders:
    def test_are_off_by_default(self, operation):
        declare()
        assert chosen(operation) == "reference"

    def test_are_enabled_by_the_configuration(self, operation):
        declare()
        with using_config("kernels", ("fast",)):
            assert chosen(operation) == "fast"
            with using_config("kernels", ()):
                assert chosen(operation) == "reference"
        assert chosen(operation) == "reference"

    def test_one_name_will_do(self, operation):
        declare()
        with using_config("kernels", "fast"):
            assert chosen(operation) == "fast"

    def test_own_kernels_of_a_backend_are_on(self, operation):
        declare("numpy")
        assert chosen(operation) == "fast"

    def test_kernels_of_other_arrays_do_not_count(self, operation):
        declare("numpy")
        assert chosen(operation, get_device("@strict").send(f32(1))) == "reference"

    def test_lazy_array_type(self, operation):
        register_kernel(
            Kernel("test_twice", "chainer_strict_backend.array:ndarray", "strict", Fast)
        )
        assert chosen(operation, get_device("@strict").send(f32(1))) == "fast"
        assert chosen(operation) == "reference"

    @pytest.mark.parametrize(
        ("setting", "name"), [("never", "reference"), ("auto", "fast"), ("always", "fast")]
    )
    @pytest.mark.parametrize("provider", ["ideep", "cudnn"])
    def test_documented_switches(self, operation, provider, setting, name):
        declare(provider)
        with using_config(f"use_{provider}", setting):
            assert chosen(operation) == name

    def test_registration_is_seen_at_once(self, operation):
        with using_config("kernels", ("fast",)):
            with misuse.ignored():
                assert chosen(operation) == "reference"
            kernel = declare()
            assert chosen(operation) == "fast"
            registries.kernels.unregister(kernel.key)
            assert chosen(operation) == "reference"


class TestUnavailable:
    def test_is_passed_over(self, operation):
        declare("ideep", unavailable=lambda: "no such library")
        with using_config("use_ideep", "auto"):
            assert chosen(operation) == "reference"

    def test_demanded(self, operation):
        declare("ideep", unavailable=lambda: "no such library")
        with (
            using_config("use_ideep", "always"),
            pytest.raises(
                RuntimeError, match="demands provider 'ideep', which is not available: no such"
            ),
        ):
            chosen(operation)

    def test_lazy(self, operation):
        declare("ideep", unavailable=f"{__name__}:why_not")
        with using_config("use_ideep", "auto"):
            assert chosen(operation) == "reference"


def why_not():
    return "because"


def contiguous_only(spec):
    return spec.arrays[0].contiguous or "needs contiguous arrays"


class TestSupports:
    def test_decides_by_the_call(self, operation):
        declare("numpy", supports=contiguous_only)
        assert chosen(operation, np.zeros((4, 4))) == "fast"
        assert chosen(operation, np.zeros((4, 4)).T) == "reference"
        assert chosen(operation, np.zeros((4, 4))[:, ::2]) == "reference"

    def test_sees_shapes_dtypes_and_attributes(self, operation):
        seen = []

        def supports(spec):
            seen.append(spec)
            return True

        declare("numpy", supports=supports)
        operation.select(np.zeros((2, 3), np.float32), None, factor=3)
        assert seen == [
            CallSpec((ArraySpec((2, 3), np.dtype("float32"), True), None), {"factor": 3}, False)
        ]
        assert (seen[0].arrays[0].ndim, seen[0].arrays[0].size) == (2, 6)

    @pytest.mark.parametrize("answer", [None, NotImplemented])
    def test_forgotten_answer(self, operation, answer):
        declare("numpy", supports=lambda spec: answer)
        with pytest.raises(
            TypeError,
            match="the function 'supports' of the kernel 'test_twice/numpy/numpy:ndarray' must "
            f"return True, False or the reason .*, got {answer!r}",
        ):
            chosen(operation)

    def test_answer_may_be_a_bool_of_numpy(self, operation):
        declare("numpy", supports=lambda spec: np.bool(spec.arrays[0].size > 2))
        assert chosen(operation, f32(1, 2, 3)) == "fast"
        assert chosen(operation, f32(1)) == "reference"

    def test_errors_say_which_kernel_they_come_from(self, operation):
        declare("numpy", supports=lambda spec: spec.attributes["axis"])
        with pytest.raises(KeyError) as caught:
            chosen(operation)
        assert "'supports' of the kernel 'test_twice/numpy/" in caught.value.__notes__[0]

    def test_errors_while_loading_say_what_load_gets(self, operation):
        declare("numpy", load=object)
        with pytest.raises(TypeError) as caught:
            chosen(operation)
        assert "is called with the backend as its only argument" in caught.value.__notes__[0]

    @pytest.mark.parametrize("array_type", ["numpy.ndarray", None])
    def test_array_type_must_be_a_class_or_a_lazy_name(self, array_type):
        with pytest.raises(ValueError, match=f"such as 'numpy:ndarray', got {array_type!r}"):
            Kernel("test_twice", array_type, "fast", Fast)

    def test_unknown_provider_in_the_configuration(self, operation):
        declare("swift")
        with (
            using_config("kernels", ("swfit",)),
            pytest.warns(
                misuse.MisuseWarning, match="names 'swfit', but no .* did you mean 'swift'"
            ),
        ):
            assert chosen(operation) == "reference"

    def test_is_asked_once_per_signature(self, operation):
        calls = []

        def supports(spec):
            calls.append(spec)
            return False

        declare("numpy", supports=supports)
        for _ in range(3):
            operation.select(f32(1), factor=2)
        assert len(calls) == 1
        operation.select(f32(1), factor=3)
        operation.select(f32(1, 2), factor=2)
        operation.select(np.zeros(1), factor=2)
        assert len(calls) == 4

    def test_deterministic(self, operation):
        declare("numpy", supports=lambda spec: not spec.deterministic)
        assert chosen(operation) == "fast"
        with using_config("cudnn_deterministic", True):
            assert chosen(operation) == "reference"

    def test_lazy(self, operation):
        declare("numpy", supports=f"{__name__}:contiguous_only")
        assert chosen(operation, np.zeros((4, 4))[:, ::2]) == "reference"


class TestOrder:
    def test_priority(self, operation):
        declare("numpy", priority=1)
        register_kernel(Kernel("test_twice", np.ndarray, "ideep", Faster, priority=2))
        assert chosen(operation) == "fast"
        with using_config("use_ideep", "auto"):
            assert chosen(operation) == "faster"

    def test_next_one_when_unsupported(self, operation):
        declare("numpy", priority=1)
        register_kernel(
            Kernel("test_twice", np.ndarray, "ideep", Faster, supports=lambda s: False, priority=2)
        )
        with using_config("use_ideep", "auto"):
            assert chosen(operation) == "fast"

    def test_preference_beats_priority(self, operation):
        declare("one", priority=1)
        register_kernel(Kernel("test_twice", np.ndarray, "two", Faster, priority=9))
        with using_config("kernels", ("one", "two")):
            assert chosen(operation) == "fast"
        with using_config("kernels", ("two", "one")):
            assert chosen(operation) == "faster"


class TestLoading:
    def test_at_first_choice_and_once(self, operation):
        made = []

        def load(backend):
            made.append(backend)
            return Fast(backend)

        declare("numpy", load=load)
        assert made == []
        assert operation.select(f32(1)) is operation.select(f32(1, 2))
        assert made == [get_backend("numpy")]

    def test_lazy(self, operation):
        declare("numpy", load=f"{__name__}:Fast")
        assert chosen(operation) == "fast"

    def test_missing_method(self, operation):
        declare("numpy", load=lambda backend: object())
        with pytest.raises(
            TypeError, match="provider 'numpy' for operation 'test_twice' lacks forward"
        ):
            operation.select(f32(1))

    def test_failure_is_not_swallowed(self, operation):
        def load(backend):
            raise OSError("no such file")

        declare("numpy", load=load)
        for _ in range(2):
            with pytest.raises(OSError, match="no such file"):
                operation.select(f32(1))


class TestExplain:
    def test_reference_only(self, operation):
        assert str(explain("test_twice", f32(1))) == (
            "test_twice on numpy.ndarray is served by 'reference'\n"
            "  * reference (priority -1): chosen"
        )

    def test_reasons(self, operation):
        declare("off", priority=5)
        declare("picky", supports=lambda spec: "only on Sundays", priority=4)
        declare("ideep", unavailable=lambda: "no such library", priority=3)
        declare("numpy", priority=2)
        declare("late", priority=1)
        with using_config("kernels", ("picky", "late")), using_config("use_ideep", "auto"):
            explanation = explain(operation, var(1), factor=2)
        reasons = {candidate.provider: candidate.reason for candidate in explanation}
        assert reasons["off"].startswith("not enabled; name 'off' in chainer.config.kernels")
        assert reasons["picky"] == "only on Sundays"
        assert reasons["ideep"] == "no such library"
        assert reasons["reference"] == "an accelerated kernel serves the call"
        assert reasons["late"] is None  # preferred, though its priority is the lowest
        assert reasons["numpy"] == "a kernel of higher priority serves the call"
        assert explanation.chosen.provider == "late"

    def test_what_the_kernel_and_the_backend_declare(self, operation, monkeypatch):
        lacks = {"deterministic": "it adds in any order"}
        declare("numpy", limitations=lacks)
        declare("off", limitations={"complex": "not asked"})
        monkeypatch.setattr(
            type(get_backend("numpy")), "limitations", {"precise_float64": "it rounds"}
        )
        text = str(explain(operation, f32(1)))
        assert "kernel of 'numpy': no deterministic (it adds in any order)" in text
        assert "backend 'numpy': no precise_float64 (it rounds)" in text
        assert "not asked" not in text

    def test_blocked_by_a_switch(self, operation):
        declare("ideep")
        (first, _) = explain(operation, f32(1))
        assert first.reason == "chainer.config.use_ideep is 'never'"

    def test_public_name(self):
        assert chainer.explain is explain

    def test_unknown_operation(self):
        with pytest.raises(LookupError, match="nonsense"):
            explain("nonsense", f32(1))
        with pytest.raises(LookupError, match="nonsense"):
            get_operation("nonsense")

    def test_same_choice_as_select(self, operation):
        declare("numpy", supports=contiguous_only)
        for array in (np.zeros((4, 4)), np.zeros((4, 4))[:, ::2]):
            expected = "numpy" if chosen(operation, array) == "fast" else "reference"
            assert explain(operation, array).chosen.provider == expected


def test_key():
    assert Kernel("op", np.ndarray, "p", Fast).key == "op/p/numpy:ndarray"
    assert Kernel("op", "m:C", "p", Fast).key == "op/p/m:C"


def test_kernel_of_a_base_class_of_another_backend(operation):
    class Mine(np.ndarray):
        pass

    class MyBackend(Backend):
        name = "test_mine"
        array_types = (Mine,)
        xp = np

    register_kernel(Kernel("test_twice", np.ndarray, "numpy", Fast))
    registries.backends.register("test_mine", MyBackend())
    try:
        assert operation.select(np.ones(2).view(Mine)).name == "reference"
        assert operation.select(np.ones(2)).name == "fast"
        assert operation.select(np.ones(2).view(np.recarray)).name == "fast"
    finally:
        registries.backends.unregister("test_mine")
