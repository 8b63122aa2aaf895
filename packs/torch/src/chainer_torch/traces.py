"""Which layers a model calls, in the order of the first call."""

from __future__ import annotations

from typing import Any

import chainer
from chainer import Link, LinkHook

from chainer_torch.layers import NO_COUNTERPART, is_unit


class _Calls(LinkHook):
    """Records the links that are layers, or have parameters of their own."""

    name = "chainer_torch.calls"

    def __init__(self) -> None:
        self.links: list[Link] = []
        self._inside = 0

    def forward_preprocess(self, args: Any) -> None:
        if is_unit(args.link):
            if not self._inside and all([args.link is not link for link in self.links]):
                self.links.append(args.link)
            # The links within a layer, such as `upward` of an LSTM, belong to it.
            self._inside += 1

    def forward_postprocess(self, args: Any) -> None:
        self._inside -= is_unit(args.link)


def called_links(link: Link, args: tuple[Any, ...]) -> list[tuple[str, Link]]:
    """Calls a link in test mode, and returns path and link of the layers.

    Args:
        link: The link.
        args: Its arguments.

    Raises:
        ValueError: If a parameter belongs to no layer that is called, or to one that PyTorch lacks.
    """
    # A copy, so that the state of a recurrent link stays as it is. Lengths of inputs that are not
    # known yet are learned by the link itself.
    is_ready = all([parameter.array is not None for parameter in link.params()])
    twin = link.copy("share") if is_ready else link
    hook = _Calls()
    with (
        hook,
        chainer.using_config("train", False),
        chainer.using_config("enable_backprop", False),
    ):
        twin(*args)
    paths = {id(child): path for path, child in twin.namedlinks()}
    originals = dict(link.namedlinks())
    calls = [(paths[id(child)], child) for child in hook.links if id(child) in paths]
    covered = [path for path, _ in calls]
    for path, _ in link.namedparams():
        owner = path.rpartition("/")[0]
        if not any([top in ("/", owner) or f"{owner}/".startswith(f"{top}/") for top in covered]):
            raise ValueError(
                f"parameter {path} is of no link that the model calls, so its place in PyTorch "
                "is not known"
            )
    return [(path, originals[path]) for path, _ in calls]


def called_modules(module: Any, args: tuple[Any, ...]) -> list[tuple[str, Any]]:
    """Calls a module of PyTorch in evaluation mode, and returns path and module of the layers."""
    from chainer_torch.pytorch import torch

    found: list[tuple[str, Any]] = []
    handles: list[Any] = []
    for path, child in module.named_modules():
        if child._parameters or child._buffers:
            handles.append(
                child.register_forward_pre_hook(
                    lambda child, _, path=path: found.append((path, child))
                )
            )
    training = module.training
    module.eval()
    try:
        with torch().no_grad():
            module(*args)
    finally:
        module.train(training)
        for handle in handles:
            handle.remove()
    return list(dict(found).items())


def describe(path: str, link: Link) -> str:
    """Returns path and class of a link, for errors."""
    return f"{path} ({type(link).__name__})"


def no_counterpart(path: str, link: Link) -> ValueError:
    """Returns the error of a link that PyTorch lacks."""
    reason = NO_COUNTERPART.get(type(link).__name__, "its values have no known place in PyTorch")
    return ValueError(f"{describe(path, link)} has no counterpart in torch.nn: {reason}")
