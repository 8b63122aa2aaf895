"""``TorchModule``: a module of PyTorch as a Chain."""

from __future__ import annotations

import copy
from typing import Any

import chainer
import numpy as np
from chainer import Chain, Parameter, Variable

from chainer_torch.pytorch import as_array, as_tensor, shares_memory, torch
from chainer_torch.torch_graph import TorchGraph
from chainer_torch.trees import map_leaves


class TorchModule(Chain):
    """A module of PyTorch as a Chain.

    The parameters share the memory of the module's, under its names: ``layers.0.weight`` is
    ``/layers/0/weight``. Optimizers, serializers and hooks of Chainer work, and so do gradients of
    any order. Buffers, such as running statistics, are persistent values of the links.

    Parameters that are given another array, such as by ``copyparams``, are shared again at the next
    call. The module is in training mode or not as ``chainer.config.train`` says.

    Args:
        module (torch.nn.Module): The module, with all tensors on the CPU.
        follow_train (bool): If False, the mode of the module does not follow
            ``chainer.config.train``: call ``module.train()`` and ``module.eval()`` yourself.

    Raises:
        ImportError: If PyTorch is not installed.
        TypeError: If ``module`` is not a module, or a tensor is not on the CPU.

    Attributes:
        module (torch.nn.Module): The module.

    Example:
        >>> import torch  # doctest: +SKIP
        >>> from chainer_torch import TorchModule  # doctest: +SKIP
        >>> link = TorchModule(torch.nn.Linear(4, 3))  # doctest: +SKIP
        >>> link(np.zeros((2, 4), np.float32)).shape  # doctest: +SKIP
        (2, 3)
    """

    def __init__(self, module: Any, *, follow_train: bool = True) -> None:
        super().__init__()
        if not isinstance(module, torch().nn.Module):
            raise TypeError(f"module must be a torch.nn.Module, got {type(module).__name__}")
        self.module = module
        self.follow_train = follow_train
        links: dict[str, Chain] = {"": self}
        for path, _ in module.named_modules():
            if path:
                parent, _, name = path.rpartition(".")
                links[path] = Chain()
                links[parent].add_link(_attribute(name), links[path])
        for path, tensor in module.named_parameters():
            owner, _, name = path.rpartition(".")
            parameter = Parameter(as_array(tensor, f"parameter {path!r}"))
            parameter.requires_grad = tensor.requires_grad
            with links[owner].init_scope():
                setattr(links[owner], _attribute(name), parameter)
        for path, tensor in module.named_buffers():
            owner, _, name = path.rpartition(".")
            links[owner].add_persistent(_attribute(name), as_array(tensor, f"buffer {path!r}"))

    def _link_of(self, path: str) -> tuple[Any, str]:
        owner, _, name = path.rpartition(".")
        link: Any = self
        for part in owner.split(".") if owner else ():
            link = getattr(link, _attribute(part))
        return link, _attribute(name)

    def _share(self) -> list[tuple[Parameter, Any]]:
        """Makes the tensors share the arrays, and returns pairs of parameters and tensors."""
        pairs: list[tuple[Parameter, Any]] = []
        for path, tensor in self.module.named_parameters():
            link, name = self._link_of(path)
            parameter = getattr(link, name)
            if not shares_memory(tensor, parameter.array):
                tensor.data = as_tensor(parameter.array, f"parameter {path!r}")
                # Read-only arrays were copied: the link follows.
                parameter.array = as_array(tensor)
            if tensor.requires_grad != parameter.requires_grad:
                tensor.requires_grad_(parameter.requires_grad)
            pairs.append((parameter, tensor))
        for path, tensor in self.module.named_buffers():
            link, name = self._link_of(path)
            value = getattr(link, name)
            if not isinstance(value, np.ndarray) or not shares_memory(tensor, value):
                # A serializer gave another array.
                tensor.data = as_tensor(np.array(value), f"buffer {path!r}")
                setattr(link, name, as_array(tensor))
        return pairs

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Calls the module.

        Args:
            args: Arguments of the module. Arrays and Variables, also in lists, tuples and dicts,
                become tensors on the same memory.
            kwargs: Keyword arguments, in the same way.

        Returns:
            The result of the module, with Variables for tensors.
        """
        if self.follow_train and self.module.training != bool(chainer.config.train):
            self.module.train(bool(chainer.config.train))
        pairs = self._share()
        variables: list[Variable] = []
        tensors: list[Any] = []

        def tensor_of(value: Any) -> Any:
            if isinstance(value, Variable):
                tensor = as_tensor(value.array, "argument").detach()
                if value.requires_grad and tensor.is_floating_point():
                    tensor.requires_grad_()
                    variables.append(value)
                    tensors.append(tensor)
                return tensor
            if isinstance(value, np.ndarray):
                return as_tensor(value, "argument")
            return value

        arguments = map_leaves(tensor_of, (args, kwargs))
        trained = [(p, t) for p, t in pairs if t.requires_grad]
        inputs = [*variables, *[p for p, _ in trained]]
        leaves = [*tensors, *[t for _, t in trained]]
        enabled = bool(chainer.config.enable_backprop) and bool(inputs)
        with torch().set_grad_enabled(enabled):
            result = self.module(*arguments[0], **arguments[1])
        self._follow_buffers()
        return self._variables_of(result, inputs, leaves, enabled)

    def _variables_of(
        self, result: Any, inputs: list[Variable], leaves: list[Any], enabled: bool
    ) -> Any:
        """Returns the result, with Variables of one node of the graph for its tensors."""
        outputs: list[Any] = []
        is_tensor = torch().is_tensor
        map_leaves(lambda y: outputs.append(y) if is_tensor(y) else None, result)
        if not outputs:
            return result
        if enabled:
            made = iter(TorchGraph(leaves, outputs).apply(inputs))
        else:
            made = iter([Variable(as_array(y, "result"), requires_grad=False) for y in outputs])
        return map_leaves(lambda y: next(made) if is_tensor(y) else y, result)

    def _follow_buffers(self) -> None:
        """Sees buffers that the call replaced by others."""
        for path, tensor in self.module.named_buffers():
            link, name = self._link_of(path)
            if not shares_memory(tensor, getattr(link, name)):
                setattr(link, name, as_array(tensor, f"buffer {path!r}"))

    def copy(self, mode: str = "share") -> TorchModule:
        """Copies the link; see :meth:`chainer.Link.copy`.

        With ``'copy'`` and ``'init'`` the module is copied as well. ``'init'`` keeps the values,
        because a module does not tell how it was initialized.
        """
        if mode not in ("share", "copy", "init"):
            return super().copy(mode)
        clone = super().copy("share" if mode == "share" else "copy")
        if mode != "share":
            clone.module = copy.deepcopy(self.module)
        return clone


def _attribute(name: str) -> str:
    """Returns the name of a child in the link.

    Links have attributes and methods of their own, such as ``copy``, that a child cannot replace.
    """
    return (
        f"{name}_" if hasattr(Chain, name) or name in ("name", "module", "follow_train") else name
    )
