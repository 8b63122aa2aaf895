"""Parameters: variables that links register and optimizers update."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy

from chainer.core.arrays.backend import find_backend, get_device
from chainer.core.arrays.extended_dtypes import kind_of
from chainer.core.autograd.lazy_gradient import UNDEFINED
from chainer.core.autograd.variable import Variable
from chainer.core.config.configuration import config
from chainer.core.config.dtype import get_dtype
from chainer.core.registry import registries

if TYPE_CHECKING:
    from chainer.core.arrays.device import Device
    from chainer.core.typing import Array, DeviceLike, InitializerLike, ShapeLike


class Parameter(Variable):
    """Parameter variable that can be registered to a link.

    A parameter that is assigned to an attribute of a link within ``init_scope`` is registered in
    the link. An initializer makes its array: at once if the shape is known, otherwise when
    :meth:`initialize` is called. The gradient is then NaN until it is cleared, which makes a
    forgotten ``cleargrads()`` visible.

    Args:
        initializer (Initializer, array or scalar): Initializer of the data array. An array without
            a ``shape`` is the data array itself; with one its values fill an array of dtype
            ``chainer.config.dtype`` (float32), as a scalar does. None means NaN-filled data.
        shape (int or tuple of int or None): Shape of the parameter; if None, initialization is
            deferred.
        name (str): Name of the parameter.
        layout (str): Memory layout of the data array, one of :mod:`chainer.memory_layouts`; None
            for the standard one. ``shape`` is then the shape of the stored array, whereas
            :meth:`initialize` takes the shape with the channels in second place.
        requires_grad (bool): Whether ``grad`` will be set in backward calculation.

    Attributes:
        initializer: Initializer of the data array.
        update_rule (UpdateRule): Rule by which an optimizer updates the parameter.

    Example:
        >>> W = chainer.Parameter(chainer.initializers.Zero(), (2, 3))
        >>> W.shape, W.requires_grad
        ((2, 3), True)
    """

    __slots__ = ()

    initializer: Any = None
    update_rule: Any = None

    #: Gradient after :meth:`initialize`: NaN, unless the gradient was cleared or zeroed before, or
    #: the parameter was made with a shape.
    _initial_gradient: Literal["nan", "none", "zero"] = "nan"

    def __init__(
        self,
        initializer: InitializerLike = None,
        shape: ShapeLike | None = None,
        name: str | None = None,
        *,
        layout: str | None = None,
        requires_grad: bool = True,
    ) -> None:
        array: Array | None = None
        if shape is not None:
            initializer = _as_initializer(initializer)
            array = _generate(initializer, shape, get_device(None))
        elif find_backend(initializer.__class__) is not None:
            array = initializer
        else:
            initializer = _as_initializer(initializer)
        super().__init__(array, name=name, requires_grad=requires_grad, layout=layout)
        self.initializer = initializer
        if shape is not None:
            self._undefine_grad()
            self._initial_gradient = "none"

    def __deepcopy__(self, memo: dict[int, Any]) -> Variable:
        replica = super().__deepcopy__(memo)
        if self._array is not None:
            # As in release 7, where the gradient of a copy that is initialized anew is undefined.
            vars(replica).pop("_initial_gradient", None)
        return replica

    def _undefine_grad(self) -> None:
        self._gradient = UNDEFINED if kind_of(self.dtype) in "fc" else None

    @property
    def requires_grad(self) -> bool:
        """Whether backward computes the gradient; set it to False to freeze the parameter.

        A frozen parameter has no gradient, and optimizers leave it as it is: no update, and no
        weight decay. Graphs that exist already are not changed.
        """
        return self._requires_grad

    @requires_grad.setter
    def requires_grad(self, value: bool) -> None:
        # Numbers are allowed, as for the argument of Variable; a text would be True.
        kinds = (int, numpy.bool_, numpy.integer)
        if not isinstance(value, kinds):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeError(f"requires_grad must be True or False, got {value!r}")
        value = bool(value)
        if value == self._requires_grad:
            return
        self._requires_grad = value
        # Later functions get a node of the graph that knows about the change.
        self._graph_node = None
        if not value:
            self.cleargrad()
        if self.update_rule is not None:
            self.update_rule.enabled = value

    @property
    def is_initialized(self) -> bool:
        """Whether the parameter has an array."""
        return self._array is not None

    @property
    def dtype(self) -> Any:
        """Data type of the array, or the one the initializer will give it."""
        if self._array is not None:
            return self._array.dtype
        if callable(self.initializer) and not hasattr(self.initializer, "dtype"):
            raise RuntimeError(
                f"dtype of {self.summary()} is not determined yet: it is uninitialized, and its "
                "initializer has no attribute 'dtype'"
            )
        return get_dtype(getattr(self.initializer, "dtype", None))

    def _refuse_undefined_gradient(self) -> None:
        if self._initial_gradient == "nan":
            raise RuntimeError(
                "Cannot retrieve Variable.grad. Either it must be set manually or "
                f"Variable.cleargrad() must be called beforehand. ({self.summary()} is "
                "uninitialized)"
            )

    def _set_gradient(self, grad: Array | None) -> None:
        super()._set_gradient(grad)
        if grad is None and self._array is None:
            self._initial_gradient = "none"

    def cleargrad(self) -> None:
        """Clears the gradient array."""
        super().cleargrad()
        if self._array is None:
            self._initial_gradient = "none"

    def _zero_gradient(self) -> None:
        if self._array is None:
            self._initial_gradient = "zero"
        else:
            if self._gradient is UNDEFINED:
                self.cleargrad()
            super()._zero_gradient()

    @property
    def has_memory(self) -> bool:
        """Whether the array can be written; False after ``config.initialize = "shape"`` made it."""
        array = self._array
        return (
            array is None or not (array.ndim and array.size) or any(getattr(array, "strides", (1,)))
        )

    def take_memory(self) -> None:
        """Gives the array memory of its own, if ``config.initialize = "shape"`` made it.

        Loading a file into a parameter, and :meth:`copydata`, do this first.

        Example:
            >>> with chainer.using_config("initialize", "shape"):
            ...     parameter = chainer.Parameter(0.5, (2, 3))
            >>> parameter.take_memory()
            >>> parameter.array[0] = 1
        """
        if not self.has_memory:
            self.array = self.device.backend.copy(self._array, self.device)

    def copydata(self, var: Variable) -> None:
        """Copies the data array of another variable, see :meth:`chainer.Variable.copydata`.

        Args:
            var (Variable): Source variable.
        """
        self.take_memory()
        super().copydata(var)

    def initialize(self, shape: ShapeLike) -> None:
        """Initializes the data array by the initializer.

        Args:
            shape (int or tuple of int): Shape of the data array.
        """
        device = get_device(self._initial_device)
        self.array = device.send(_generate(self.initializer, shape, device))
        if self._initial_gradient == "nan":
            self._undefine_grad()
        else:
            self._set_gradient_unchecked(None)
            if self._initial_gradient == "zero":
                self._zero_gradient()

    def to_device(self, device: DeviceLike) -> None:
        """Copies the data and gradient arrays to a device.

        An uninitialized parameter will be initialized there.

        Args:
            device: Anything :func:`chainer.get_device` takes.
        """
        # An undefined gradient stays undefined, so that no array full of NaN has to be moved.
        undefined = self._gradient is UNDEFINED
        if undefined:
            self._gradient = None
        super().to_device(device)
        if undefined:
            self._gradient = UNDEFINED

    def update(self) -> None:
        """Updates the data array using the gradient and the update rule.

        Without an update rule nothing happens.
        """
        if self.update_rule is not None:
            self.update_rule.update(self)


def _as_initializer(initializer: InitializerLike) -> Any:
    """Converts the argument ``initializer`` to an initializer object; None means NaN."""
    if initializer is None:
        return registries.initializers.get("NaN")()
    if isinstance(initializer, type):
        raise TypeError(
            f"initializer must be an object, got the class {initializer.__name__}: "
            f"write {initializer.__name__}()"
        )
    if callable(initializer):
        return initializer
    is_number = isinstance(initializer, (int, float, complex, numpy.generic))
    if is_number or find_backend(initializer.__class__) is not None:
        return registries.initializers.get("Constant")(initializer)
    return initializer  # an invalid one raises an error when the array is made


def _generate(initializer: Any, shape: ShapeLike, device: Device) -> Array:
    """Makes an array of a shape on a device by an initializer."""
    if isinstance(shape, (int, numpy.integer)):
        shape = (int(shape),)
    shape = tuple(shape)
    sizes: list[Any] = list(shape)
    integers: list[Any] = [size for size in sizes if isinstance(size, (int, numpy.integer))]
    if len(integers) < len(sizes) or min(integers, default=0) < 0:
        text = f"shape of a parameter must have sizes that are non-negative integers, got {shape}"
        raise (TypeError if len(integers) < len(sizes) else ValueError)(text)
    backend = device.backend
    dtype = get_dtype(getattr(initializer, "dtype", None))
    with backend.use(device):
        if callable(initializer):
            if config.initialize == "shape" and shape:
                # A read-only view of a single zero. Asking the system for the memory of large
                # arrays, and giving it back, takes as long as all else of loading a model.
                return backend.xp.broadcast_to(backend.xp.zeros((), dtype), shape)
            if not config.initialize:
                # Memory of zeros costs nothing before it is used.
                return backend.xp.zeros(shape, dtype)
            array = backend.xp.empty(shape, dtype)
            initializer(array)
            return array
        if find_backend(initializer.__class__) is not None:
            array = backend.xp.empty(shape, dtype)
            array[...] = device.send(initializer)
            return array
    raise TypeError(
        "initializer must be an Initializer, a callable, an array or a scalar, "
        f"got {type(initializer).__name__}"
    )
