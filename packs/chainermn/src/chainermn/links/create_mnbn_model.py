"""Copies of models with batch normalization over all processes."""

from __future__ import annotations

import copy
from typing import Any

import chainer
from chainer import links as L
from chainer.device_resident import device_of
from chainermn.communicators.communicator_base import CommunicatorBase
from chainermn.links.batch_normalization import MultiNodeBatchNormalization


def create_mnbn_model(
    link: chainer.Link, comm: CommunicatorBase, communication_backend: str = "auto"
) -> Any:
    """Copies a model and replaces ``BatchNormalization`` by ``MultiNodeBatchNormalization``.

    Args:
        link (~chainer.Link): The model; it is not changed.
        comm (CommunicatorBase): Communicator.
        communication_backend (str): See :class:`~chainermn.links.MultiNodeBatchNormalization`.

    Returns:
        ~chainer.Link: The copy. Parameters and statistics have the values of the original.
    """
    copied = copy.deepcopy(link)
    return _replace(copied, comm, communication_backend, {})


def _replace(
    link: Any, comm: CommunicatorBase, backend: str, done: dict[int, tuple[Any, Any]]
) -> Any:
    # The original is kept with its replacement, so that its id is not used again.
    if id(link) in done:
        return done[id(link)][1]
    if type(link) is L.BatchNormalization:
        replacement = _converted(link, comm, backend)
        done[id(link)] = link, replacement
        return replacement
    done[id(link)] = link, link
    if isinstance(link, chainer.Sequential):
        for index, layer in enumerate(link):
            if isinstance(layer, chainer.Link):
                new = _replace(layer, comm, backend, done)
                if new is not layer:
                    link[index] = new
    elif isinstance(link, chainer.ChainList):
        for index, child in enumerate(link.children()):
            new = _replace(child, comm, backend, done)
            if new is not child:
                link[index] = new
    elif isinstance(link, chainer.Chain):
        for child in list(link.children()):
            new = _replace(child, comm, backend, done)
            if new is not child:
                name = str(child.name)
                delattr(link, name)
                with link.init_scope():
                    setattr(link, name, new)
    return link


def _converted(link: Any, comm: CommunicatorBase, backend: str) -> MultiNodeBatchNormalization:
    if link.avg_mean is None:
        raise ValueError(
            "create_mnbn_model: the size of a BatchNormalization is not known yet; give its "
            "argument 'size', or call the model once before"
        )
    new = MultiNodeBatchNormalization(
        size=link.avg_mean.shape,
        comm=comm,
        decay=link.decay,
        eps=link.eps,
        dtype=link.avg_mean.dtype,
        use_gamma=getattr(link, "gamma", None) is not None,
        use_beta=getattr(link, "beta", None) is not None,
        communication_backend=backend,
    )
    new.to_device(device_of(link))
    for name in ("gamma", "beta"):
        if getattr(new, name) is not None:
            getattr(new, name).array[...] = getattr(link, name).array
    with device_of(link):
        new.avg_mean[...] = link.avg_mean
        new.avg_var[...] = link.avg_var
    new.N = link.N
    return new
