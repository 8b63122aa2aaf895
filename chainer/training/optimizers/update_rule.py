"""Update rules: how an optimizer updates one parameter."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy

from chainer.core.arrays.backend import backend_of, copyto
from chainer.core.arrays.extended_dtypes import is_half
from chainer.core.autograd.parameter import Parameter
from chainer.core.utils.arrays import force_array
from chainer.core.utils.repr_texts import call_text, read_or_none
from chainer.links.serializer import AbstractSerializer, Serializer
from chainer.training.optimizers.changes import Watched, optimizer_changes
from chainer.training.optimizers.hook_registry import HookRegistry
from chainer.training.optimizers.hyperparameter import Hyperparameter
from chainer.training.optimizers.loss_scaling import remove_loss_scale
from chainer.training.optimizers.updates import begin

if TYPE_CHECKING:
    from collections.abc import Callable

    from chainer.core.typing import Array

_ndarray = numpy.ndarray


class NoStateError(KeyError):
    """A file holds no state for an update rule."""


class UpdateRule(Watched):
    """Base class of all update rules.

    An update rule implements how to update one parameter using the gradient of a loss function.
    :meth:`GradientMethod.setup` gives every parameter of its target a rule, the attribute
    ``param.update_rule``.

    An implementation overrides :meth:`update_core`, or both :meth:`update_core_cpu` and
    :meth:`update_core_gpu`. Arrays that it keeps between updates (moving averages and the like) are
    entries of the dictionary :attr:`state`. :meth:`init_state` makes them at the first update;
    before each update they are moved to the device of the parameter.

    Args:
        parent_hyperparam (Hyperparameter): Hyperparameters that provide the default values.

    Attributes:
        enabled (bool): Whether :meth:`update` does anything. Set False to freeze the parameter.
        hyperparam (Hyperparameter): Hyperparameters of this rule.
        t (int): Number of updates made by this rule.
        is_elementwise (bool): Whether the update of an element depends on that element of the
            parameter, the gradient and the state only. Programs may then flatten and join
            parameters.

    Example:
        Freezing one parameter, and a learning rate of its own for another:

        >>> model = chainer.Link(W=(2, 3), b=(3,))
        >>> optimizer = chainer.optimizers.SGD(0.1).setup(model)
        >>> model.W.update_rule.enabled = False
        >>> model.b.update_rule.hyperparam.lr = 0.01
    """

    is_elementwise: ClassVar[bool] = False
    #: Whether one call of a kernel may update the parameters of many rules, see DeclaredRule.
    is_grouped: ClassVar[bool] = False

    def __init__(self, parent_hyperparam: Hyperparameter | None = None) -> None:
        self._hooks = HookRegistry()
        self._state: dict[str, Any] | None = None
        self._use_fp32_update = False
        self._fp32_param: Parameter | None = None
        self.enabled = True
        self.hyperparam = Hyperparameter(parent_hyperparam)
        self.t = 0

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restores a rule; pickles of the releases 4 and 7 can be read.

        Args:
            state (dict): Attributes of the rule.
        """
        members = vars(self)
        members.update(state)
        if "_hooks" not in members:
            # Release 4 keeps the hooks in the rule, release 7 in an object of its own.
            hooks = members["_hooks"] = HookRegistry()
            old = members.pop("_hookable", hooks)
            hooks.pre.update(members.pop("_pre_update_hooks", old.pre))
            hooks.post.update(members.pop("_post_update_hooks", old.post))

    def __repr__(self) -> str:
        entries = read_or_none(self.hyperparam.get_dict) or {}
        enabled = None if self.enabled else False
        return call_text(self, [*entries.items(), ("enabled", enabled), ("t", self.t)])

    @property
    def state(self) -> dict[str, Any] | None:
        """State dictionary; None before the first update."""
        return self._state

    def add_hook(
        self, hook: Callable[..., Any], name: str | None = None, timing: str = "auto"
    ) -> None:
        """Adds a hook function.

        Args:
            hook (callable): Called with the update rule and the parameter. :attr:`t` and
                :attr:`state` then belong to the present update.
            name (str): Name of the hook; its attribute ``name``, else ``__name__``, by default.
            timing (str): When it is called: ``'pre'`` (before the update), ``'post'`` (after it) or
                ``'auto'`` (as its attribute ``timing`` says, ``'pre'`` without one).

        Raises:
            TypeError: If the hook is not callable.
            ValueError: If the timing is unknown, or the hook has no name.
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

        The update counts in :attr:`t`; then the state is made or moved to the device of the
        parameter, a gradient that ``loss_scale`` of :meth:`chainer.Variable.backward` has scaled is
        divided by that factor, and hooks of timing ``'pre'``, :meth:`update_core` and hooks of
        timing ``'post'`` are called. A rule that is not :attr:`enabled` does nothing. A parameter
        that is not yet initialized or has no gradient counts as updated, but does not change.

        Args:
            param (Parameter): Parameter to be updated.
        """
        if not self.enabled:
            return
        optimizer_changes.renew()
        array = param.array
        # Entering a device takes as long as a small update; most backends have a single device.
        if array is None or array.__class__ is _ndarray or not backend_of(array).multi_device:
            self._update_on_current_device(param)
        else:
            with param.device:
                self._update_on_current_device(param)

    def _update_on_current_device(self, param: Parameter) -> None:
        in_float32 = self._use_fp32_update and self.updates_in_float32(param)
        updated = self._load_float32_parameter(param) if in_float32 else param
        begin(self, updated)
        self.update_core(updated)
        if self._hooks.post:
            for hook in self._hooks.at("post"):
                hook(self, updated)
        if in_float32:
            self._store_float32_parameter(updated, param)

    def updates_in_float32(self, param: Parameter) -> bool:
        """Whether this rule updates a float32 copy of a parameter, see :meth:`use_fp32_update`.

        Args:
            param (Parameter): Parameter of this rule.
        """
        return self._use_fp32_update and param.array is not None and is_half(param.dtype)

    def call_hook(self, hook: Callable[..., Any], param: Parameter) -> None:
        """Calls a hook of the optimizer with this rule and its parameter.

        Where the rule updates a float32 copy (:meth:`use_fp32_update`), the hook gets the copy,
        whose gradient is not scaled. Its changes are rounded to the parameter and its gradient,
        which the next hook may be called with.

        Args:
            hook (callable): Called with the update rule and the parameter.
            param (Parameter): Parameter of this rule.
        """
        if not self.updates_in_float32(param):
            hook(self, param)
            return
        scale = param.loss_scale
        with param.device:
            master = self._load_float32_parameter(param)
            remove_loss_scale(master)
            hook(self, master)
            if master.grad is None:
                param.cleargrad()
            else:
                grad = master.grad if scale is None else master.grad * numpy.float32(scale)
                param.grad = force_array(grad, param.dtype)
            self._store_float32_parameter(master, param)

    def float32_parameter(self, param: Parameter) -> Parameter:
        """Returns the float32 copy of a parameter that this rule updates, on the same device.

        See :meth:`use_fp32_update`.

        Args:
            param (Parameter): Parameter of this rule, of 16 bits and initialized.
        """
        master = self._fp32_param
        if master is None:
            with param.device:
                master = Parameter(param.array.astype(numpy.float32), name=param.name)
            self._fp32_param = master
        elif type(master.array) is not type(param.array) or master.device != param.device:
            master.to_device(param.device)
        return master

    def _load_float32_parameter(self, param: Parameter) -> Parameter:
        """Returns the float32 copy with the gradient and loss scale of the parameter."""
        master = self.float32_parameter(param)
        grad = param.grad
        if grad is None:
            master.cleargrad()
        else:
            master.grad = grad.astype(numpy.float32)
            # The copy is divided, not the float16 gradient, where small values would vanish.
            master.loss_scale = param.loss_scale
        return master

    def _store_float32_parameter(self, master: Parameter, param: Parameter) -> None:
        """Rounds the float32 copy to the parameter and frees the memory of its gradient."""
        copyto(param.array, master.array.astype(param.dtype))
        master.cleargrad()

    def update_core(self, param: Parameter) -> None:
        """Updates the parameter.

        Override this method, or both :meth:`update_core_cpu` and :meth:`update_core_gpu`.

        Args:
            param (Parameter): Parameter to be updated.
        """
        array = param.array
        if array.__class__ is _ndarray or array is None or not backend_of(array).is_accelerator:
            self.update_core_cpu(param)
        else:
            with param.device:
                self.update_core_gpu(param)

    def update_core_cpu(self, param: Parameter) -> None:
        """Updates a parameter in host memory. See :meth:`update_core`.

        Args:
            param (Parameter): Parameter to be updated.
        """
        raise NotImplementedError(f"{type(self).__name__} must define update_core()")

    def update_core_gpu(self, param: Parameter) -> None:
        """Updates a parameter on an accelerator. See :meth:`update_core`.

        Args:
            param (Parameter): Parameter to be updated.
        """
        raise NotImplementedError(f"{type(self).__name__} must define update_core()")

    def update_core_chainerx(self, param: Parameter) -> None:
        """Updates a parameter of ChainerX; the same as :meth:`update_core`.

        Rules written for release 7 may override it. It is never called, because there are no arrays
        of ChainerX in this release.

        Args:
            param (Parameter): Parameter to be updated.
        """
        self.update_core(param)

    def init_state(self, param: Parameter) -> None:
        """Initializes the state: puts arrays into ``self.state``.

        Rules that use the state override this method. It is called before the first update.

        Args:
            param (Parameter): Parameter; its array tells shape, dtype and device.
        """

    def _make_state(self, param: Parameter) -> dict[str, Array]:
        if not param.has_memory:
            raise ValueError(
                f"{param.summary()} cannot be updated: config.initialize = 'shape' made it without "
                "memory, and no file has been loaded into it; load one, or call its take_memory()"
            )
        state = self._state = {}
        with param.device:
            self.init_state(param)
        return state

    def serialize(self, serializer: AbstractSerializer) -> None:
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
            self._load_float32_parameter_from(serializer)

    def _load_state(self, serializer: AbstractSerializer) -> None:
        if self._state is not None:
            for name, value in self._state.items():
                self._state[name] = serializer(name, value)
            return
        # Only init_state() knows the names. It gets a stand-in of one element, because the
        # parameter may not have a shape yet; the arrays come from the file.
        names = list(self._make_state(Parameter(numpy.zeros(1, numpy.float32))))
        self._state = None
        loaded: dict[str, Array] = {}
        for name in names:
            try:
                loaded[name] = serializer(name, None)
            except KeyError as error:
                if not self.enabled:  # frozen from the start, it had no state to save
                    return
                raise error if loaded else NoStateError(*error.args) from error
        # None, which a deserializer that is not strict returns, means "not in the file".
        if all(value is not None for value in loaded.values()):
            self._state = loaded

    def _load_float32_parameter_from(self, serializer: AbstractSerializer) -> None:
        # Earlier releases do not save the float32 parameter; they start from the float16 one.
        try:
            array = serializer("fp32_param", None)
        except KeyError:
            array = None
        self._fp32_param = None if array is None else Parameter(array)

    def use_fp32_update(self, flag: bool = True) -> None:
        """Enables use of parameter update in fp32.

        When it is enabled and the parameter is of dtype float16 or bfloat16, the rule keeps a
        float32 copy of it ("master weights"). An update converts the gradient to float32, updates
        the copy (the state is of float32 too), and rounds the copy to the parameter. Hooks of the
        rule get the copy.

        Args:
            flag (bool): Whether to use it.
        """
        self._use_fp32_update = flag
