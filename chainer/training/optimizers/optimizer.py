"""Optimizers: numerical algorithms that minimize a loss (public module ``chainer.optimizer``)."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Self

from chainer.core.foreign_names import ATTRIBUTES, CheckedKeywords, add_foreign_attributes
from chainer.core.lazy import lazy_module
from chainer.core.utils.repr_texts import Plain, call_text, read_or_none
from chainer.links.link import Link
from chainer.links.serializer import AbstractSerializer, Deserializer, Serializer
from chainer.training.optimizers.changes import Watched
from chainer.training.optimizers.hook_registry import HookRegistry
from chainer.training.optimizers.hook_registry import _Hookable as _Hookable
from chainer.training.optimizers.hyperparameter import Hyperparameter, HyperparameterProxy
from chainer.training.optimizers.loaded_state import check_optimizer
from chainer.training.optimizers.loss_scaling import (
    DynamicLossScaling,
    check_loss_scale,
    names_of_nonfinite_gradients,
)
from chainer.training.optimizers.update_rule import NoStateError, UpdateRule
from chainer.training.optimizers.updates import call_hook_for_params

if TYPE_CHECKING:
    from chainer.training.optimizers.gradient_method import GradientMethod as GradientMethod

__all__ = [
    "GradientMethod",
    "Hyperparameter",
    "HyperparameterProxy",
    "Optimizer",
    "UpdateRule",
]


class Optimizer(Watched, CheckedKeywords):
    """Base class of all numerical optimizers.

    :meth:`setup` gives an optimizer its target link, and :meth:`update` updates the parameters of
    the link. Each implementation must override ``update``. Methods based on one gradient
    computation derive from :class:`~chainer.GradientMethod`.

    Hook functions (:meth:`add_hook`) are called in order of registration before or after the
    update, see :meth:`call_hook`.

    Attributes:
        target (Link): Target link, set by :meth:`setup`.
        t (int): Number of update steps.
        epoch (int): Current epoch, incremented by :meth:`new_epoch`.
        use_auto_new_epoch (bool): Whether an updater calls :meth:`new_epoch`. Updaters set it.
    """

    target: Link | None = None
    t = 0
    epoch = 0
    use_auto_new_epoch = False
    #: How many epochs updaters have counted since setup() or loading; see new_epoch().
    _auto_epochs = 0
    #: Factor of the loss. Optimizers of ChainerMN read it and pass it to ``backward``.
    _loss_scale: float | None = None
    #: Adapts the loss scale; None where the scale is fixed.
    _dynamic_scaling: DynamicLossScaling | None = None
    _hooks: HookRegistry | None = None

    def setup(self, link: Link) -> Self:
        """Sets a target link and initializes the optimizer states.

        The states and hooks of an earlier target are discarded. Loss scaling and
        ``use_auto_new_epoch`` stay as they are.

        Args:
            link (Link): Target link object.

        Returns:
            The optimizer itself, so that ``optimizer = SGD().setup(link)`` works.

        Raises:
            TypeError: If ``link`` is not a link.
        """
        if not isinstance(link, Link):
            got = (
                f"the class {link.__name__}: write {link.__name__}(...)"
                if isinstance(link, type)
                else type(link).__name__
            )
            raise TypeError(f"optimization target must be a link, got {got}")
        self.target = link
        self.t = 0
        self.epoch = 0
        self._auto_epochs = 0
        self._hooks = HookRegistry()
        return self

    def __repr__(self) -> str:
        hyperparam = getattr(self, "hyperparam", None)
        entries = {} if hyperparam is None else read_or_none(hyperparam.get_dict) or {}
        target = None if self.target is None else Plain(type(self.target).__name__)
        return call_text(self, [*entries.items(), ("target", target), ("t", self.t or None)])

    def _target(self) -> Link:
        if self.target is None:
            raise RuntimeError(
                f"{type(self).__name__} is not set up. Call its `setup` method with a link first."
            )
        return self.target

    def _own_hooks(self) -> HookRegistry:
        self._target()
        if self._hooks is None:
            self._hooks = HookRegistry()
        return self._hooks

    def update(self, lossfun: Callable[..., Any] | None = None, *args: Any, **kwds: Any) -> None:
        """Updates the parameters.

        With a ``lossfun`` the gradients are cleared, the function is called with the other
        arguments, and its result is differentiated. Without one the gradients are taken as they
        are.

        Args:
            lossfun (callable): Loss function: returns one :class:`~chainer.Variable`.
            args, kwds: Arguments for the loss function.
        """
        raise NotImplementedError(f"{type(self).__name__} must define update()")

    def new_epoch(self, auto: bool = False) -> None:
        """Starts a new epoch: increments :attr:`epoch`.

        Updaters call it at the end of each epoch (see their argument ``auto_new_epoch``). A program
        may also call it itself, once an epoch. The first such call ends the automatic counting, and
        the epochs that were counted automatically are subtracted.

        Args:
            auto (bool): True when an updater calls; users leave it out.

        Raises:
            RuntimeError: If an updater calls it without having set ``use_auto_new_epoch``.
        """
        if auto:
            if not self.use_auto_new_epoch:
                raise RuntimeError(
                    "invalid new_epoch call with auto=True; the updater must set "
                    "optimizer.use_auto_new_epoch = True first"
                )
            self._auto_epochs += 1
        elif self.use_auto_new_epoch:
            self.use_auto_new_epoch = False
            self.epoch -= self._auto_epochs
            self._auto_epochs = 0
        self.epoch += 1

    def add_hook(
        self, hook: Callable[..., Any], name: str | None = None, timing: str = "auto"
    ) -> None:
        """Registers a hook function.

        Args:
            hook (callable): Hook function, see :meth:`call_hook`.
            name (str): Name of the registration; its attribute ``name``, else ``__name__``, by
                default.
            timing (str): When it is called: ``'pre'`` (before the updates), ``'post'`` (after them)
                or ``'auto'`` (as its attribute ``timing`` says, ``'pre'`` without one).

        Raises:
            RuntimeError: If :meth:`setup` was not called yet.
            TypeError: If the hook is not callable.
            ValueError: If the timing is unknown, or the hook has no name.
            KeyError: If there already is a hook of this name.
        """
        self._own_hooks().add(hook, name, timing)

    def remove_hook(self, name: str) -> None:
        """Removes a hook function.

        Args:
            name (str): Registered name of the hook function to remove.

        Raises:
            KeyError: If there is no such hook.
            RuntimeError: If :meth:`setup` was not called yet.
        """
        self._own_hooks().remove(name)

    def call_hooks(self, timing: str = "pre") -> None:
        """Invokes the hook functions of a timing in registration order, by :meth:`call_hook`.

        Args:
            timing (str): ``'pre'`` or ``'post'``.

        Raises:
            RuntimeError: If :meth:`setup` was not called yet.
            ValueError: If the timing is unknown.
        """
        for hook in self._own_hooks().at(timing):
            self.call_hook(hook)

    def call_hook(self, hook: Callable[..., Any]) -> None:
        """Invokes a hook function.

        If ``hook.call_for_each_param`` is true, it is called for every parameter of the target with
        the update rule (enabled or not; None if the parameter has no rule) and the parameter.
        Otherwise it is called once with the optimizer.

        Args:
            hook (callable): Hook function.
        """
        if getattr(hook, "call_for_each_param", False):
            call_hook_for_params(hook, self._target().params())
        else:
            hook(self)

    def reallocate_cleared_grads(self) -> None:
        """Gives every parameter without gradient one; nothing to do in this class."""

    def serialize(self, serializer: AbstractSerializer) -> None:
        """Serializes or deserializes the optimizer.

        The states of the update rules and the counters ``t`` and ``epoch`` are saved or loaded; the
        parameters of the target link are not, and neither are the hyperparameters.

        Args:
            serializer (AbstractSerializer): Serializer or deserializer.

        Raises:
            RuntimeError: If :meth:`setup` was not called yet.
        """
        target = self._target()
        self.t = serializer("t", self.t)
        self.epoch = serializer("epoch", self.epoch)
        if not isinstance(serializer, Serializer):
            self._auto_epochs = 0
        for name, param in target.namedparams():
            if param.update_rule is None:
                continue
            try:
                param.update_rule.serialize(serializer[name])
            except NoStateError:
                # A parameter that is not initialized yet was not when it was saved either.
                if param.is_initialized:
                    raise
        if isinstance(serializer, Deserializer):
            check_optimizer(self)

    def loss_scaling(self, interval: int = 1000, scale: float | None = None) -> None:
        """Configures loss scaling, which keeps small float16 gradients from vanishing.

        :meth:`update` multiplies the loss gradient by a factor, the loss scale, and divides the
        gradients of the parameters by it. The factor may be fixed or dynamic.

        A dynamic factor starts at one and doubles at each update until a gradient is not finite.
        Then the update is skipped and the factor halved. Afterwards it doubles within ``interval``
        updates until the next overflow. It stays between 1 and 65504.

        Args:
            interval (int): Number of updates in which the dynamic factor doubles.
            scale (float): A fixed factor, a positive number. If None, the factor is dynamic. If
                scaling already is dynamic, it stays so and goes on from ``scale``.

        Raises:
            ValueError: If ``scale`` is not positive or not finite, or ``interval`` less than one.

        Example:
            >>> optimizer = chainer.optimizers.Adam()
            >>> optimizer.use_fp32_update()
            >>> optimizer.loss_scaling()
        """
        if scale is None:
            self._dynamic_scaling = DynamicLossScaling(interval)
            scale = 1.0
        check_loss_scale(scale)
        self._loss_scale = scale

    def set_loss_scale(self, loss_scale: float | None) -> None:
        """Sets a fixed loss scale; same as ``loss_scaling(scale=loss_scale)``.

        Args:
            loss_scale (float): The factor, a positive number; None for no scaling.

        Raises:
            ValueError: If the factor is not positive or not finite.
        """
        if loss_scale is None:
            self._loss_scale = self._dynamic_scaling = None
        else:
            self.loss_scaling(scale=loss_scale)

    def check_nan_in_grads(self) -> None:
        """Looks for gradients that are not finite, if loss scaling is dynamic.

        Every parameter that has one is named in a warning. :meth:`is_safe_to_update` then returns
        False until the next check.
        """
        scaling = self._dynamic_scaling
        if scaling is None:
            return
        scaling.overflowed = False
        for name in names_of_nonfinite_gradients(self._target().namedparams()):
            scaling.record_overflow()
            warnings.warn(
                f"Non finite number found in param.grad of {name} (iteration: {self.t}, "
                f"loss_scale: {self._loss_scale})",
                stacklevel=2,
            )

    def is_safe_to_update(self) -> bool:
        """Returns whether the last :meth:`check_nan_in_grads` found finite gradients only."""
        return self._dynamic_scaling is None or not self._dynamic_scaling.overflowed

    def update_loss_scale(self) -> None:
        """Adapts the loss scale after an update, if loss scaling is dynamic."""
        if self._dynamic_scaling is not None and self._loss_scale is not None:
            self._loss_scale = self._dynamic_scaling.next_scale(self._loss_scale)


add_foreign_attributes(Optimizer, ATTRIBUTES["Optimizer"])

#: Names that moved to chainer.optimizer_hooks in release 4; using them warns.
_MOVED = ("GradientClipping", "GradientHardClipping", "GradientNoise", "Lasso", "WeightDecay")

# GradientMethod is imported at first use because its module imports this one.
__getattr__, __dir__ = lazy_module(
    globals(),
    {
        "GradientMethod": "chainer.training.optimizers.gradient_method",
        **dict.fromkeys(_MOVED, ".deprecated_hooks"),
    },
)
