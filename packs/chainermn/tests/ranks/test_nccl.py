"""Communicators on GPUs: one for each process."""

import chainermn
import numpy as np
import pytest

import chainer
import chainer.functions as F
from chainer import links as L

pytestmark = pytest.mark.multi_gpu(2)

NAMES = ["pure_nccl", "flat", "non_cuda_aware"]


def gpus():
    from chainer.backends import cuda

    return cuda.cupy.cuda.runtime.getDeviceCount() if cuda.available else 0


@pytest.fixture(params=NAMES)
def gpu_comm(request, comm):
    if gpus() < comm.size or chainermn.nccl.missing() is not None:
        pytest.skip(f"needs NCCL and {comm.size} GPUs")
    made = chainermn.create_communicator(request.param, comm.mpi_comm)
    chainer.get_device(f"@cupy:{made.intra_rank}").use()
    yield made
    made.finalize()


def model_of(rank):
    state = np.random.RandomState(rank)
    model = L.Linear(3, 5)
    for _, param in sorted(model.namedparams()):
        param.array[...] = state.normal(size=param.shape)
        param.grad = state.normal(size=param.shape).astype("f")
    return model


def test_means_and_parameters(gpu_comm, everyone):
    model = model_of(gpu_comm.rank)
    model.to_device(f"@cupy:{gpu_comm.intra_rank}")
    gpu_comm.multi_node_mean_grad(model)
    means = [np.mean([m.W.grad for m in everyone(model_of)], axis=0)]
    np.testing.assert_allclose(chainer.backends.cuda.to_cpu(model.W.grad), means[0], rtol=1e-5)
    gpu_comm.bcast_data(model)
    np.testing.assert_array_equal(chainer.backends.cuda.to_cpu(model.W.array), model_of(0).W.array)


def test_arrays(gpu_comm):
    xp = chainer.get_device(f"@cupy:{gpu_comm.intra_rank}").xp
    x = xp.full((2, 3), gpu_comm.rank, "f")
    total = gpu_comm.allreduce(x)
    assert type(total) is type(x)
    assert (total == sum(range(gpu_comm.size))).all()
    assert [float(y[0, 0]) for y in gpu_comm.allgather(x)] == list(range(gpu_comm.size))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_dtype_of_gradients(gpu_comm, everyone, dtype):
    if "allreduce_grad_dtype" not in gpu_comm.get_config():
        pytest.skip("has no such option")
    gpu_comm.set_config("allreduce_grad_dtype", dtype)
    model = model_of(gpu_comm.rank)
    model.to_device(f"@cupy:{gpu_comm.intra_rank}")
    gpu_comm.multi_node_mean_grad(model)
    mean = np.mean([m.W.grad for m in everyone(model_of)], axis=0)
    tolerance = {"float16": 1e-2, "bfloat16": 5e-2}.get(dtype, 1e-5)
    actual = chainer.backends.cuda.to_cpu(model.W.grad)
    np.testing.assert_allclose(actual, mean, rtol=tolerance, atol=tolerance)


OPTIONS = {
    "plain": {},
    "buckets": {"overlap": True, "bucket_bytes": 40},
    "sharded": {"shard_states": True},
    "double buffering": {"double_buffering": True},
}


@pytest.mark.parametrize("kind", OPTIONS)
def test_training(gpu_comm, kind):
    """Equals training by one process on the joint batch, on the CPU."""
    if kind == "double buffering" and type(gpu_comm).__name__ != "PureNcclCommunicator":
        with pytest.raises(ValueError, match="pure_nccl"):
            chainermn.create_multi_node_optimizer(
                chainer.optimizers.SGD(), gpu_comm, double_buffering=True
            )
        return
    state = np.random.RandomState(5)
    batches = state.normal(size=(5, gpu_comm.size, 4, 3)).astype("f")
    model = model_of(gpu_comm.rank)
    model.to_device(f"@cupy:{gpu_comm.intra_rank}")
    optimizer = chainermn.create_multi_node_optimizer(
        chainer.optimizers.MomentumSGD(0.1), gpu_comm, **OPTIONS[kind]
    ).setup(model)
    alone = model_of(0)
    plain = chainer.optimizers.MomentumSGD(0.1).setup(alone)
    before = None

    def loss(link, x):
        y = link(x)
        return F.mean(y * y)

    for i, batch in enumerate(batches):
        optimizer.update(loss, model, model.device.send(batch[gpu_comm.rank]))
        if i == 0:
            continue  # the first call only broadcasts
        alone.cleargrads()
        loss(alone, batch.reshape(-1, 3)).backward()
        now = {name: param.grad.copy() for name, param in alone.namedparams()}
        if kind == "double buffering":
            now, before = before, now
        if now is not None:
            for name, param in alone.namedparams():
                param.grad = now[name]
            plain.update()
    for name, param in model.namedparams():
        expected = dict(alone.namedparams())[name].array
        actual = chainer.backends.cuda.to_cpu(param.array)
        np.testing.assert_allclose(actual, expected, rtol=1e-4, atol=1e-5)
