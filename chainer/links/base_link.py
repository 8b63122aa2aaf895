"""The base class of everything that holds parameters."""

from __future__ import annotations

import contextlib
import copy
import warnings
from collections.abc import Iterator
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy

from chainer.core.arrays.backend import copyto, find_backend, get_device
from chainer.core.arrays.device import Device
from chainer.core.autograd.parameter import Parameter
from chainer.core.autograd.variable import Variable
from chainer.links.initializers.constant import NaN

if TYPE_CHECKING:
    from typing import Self

    from chainer.links.sequential import Sequential

_MODES = ("init", "copy", "share")


def check_mode(mode: str) -> None:
    """Raises unless ``mode`` is a mode of copying links."""
    if mode not in _MODES:
        raise ValueError(
            f"The 'mode' argument should be either 'init','copy', or 'share'. But {mode} was given."
        )


class Link:
    """Building block of model definitions.

    A link holds parameters and persistent values, both referred to by name and accessible as
    attributes. Assigning a :class:`~chainer.Parameter` to an attribute within :meth:`init_scope`
    registers it. Parameters and persistent values are saved and loaded by serializers, moved
    between devices and copied with the link; other attributes belong to the program.

    Subclasses define ``forward`` (or override ``__call__``).

    Args:
        params: Names and shapes of initial parameters, each a shape or a tuple ``(shape, dtype)``.
            Deprecated since v2.0.0; use :meth:`init_scope`.

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

    # Names in order of registration; dictionaries serve as ordered sets.
    _params: dict[str, None]
    _persistent: dict[str, None]
    _within_init_scope: bool = False
    _device: Device | None = None

    def __init__(self, **params: Any) -> None:
        self._params = {}
        self._persistent = {}
        self.name = None
        for name, value in params.items():
            shape, dtype = value, numpy.float32
            if isinstance(value, tuple) and len(value) == 2 and not isinstance(value[1], int):
                shape, dtype = value
            self.add_param(name, shape, dtype=dtype)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Calls ``forward`` with the same arguments."""
        forward = getattr(self, "forward", None)
        if forward is None:
            raise TypeError(
                f"{self!r} has neither '{type(self).__name__}.__call__' method overridden nor "
                "'forward' method defined."
            )
        return forward(*args, **kwargs)

    # -- text -------------------------------------------------------------------------------------

    @property
    def printable_specs(self) -> Iterator[tuple[str, Any]]:
        """Pairs of name and value that describe the link when it is printed."""
        return iter(())

    def __str__(self) -> str:
        specs = ", ".join(f"{name}={value}" for name, value in self.printable_specs)
        return f"{type(self).__name__}({specs})"

    def __repr__(self) -> str:
        text = str(self)
        return f"<{type(self).__name__} {hex(id(self))}>" if "\n" in text else text

    # -- registration -----------------------------------------------------------------------------

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
        if "_params" not in self.__dict__:
            raise RuntimeError(
                f"{type(self).__name__}: Link.__init__() has not been called; call "
                "super().__init__() before init_scope()"
            )
        before = self._within_init_scope
        self._within_init_scope = True
        try:
            yield
        finally:
            self._within_init_scope = before

    def __setattr__(self, name: str, value: Any) -> None:
        if self._within_init_scope and isinstance(value, Parameter):
            value.name = name
            self._params[name] = None
            self._persistent.pop(name, None)
        object.__setattr__(self, name, value)

    def __delattr__(self, name: str) -> None:
        if "_params" in self.__dict__:
            self._params.pop(name, None)
            self._persistent.pop(name, None)
        object.__delattr__(self, name)

    def add_param(
        self,
        name: str,
        shape: Any = None,
        dtype: Any = numpy.float32,
        initializer: Any = None,
    ) -> None:
        """Registers a parameter to the link.

        Deprecated since v2.0.0; assign a :class:`~chainer.Parameter` within :meth:`init_scope`
        instead.

        Args:
            name (str): Name of the parameter and of the attribute.
            shape (int or tuple of ints): Shape; the parameter is left uninitialized if omitted.
            dtype: Data type of the parameter array.
            initializer: Initializer, array or scalar; ``dtype`` is then ignored.

        Raises:
            AttributeError: If the link has an attribute of this name.
        """
        if name in self.__dict__:
            raise AttributeError(f"cannot register a new parameter {name}: attribute exists")
        if initializer is None:
            initializer = NaN(dtype)
        with self.init_scope():
            setattr(self, name, Parameter(initializer, shape))

    def add_persistent(self, name: str, value: Any) -> None:
        """Registers a persistent value to the link and sets it as an attribute.

        Args:
            name (str): Name of the value and of the attribute.
            value: Value: an array, a scalar or anything serializers can store.

        Raises:
            AttributeError: If the link has an attribute of this name.
        """
        if name in self.__dict__:
            raise AttributeError(f"cannot register a new persistent value {name}: attribute exists")
        self._persistent[name] = None
        self._params.pop(name, None)
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
        self._persistent[name] = None
        self._params.pop(name, None)

    # -- hierarchy --------------------------------------------------------------------------------

    def params(self, include_uninit: bool = True) -> Iterator[Parameter]:
        """Returns a generator of all parameters under the link hierarchy, in registration order.

        Args:
            include_uninit (bool): Whether uninitialized parameters are included.
        """
        for _, param in self.namedparams(include_uninit):
            yield param

    def namedparams(self, include_uninit: bool = True) -> Iterator[tuple[str, Parameter]]:
        """Returns a generator of all (path, param) pairs under the hierarchy.

        Args:
            include_uninit (bool): Whether uninitialized parameters are included.
        """
        members = self.__dict__
        for name in self._params:
            param = members[name]
            if include_uninit or param.array is not None:
                yield "/" + name, param

    def links(self, skipself: bool = False) -> Iterator[Link]:
        """Returns a generator of all links under the hierarchy.

        Args:
            skipself (bool): Whether this link is left out.
        """
        if not skipself:
            yield self

    def namedlinks(self, skipself: bool = False) -> Iterator[tuple[str, Link]]:
        """Returns a generator of all (path, link) pairs under the hierarchy.

        Args:
            skipself (bool): Whether this link is left out.
        """
        if not skipself:
            yield "/", self

    def children(self) -> Iterator[Link]:
        """Returns a generator of all child links, in registration order."""
        return iter(())

    # -- copies -----------------------------------------------------------------------------------

    def copy(self, mode: str = "share") -> Self:
        """Copies the link hierarchy to a new one.

        Args:
            mode (str): ``'share'``: parameters are new objects that share their arrays with those
                of this link. ``'copy'``: everything is copied deeply. ``'init'``: as ``'copy'``,
                but parameters are initialized anew.

        Returns:
            Link: The copy, without a name.
        """
        check_mode(mode)
        if mode == "share":
            replica = self._copy_shallow()
        else:
            replica = copy.deepcopy(self)
            if mode == "init":
                for param in replica.params(include_uninit=False):
                    if isinstance(param, Parameter):
                        param.initialize(param.shape)
                for link in replica.links():
                    link._on_reinitialize()
        replica.name = None
        return replica

    def _on_reinitialize(self) -> None:
        """Is called when all parameters have got the values of their initializers again.

        A link that fills parameters by other means than their initializers does so here, too.
        """

    def _copy_shallow(self) -> Self:
        replica = copy.copy(self)
        members = replica.__dict__
        members["_params"] = dict(self._params)
        members["_persistent"] = dict(self._persistent)
        for name in self._params:
            members[name] = copy.copy(members[name])
        return replica

    def copyparams(self, link: Link) -> None:
        """Copies all parameters from given link, across devices if need be; not the gradients.

        Args:
            link (Link): Source link, of the same structure.
        """
        source = dict(link.namedparams())
        for path, param in self.namedparams():
            if path not in source:
                raise KeyError(f"copyparams: the source link has no parameter {path!r}")
            param.copydata(source[path])

    def addgrads(self, link: Link) -> None:
        """Accumulates gradient values from given link, across devices if need be.

        Args:
            link (Link): Source link, of the same structure.
        """
        source = dict(link.namedparams())
        for path, param in self.namedparams():
            if path not in source:
                raise KeyError(f"addgrads: the source link has no parameter {path!r}")
            param.addgrad(source[path])

    def repeat(self, n_repeat: int, mode: str = "init") -> Sequential:
        """Repeats this link multiple times to make a :class:`~chainer.Sequential`.

        Args:
            n_repeat (int): Number of times to repeat.
            mode (str): ``'init'``: each copy is initialized anew. ``'copy'``: the copies have the
                same values but are independent. ``'share'``: they share their parameters.

        Example:
            >>> len(L.Linear(10, 10).repeat(3))
            3
        """
        from chainer.links.sequential import Sequential

        check_mode(mode)
        result = Sequential()
        for _ in range(max(n_repeat, 0)):
            result.append(self.copy(mode))
        return result

    # -- training ---------------------------------------------------------------------------------

    def cleargrads(self) -> None:
        """Clears all gradient arrays; called before the backward computation of an iteration."""
        for param in self.params():
            param.cleargrad()

    def zerograds(self) -> None:
        """Initializes all gradient arrays by zero.

        Deprecated since v1.15; use :meth:`cleargrads`.
        """
        for param in self.params():
            param.zerograd()

    def count_params(self) -> int:
        """Returns the number of scalars in all parameters; warns about uninitialized parameters."""
        size = 0
        for path, param in self.namedparams():
            if param.array is None:
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
        # In-place arithmetic leaves plain variables in the place of parameters.
        rules = (getattr(param, "update_rule", None) for param in self.params())
        return any(rule is not None and rule.enabled for rule in rules)

    def enable_update(self) -> None:
        """Enables the update rules of all parameters under the link hierarchy."""
        self._set_update(True)

    def disable_update(self) -> None:
        """Disables the update rules of all parameters under the link hierarchy."""
        self._set_update(False)

    def _set_update(self, enabled: bool) -> None:
        for param in self.params():
            rule = getattr(param, "update_rule", None)
            if rule is not None:
                rule.enabled = enabled

    # -- devices ----------------------------------------------------------------------------------

    @property
    def device(self) -> Device:
        """Device the parameters are on."""
        return get_device(None) if self._device is None else self._device

    @property
    def xp(self) -> ModuleType:
        """Array module for this link: ``numpy``, ``cupy`` or that of another backend."""
        return numpy if self._device is None else self._device.xp

    def to_device(self, device: Any) -> Self:
        """Copies parameters and persistent values to a device.

        Args:
            device: Anything :func:`chainer.get_device` takes.

        Returns:
            Link: This link.
        """
        self._move(get_device(device))
        return self

    def to_cpu(self) -> Self:
        """Copies parameters and persistent values to CPU.

        Attributes that are not registered are left alone; a link that has such arrays overrides
        the method.

        Returns:
            Link: This link.
        """
        self._move(get_device("@numpy"))
        return self

    def to_gpu(self, device: Any = None) -> Self:
        """Copies parameters and persistent values to GPU.

        A link that already is on a GPU stays there, so that a model whose parts were sent to
        several GPUs is not gathered on one; :meth:`to_device` moves a link between GPUs.

        Args:
            device: Target device specifier; the current device if omitted.

        Returns:
            Link: This link.
        """
        target = get_device("@cupy" if device is None else device)
        if self.device.backend is not target.backend or not target.backend.is_accelerator:
            self._move(target)
        return self

    def to_intel64(self) -> Self:
        """Copies parameters and persistent values to ``ideep4py.mdarray`` where suited.

        Returns:
            Link: This link.
        """
        self._move(get_device("@ideep"))
        return self

    def _move(self, device: Device) -> None:
        members = self.__dict__
        for name in self._params:
            members[name].to_device(device)
        for name in self._persistent:
            value = members[name]
            if isinstance(value, Variable):
                value.to_device(device)
            elif find_backend(type(value)) is not None:
                members[name] = device.send(value)
        self._device = device

    # -- serialization ----------------------------------------------------------------------------

    def serialize(self, serializer: Any) -> None:
        """Serializes the link: parameters and persistent values, by name.

        Args:
            serializer (AbstractSerializer): Serializer or deserializer.
        """
        members = self.__dict__
        for name in self._params:
            param = members[name]
            data = serializer(name, param.array)
            if param.array is None and data is not None:
                # The file knows the shape that the first call would have told.
                param.initialize(data.shape)
                copyto(param.array, data if find_backend(type(data)) else numpy.asarray(data))
        for name in self._persistent:
            value = members[name]
            if isinstance(value, Variable):  # a parameter that was registered as persistent
                value.array = serializer(name, value.array)
            else:
                members[name] = serializer(name, value)
