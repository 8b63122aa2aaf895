"""The base class of optimizers that update parameters by their gradients."""

# The gradients of parameters belong to the core.
# pyright: reportPrivateUsage=false

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Self

from chainer.core.arrays.backend import backend_of
from chainer.core.autograd.laid_out import access_allowed
from chainer.core.autograd.parameter import Parameter
from chainer.core.autograd.variable import Variable
from chainer.core.lazy import resolve
from chainer.core.spans import measured
from chainer.links.link import Link
from chainer.training.optimizers.hyperparameter import Hyperparameter
from chainer.training.optimizers.loss_scaling import remove_loss_scale
from chainer.training.optimizers.misuse_checks import UpdateChecks
from chainer.training.optimizers.optimizer import Optimizer
from chainer.training.optimizers.update_rule import UpdateRule
from chainer.training.optimizers.updates import update_parameters

if TYPE_CHECKING:
    from chainer.core.typing import DTypeLike
    from chainer.training.optimizers.parameter_group import ParameterGroup, Selection


class GradientMethod(Optimizer):
    """Base class of all single gradient-based optimizers.

    Each parameter gets an :class:`~chainer.UpdateRule` from :meth:`create_update_rule`, which
    implementations override; the hyperparameters of the optimizer are the defaults of the rules.

    Attributes:
        hyperparam (Hyperparameter): Hyperparameters of the optimizer.
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
            param.update_rule = rule
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

        Parameters become float16, except for those of normalizations; links that have such
        parameters convert their inputs. Updates are made on float32 copies
        (:meth:`use_fp32_update`), and the loss is scaled (:meth:`loss_scaling`; bfloat16 does not
        need it). Call it after :meth:`setup` and before the first update.

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

        Hyperparameters that are not named are those of the optimizer, now and later. A parameter
        belongs to the last group that it was put into. :meth:`setup` forgets the groups; call it
        before.

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
                array = param.array
                with param.device:
                    param.grad = backend_of(array).xp.zeros_like(array)

    def call_hook(self, hook: Callable[..., Any]) -> None:
        """Invokes a hook function, and gives zero gradients to parameters whose were cleared.

        Args:
            hook (callable): Hook function, see :meth:`Optimizer.call_hook`.
        """
        super().call_hook(hook)
        self.reallocate_cleared_grads()

    @measured("update")
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
        target = self._target()
        differentiated = False
        if lossfun is not None:
            loss = lossfun(*args, **kwds)
            # Whatever can be differentiated will do; programs hand in mocks and wrapped variables.
            if not hasattr(loss, "backward"):
                raise TypeError(
                    f"lossfun must return a chainer.Variable, got {type(loss).__name__}"
                )
            if self._use_cleargrads:
                target.cleargrads()
            else:
                target.zerograds()
            loss.backward(loss_scale=self._loss_scale)
            differentiated = isinstance(loss, Variable)
            del loss
        params = list(target.params())
        if not all([isinstance(param, Parameter) for param in params]):
            _refuse_variables(target)
        checks = self.__dict__.setdefault("_update_checks", UpdateChecks())
        checks.check(self, params, differentiated)
        # The arrays of parameters with a memory layout are for optimizers only.
        with access_allowed():
            self._give_missing_gradients(params)
            self.check_nan_in_grads()
            self._remove_loss_scale(params)
            self.call_hooks("pre")
            self.t += 1
            if self.is_safe_to_update():
                update_parameters(params)
                checks.done(params)
            self._give_missing_gradients(params)
            self.call_hooks("post")
            self.update_loss_scale()

    def _give_missing_gradients(self, params: list[Parameter]) -> None:
        """Calls :meth:`reallocate_cleared_grads`, unless it has nothing to do."""
        # It walks through all links; looking at the gradients first takes a tenth of that time.
        method = getattr(self.reallocate_cleared_grads, "__func__", None)
        if method is not GradientMethod.reallocate_cleared_grads or any(
            [param._gradient is None and param._grad_var is None for param in params]
        ):
            self.reallocate_cleared_grads()

    def _remove_loss_scale(self, params: list[Parameter]) -> None:
        # Before the hooks, because a threshold or a decay rate refers to the true gradient. Rules
        # that update in float32 divide in float32, and their hooks get that gradient.
        for param in [param for param in params if param.loss_scale is not None]:
            rule = param.update_rule
            if rule is None:
                continue
            if not (rule.enabled and rule.updates_in_float32(param)):
                remove_loss_scale(param)

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
        self._use_fp32_update = flag
        if self.target is not None:
            for param in self.target.params():
                if param.update_rule is not None:
                    param.update_rule.use_fp32_update(flag)


def _refuse_variables(target: Link) -> None:
    for path, param in target.namedparams():
        if not isinstance(param, Parameter):
            raise TypeError(
                f"{path} of the target is a {type(param).__name__} and cannot be updated; a "
                "registered parameter was replaced, as by 'link.param += 1' (change "
                "'link.param.array' instead)"
            )
