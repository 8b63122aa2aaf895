"""What Chainer expects of every backend, test by test (:class:`chainer.core.backend.Backend`)."""

# pyright: basic
# ruff: noqa: D103
from __future__ import annotations

import copy
import pickle
from types import ModuleType

import numpy as np
import pytest

from chainer.core import registries
from chainer.core.backend import (
    Backend,
    backend_of,
    copyto,
    find_backend,
    get_array_module,
    get_backend,
    get_device,
    get_device_from_array,
    is_array,
    is_instance_of_lazy,
    using_device,
)
from chainer.core.device import Device
from chainer.core.function_node import FunctionNode
from chainer.core.kernel import get_operation, load_object
from chainer.core.parameter import Parameter
from chainer.core.variable import Variable

DTYPES = ("float16", "float32", "float64", "int32", "int64", "uint8", "bool")


def values(dtype="float32", shape=(2, 3)):
    return np.arange(int(np.prod(shape)), dtype=np.float64).reshape(shape).astype(dtype)


@pytest.fixture
def array(device):
    return device.send(values())


# -- the backend itself ---------------------------------------------------------------------------


def test_is_a_backend(backend):
    assert isinstance(backend, Backend)


def test_has_a_name_that_works_in_specifiers(backend):
    assert isinstance(backend.name, str)
    assert backend.name.isidentifier()


def test_is_registered_under_its_name(backend):
    assert get_backend(backend.name) is backend


def test_is_available(backend):
    assert backend.unavailable_reason() is None


def test_has_a_family(backend):
    assert isinstance(backend.family, str)
    assert backend.family


def test_tells_whether_it_is_an_accelerator(backend):
    assert isinstance(backend.is_accelerator, bool)


def test_array_types_are_classes_or_lazy_names(backend):
    assert backend.array_types
    for entry in backend.array_types:
        assert isinstance(entry, type) or (isinstance(entry, str) and ":" in entry)


def test_array_namespace_is_a_module(backend):
    assert isinstance(backend.xp, ModuleType)
    assert backend.xp is backend.xp


# -- devices --------------------------------------------------------------------------------------


def test_has_at_least_one_device(backend):
    devices = backend.devices()
    assert devices
    assert all(isinstance(entry, Device) and entry.backend is backend for entry in devices)


def test_devices_are_distinct(backend):
    devices = backend.devices()
    assert len(set(devices)) == len(devices)


def test_specifier_leads_back_to_the_device(backend):
    for entry in backend.devices():
        assert get_device(entry.name) == entry
        assert get_device(str(entry)) == entry
        assert get_device(entry) is entry


def test_specifier_without_index_is_a_device_of_the_backend(backend):
    assert get_device(f"@{backend.name}") in backend.devices()


def test_missing_device_is_refused(backend):
    with pytest.raises(ValueError, match="999"):
        backend.device(999)


def test_device_knows_the_array_namespace(backend, device):
    assert device.xp is backend.xp


def test_devices_are_pickled(device):
    assert pickle.loads(pickle.dumps(device)) == device


def test_device_becomes_current_and_is_given_back(backend):
    before = backend.device()
    for entry in backend.devices():
        with using_device(entry):
            assert backend.device() == entry
        assert backend.device() == before


def test_devices_nest(backend):
    first, last = backend.devices()[0], backend.devices()[-1]
    before = backend.device()
    with first:
        with last, last:
            assert backend.device() == last
        assert backend.device() == first
    assert backend.device() == before


def test_device_is_given_back_after_an_error(backend):
    before = backend.device()
    with pytest.raises(KeyError), backend.devices()[-1]:
        raise KeyError
    assert backend.device() == before


def test_creation_functions_use_the_current_device(backend):
    for entry in backend.devices():
        with entry:
            assert backend.device_of(backend.xp.zeros((2,), "float32")) == entry


def test_synchronises(backend, device):
    assert backend.synchronize(device) is None


def test_memory_figures_are_numbers(backend, device):
    figures = backend.memory(device)
    assert all(isinstance(name, str) for name in figures)
    assert all(isinstance(figure, int) and figure >= 0 for figure in figures.values())


# -- transfers ------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(2, 3), (), (0, 4), (1, 1, 5)])
def test_arrays_survive_the_way_there_and_back(backend, device, dtype, shape):
    host = values(dtype, shape)
    array = backend.from_host(host, device)
    assert backend_of(array) is backend
    assert array.shape == shape
    assert array.dtype == host.dtype
    back = backend.to_host(array)
    assert type(back) is np.ndarray
    assert back.dtype == host.dtype
    np.testing.assert_array_equal(back, host)


def test_non_contiguous_host_arrays_are_taken(backend, device):
    host = values(shape=(4, 6))[::2, ::-1].T
    np.testing.assert_array_equal(backend.to_host(backend.from_host(host, device)), host)


def test_non_contiguous_arrays_come_back(backend, device):
    array = backend.from_host(values(shape=(4, 6)), device)[::2].T
    np.testing.assert_array_equal(backend.to_host(array), values(shape=(4, 6))[::2].T)


def test_send_keeps_what_is_here(device, array):
    assert device.send(array) is array


def test_send_takes_nested_arrays(device):
    sent = device.send({"a": [values(), None], "b": (values(),)})
    assert sent["a"][1] is None
    assert isinstance(sent["b"], tuple)
    np.testing.assert_array_equal(get_device("@numpy").send(sent["a"][0]), values())


def test_arrays_are_sent_to_every_device(backend):
    for entry in backend.devices():
        array = entry.send(values())
        assert backend.device_of(array) == entry
        for other in backend.devices():
            moved = other.send(array)
            assert backend.device_of(moved) == other
            np.testing.assert_array_equal(backend.to_host(moved), values())


def test_copies_are_independent(backend, device, array):
    copied = backend.copy(array, device)
    copied[0, 0] = 100
    np.testing.assert_array_equal(backend.to_host(array), values())


def test_device_of_an_array(backend, device, array):
    assert backend.device_of(array) == device
    assert get_device_from_array(array) == device
    assert get_device_from_array(None, Variable(array)) == device


def test_copyto_from_host_and_back(backend, device, array):
    source = np.full((2, 3), 7, np.float32)
    copyto(array, source)
    np.testing.assert_array_equal(backend.to_host(array), source)
    target = np.zeros((2, 3), np.float32)
    copyto(target, array)
    np.testing.assert_array_equal(target, source)


# -- which backend an array belongs to ------------------------------------------------------------


def test_arrays_are_recognised(backend, array):
    assert is_array(array)
    assert find_backend(type(array)) is backend


def test_array_module(backend, array):
    assert get_array_module(array) is backend.xp
    assert get_array_module(None, 1.0, Variable(array)) is backend.xp


def test_asarray_of_scalars_and_arrays(backend, array):
    scalar = backend.asarray(2.5, "float32")
    assert backend_of(scalar) is backend
    assert scalar.dtype == np.float32
    assert float(scalar) == 2.5
    assert backend.asarray(array) is array


def test_plain_arrays_belong_to_the_backend(backend, array):
    np.testing.assert_array_equal(backend_of(array).to_host(backend.plain(array)), values())


def test_other_objects_are_refused():
    with pytest.raises(TypeError, match="expected"):
        backend_of("text")


# -- the array namespace --------------------------------------------------------------------------


def test_creation_functions(backend, xp):
    for array, expected in (
        (xp.zeros((2, 3), "float32"), np.zeros((2, 3), np.float32)),
        (xp.ones((3,), "float64"), np.ones((3,))),
        (xp.full((2,), 4, "int32"), np.full((2,), 4, np.int32)),
        (xp.arange(5), np.arange(5)),
        (xp.eye(3, dtype="float32"), np.eye(3, dtype=np.float32)),
    ):
        assert backend_of(array) is backend
        np.testing.assert_array_equal(backend.to_host(array), expected)


def test_arithmetic_and_functions(backend, xp, array):
    result = xp.exp(-((array - 2) ** 2) / 3) + 2 * array
    x = values()
    np.testing.assert_allclose(
        backend.to_host(result), np.exp(-((x - 2) ** 2) / 3) + 2 * x, rtol=1e-5
    )
    assert result.dtype == np.float32


def test_reductions_and_matrix_products(backend, xp, array):
    x = values()
    for result, expected in (
        (array.sum(axis=1), x.sum(axis=1)),
        (xp.mean(array, axis=0, keepdims=True), x.mean(axis=0, keepdims=True)),
        (array.dot(array.T), x.dot(x.T)),
        (xp.matmul(array.T, array), x.T @ x),
        (array.argmax(axis=1), x.argmax(axis=1)),
    ):
        np.testing.assert_allclose(backend.to_host(result), expected, rtol=1e-5)


def test_indexing_and_assignment(backend, device, xp, array):
    x = values()
    with device:
        rows = xp.asarray([1, 0, 1])
    np.testing.assert_array_equal(backend.to_host(array[rows]), x[[1, 0, 1]])
    np.testing.assert_array_equal(backend.to_host(array[:, ::-1]), x[:, ::-1])
    np.testing.assert_array_equal(backend.to_host(array[None, ..., 1]), x[None, ..., 1])
    array[array > 2] = 0
    x[x > 2] = 0
    np.testing.assert_array_equal(backend.to_host(array), x)


def test_shape_manipulation(backend, xp, array):
    x = values()
    result = xp.concatenate([array.reshape(3, 2), array.T], axis=1)
    np.testing.assert_array_equal(
        backend.to_host(result), np.concatenate([x.reshape(3, 2), x.T], axis=1)
    )
    assert xp.broadcast_to(array, (4, 2, 3)).shape == (4, 2, 3)


def test_in_place_arithmetic_changes_the_array(backend, array):
    same = array
    array += 1
    array *= 2
    assert array is same
    np.testing.assert_array_equal(backend.to_host(same), (values() + 1) * 2)


def test_random_numbers_are_repeatable(backend, device):
    random = backend.random(device)
    with device:
        random.seed(3)
        first = random.uniform(size=(5,))
        random.seed(3)
        second = random.uniform(size=(5,))
        third = random.uniform(size=(5,))
    assert backend_of(first) is backend
    np.testing.assert_array_equal(backend.to_host(first), backend.to_host(second))
    assert (backend.to_host(second) != backend.to_host(third)).any()


# -- kernels --------------------------------------------------------------------------------------


def test_every_operation_has_a_reference_kernel(backend):
    registries.operations.load_all()
    for name in registries.operations.names():
        operation = get_operation(name)
        kernel = operation.reference_for(backend)
        assert all(callable(getattr(kernel, method)) for method in operation.methods)


def test_declared_kernels_can_be_loaded(backend, array, pytestconfig):
    registries.kernels.load_all()
    wanted = pytestconfig.getoption("--chainer-provider") or backend.name
    for name in registries.kernels.names():
        kernel = registries.kernels.get(name)
        if kernel.provider != wanted or not is_instance_of_lazy(kernel.array_type, type(array)):
            continue
        assert load_object(kernel.unavailable)() is None
        loaded = load_object(kernel.load)(backend)
        methods = get_operation(kernel.operation).methods
        missing = [method for method in methods if not callable(getattr(loaded, method, None))]
        assert not missing, f"{kernel.key} lacks {', '.join(missing)}"


# -- variables and functions ----------------------------------------------------------------------


class _Double(FunctionNode):
    def forward(self, inputs):
        self.seen = type(inputs[0]), self.xp
        return (inputs[0] * self.xp.full(inputs[0].shape, 2, inputs[0].dtype),)

    def backward(self, target_input_indexes, grad_outputs):
        return _Double().apply(grad_outputs)


def test_functions_see_arrays_and_namespace_of_the_backend(backend, device, array):
    node = _Double()
    (y,) = node.apply((array,))
    assert find_backend(node.seen[0]) is backend
    assert node.seen[1] is backend.xp
    assert y.device == device
    np.testing.assert_array_equal(backend.to_host(y.array), values() * 2)


def test_functions_run_on_the_device_of_their_inputs(backend):
    for entry in backend.devices():
        x = Variable(entry.send(np.ones((1,), np.float32)))
        (y,) = _Double().apply((x,))
        y.backward()
        assert y.device == entry
        assert backend.device_of(x.grad) == entry
        np.testing.assert_array_equal(backend.to_host(x.grad), [2])


def test_host_arrays_are_not_mixed_in(backend, array):
    if backend.family == get_backend("numpy").family:
        (y,) = _Add().apply((array, values()))
        np.testing.assert_array_equal(backend_of(y.array).to_host(y.array), 2 * values())
        return
    with pytest.raises(TypeError, match=r"incompatible array types are mixed .*\(_Add\)"):
        _Add().apply((array, values()))


class _Add(FunctionNode):
    def forward(self, inputs):
        return (inputs[0] + inputs[1],)


def test_variables_move(backend, device):
    x = Variable(values(), grad=values())
    x.to_device(device)
    assert x.device == device
    assert backend_of(x.grad) is backend
    x.to_cpu()
    assert type(x.array) is np.ndarray
    np.testing.assert_array_equal(x.grad, values())


def test_variables_are_pickled_and_copied(backend, array):
    x = Variable(array, name="x")
    for clone in (pickle.loads(pickle.dumps(x)), copy.deepcopy(x)):
        assert clone.name == "x"
        assert backend_of(clone.array) is backend
        np.testing.assert_array_equal(backend.to_host(clone.array), values())


def test_variables_are_printed(array):
    assert "5." in repr(Variable(array))
    assert "shape: (2, 3)" in Variable(array).debug_print()


def test_parameters_are_initialised_on_the_device(backend, device):
    parameter = Parameter(3, shape=(2, 2))
    parameter.to_device(device)
    assert parameter.device == device
    np.testing.assert_array_equal(backend.to_host(parameter.array), np.full((2, 2), 3))
    late = Parameter(5)
    late.to_device(device)
    late.initialize((2,))
    assert late.device == device
    np.testing.assert_array_equal(backend.to_host(late.array), [5, 5])
