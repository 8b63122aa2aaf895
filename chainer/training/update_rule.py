"""Update rules: how an optimizer updates one parameter."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

from chainer.core.arrays.backend import backend_of, copyto, find_backend
from chainer.core.arrays.extended_dtypes import is_half
from chainer.core.autograd.parameter import Parameter
from chainer.links.serializer import Serializer
from chainer.training.hook_registry import HookRegistry
from chainer.training.hyperparameter import Hyperparameter

if TYPE_CHECKING:
    from collections.abc import Callable

_ndarray = numpy.ndarray


class NoStateError(KeyError):
    """Nothing of the state of an update rule is in the file it is loaded from."""


class UpdateRule:
    """Base class of all update rules.

    An update rule implements how to update one parameter using the gradient of a loss function. The
    optimizer decides which parameters are updated; the rule set to a parameter
    (``param.update_rule``) how.

    An implementation overrides :meth:`update_core`, or both :meth:`update_core_cpu` and
    :meth:`update_core_gpu`. What it has to remember between updates (moving averages and the like)
    are arrays in the dictionary :attr:`state`, made by :meth:`init_state` at the first update, and
    moved to the device of the parameter before each update.

    Args:
        parent_hyperparam (Hyperparameter): Hyperparameters that provide the default values.

    Attributes:
        enabled (bool): Whether :meth:`update` does anything. Set False to freeze the parameter.
        hyperparam (Hyperparameter): Hyperparameters of this rule.
        t (int): Number of updates made by this rule.

    Example:
        Freezing one parameter, and a learning rate of its own for another:

        >>> model = chainer.Link(W=(2, 3), b=(3,))
        >>> optimizer = chainer.optimizers.SGD(0.1).setup(model)
        >>> model.W.update_rule.enabled = False
        >>> model.b.update_rule.hyperparam.lr = 0.01
    """

    def __init__(self, parent_hyperparam: Hyperparameter | None = None) -> None:
        self._hooks = HookRegistry()
        self._state: dict[str, Any] | None = None
        self._use_fp32_update = False
        self._fp32_param: Parameter | None = None
        self.enabled = True
        self.hyperparam = Hyperparameter(parent_hyperparam)
        self.t = 0

    @property
    def state(self) -> dict[str, Any] | None:
        """State dictionary; None before the first update."""
        return self._state

    def add_hook(
        self, hook: Callable[..., Any], name: str | None = None, timing: str = "auto"
    ) -> None:
        """Adds a hook function.

        Args:
            hook (callable): Called with the update rule and the parameter.
            name (str): Name of the hook; its attribute ``name``, else ``__name__``, by default.
            timing (str): When it is called: ``'pre'`` (before the update), ``'post'`` (after it) or
                ``'auto'`` (as its attribute ``timing`` says, ``'pre'`` without one).

        Raises:
            TypeError: If the hook is not callable or has no name.
            ValueError: If the timing is unknown.
            KeyError: If there already is a hook of this name.
        """
        self._hooks.add(hook, name, timing)

    def remove_hook(self, name: str) -> None:
        """Removes the specified hook function.

        Args:
            name (str): Name it was registered under.

        Raises:
            KeyError: If there is no such hook.
        """
        self._hooks.remove(name)

    def update(self, param: Parameter) -> None:
        """Invokes hook functions and updates the parameter.

        A rule that is not :attr:`enabled` does nothing. A gradient scaled by ``loss_scale`` of
        :meth:`chainer.Variable.backward` is divided by that factor first. A parameter that is not
        yet initialized or has no gradient counts as updated, but does not change.

        Args:
            param (Variable): Parameter to be updated.
        """
        if not self.enabled:
            return
        if self.updates_in_float32(param):
            self._update_in_float32(param)
            return
        if param.loss_scale is not None:
            remove_loss_scale(param)
        self._update_and_call_hooks(param)

    def _update_and_call_hooks(self, param: Parameter) -> None:
        hooks = self._hooks
        if not hooks:
            self.t += 1
            self._prepare(param)
            self.update_core(param)
            return
        for hook in hooks.at("pre"):
            hook(self, param)
        self.t += 1
        self._prepare(param)
        self.update_core(param)
        for hook in hooks.at("post"):
            hook(self, param)

    def updates_in_float32(self, param: Parameter) -> bool:
        """Tells whether a float32 copy of a parameter is what this rule updates.

        See :meth:`use_fp32_update`.
        """
        return self._use_fp32_update and param.array is not None and is_half(param.dtype)

    def call_hook(self, hook: Callable[..., Any], param: Parameter) -> None:
        """Calls a hook of the optimizer with this rule and its parameter.

        Where the rule updates a float32 copy (:meth:`use_fp32_update`), the hook gets the copy,
        whose gradient is not scaled; what it changes is rounded to the parameter and its gradient,
        which the next hook may be called with.

        Args:
            hook (callable): Called with the update rule and the parameter.
            param (Variable): Parameter of this rule.
        """
        if not self.updates_in_float32(param):
            hook(self, param)
            return
        scale = param.loss_scale
        master = self._float32_copy(param)
        hook(self, master)
        with param.device:
            copyto(param.array, master.array.astype(param.dtype))
        if master.grad is None:
            param.cleargrad()
        else:
            grad = master.grad if scale is None else master.grad * numpy.float32(scale)
            param.grad = grad.astype(param.dtype)
        master.cleargrad()

    def float32_parameter(self, param: Parameter) -> Parameter:
        """Returns the float32 copy of a parameter that this rule updates, on the same device.

        See :meth:`use_fp32_update`.
        """
        master = self._fp32_param
        if master is None:
            with param.device:
                master = Parameter(param.array.astype(numpy.float32), name=param.name)
            self._fp32_param = master
        elif type(master.array) is not type(param.array) or master.device != param.device:
            master.to_device(param.device)
        return master

    def _float32_copy(self, param: Parameter) -> Parameter:
        """Returns the float32 copy of a parameter, with its true gradient."""
        master = self.float32_parameter(param)
        grad = param.grad
        if grad is None:
            master.cleargrad()
        else:
            with param.device:
                master.grad = grad.astype(numpy.float32)
            # Divided here, not in float16, where small gradients would vanish after all.
            master.loss_scale = param.loss_scale
            remove_loss_scale(master)
        return master

    def _update_in_float32(self, param: Parameter) -> None:
        master = self._float32_copy(param)
        self._update_and_call_hooks(master)
        with param.device:
            copyto(param.array, master.array.astype(param.dtype))
        master.cleargrad()

    def update_core(self, param: Parameter) -> None:
        """Updates the parameter.

        Override this method, or both :meth:`update_core_cpu` and :meth:`update_core_gpu`.

        Args:
            param (Variable): Parameter to be updated.
        """
        array = param.array
        if type(array) is _ndarray or array is None or not backend_of(array).is_accelerator:
            self.update_core_cpu(param)
        else:
            with param.device:
                self.update_core_gpu(param)

    def update_core_cpu(self, param: Parameter) -> None:
        """Updates a parameter in host memory. See :meth:`update_core`.

        Args:
            param (Variable): Parameter to be updated.
        """
        raise NotImplementedError(f"{type(self).__name__} must define update_core()")

    def update_core_gpu(self, param: Parameter) -> None:
        """Updates a parameter on an accelerator. See :meth:`update_core`.

        Args:
            param (Variable): Parameter to be updated.
        """
        raise NotImplementedError(f"{type(self).__name__} must define update_core()")

    def init_state(self, param: Parameter) -> None:
        """Initializes the state: puts arrays into ``self.state``.

        Rules that use the state override this method. It is called before the first update.

        Args:
            param (Variable): Parameter; its array tells shape, dtype and device.
        """

    def _prepare(self, param: Parameter) -> None:
        """Makes sure that there is a state and that it is where the parameter is."""
        array = param.array
        if array is None:
            return
        state = self._state
        if state is None:
            self._make_state(param)
            return
        kind = type(array)
        backend = backend_of(array)
        for name, value in state.items():
            if type(value) is kind and not backend.multi_device:
                continue
            if find_backend(type(value)) is None:
                continue
            state[name] = param.device.send(value)

    def _make_state(self, param: Parameter) -> dict[str, Any]:
        state = self._state = {}
        with param.device:
            self.init_state(param)
        return state

    def serialize(self, serializer: Any) -> None:
        """Serializes the update rule state.

        The parameter itself is not saved or loaded, and neither are the hyperparameters.

        Args:
            serializer (AbstractSerializer): Serializer or deserializer.
        """
        self.t = serializer("t", self.t)
        if isinstance(serializer, Serializer):
            for name, value in (self._state or {}).items():
                serializer(name, value)
            if self._fp32_param is not None:
                serializer("fp32_param", self._fp32_param.array)
        elif self.t == 0:  # saved before the first update, when there was nothing else to save
            self._state = None
            self._fp32_param = None
        else:
            self._load_state(serializer)
            self._load_master(serializer)

    def _load_state(self, serializer: Any) -> None:
        if self._state is not None:
            for name, value in self._state.items():
                self._state[name] = serializer(name, value)
            return
        # Only init_state() knows the names. It gets a stand-in, because the parameter may not have
        # a shape yet; the arrays are those of the file.
        names = list(self._make_state(Parameter(numpy.empty(0, numpy.float32))))
        self._state = None
        loaded: dict[str, Any] = {}
        for name in names:
            try:
                loaded[name] = serializer(name, None)
            except KeyError as error:
                raise error if loaded else NoStateError(*error.args) from error
        if any(value is not None for value in loaded.values()):
            self._state = loaded

    def _load_master(self, serializer: Any) -> None:
        # Other releases do not save the float32 parameter but start again from the float16 one.
        try:
            array = serializer("fp32_param", None)
        except KeyError:
            array = None
        self._fp32_param = None if array is None else Parameter(array)

    def use_fp32_update(self, flag: bool = True) -> None:
        """Enables use of parameter update in fp32.

        When it is enabled and the parameter is of dtype float16 or bfloat16, a float32 copy of it
        is kept. The update converts the gradient to float32, updates that copy (the state is of
        float32 too), and copies it back to the parameter.

        Args:
            flag (bool): Whether to use it.
        """
        self._use_fp32_update = flag


def remove_loss_scale(param: Parameter) -> None:
    """Divides the gradient of a parameter by the factor that backward multiplied it by."""
    scale = param.loss_scale
    grad = param.grad
    if scale is not None and grad is not None:
        with param.device:
            if is_half(grad.dtype):  # the factor itself may be too large for float16
                param.grad = (grad.astype(numpy.float32) / scale).astype(grad.dtype)
            else:
                param.grad = grad / grad.dtype.type(scale)
    param.loss_scale = None
