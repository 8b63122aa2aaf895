"""Parameters and gradients of a link on an accelerator as one flat array.

Programs with their own exchange of gradients between devices use these functions, which have their
public names in :mod:`~chainer.training.updaters.multiprocess_parallel_updater`.
"""

from __future__ import annotations

from chainer.core.arrays.backend import HOST_FAMILY, backend_of
from chainer.core.autograd.parameter import Parameter
from chainer.core.typing import Array
from chainer.links.link import Link


def gather_grads(link: Link) -> Array:
    """Returns the gradients of all parameters in one array.

    Args:
        link (~chainer.Link): Link on an accelerator.

    Returns:
        array: One-dimensional array of the gradients, in order of the names of the parameters.

    Raises:
        RuntimeError: If the link is on the host.
    """
    return _joined(link, "grad", "gather_grads")


def gather_params(link: Link) -> Array:
    """Returns the values of all parameters in one array; see :func:`gather_grads`.

    Args:
        link (~chainer.Link): Link on an accelerator.

    Raises:
        RuntimeError: If the link is on the host.
    """
    return _joined(link, "array", "gather_params")


def scatter_grads(link: Link, array: Array) -> None:
    """Writes an array that :func:`gather_grads` made into the gradients of a link.

    Args:
        link (~chainer.Link): Link whose parameters have gradients.
        array: One-dimensional array.
    """
    _distribute(link, "grad", array)


def scatter_params(link: Link, array: Array) -> None:
    """Writes an array that :func:`gather_params` made into the parameters of a link.

    Args:
        link (~chainer.Link): Link.
        array: One-dimensional array.
    """
    _distribute(link, "array", array)


def _params(link: Link) -> list[Parameter]:
    """Returns the initialized parameters in order of their names, the same in every process."""
    return [param for _, param in sorted(link.namedparams()) if param.array is not None]


def _joined(link: Link, attribute: str, name: str) -> Array:
    params = _params(link)
    # By the values: a parameter may have no gradient.
    backend = backend_of(params[0].array) if params else None
    if backend is None or backend.family == HOST_FAMILY:
        raise RuntimeError(f"{name} works only on GPU, the link is not on an accelerator")
    arrays = [getattr(param, attribute) for param in params]
    missing = [param.name for param, array in zip(params, arrays) if array is None]
    if missing:
        raise ValueError(f"{name} needs all gradients, the parameters {missing} have none")
    with backend.device_of(arrays[0]):
        return backend.xp.concatenate([array.ravel() for array in arrays])


def _distribute(link: Link, attribute: str, array: Array) -> None:
    start = 0
    for param in _params(link):
        target = getattr(param, attribute)
        if target is None:  # a gradient
            target = param.grad = param.xp.zeros_like(param.array)
        target[...] = array[start : start + target.size].reshape(target.shape)
        start += target.size
