"""Optimizers: numerical algorithms that minimize a loss (public module ``chainer.optimizer``)."""

# The gradients of parameters belong to the core.
# pyright: reportPrivateUsage=false

from __future__ import annotations

import warnings
from collections.abc import Callable
from time import perf_counter_ns
from typing import TYPE_CHECKING, Any, Self

import numpy

from chainer.core import spans
from chainer.core.arrays.backend import backend_of
from chainer.core.autograd.collector_pacing import paced_collector
from chainer.core.autograd.laid_out import LAYOUTS, access_allowed
from chainer.core.autograd.parameter import Parameter
from chainer.core.autograd.variable import Variable
from chainer.core.foreign_names import ATTRIBUTES, CheckedKeywords, add_foreign_attributes
from chainer.core.lazy import lazy_module, resolve
from chainer.core.misuse import expect_flags
from chainer.core.utils.repr_texts import Plain, call_text, read_or_none
from chainer.links.link import Link
from chainer.links.replaced_parameters import explain_replaced
from chainer.links.serializer import AbstractSerializer, Deserializer, Serializer
from chainer.training.optimizers.changes import Watched, optimizer_changes
from chainer.training.optimizers.half_updates import forget, remember, tell
from chainer.training.optimizers.hook_registry import HookRegistry
from chainer.training.optimizers.hook_registry import _Hookable as _Hookable
from chainer.training.optimizers.hooks.grouping import call_hook_for_params
from chainer.training.optimizers.hyperparameter import Hyperparameter, HyperparameterProxy
from chainer.training.optimizers.loaded_state import check_optimizer
from chainer.training.optimizers.loss_scaling import (
    DynamicLossScaling,
    check_loss_scale,
    names_of_nonfinite_gradients,
    note_loss_scale,
    remove_loss_scale,
)
from chainer.training.optimizers.misuse_checks import UpdateChecks, find_shared
from chainer.training.optimizers.update_rule import NoStateError, UpdateRule
from chainer.training.optimizers.updates import HeldSignals, Updates

if TYPE_CHECKING:
    from chainer.core.typing import DTypeLike
    from chainer.training.optimizers.declaration import (
        DeclaredOptimizer as DeclaredOptimizer,
    )
    from chainer.training.optimizers.declaration import hyperparameter as hyperparameter
    from chainer.training.optimizers.parameter_group import ParameterGroup, Selection

__all__ = [
    "DeclaredOptimizer",
    "GradientMethod",
    "Hyperparameter",
    "HyperparameterProxy",
    "Optimizer",
    "UpdateRule",
    "hyperparameter",
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

    Example:
        >>> model = L.Linear(2, 1, initialW=0)
        >>> optimizer = chainer.optimizers.SGD(lr=0.1).setup(model)
        >>> isinstance(optimizer, chainer.Optimizer)
        True
        >>> optimizer.update(lambda x: F.sum((model(x) - 1) ** 2), np.ones((1, 2), np.float32))
        >>> model.b.array
        array([0.2], dtype=float32)
    """

    target: Link | None = None
    t = 0
    epoch = 0
    use_auto_new_epoch = False
    #: How many epochs updaters have counted since setup() or loading; see new_epoch().
    _auto_epochs = 0
    #: Whether our own updater counts because it does so by default, not because of the program.
    _counts_by_default = False
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
        forget(self)
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
                "Optimizer is not set up. Call `setup` method. "
                f"{type(self).__name__} has no link: write optimizer.setup(model) first."
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
        may also call it itself, once an epoch, as programs of release 4 do. The first such call
        ends the automatic counting by a :class:`~chainer.training.updaters.StandardUpdater`, and
        the epochs that were counted automatically are subtracted.

        Args:
            auto (bool): True when an updater calls; users leave it out.

        Raises:
            RuntimeError: If an updater calls it without having set ``use_auto_new_epoch``, or the
                program calls it although the program itself has set that attribute.
        """
        if auto:
            if not self.use_auto_new_epoch:
                raise RuntimeError(
                    "invalid new_epoch call with auto=True.\n"
                    "Fix the updater to set optimizer.use_auto_new_epoch = True."
                )
            self._auto_epochs += 1
        elif self.use_auto_new_epoch:
            if not self._counts_by_default:
                raise RuntimeError(
                    "duplicated new_epoch with the updater.\n"
                    "Pass auto_new_epoch=False to the updater or stop calling new_epoch outside "
                    "the updater."
                )
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
        hooks = self._hooks
        if hooks is None or timing not in ("pre", "post"):
            hooks = self._own_hooks()
        if (timing == "pre" and not hooks.pre) or (timing == "post" and not hooks.post):
            return
        for hook in hooks.at(timing):
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
        if isinstance(serializer, Serializer):
            tell(self, stacklevel=2)
        else:
            forget(self)
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


class GradientMethod(Optimizer):
    """Base class of all single gradient-based optimizers.

    Each parameter gets an :class:`~chainer.UpdateRule` from :meth:`create_update_rule`, which
    implementations override; the hyperparameters of the optimizer are the defaults of the rules.

    Attributes:
        hyperparam (Hyperparameter): Hyperparameters of the optimizer.

    Example:
        >>> class SignSGD(chainer.GradientMethod):
        ...     def create_update_rule(self):
        ...         return SignRule()
        >>> class SignRule(chainer.UpdateRule):
        ...     def update_core(self, param):
        ...         param.array -= 0.1 * np.sign(param.grad)
        >>> model = L.Linear(2, 1, initialW=0)
        >>> optimizer = SignSGD().setup(model)
        >>> loss = F.sum((model(np.ones((1, 2), np.float32)) - 1) ** 2)
        >>> model.cleargrads()
        >>> loss.backward()
        >>> optimizer.update()
        >>> model.W.array
        array([[0.1, 0.1]], dtype=float32)
    """

    # Where programs import the class from: pickles name this module.
    __module__ = "chainer.training.optimizers.optimizer"

    def __init__(self) -> None:
        self.hyperparam = Hyperparameter()
        self._use_fp32_update = False
        self._use_cleargrads = True

    def setup(self, link: Link) -> Self:
        """Sets a target link and gives each of its parameters an update rule.

        Args:
            link (Link): Target link object.

        Returns:
            The optimizer itself.

        Raises:
            TypeError: If ``link`` is not a link.
        """
        super().setup(link)
        for param in link.params():
            rule = self.create_update_rule()
            if self._use_fp32_update:
                rule.use_fp32_update()
            try:
                if not param.requires_grad:  # frozen, see Link.freeze()
                    rule.enabled = False
            except AttributeError as error:
                explain_replaced(link, error)
                raise
            param.update_rule = rule
        find_shared(self)
        return self

    def create_update_rule(self) -> UpdateRule:
        """Creates a new update rule object.

        :meth:`setup` calls it for each parameter. Implementations override it.

        Returns:
            UpdateRule: Update rule whose hyperparameters have ``self.hyperparam`` as their parent.
        """
        raise NotImplementedError(f"{type(self).__name__} must define create_update_rule()")

    def mixed_precision(self, dtype: DTypeLike = "float16") -> Self:
        """Makes the target compute in 16 bits, and updates it in float32.

        Parameters become float16, except in normalizations; links that have such parameters convert
        their inputs. Updates are made on float32 copies (:meth:`use_fp32_update`), and the loss is
        scaled (:meth:`loss_scaling`; bfloat16 does not need it). Call it after :meth:`setup` and
        before the first update.

        Args:
            dtype: ``'float16'`` or ``'bfloat16'``.

        Returns:
            The optimizer itself.

        Raises:
            RuntimeError: If :meth:`setup` was not called yet, or an update was made.
            TypeError: If the dtype has not 16 bits.

        Example:
            >>> model = L.Linear(3, 2)
            >>> optimizer = chainer.optimizers.Adam().setup(model).mixed_precision()
            >>> model(np.ones((1, 3), np.float32)).dtype
            dtype('float16')
        """
        # The module imports links, which few programs need in this place.
        use = resolve("chainer.training.optimizers.mixed_precision:use_mixed_precision")
        use(self, self._target(), dtype)
        return self

    def group(self, selection: Selection, **hyperparameters: Any) -> ParameterGroup:
        """Gives some of the parameters hyperparameters of their own.

        Hyperparameters that are not named follow the optimizer, now and later. A parameter belongs
        to the last group that it was put into. :meth:`setup` forgets the groups; call it before.

        Args:
            selection: A parameter, a link, a list of parameters and links, or a function of the
                path and the parameter that returns whether it belongs to the group.
            hyperparameters: Hyperparameters by name. For every optimizer, ``lr`` is the learning
                rate and ``weight_decay`` the weight decay: the hyperparameter
                ``weight_decay_rate``, or a rate times the parameter that is added to the gradient.

        Returns:
            ParameterGroup: The group. Its hyperparameters are attributes, which may be set.

        Raises:
            RuntimeError: If :meth:`setup` was not called yet.
            AttributeError: If the optimizer has no such hyperparameter.
            ValueError: If there is no such parameter in the target.

        Example:
            >>> model = L.Linear(3, 2)
            >>> optimizer = chainer.optimizers.AdamW(weight_decay_rate=0.01).setup(model)
            >>> biases = optimizer.group(lambda path, param: param.ndim < 2, weight_decay=0, lr=0.1)
            >>> model.b.update_rule.hyperparam.alpha, model.W.update_rule.hyperparam.alpha
            (0.1, 0.001)
            >>> biases.lr = 0.01
            >>> model.b.update_rule.hyperparam.alpha
            0.01
        """
        # The module imports a hook, and hooks import this module's package.
        make_group = resolve("chainer.training.optimizers.parameter_group:make_group")
        return make_group(self, self._target(), selection, hyperparameters)

    def reallocate_cleared_grads(self) -> None:
        """Reallocates gradients cleared by :meth:`~chainer.Variable.cleargrad`.

        Gives a zero array to every initialized parameter whose gradient is None. It is called
        before the hooks and after each of them. An optimizer that does not need it can override it
        with a blank method.
        """
        for param in self._target().params(include_uninit=False):
            if param.grad is None:
                _give_zeros(param)

    def call_hook(self, hook: Callable[..., Any]) -> None:
        """Invokes a hook function, and gives zero gradients to parameters whose were cleared.

        Args:
            hook (callable): Hook function, see :meth:`Optimizer.call_hook`.
        """
        super().call_hook(hook)
        self.reallocate_cleared_grads()

    def update(self, lossfun: Callable[..., Any] | None = None, *args: Any, **kwds: Any) -> None:
        """Updates parameters based on a loss function or computed gradients.

        With a ``lossfun`` it is called with the other arguments, the gradients are cleared, and its
        result is differentiated. Without one, the gradients are used as they are: clear them
        before you compute them.

        Hooks see gradients that are divided by the loss scale (:meth:`loss_scaling`). If dynamic
        loss scaling finds a gradient that is not finite, no parameter is updated; the hooks are
        called and :attr:`t` counts nevertheless.

        Args:
            lossfun (callable): Loss function: returns one :class:`~chainer.Variable`.
            args, kwds: Arguments for the loss function.

        Raises:
            RuntimeError: If :meth:`setup` was not called yet.
            TypeError: If ``lossfun`` does not return a variable.

        Example:
            >>> model = chainer.Link(W=(2,))
            >>> model.W.array[...] = [1, 2]
            >>> optimizer = chainer.optimizers.SGD(lr=0.5).setup(model)
            >>> optimizer.update(lambda x: F.sum(model.W * x), np.array([1, -1], np.float32))
            >>> model.W.array
            array([0.5, 2.5], dtype=float32)
        """
        # As :func:`chainer.core.spans.measured`, whose call would be felt in a small update.
        recorder = spans.active.recorder
        start = 0 if recorder is None else perf_counter_ns()
        try:
            self._update(lossfun, args, kwds)
        finally:
            if recorder is not None:
                recorder.span("update", type(self).__name__, start, perf_counter_ns())

    def _update(
        self, lossfun: Callable[..., Any] | None, args: tuple[Any, ...], kwds: dict[str, Any]
    ) -> None:
        target = self.target
        if target is None:
            target = self._target()
        if "_half_update" in self.__dict__:
            tell(self, stacklevel=3)
        differentiated = False
        if lossfun is not None:
            with paced_collector():
                differentiated = self._differentiate(target, lossfun, args, kwds)
        params = list(target.params())
        checks: UpdateChecks | None = self.__dict__.get("_update_checks")
        if checks is None:
            checks = self.__dict__["_update_checks"] = UpdateChecks()
        checks.check(self, params, differentiated)
        if LAYOUTS.are_in_use:
            # The arrays of parameters with a memory layout are for optimizers only.
            with access_allowed():
                self._update_params(params, checks)
        else:
            self._update_params(params, checks)

    def _differentiate(
        self,
        target: Link,
        lossfun: Callable[..., Any],
        args: tuple[Any, ...],
        kwds: dict[str, Any],
    ) -> bool:
        """Computes the loss and the gradients; returns whether the loss is a variable."""
        if isinstance(lossfun, Variable):
            raise TypeError(
                "lossfun must be a function that returns the loss, got a Variable: call "
                "update(model, x, t), or loss.backward() and then update()"
            )
        if not callable(lossfun):
            raise TypeError(
                "lossfun must be a function that returns the loss, or the model, got "
                f"{type(lossfun).__name__}: call update(model, x, t)"
            )
        loss = lossfun(*args, **kwds)
        # Anything with backward() is accepted: programs hand in mocks and wrapped variables.
        if not hasattr(loss, "backward"):
            name = getattr(lossfun, "__name__", type(lossfun).__name__)
            raise TypeError(
                f"lossfun must return a chainer.Variable, got {type(loss).__name__} from {name}"
            )
        if self._use_cleargrads:
            target.cleargrads()
        else:
            target.zerograds()
        loss.backward(loss_scale=self._loss_scale)
        note_loss_scale(target.params(), self._loss_scale)
        return isinstance(loss, Variable)

    def _update_params(self, params: list[Parameter], checks: UpdateChecks) -> None:
        self._give_missing_gradients(params)
        self.check_nan_in_grads()
        for param in params:
            # Before the hooks, because a threshold or a decay rate refers to the true gradient.
            # Rules that update in float32 divide in float32, and their hooks get that gradient.
            rule = param.update_rule
            if param.loss_scale is None or rule is None:
                continue
            if not (rule.enabled and rule.updates_in_float32(param)):
                remove_loss_scale(param)
        self.call_hooks("pre")
        # From here on the update is completed, whatever the user types.
        held, updates = HeldSignals(), Updates()
        previous = held.hold()
        try:
            # As ``self.t += 1`` and all other changes of the update.
            self.__dict__["t"] = self.t + 1
            optimizer_changes.renew()
            if self.is_safe_to_update():
                try:
                    updates.make(params)
                except BaseException as error:
                    if updates.is_undone:
                        self.__dict__["t"] = self.t - 1
                    else:
                        remember(self, updates.unfinished(params), error)
                    raise
                checks.done(params)
            self._give_missing_gradients(params)
            self.call_hooks("post")
            self.update_loss_scale()
        finally:
            held.release(previous)

    def _give_missing_gradients(self, params: list[Parameter]) -> None:
        """Calls :meth:`reallocate_cleared_grads`, unless it has nothing to do."""
        # It walks through all links; a look at the gradients alone takes a tenth of that time.
        method = getattr(self.reallocate_cleared_grads, "__func__", None)
        if method is GradientMethod.reallocate_cleared_grads:
            for param in params:
                if param._gradient is None and param._grad_var is None and param.is_initialized:
                    _give_zeros(param)
            return
        self.reallocate_cleared_grads()

    def use_cleargrads(self, use: bool = True) -> None:
        """Enables or disables use of :meth:`~chainer.Link.cleargrads` in :meth:`update`.

        Deprecated since v2.0: gradients are cleared by default, which is more efficient than zero
        filling.

        Args:
            use (bool): If False, the gradients are filled with zeros instead.
        """
        warnings.warn(
            "GradientMethod.use_cleargrads is deprecated.", DeprecationWarning, stacklevel=2
        )
        self._use_cleargrads = use

    def use_fp32_update(self, flag: bool = True) -> None:
        """Enables use of parameter update in fp32.

        See :meth:`chainer.UpdateRule.use_fp32_update`.

        Args:
            flag (bool): Whether to use it.
        """
        expect_flags("use_fp32_update", flag=flag)
        self._use_fp32_update = flag
        if self.target is not None:
            for param in self.target.params():
                if param.update_rule is not None:
                    param.update_rule.use_fp32_update(flag)


def _give_zeros(param: Parameter) -> None:
    """Gives a zero gradient to an initialized parameter that requires one."""
    if not param.requires_grad:
        return
    array = param.array
    if type(array) is numpy.ndarray:  # has one device, which need not be made current
        if array.flags.c_contiguous:
            # Without the checks of a gradient, and the Python code of zeros_like(): in a small
            # update they take as long as the update of a parameter.
            param._gradient = numpy.zeros(array.shape, array.dtype)
            param._mark_grad_set()
        else:
            param.grad = numpy.zeros_like(array)
        return
    with param.device:
        param.grad = backend_of(array).xp.zeros_like(array)


add_foreign_attributes(Optimizer, ATTRIBUTES["Optimizer"])

#: Names that moved to chainer.optimizer_hooks in release 4; using them warns.
_MOVED = ("GradientClipping", "GradientHardClipping", "GradientNoise", "Lasso", "WeightDecay")

# These modules import this one.
__getattr__, __dir__ = lazy_module(
    globals(),
    {
        "DeclaredOptimizer": ".declaration",
        "hyperparameter": ".declaration",
        **dict.fromkeys(_MOVED, ".deprecated_hooks"),
    },
)
