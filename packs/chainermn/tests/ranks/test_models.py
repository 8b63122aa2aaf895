"""Parameters and gradients of models."""

import chainermn
import numpy as np
import pytest
from chainermn.communicators import wire

import chainer
from chainer import links as L


def model_of(rank, dtype="float32"):
    state = np.random.RandomState(rank)
    with chainer.using_config("dtype", np.dtype(dtype)):
        model = chainer.Sequential(L.Linear(3, 4), L.Linear(4, 200))
    for _, param in sorted(model.namedparams()):
        param.array[...] = state.normal(size=param.shape)
        param.grad = state.normal(size=param.shape).astype(dtype)
    return model


def params_of(model):
    return [param for _, param in sorted(model.namedparams())]


def test_bcast_data(comm):
    model = model_of(comm.rank)
    model.add_persistent("value", np.full(2, comm.rank, "f"))
    arrays = [param.array for param in params_of(model)]
    comm.bcast_data(model)
    for param, array, expected in zip(
        params_of(model), arrays, params_of(model_of(0)), strict=True
    ):
        assert param.array is array
        np.testing.assert_array_equal(param.array, expected.array)
    assert (model.value == comm.rank).all()
    comm.broadcast_data(model)


def test_uninitialized_parameters_are_skipped(comm):
    model = chainer.Sequential(L.Linear(None, 2), L.Linear(2, 2))
    model[1].cleargrads()
    comm.bcast_data(model)
    comm.multi_node_mean_grad(model, zero_fill=True)
    assert (model[1].W.grad == 0).all()


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_mean_of_gradients(comm, everyone, dtype):
    model = model_of(comm.rank, dtype)
    grads = [param.grad for param in params_of(model)]
    comm.multi_node_mean_grad(model)
    models = everyone(lambda rank: params_of(model_of(rank, dtype)))
    for i, param in enumerate(params_of(model)):
        assert param.grad is grads[i]
        mean = np.mean([m[i].grad.astype("float64") for m in models], axis=0)
        tolerance = {"float16": 1e-3, "float32": 1e-6, "float64": 1e-14}[dtype]
        np.testing.assert_allclose(param.grad, mean, rtol=tolerance, atol=tolerance)
        assert param.grad.dtype == dtype


def test_missing_gradients(comm):
    model = L.Linear(2, 3)
    model.cleargrads()
    model.W.grad = np.ones((3, 2), "f")
    comm.multi_node_mean_grad(model)
    assert model.b.grad is None
    np.testing.assert_allclose(model.W.grad, 1)
    if comm.rank == 0:
        model.b.grad = np.ones(3, "f")
    comm.multi_node_mean_grad(model, zero_fill=True)
    np.testing.assert_allclose(model.b.grad, 1 / comm.size)


def test_old_name_warns(comm):
    model = model_of(comm.rank)
    with pytest.warns(DeprecationWarning, match="multi_node_mean_grad"):
        comm.allreduce_grad(model)


def test_debug_mode(comm):
    with chainer.using_config("debug", True):
        model = model_of(0)
        comm.multi_node_mean_grad(model)
        model[0].b.grad[0] = np.nan
        with pytest.raises(ValueError, match="diverged"):
            comm.multi_node_mean_grad(model)
        if comm.size > 1:
            model = model_of(0)
            if comm.rank == 1:
                model[0].b.cleargrad()
            with pytest.raises(ValueError, match="differ"):
                comm.multi_node_mean_grad(model)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_16_bits_on_the_wire(comm, everyone, dtype):
    narrow = comm.split(0, comm.rank)
    narrow.set_config("allreduce_grad_dtype", dtype)
    model = model_of(comm.rank)
    narrow.multi_node_mean_grad(model)
    models = everyone(lambda rank: params_of(model_of(rank)))
    for i, param in enumerate(params_of(model)):
        # Each term is rounded once, and the mean once.
        values = [m[i].grad.reshape(-1) for m in models]
        rounded = [wire.to_float32(wire.to_16_bits(v, dtype), dtype) for v in values]
        mean = np.mean(rounded, axis=0, dtype="float32")
        step = 2.0**-10 if dtype == "float16" else 2.0**-7
        np.testing.assert_allclose(param.grad.reshape(-1), mean, rtol=step, atol=1e-6)
        everywhere = comm.allgather(param.grad)
        for other in everywhere:
            np.testing.assert_array_equal(other, param.grad)


def test_configuration(comm):
    part = comm.split(0, comm.rank)
    assert part.get_config() == {"batched_copy": True, "allreduce_grad_dtype": None}
    part.set_config("allreduce_grad_dtype", np.float16)
    assert part.allreduce_grad_dtype == "float16"
    assert comm.allreduce_grad_dtype is None
    part.set_config("batched_copy", False)
    assert part.batched_copy is False
    with pytest.raises(ValueError, match="allreduce_grad_dtype must be"):
        part.set_config("allreduce_grad_dtype", np.int32)
    with pytest.raises(ValueError, match="unknown configuration 'other'"):
        part.set_config("other", 1)
    with pytest.raises(KeyError):
        part.get_config("other")
    assert not part.within_config_scope
    with part.config_scope():
        assert part.within_config_scope
        part.mine = 3
    assert part.get_config("mine") == 3


def test_finalize(comm):
    comm.split(0, comm.rank).finalize()


@pytest.mark.parametrize("name", ["flat", "pure_nccl", "non_cuda_aware", "dummy"])
def test_communicators_for_gpus_say_what_is_missing(comm, name):
    if chainer.backends.cuda.available:
        pytest.skip("for machines without a GPU")
    with pytest.raises(RuntimeError, match=name):
        chainermn.create_communicator(name, comm.mpi_comm)
