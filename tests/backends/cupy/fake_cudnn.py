"""cuDNN and CuPy played by NumPy: kernels get arrays with addresses, graphs compute at addresses.

What is proven with it: shapes, strides, layouts, padding and addresses that the kernels hand over.
"""

from __future__ import annotations

import contextlib
import ctypes
from types import SimpleNamespace

import numpy as np

from chainer.backends.numpy.kernels.convolutions import ConvolutionNDKernel
from chainer.backends.operations.convolutions import ConvolutionGeometry
from chainer.core.arrays.backend import get_backend


class Names:
    """An enumeration whose members are their names."""

    def __getattr__(self, name):
        return name


class NotSupported(Exception):
    """What the front end raises where cuDNN has no plan."""


#: Names that NumPy knows, BFLOAT16's only where ml_dtypes is.
DTYPES = {"HALF": "float16", "BFLOAT16": "bfloat16", "FLOAT": "float32", "DOUBLE": "float64"}


class Tensor:
    def __init__(self, dim=None, stride=None, data_type=None, uid=None, by_value=False):
        self.dim, self.stride, self.data_type, self.uid = dim, stride, data_type, uid
        self.by_value = by_value

    def set_output(self, value):
        assert value is True
        return self

    def set_uid(self, uid):
        self.uid = uid
        return self

    def set_dim(self, dim):
        self.dim = dim
        return self

    def set_stride(self, stride):
        self.stride = stride
        return self

    def set_data_type(self, data_type):
        self.data_type = data_type
        return self

    def array(self, pointers):
        dtype = np.dtype(DTYPES[self.data_type])
        nbytes = (
            sum((n - 1) * s for n, s in zip(self.dim, self.stride, strict=True)) + 1
        ) * dtype.itemsize
        assert self.by_value or pointers[self.uid] % 16 == 0
        buffer = (ctypes.c_char * nbytes).from_address(pointers[self.uid])
        strides = [s * dtype.itemsize for s in self.stride]
        return np.ndarray(self.dim, dtype, buffer, strides=strides)


class Graph:
    """A graph of one operation."""

    #: Workspace of each plan, and whether it can be built.
    plans = ((0, True),)

    def __init__(self, **keywords):
        self.keywords = keywords
        self.excluded = []
        self.executed = []
        self.steps = []
        self.fails = None

    def tensor(self, dim, stride, data_type, is_pass_by_value, uid):
        assert isinstance(dim, list)
        assert isinstance(stride, list)
        return Tensor(dim, stride, data_type, uid, is_pass_by_value)

    def conv_fprop(self, image, weight, **geometry):
        return self._operation("forward", image, weight, geometry)

    def conv_dgrad(self, loss, filter, **geometry):
        return self._operation("backward_data", loss, filter, geometry)

    def conv_wgrad(self, image, loss, **geometry):
        return self._operation("backward_weight", image, loss, geometry)

    def _operation(self, what, first, second, geometry):
        self.tensors = [first, second, Tensor()]
        self.compute = lambda *arrays: self._convolve(what, geometry, *arrays)
        return self.tensors[2]

    def batchnorm(self, input, scale, bias, in_running_mean, in_running_var, epsilon, momentum):
        assert in_running_mean is in_running_var is momentum is None
        results = [Tensor(), Tensor(), Tensor()]
        self.tensors = [input, scale, bias, epsilon, *results]
        self.compute = self._normalize
        return [*results, None, None]

    def batchnorm_backward(self, grad, input, scale, mean, inv_variance):
        results = [Tensor(), Tensor(), Tensor()]
        self.tensors = [grad, input, scale, mean, inv_variance, *results]
        self.compute = self._normalize_backward
        return results

    def validate(self):
        self.steps.append("validate")

    def build_operation_graph(self):
        self.steps.append("build")

    def create_execution_plans(self, modes):
        assert modes == ["A", "FALLBACK"]
        self.steps.append("create")

    def deselect_numeric_notes(self, notes):
        assert self.steps[-1] == "create"
        self.excluded += notes

    def get_execution_plan_count(self):
        return len(self.plans)

    def build_plan_at_index(self, index):
        if not self.plans[index][1]:
            raise NotSupported(f"engine {index} does not do that\nsecond line")
        self.steps.append(f"plan {index}")

    def get_workspace_size_plan_at_index(self, index):
        assert f"plan {index}" in self.steps
        return self.plans[index][0]

    def get_plan_name_at_index(self, index):
        return f"engine{index}"

    def _execute_plan_at_index(self, pointers, workspace, index, handle):
        assert f"plan {index}" in self.steps
        assert handle == HANDLE
        assert bool(workspace) == bool(self.plans[index][0])
        if self.fails:
            raise RuntimeError(self.fails)
        self.executed.append(index)
        assert set(pointers) == {tensor.uid for tensor in self.tensors}
        self.compute(*[tensor.array(pointers) for tensor in self.tensors])

    def _normalize(self, x, gamma, beta, eps, y, mean, inv_std):
        assert [eps.shape, mean.shape] == [(1,) * x.ndim, gamma.shape]
        wide = x.astype(np.float64)
        axis = (0, *range(2, x.ndim))
        mean[...] = wide.mean(axis, keepdims=True)
        inv_std[...] = 1 / np.sqrt(wide.var(axis, keepdims=True) + eps)
        y[...] = (wide - mean) * inv_std * gamma + beta

    def _normalize_backward(self, gy, x, gamma, mean, inv_std, gx, ggamma, gbeta):
        axis = (0, *range(2, x.ndim))
        count = x.size // x.shape[1]
        normal = (x.astype(np.float64) - mean) * inv_std
        gbeta[...] = gy.astype(np.float64).sum(axis, keepdims=True)
        ggamma[...] = (gy * normal).sum(axis, keepdims=True)
        gx[...] = gamma * inv_std * (gy - (gbeta + normal * ggamma) / count)

    def _convolve(self, what, geometry, first, second, result):
        x, W, y = {
            "forward": (first, second, result),
            "backward_data": (result, second, first),
            "backward_weight": (first, result, second),
        }[what]
        g = {name: tuple(sizes) for name, sizes in geometry.items()}
        for axis, (before, behind, stride, dilate) in enumerate(
            zip(g["pre_padding"], g["post_padding"], g["stride"], g["dilation"], strict=True), 2
        ):
            extent = (W.shape[axis] - 1) * dilate + 1
            assert behind >= 0
            size = x.shape[axis] + before + behind
            assert (size - extent) // stride + 1 == y.shape[axis]
        kernel = ConvolutionNDKernel(get_backend("numpy"))
        groups = x.shape[1] // W.shape[1]
        windows = ConvolutionGeometry(g["stride"], g["pre_padding"], g["dilation"], groups)
        if what == "forward":
            result[...] = kernel.forward(x, W, None, y.shape[2:], windows)
        elif what == "backward_data":
            result[...] = kernel.backward_data(y, W, None, x.shape[2:], windows)
        else:
            result[...] = kernel.backward_weight(x, y, W.shape[2:], W.dtype, windows)


HANDLE = 4242


class Handle:
    """As later releases have it; ``backend_handle`` is what compiled code takes."""

    backend_handle = HANDLE


class FakeCudnn:
    """The module ``cudnn``."""

    data_type = Names()
    numerical_note = Names()
    heur_mode = Names()
    cudnnGraphNotSupportedError = NotSupported

    def __init__(self, plans=((0, True),)):
        self.graphs = []
        self.streams = []
        self.destroyed = []

        def make(**keywords):
            graph = Graph(**keywords)
            graph.plans = plans
            self.graphs.append(graph)
            return graph

        self.pygraph = Graph
        self._compiled_module = SimpleNamespace(backend_graph=make)

    def backend_version(self):
        return 91000

    def create_handle(self):
        return Handle()

    def destroy_handle(self, handle):
        self.destroyed.append(handle)

    def set_stream(self, handle, stream):
        assert isinstance(handle, Handle)
        self.streams.append(stream)


class Array(np.ndarray):
    """An array with the attribute ``data`` of CuPy's."""

    @property
    def data(self):
        return SimpleNamespace(ptr=self.ctypes.data, device_id=0)


def _aligned(array):
    """Copies an array to an even address, where CuPy's allocator puts all."""
    memory = np.empty(array.nbytes + 16, np.uint8)
    start = -memory.ctypes.data % 16
    copy = memory[start : start + array.nbytes].view(array.dtype).reshape(array.shape)
    copy[...] = array
    return copy.view(Array)


def placed(array):
    """Copies an array to an even address and keeps its strides."""
    if array.base is None or not array.size:
        return _aligned(array)
    order = sorted(range(array.ndim), key=lambda axis: -array.strides[axis])
    inner = array.strides[order[-1]] // array.itemsize
    shape = [array.shape[axis] for axis in order]
    memory = _aligned(np.zeros((*shape[:-1], shape[-1] * inner), array.dtype))
    view = memory[..., ::inner].transpose(np.argsort(order))
    view[...] = array
    return view


class Event:
    """Time is the number of the plan executed last; see :class:`FakeCupy`."""

    def record(self):
        pass

    def synchronize(self):
        pass


class FakeCupy:
    """The module ``cupy`` over NumPy."""

    def __init__(self):
        self.allocated = []
        self.stream = 7
        self.times = iter(())
        self.cuda = SimpleNamespace(
            runtime=SimpleNamespace(getDevice=lambda: 0),
            Device=lambda index: contextlib.nullcontext(),
            get_current_stream=lambda: SimpleNamespace(ptr=self.stream),
            alloc=self._alloc,
            Event=Event,
            get_elapsed_time=lambda start, stop: next(self.times),
        )

    def _alloc(self, size):
        self.allocated.append(size)
        return SimpleNamespace(ptr=99)

    def empty(self, shape, dtype):
        return _aligned(np.full(shape, np.nan, dtype))

    def array(self, array, order):
        return _aligned(np.array(array, order=order))

    def reciprocal(self, array):
        return np.reciprocal(array)

    def ascontiguousarray(self, array):
        return np.ascontiguousarray(array).view(Array)
