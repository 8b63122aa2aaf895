"""The base class of everything that holds parameters (public module ``chainer.link``)."""

# One file, though a long one: it has the methods of one public class, which share its attributes.

from __future__ import annotations

import contextlib
import copy
import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, ClassVar, cast

import numpy

from chainer.core.arrays.backend import copyto, find_backend, get_device
from chainer.core.arrays.device_resident import DeviceResident, DeviceResidentsVisitor, device_of
from chainer.core.autograd.parameter import Parameter
from chainer.core.autograd.variable import Variable
from chainer.core.config.configuration import config
from chainer.core.config.input_casts import cast_request
from chainer.core.foreign_names import ATTRIBUTES, CheckedKeywords, add_foreign_attributes
from chainer.core.lazy import lazy_module, resolve
from chainer.core.misuse import expect_number, warn_once
from chainer.core.typing import DTypeLike, InitializerLike, ShapeLike
from chainer.core.utils.repr_texts import read_or_none
from chainer.links.errors import MissingForwardError
from chainer.links.initializers.constant import NaN
from chainer.links.input_casts import cast_wider_inputs
from chainer.links.link_hook import (
    LinkHook,
    _ForwardPostprocessCallbackArgs,
    _ForwardPreprocessCallbackArgs,
    hook_count,
    thread_hooks,
)
from chainer.links.name_set import NameSet
from chainer.links.replaced_parameters import NamingReplaced, explain_replaced
from chainer.links.serializer import Deserializer

__all__ = ["Chain", "ChainList", "Link"]

if TYPE_CHECKING:
    from typing import Self

    from chainer.links.chain import Chain as Chain
    from chainer.links.chain_list import ChainList as ChainList
    from chainer.links.sequential import Sequential
    from chainer.links.serializer import AbstractSerializer

# Every call takes the path with hooks from then on.
cast_request.on_request(lambda: hook_count.add(1))

_COPY_MODES = ("init", "copy", "share")

#: Child links that the ``repr`` of a link with children names.
_SHOWN_CHILDREN = 4


def check_copy_mode(mode: str) -> None:
    """Raises ValueError unless ``mode`` is a mode of copying links."""
    if mode not in _COPY_MODES:
        raise ValueError(
            f"The 'mode' argument should be either 'init','copy', or 'share'. But {mode} was given."
        )


class Link(DeviceResident, CheckedKeywords):
    """Building block of model definitions.

    A link holds parameters and persistent values. Both have names and are attributes of the link.
    Assigning a :class:`~chainer.Parameter` to an attribute within :meth:`init_scope` registers it.
    Parameters and persistent values are saved and loaded by serializers, moved between devices and
    copied with the link. The link does not look at its other attributes.

    A subclass defines ``forward``; calling the link runs its link hooks around ``forward``. A
    subclass may also override ``__call__``, but then its hooks do not run.

    Args:
        params: Names and shapes of initial parameters, each a shape or a tuple ``(shape, dtype)``.
            Their values are NaN.

    Attributes:
        name (str): Name of this link, given by the parent chain; None without a parent.

    Example:
        >>> class LinearLayer(chainer.Link):
        ...     def __init__(self, n_in, n_out):
        ...         super().__init__()
        ...         with self.init_scope():
        ...             self.W = chainer.Parameter(chainer.initializers.Normal(), (n_out, n_in))
        ...             self.b = chainer.Parameter(0, (n_out,))
        ...     def forward(self, x):
        ...         return F.linear(x, self.W, self.b)
        >>> LinearLayer(3, 2)(np.zeros((4, 3), np.float32)).shape
        (4, 2)
    """

    name: str | None = None

    _params: NameSet
    _persistent: NameSet
    _within_init_scope: bool = False
    _local_link_hooks: dict[str, LinkHook] | None = None
    # Whether Link.__init__ has been called. The name that Python makes of it, _Link__init_done, is
    # the one in pickles of release 7.
    __init_done: bool = False
    #: Whether a base class behind Link defines ``__call__``, which is then called for ``forward``.
    _calls_mixin: ClassVar[bool] = False
    # Whether a call can go directly to forward: the link is initialized, and has neither hooks nor
    # a mixin. A single flag keeps the usual call fast.
    _calls_forward: bool = False

    def __init__(self, **params: Any) -> None:
        super().__init__()
        self._params = NameSet()
        self._persistent = NameSet()
        self._within_init_scope = False
        self.name = None
        self.__init_done = True
        self._calls_forward = not self._calls_mixin
        for name, value in params.items():
            shape, dtype = _shape_and_dtype(value)
            self.add_param(name, shape, dtype=dtype)

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        behind = cls.__mro__[cls.__mro__.index(Link) + 1 :]
        cls._calls_mixin = any("__call__" in base.__dict__ for base in behind)

    # -- calls ------------------------------------------------------------------------------------

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Calls ``forward`` with the same arguments, and the link hooks before and after it."""
        if self._calls_forward and not hook_count.value:
            try:
                forward = self.forward  # type: ignore[attr-defined]
            except AttributeError:
                forward = self._find_forward()
            try:
                return forward(*args, **kwargs)
            except AttributeError as error:
                explain_replaced(self, error, hierarchy=False)
                raise
        return self._call_with_hooks(args, kwargs)

    def _find_forward(self) -> Any:
        """Returns what computes: ``__call__`` of a class behind Link, or else ``forward``.

        Raises:
            MissingForwardError: If there is neither.
        """
        if self._calls_mixin:
            return getattr(super(), "__call__")  # noqa: B004, B009
        forward = getattr(self, "forward", None)
        if forward is not None:
            return forward
        if hasattr(type(self), "forward"):
            # A property that fails: its own error says more.
            return self.__getattribute__("forward")
        name = type(self).__name__
        raise MissingForwardError(
            f"{name!r} object has no attribute 'forward': it has neither '{name}.__call__' "
            "method overridden nor 'forward' method defined."
        )

    def __no_init_text(self) -> str:
        return (
            "Link.__init__() has not been called. "
            f"Call super().__init__() first in {type(self).__name__}.__init__()"
        )

    def _call_with_hooks(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if not self.__init_done:
            raise RuntimeError(self.__no_init_text())
        if config.cast_inputs:
            args, kwargs = cast_wider_inputs(self, args, kwargs)
        hooks = thread_hooks.hooks
        if self._local_link_hooks:
            # A hook of the link takes the place of one of the thread that has the same name.
            hooks = {**hooks, **self._local_link_hooks}
        # A hook may be deleted while it runs.
        active = tuple(hooks.values())
        if not active:
            return self._explained_forward(args, kwargs)
        before = _ForwardPreprocessCallbackArgs(self, "forward", args, kwargs)
        started: list[LinkHook] = []
        try:
            for hook in active:
                hook.forward_preprocess(before)
                started.append(hook)
            if before.replacement is not None:
                args, kwargs = before.replacement
            out = self._explained_forward(args, kwargs)
        except BaseException:
            for hook in started:
                hook._forward_failed(before)  # pyright: ignore[reportPrivateUsage]
            raise
        after = _ForwardPostprocessCallbackArgs(self, "forward", args, kwargs, out)
        for hook in active:
            hook.forward_postprocess(after)
        return out if after.other_out is None else after.other_out[0]

    def _explained_forward(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        with NamingReplaced(self, hierarchy=False):
            return self._find_forward()(*args, **kwargs)

    @property
    def local_link_hooks(self) -> dict[str, LinkHook]:
        """Link hooks of this link, by name, in the order in which they run."""
        if self._local_link_hooks is None:
            self._local_link_hooks = {}
            self._calls_forward = False
        return self._local_link_hooks

    def add_hook(self, hook: LinkHook, name: str | None = None) -> Self:
        """Registers a link hook that is active for this link only.

        Args:
            hook (LinkHook): The hook.
            name (str): Name to register it under; ``hook.name`` by default.

        Returns:
            Link: This link.

        Raises:
            TypeError: If ``hook`` is not a link hook.
            KeyError: If the link has a hook of this name.
        """
        if not isinstance(hook, LinkHook):
            raise TypeError(f"Hook must be of type LinkHook, got {type(hook).__name__}")
        hooks = self.local_link_hooks
        name = hook.name if name is None else name
        if name in hooks:
            raise KeyError(f"Hook {name} already exists")
        hooks[name] = hook
        hook.added(self)
        return self

    def delete_hook(self, name: str) -> None:
        """Deletes a link hook of this link.

        Args:
            name (str): Name under which it is registered.

        Raises:
            KeyError: If the link has no hook of this name.
        """
        hooks = self.local_link_hooks
        if name not in hooks:
            raise KeyError(f"Hook {name} does not exist")
        hooks[name].deleted(self)
        del hooks[name]

    # -- text -------------------------------------------------------------------------------------

    @property
    def printable_specs(self) -> Iterator[tuple[str, Any]]:
        """Pairs of name and value that describe the link when it is printed."""
        return iter(())

    def __str__(self) -> str:
        specs = ", ".join(f"{name}={value}" for name, value in self.printable_specs)
        return f"{type(self).__name__}({specs})"

    def __repr__(self) -> str:
        text = read_or_none(lambda: str(self))
        if text is None:  # its __init__ has not been called yet
            return f"<{type(self).__name__}>"
        if "\n" not in text:
            return text
        # One line, for messages and lists of links.
        children = [(link.name or "?", type(link).__name__) for link in self.children()]
        parts = [f"{name}={kind}" for name, kind in children[:_SHOWN_CHILDREN]]
        more = len(children) - len(parts)
        return f"<{type(self).__name__} {', '.join(parts)}{f' and {more} more' if more else ''}>"

    def _repr_html_(self) -> str:
        # Shown by notebooks. Resolved here, because summaries import links.
        return resolve("chainer.links.summary:summary")(self)._repr_html_()

    # -- registration -----------------------------------------------------------------------------

    @classmethod
    def from_params(cls, *args: Any, **kwargs: Any) -> Self:
        """Creates a link whose parameters are copies of given arrays; some links define it.

        Raises:
            NotImplementedError: If the class does not.
        """
        raise NotImplementedError("This link does not implement `from_params`.")

    @property
    def within_init_scope(self) -> bool:
        """True if the current code is inside of an initialization scope."""
        return self._within_init_scope

    @contextlib.contextmanager
    def init_scope(self) -> Iterator[None]:
        """Creates an initialization scope: a context in which assigning a parameter registers it.

        Example:
            >>> class MyLink(chainer.Link):
            ...     def __init__(self):
            ...         super().__init__()
            ...         with self.init_scope():
            ...             self.W = chainer.Parameter(0, (10, 5))
            >>> [name for name, _ in MyLink().namedparams()]
            ['/W']
        """
        if not self.__init_done:
            raise RuntimeError(self.__no_init_text())
        before = self._within_init_scope
        self._within_init_scope = True
        try:
            yield
        finally:
            self._within_init_scope = before

    def __setattr__(self, name: str, value: object) -> None:
        if self._within_init_scope and isinstance(value, Parameter):
            value.name = name
            self._params.add(name)
            self._persistent.discard(name)
        object.__setattr__(self, name, value)

    def __delattr__(self, name: str) -> None:
        # The sets of names do not exist before Link.__init__ is called.
        if self.__init_done:
            self._params.discard(name)
            self._persistent.discard(name)
        object.__delattr__(self, name)

    def add_param(
        self,
        name: str,
        shape: ShapeLike | None = None,
        dtype: DTypeLike = numpy.float32,
        initializer: InitializerLike = None,
    ) -> None:
        """Registers a parameter to the link.

        Assigning a :class:`~chainer.Parameter` within :meth:`init_scope` does the same.

        Args:
            name (str): Name of the parameter and of the attribute.
            shape (int or tuple of ints): Shape; the parameter is left uninitialized if omitted.
            dtype: Data type of the parameter array; ``chainer.config.dtype`` has no effect here.
            initializer: Initializer, array or scalar; ``dtype`` is then ignored.

        Raises:
            AttributeError: If the link has an attribute of this name.
        """
        # An attribute of the class, such as a default of None, may be replaced by a parameter.
        if name in vars(self):
            raise AttributeError(f"cannot register a new parameter {name}: attribute exists")
        if initializer is None:
            initializer = NaN(dtype)
        with self.init_scope():
            setattr(self, name, Parameter(initializer, shape))

    def add_persistent(self, name: str, value: object) -> None:
        """Registers a persistent value to the link and sets it as an attribute.

        Args:
            name (str): Name of the value and of the attribute.
            value: Value: an array, a scalar or anything serializers can store.

        Raises:
            AttributeError: If the link has an attribute of this name.
        """
        if name in vars(self):
            raise AttributeError(f"cannot register a new persistent value {name}: attribute exists")
        self._persistent.add(name)
        self._params.discard(name)
        object.__setattr__(self, name, value)

    def register_persistent(self, name: str) -> None:
        """Registers an attribute of a given name as a persistent value.

        A parameter of this name becomes a persistent value.

        Args:
            name (str): Name of an existing attribute.

        Raises:
            AttributeError: If there is no such attribute.
        """
        if not hasattr(self, name):
            raise AttributeError(
                f"cannot register non-existent attribute {name} as a persistent value"
            )
        self._persistent.add(name)
        self._params.discard(name)

    # -- hierarchy --------------------------------------------------------------------------------

    def params(self, include_uninit: bool = True) -> Iterator[Parameter]:
        """Returns a generator of all parameters under the link hierarchy.

        The link's own parameters come first, in lexical order of their names. The parameters of the
        children follow.

        Args:
            include_uninit (bool): Whether uninitialized parameters are included.
        """
        if not self.__init_done:
            raise RuntimeError(self.__no_init_text())
        # Without names: optimizers walk the parameters at each update.
        members = vars(self)
        for name in self._params:
            param = members[name]
            if include_uninit or self._is_initialized(param):
                yield param

    def namedparams(self, include_uninit: bool = True) -> Iterator[tuple[str, Parameter]]:
        """Returns a generator of all (path, param) pairs under the hierarchy, see :meth:`params`.

        Args:
            include_uninit (bool): Whether uninitialized parameters are included.
        """
        for name, param in self._own_params(include_uninit):
            yield "/" + name, param

    def _own_params(self, include_uninit: bool) -> Iterator[tuple[str, Parameter]]:
        """Yields the parameters of the link itself with their names."""
        members = vars(self)
        if not self.__init_done:
            raise RuntimeError(self.__no_init_text())
        for name in self._params:
            param = members[name]
            if include_uninit or self._is_initialized(param):
                yield name, param

    def _is_initialized(self, param: Parameter) -> bool:
        try:  # for each parameter of a model: cheaper than a block
            return param.raw_array is not None
        except AttributeError as error:
            explain_replaced(self, error)
            raise

    def links(self, skipself: bool = False) -> Iterator[Link]:
        """Returns a generator of all links under the hierarchy.

        Args:
            skipself (bool): Whether this link is left out.
        """
        if not skipself:
            yield self
        for child in self.children():
            yield from child.links()

    def namedlinks(self, skipself: bool = False) -> Iterator[tuple[str, Link]]:
        """Returns a generator of all (path, link) pairs under the hierarchy.

        Args:
            skipself (bool): Whether this link is left out.
        """
        if not skipself:
            yield "/", self

    def children(self) -> Iterator[Link]:
        """Returns a generator of all child links."""
        return iter(())

    # -- copies -----------------------------------------------------------------------------------

    def copy(self, mode: str = "share") -> Self:
        """Copies the link hierarchy to a new one.

        Args:
            mode (str): ``'share'``: parameters are new objects that share their arrays with those
                of this link, and have no gradient. ``'copy'``: everything is copied deeply.
                ``'init'``: as ``'copy'``, but parameters are initialized anew.

        Returns:
            Link: The copy. A copy of mode ``'share'`` has no name.
        """
        check_copy_mode(mode)
        if mode == "share":
            replica = self._copy_shallow()
            replica.name = None
            return replica
        replica = copy.deepcopy(self)
        if mode == "init":
            replica._draw_parameters()
            for link in replica.links():
                link._on_reinitialize()
        return replica

    def _draw_parameters(self) -> None:
        """Initializes the parameters of the whole hierarchy anew."""
        for param in self.params(include_uninit=False):
            # In-place arithmetic leaves variables in the place of parameters.
            if isinstance(param, Parameter):
                param.initialize(param.shape)

    def _on_reinitialize(self) -> None:
        """Hook: called after all parameters were re-initialized.

        Override it to fill parameters by other means than their initializers.
        """

    def _copy_shallow(self) -> Self:
        replica = copy.copy(self)
        members = vars(replica)
        members["_params"] = self._params.copy()
        members["_persistent"] = self._persistent.copy()
        for name in self._params:
            param = copy.copy(members[name])
            # With the gradient array shared, accumulation in one link would show in the other.
            if isinstance(param, Variable):  # a program may put something else in its place
                param.cleargrad()
            members[name] = param
        return replica

    def copyparams(self, link: Link, copy_persistent: bool = True) -> None:
        """Copies all parameters from given link, across devices if need be; not the gradients.

        Args:
            link (Link): Source link, of the same structure.
            copy_persistent (bool): Whether persistent values are copied, too. Arrays are copied
                into the arrays of this link; all other values become deep copies.

        Raises:
            KeyError: If the source has no parameter or persistent value of a name.
        """
        for name in self._params:
            source = _source_param(link, name)
            with _same_shape(self, name, source):
                vars(self)[name].copydata(source)
        if copy_persistent:
            for name in self._persistent:
                if name not in vars(link):
                    raise KeyError(
                        f"the source {type(link).__name__} has no persistent value {name!r}"
                    )
                self._copy_persistent(name, vars(link)[name])

    def _copy_persistent(self, name: str, source: object) -> None:
        members = vars(self)
        # In place, because others may refer to the array, and across devices.
        if _is_array(members[name]) and _is_array(source):
            copyto(members[name], source)
        else:
            members[name] = copy.deepcopy(source)

    def addgrads(self, link: Link) -> None:
        """Accumulates gradient values from given link, across devices if need be.

        Args:
            link (Link): Source link, of the same structure.

        Raises:
            KeyError: If the source has no parameter of a name.
        """
        for name in self._params:
            source = _source_param(link, name)
            with _same_shape(self, name, source):
                vars(self)[name].addgrad(source)

    def repeat(self, n_repeat: int, mode: str = "init") -> Sequential:
        """Repeats this link multiple times to make a :class:`~chainer.Sequential`.

        Args:
            n_repeat (int): Number of times to repeat; the result is empty if it is not positive.
            mode (str): ``'init'``: each copy is initialized anew. ``'copy'``: the copies have the
                same values but are independent. ``'share'``: they share their parameters.

        Example:
            >>> len(L.Linear(10, 10).repeat(3))
            3
        """
        from chainer.links.sequential import Sequential

        expect_number("n_repeat of repeat", n_repeat, at_least=0)
        return Sequential(*(self.copy(mode) for _ in range(n_repeat)))

    # -- training ---------------------------------------------------------------------------------

    def cleargrads(self) -> None:
        """Clears all gradient arrays; called before the backward computation of an iteration."""
        with NamingReplaced(self):
            for param in self.params():
                param.cleargrad()

    def zerograds(self) -> None:
        """Initializes all gradient arrays by zero.

        Deprecated since v1.15; use :meth:`cleargrads`.
        """
        warnings.warn(
            "Link.zerograds is deprecated. Use Link.cleargrads instead.",
            DeprecationWarning,
            stacklevel=2,
        )
        with NamingReplaced(self):
            for param in self.params():
                param.zerograd()

    def count_params(self) -> int:
        """Returns the number of scalars in all parameters; warns about uninitialized parameters."""
        size = 0
        for path, param in self.namedparams():
            if not self._is_initialized(param):
                warnings.warn(
                    f"Parameter '{path}' has not been initialized, so the resulting count will not "
                    "include the number of parameters in it.",
                    stacklevel=2,
                )
                continue
            size += param.size
        return size

    @property
    def update_enabled(self) -> bool:
        """True if at least one parameter has an update rule enabled."""
        return any(rule.enabled for rule in self._update_rules())

    def enable_update(self) -> None:
        """Enables the update rules of all parameters under the link hierarchy."""
        for rule in self._update_rules():
            rule.enabled = True

    def disable_update(self) -> None:
        """Disables the update rules of all parameters under the link hierarchy."""
        for rule in self._update_rules():
            rule.enabled = False

    def freeze(self) -> Self:
        """Freezes all parameters under the link hierarchy.

        They get no gradients, and optimizers neither update nor decay them: to train the rest of a
        model. :meth:`unfreeze` undoes it.

        Returns:
            The link itself.

        Example:
            >>> model = chainer.Sequential(L.Linear(3, 4), L.Linear(4, 2))
            >>> _ = model[0].freeze()
            >>> F.sum(model(np.ones((1, 3), np.float32))).backward()
            >>> model[0].W.grad is None, model[1].W.grad is None
            (True, False)
        """
        for param in self.params():
            param.requires_grad = False
        return self

    def unfreeze(self) -> Self:
        """Lets all parameters under the link hierarchy have gradients and updates again.

        Returns:
            The link itself.
        """
        for param in self.params():
            param.requires_grad = True
        return self

    def _update_rules(self) -> Iterator[Any]:
        for param in self.params():
            # In-place arithmetic leaves variables, which have no rule, in the place of parameters.
            rule = getattr(param, "update_rule", None)
            if rule is not None:
                yield rule

    # -- devices ----------------------------------------------------------------------------------

    def device_resident_accept(self, visitor: DeviceResidentsVisitor) -> None:
        """Shows a visitor this link, its parameters, and its persistent values that are arrays.

        A subclass that holds other arrays or variables overrides the method:

        Example:
            >>> class Lookup(chainer.Link):
            ...     def __init__(self, table):
            ...         super().__init__()
            ...         self.table = table
            ...     def device_resident_accept(self, visitor):
            ...         super().device_resident_accept(visitor)
            ...         self.table = visitor.visit_array(self.table)
            >>> link = Lookup(np.arange(3)).to_device("@numpy")

        Args:
            visitor (DeviceResidentsVisitor): The visitor.
        """
        super().device_resident_accept(visitor)
        members = vars(self)
        for name in self._params:
            with NamingReplaced(self, hierarchy=False):
                visitor.visit_variable(members[name])
        for name in self._persistent:
            value = members[name]
            if isinstance(value, Variable):  # a parameter that was registered as persistent
                visitor.visit_variable(value)
            elif _is_array(value):
                members[name] = visitor.visit_array(value)

    @property
    def _device_id(self) -> int | None:
        warnings.warn(
            "Link._device_id is left only for backward compatibility and likely to be removed. "
            "Use Link.device instead.",
            DeprecationWarning,
            stacklevel=2,
        )
        device = device_of(self)
        return device.index if device.backend.is_accelerator else None

    @property
    def _cpu(self) -> bool:
        """Whether the link is in host memory; links of release 4 had this attribute."""
        return not device_of(self).backend.is_accelerator

    # -- serialization ----------------------------------------------------------------------------

    def serialize(self, serializer: AbstractSerializer) -> None:
        """Serializes the link: parameters and persistent values, by name.

        Args:
            serializer (AbstractSerializer): Serializer or deserializer.
        """
        if self._local_link_hooks and isinstance(serializer, Deserializer):
            for hook in self._local_link_hooks.values():
                hook._loading(self, serializer)
        members = vars(self)
        for name in self._params:
            param = members[name]
            if _is_array(param):  # put in the place of the parameter; release 7 saves it, too
                members[name] = serializer(name, param)
                continue
            if isinstance(serializer, Deserializer):
                param.take_memory()
            with NamingReplaced(self, hierarchy=False):
                data = serializer(name, param.array)
            if data is None and param.array is not None:
                _warn_of_missing_values(name)
            if param.array is None and data is not None:
                # The file contains the shape that the first call would have determined.
                param.initialize(data.shape)
                copyto(param.array, data if find_backend(type(data)) else numpy.asarray(data))
        for name in self._persistent:
            value = members[name]
            if isinstance(value, Variable):  # a parameter that was registered as persistent
                value.array = serializer(name, value.array)
            else:
                members[name] = serializer(name, value)

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restores a link; pickles of the releases 4 and 7 can be read.

        Args:
            state (dict): Attributes of the link.
        """
        members = vars(self)
        members.update(state)
        # Older releases pickle the names as sets.
        for key in ("_params", "_persistent"):
            if key in members:
                members[key] = NameSet(members[key])
        # Pickles of release 4 neither tell that __init__ was called nor contain a device object.
        members["_Link__init_done"] = "_params" in members
        # A copy shares the dictionary of hooks, to which some may be added later.
        members["_calls_forward"] = (
            self.__init_done and not self._calls_mixin and self._local_link_hooks is None
        )
        if state.get("_cpu") is False:
            members["_device"] = get_device(f"@cupy:{state['_device_id']}")


def _shape_and_dtype(value: object) -> tuple[ShapeLike | None, DTypeLike]:
    """Splits a value of the constructor into shape and dtype."""
    if isinstance(value, tuple):
        pair = cast("tuple[Any, ...]", value)
        # (2, 3) is a shape, (2, numpy.float16) a length and a dtype.
        if len(pair) == 2 and not isinstance(pair[1], (int, numpy.integer)):
            return pair
    return cast("ShapeLike | None", value), numpy.float32


def _is_array(value: object) -> bool:
    return find_backend(type(value)) is not None


@contextlib.contextmanager
def _same_shape(link: Link, name: str, source: Any) -> Iterator[None]:
    """Names the parameter if one does not fit another."""
    own = vars(link)[name]
    try:
        with NamingReplaced(link, hierarchy=False):
            yield
    except ValueError as error:
        if own.shape == source.shape:
            raise
        raise ValueError(
            f"parameter {name!r} must have the shape {own.shape}, the source has {source.shape}"
        ) from error


def _source_param(link: Link, name: str) -> Any:
    """Returns the parameter of another link that has the name of one of this link."""
    param = vars(link).get(name)
    if not isinstance(param, Variable):
        place = f", but an object of type {type(param).__name__}" if name in vars(link) else ""
        raise KeyError(f"the source {type(link).__name__} has no parameter {name!r}{place}")
    return param


add_foreign_attributes(Link, ATTRIBUTES["Link"])

# chainer.link has the three base classes. The containers are imported at first use because their
# modules import this one.
__getattr__, __dir__ = lazy_module(
    globals(), {"Chain": "chainer.links.chain", "ChainList": "chainer.links.chain_list"}
)


def _warn_of_missing_values(name: str) -> None:
    """Warns of a parameter that was saved before its first use, when it had no values."""
    warn_once(
        "parameter without values",
        name,
        f"the file has no values of parameter {name!r}: it was saved before the first call of its "
        "link, which determines the shape; the parameter keeps its values",
    )
