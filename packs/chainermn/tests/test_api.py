"""Names and signatures of the public API of release 7.8.1."""

import importlib
import inspect
import os
import subprocess
import sys

import chainermn
import pytest
from chainermn.mpi import MPINotFoundError

from chainer.utils import install_command

#: Name -> parameters, as ``inspect.signature`` shows them without types. Where release 7 has
#: another signature, a comment says what it was.
SIGNATURES = {
    "chainermn.create_communicator": "(communicator_name='pure_nccl', mpi_comm=None, **kwargs)",
    "chainermn.create_multi_node_optimizer": "(actual_optimizer, communicator, "
    "double_buffering=False, zero_fill=True, *, overlap=False, bucket_bytes=4194304, "
    "shard_states=False, accumulate=1)",
    "chainermn.create_multi_node_evaluator": "(actual_evaluator, communicator)",
    "chainermn.create_multi_node_checkpointer": "(name, comm, cp_interval=5, gc_interval=5, "
    "path=None)",
    "chainermn.scatter_dataset": "(dataset, comm, root=0, shuffle=False, seed=None, "
    "max_buf_len=268435456, *, force_equal_length=True)",
    "chainermn.scatter_index": "(n_total_samples, comm, root=0, *, force_equal_length=True)",
    "chainermn.MultiNodeChainList": "(comm)",
    "chainermn.MultiNodeChainList.add_link": "(self, link, rank_in=None, rank_out=None)",
    "chainermn.datasets.create_empty_dataset": "(dataset)",
    "chainermn.global_except_hook.add_hook": "()",
    "chainermn.links.MultiNodeBatchNormalization": "(size, comm, decay=0.9, eps=2e-05, dtype=None, "
    "use_gamma=True, use_beta=True, initial_gamma=None, initial_beta=None, "
    "communication_backend='auto')",
    "chainermn.links.MultiNodeBatchNormalization.__call__": "(self, x, finetune=False)",
    "chainermn.links.MultiNodeBatchNormalization.start_finetuning": "(self)",
    "chainermn.links.create_mnbn_model": "(link, comm, communication_backend='auto')",
    "chainermn.links.create_multi_node_n_step_rnn": "(actual_link, communicator, rank_in=None, "
    "rank_out=None)",
    "chainermn.functions.send": "(x, communicator, rank, tag=0)",
    "chainermn.functions.recv": "(communicator, rank, delegate_variable=None, tag=0, "
    "force_tuple=False)",
    "chainermn.functions.pseudo_connect": "(delegate_variable, *actual_variables)",
    "chainermn.functions.bcast": "(comm, x, root=0)",
    "chainermn.functions.gather": "(comm, x, root=0)",
    "chainermn.functions.scatter": "(comm, xs, root=0)",
    "chainermn.functions.alltoall": "(comm, xs)",
    "chainermn.functions.allgather": "(comm, x)",
    "chainermn.iterators.create_multi_node_iterator": "(actual_iterator, communicator, "
    "rank_master=0)",
    "chainermn.iterators.create_synchronized_iterator": "(actual_iterator, communicator)",
    "chainermn.extensions.AllreducePersistent": "(model, comm)",
    "chainermn.extensions.AllreducePersistent.__call__": "(self, trainer=None)",
    "chainermn.extensions.multi_node_snapshot": "(comm, snapshot, replica_sets)",
    "chainermn.extensions.GenericMultiNodeEvaluator": "(comm, iterator, target, device=None, "
    "converter=concat_examples, root=0, *, progress_hook=None)",
    "chainermn.extensions.ObservationAggregator": "(comm, original_key, aggregated_key=None, *, "
    "comm_trigger=(1, 'iteration'), aggregator=None)",
    "chainermn.extensions.MultiNodeEarlyStoppingTrigger": "(comm, *, check_trigger=(1, 'epoch'), "
    "monitor='main/loss', patience=None, mode='auto', verbose=False, max_trigger=(100, 'epoch'), "
    "suffix='_aggregated', **kwargs)",
    "chainermn.testing.get_device": "(device_id=None, use_chainerx=False)",
}

METHODS = {
    "allgather": "(self, x)",
    "allreduce": "(self, data)",
    "allreduce_grad": "(self, model, zero_fill=False)",
    "allreduce_obj": "(self, obj)",
    "alltoall": "(self, xs)",
    # In release 7 (data, max_buf_len=None, root=0), while communicators take (x, root=0).
    "bcast": "(self, data, root=0, *, max_buf_len=None)",
    "bcast_data": "(self, model)",
    "bcast_obj": "(self, obj, max_buf_len=None, root=0)",
    "broadcast_data": "(self, model)",
    "config_scope": "(self)",
    "finalize": "(self)",
    "gather": "(self, data, root=0)",
    "gather_obj": "(self, obj, root=0)",
    "get_config": "(self, name=None)",
    "multi_node_mean_grad": "(self, model, zero_fill=False)",
    "recv": "(self, source, tag)",
    "recv_obj": "(self, source, tag)",
    "scatter": "(self, xs, root=0)",
    "send": "(self, data, dest, tag)",
    "send_obj": "(self, obj, dest, tag)",
    # In release 7 (name, **kwargs), while communicators take (name, value=True).
    "set_config": "(self, name, value=True)",
    "split": "(self, color, key)",
}

RANKS = ["inter_rank", "inter_size", "intra_rank", "intra_size", "rank", "size"]


def resolve(name):
    parts = name.split(".")
    value = importlib.import_module(parts[0])
    for part in parts[1:]:
        value = getattr(value, part)
    return value


def shown(function):
    signature = inspect.signature(function)
    params = [p.replace(annotation=p.empty) for p in signature.parameters.values()]
    text = str(signature.replace(parameters=params, return_annotation=signature.empty))
    return (
        text.replace(repr(signature.parameters["converter"].default), "concat_examples")
        if "converter" in signature.parameters
        else text
    )


@pytest.mark.parametrize("name", SIGNATURES)
def test_signature(name):
    assert shown(resolve(name)) == SIGNATURES[name]


@pytest.mark.parametrize("name", METHODS)
def test_method_of_communicators(name):
    assert shown(getattr(chainermn.CommunicatorBase, name)) == METHODS[name]


@pytest.mark.parametrize("name", [*RANKS, "within_config_scope"])
def test_property_of_communicators(name):
    assert isinstance(getattr(chainermn.CommunicatorBase, name), property)


def test_abstract_methods():
    assert chainermn.CommunicatorBase.__abstractmethods__ == set(
        "split alltoall send recv bcast gather allgather allreduce scatter send_obj recv_obj "
        "bcast_obj gather_obj allreduce_obj bcast_data multi_node_mean_grad".split()
    )


def test_what_a_subclass_inherits():
    bare = type(
        "Bare",
        (chainermn.CommunicatorBase,),
        {name: lambda self: None for name in chainermn.CommunicatorBase.__abstractmethods__},
    )()
    for name in RANKS:
        with pytest.raises(NotImplementedError, match=name):
            getattr(bare, name)
    with pytest.raises(ValueError, match="unknown configuration"):
        bare.set_config("x")
    bare.finalize()


def test_names_at_the_top():
    for name in chainermn.__all__:
        assert getattr(chainermn, name) is not None
    import chainer

    assert chainermn.__version__ == chainer.__version__
    assert issubclass(chainermn.DataSizeError, RuntimeError)
    assert chainermn.datasets.DataSizeError is chainermn.DataSizeError
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = chainermn.nothing


def test_nccl_names():
    names = chainermn.nccl.__all__
    if chainermn.nccl._available:
        assert all(hasattr(chainermn.nccl, name) for name in names)
    else:
        assert chainermn.nccl.missing()
    assert {"NCCL_FLOAT16", "NcclCommunicator", "get_unique_id", "get_build_version"} <= set(names)


def test_defaults_of_extensions():
    extensions = chainermn.extensions
    assert extensions.AllreducePersistent.priority == 301
    assert extensions.AllreducePersistent.trigger == (1, "epoch")
    evaluator = extensions.GenericMultiNodeEvaluator
    assert (evaluator.priority, evaluator.trigger) == (300, (1, "epoch"))
    assert (evaluator.default_name, evaluator.name) == ("validation", None)
    assert extensions.ObservationAggregator.priority == 200


def test_device_for_tests():
    assert str(chainermn.testing.get_device()) == "@numpy"


def run(code, **variables):
    environment = {
        k: v for k, v in os.environ.items() if not k.startswith(("PMI", "OMPI", "MPI4PY"))
    }
    return subprocess.run(
        [sys.executable, "-c", code],
        env={**environment, **variables},
        capture_output=True,
        text=True,
    )


def test_import_needs_no_mpi():
    done = run(
        "import sys; sys.modules['mpi4py'] = None\n"
        "import chainermn, chainermn.functions, chainermn.links, chainermn.extensions\n"
        "import chainermn.optimizers, chainermn.iterators, chainermn.datasets\n"
        "try: chainermn.create_communicator('naive')\n"
        "except ImportError as error: print(error)"
    )
    command = install_command("chainermn[mpich]")
    assert done.stdout.strip() == f"chainermn needs mpi4py: {command}", done.stderr


def test_missing_library_is_an_import_error():
    pytest.importorskip("mpi4py")
    done = run(
        "import chainermn\n"
        "try: chainermn.create_communicator('naive')\n"
        "except ImportError as error: print(error)",
        MPI4PY_LIBMPI="/nowhere/libmpi.so.12",
    )
    assert "does not find an MPI library" in done.stdout, done.stderr
    assert install_command("chainermn[mpich]") in done.stdout
    assert issubclass(MPINotFoundError, ImportError)


def test_arguments_of_create_communicator():
    pytest.importorskip("mpi4py")
    done = run(
        "import warnings, chainermn\n"
        "def attempt(*args, **kwargs):\n"
        "    try: print(type(chainermn.create_communicator(*args, **kwargs)).__name__)\n"
        "    except Exception as error: print(type(error).__name__, error)\n"
        "attempt('other')\n"
        "attempt('naive', color=1)\n"
        "attempt('naive', allreduce_grad_dtype='int32')\n"
        "attempt('naive', allreduce_grad_dtype='float16', batched_copy=True)\n"
        "attempt('auto')\n"
        "warnings.simplefilter('error')\n"
        "attempt('hierarchical')\n"
    )
    lines = done.stdout.splitlines()
    assert len(lines) == 6, done.stderr
    assert lines[0].startswith(
        "ValueError unknown communicator 'other'; there are: auto, dummy, flat"
    )
    assert lines[1].startswith("TypeError create_communicator() got unexpected")
    assert lines[2].startswith("ValueError allreduce_grad_dtype must be")
    assert lines[3] == "NaiveCommunicator"
    assert lines[4] in ("NaiveCommunicator", "PureNcclCommunicator")
    assert lines[5].startswith("DeprecationWarning the communicator 'hierarchical'")


def test_launcher_of_another_mpi():
    pytest.importorskip("mpi4py")
    code = (
        "import chainermn.mpi as m\n"
        "mpi = m.load_mpi()\n"
        "import os; os.environ['OMPI_COMM_WORLD_SIZE'] = '4'\n"
        "try: m.check_launcher(mpi)\n"
        "except RuntimeError as error: print(error)"
    )
    assert "started 4 processes, but this one is alone" in run(code).stdout


def test_checker_of_the_communicators_hook():
    from chainer.core.registry import registries

    registries.communicators.load_all()
    assert set(registries.communicators.names()) >= {
        "dummy",
        "flat",
        "naive",
        "non_cuda_aware",
        "pure_nccl",
    }
