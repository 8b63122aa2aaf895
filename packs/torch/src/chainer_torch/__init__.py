"""Chainer and PyTorch: modules as links, links as modules, weights both ways, PyTorch source."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from chainer_torch.link_module import LinkModule
    from chainer_torch.source.write import write_torch_source
    from chainer_torch.state_dicts import from_state_dict, to_state_dict
    from chainer_torch.torch_module import TorchModule

#: Public name -> module, imported at first use: PyTorch takes seconds.
_HOMES = {
    "LinkModule": "link_module",
    "TorchModule": "torch_module",
    "from_state_dict": "state_dicts",
    "to_state_dict": "state_dicts",
    "write_torch_source": "source.write",
}

__all__ = ["LinkModule", "TorchModule", "from_state_dict", "to_state_dict", "write_torch_source"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'chainer_torch' has no attribute {name!r}")
    value = getattr(import_module(f"chainer_torch.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES])
