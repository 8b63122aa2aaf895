"""Training in many processes, over MPI and NCCL.

``import chainermn`` needs no MPI: mpi4py is imported when a communicator is made.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from chainer import __version__

if TYPE_CHECKING:
    from chainermn.communicators import create_communicator
    from chainermn.communicators.communicator_base import CommunicatorBase
    from chainermn.datasets import DataSizeError, scatter_dataset, scatter_index
    from chainermn.distributing import distribute
    from chainermn.extensions import create_multi_node_checkpointer, create_multi_node_evaluator
    from chainermn.links import MultiNodeChainList
    from chainermn.optimizers import create_multi_node_optimizer

__all__ = [
    "CommunicatorBase",
    "DataSizeError",
    "MultiNodeChainList",
    "__version__",
    "create_communicator",
    "create_multi_node_checkpointer",
    "create_multi_node_evaluator",
    "create_multi_node_optimizer",
    "distribute",
    "scatter_dataset",
    "scatter_index",
]

_PLACES = {
    "CommunicatorBase": "communicators.communicator_base",
    "DataSizeError": "datasets",
    "MultiNodeChainList": "links",
    "create_communicator": "communicators",
    "create_multi_node_checkpointer": "extensions",
    "create_multi_node_evaluator": "extensions",
    "create_multi_node_optimizer": "optimizers",
    "distribute": "distributing",
    "scatter_dataset": "datasets",
    "scatter_index": "datasets",
}

_SUBMODULES = (
    "communicators",
    "datasets",
    "extensions",
    "functions",
    "global_except_hook",
    "iterators",
    "links",
    "nccl",
    "optimizers",
    "sharding",
    "testing",
)


def __getattr__(name: str) -> Any:
    if name in _PLACES:
        value = getattr(importlib.import_module(f"chainermn.{_PLACES[name]}"), name)
    elif name in _SUBMODULES:
        value = importlib.import_module(f"chainermn.{name}")
    else:
        raise AttributeError(f"module 'chainermn' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_SUBMODULES})


def _obey_environment() -> None:
    from chainermn import global_except_hook

    if global_except_hook.wanted_by_environment():
        global_except_hook.install()


_obey_environment()
