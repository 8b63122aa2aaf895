"""Base classes of the links that convolve."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import Any, ClassVar, Concatenate, ParamSpec, cast

from chainer.core.autograd.parameter import Parameter
from chainer.core.autograd.variable import Variable
from chainer.core.typing import Array, InitializerLike, IntTuple, Shape, VariableLike
from chainer.core.utils.conv import as_sizes
from chainer.links.initializers import get_initializer
from chainer.links.link import Link
from chainer.links.size_inference import infer_channels

_Arguments = ParamSpec("_Arguments")


class ConvolutionLink(Link):
    """Base class of convolutions and deconvolutions with any number of spatial dimensions.

    It makes the parameters and infers the number of input channels. A subclass defines the shape of
    the weight and applies the function.

    Args:
        ndim (int): Number of spatial dimensions.
        in_channels (int or None): Number of channels of input arrays; inferred at the first call if
            None.
        out_channels (int): Number of channels of output arrays.
        ksize (int or tuple of ints or None): Size of filters. If it is None, the two arguments
            before it are ``out_channels`` and ``ksize``.
        stride (int or tuple of ints): Stride of filter applications.
        pad (int or tuple of ints): Spatial padding width.
        nobias (bool): Whether there is no bias.
        initialW (initializer): Initializer of the weight.
        initial_bias (initializer): Initializer of the bias; zero by default.
        dilate (int or tuple of ints): Dilation factor of filter applications.
        groups (int): Number of groups the channels are divided into.

    Raises:
        TypeError: If ``out_channels`` or ``ksize`` are missing.
        ValueError: If a size does not have ``ndim`` elements, or ``groups`` does not divide the
            numbers of channels.
    """

    W: Parameter
    b: Parameter | None
    out_channels: int
    # Sizes are ints or tuples of ndim ints.
    ksize: Any
    stride: Any
    pad: Any

    # Links restored from pickles of older releases lack some of the attributes.
    in_channels: int | None = None
    dilate: Any = 1
    groups: int = 1

    #: Names of the attributes that describe the link when it is printed, in order.
    _spec_names: ClassVar[tuple[str, ...]]

    def __init__(
        self,
        ndim: int,
        in_channels: int | None,
        out_channels: int,
        ksize: IntTuple | None,
        stride: IntTuple,
        pad: IntTuple,
        nobias: bool,
        initialW: InitializerLike,
        initial_bias: InitializerLike,
        dilate: IntTuple = 1,
        groups: int = 1,
    ) -> None:
        super().__init__()
        in_channels, out_channels, size = normalize_sizes(self, in_channels, out_channels, ksize)
        self.ksize = self._normalize_ksize(size, ndim)
        self.stride = as_sizes(stride, ndim, "stride")
        self.pad = as_sizes(pad, ndim, "pad", least=0)
        self.dilate = as_sizes(dilate, ndim, "dilate")
        self.in_channels = in_channels
        self.out_channels = out_channels
        self.groups = int(groups)
        # The weight is drawn before the bias: random numbers come in the order of earlier releases.
        with self.init_scope():
            self.W = Parameter(get_initializer(initialW))
            if in_channels is not None:
                self._initialize_params(in_channels)
            self.b = None
            if not nobias:
                self.b = Parameter(get_initializer(initial_bias, default=0), out_channels)

    def _normalize_ksize(self, ksize: IntTuple, ndim: int) -> IntTuple:
        """Returns the value of the attribute ``ksize``."""
        return as_sizes(ksize, ndim, "ksize")

    @property
    def ndim(self) -> int:
        """Number of spatial dimensions."""
        if self.W.array is not None:
            return self.W.ndim - 2
        # Release 7 keeps this size as a tuple, the others as they were given.
        return len(self.ksize)

    def _weight_shape(self, in_channels: int, ksize: tuple[int, ...]) -> Shape:
        """Returns the shape of the weight."""
        raise NotImplementedError(f"{type(self).__name__} must define _weight_shape()")

    def _initialize_params(self, in_channels: int) -> None:
        """Initializes the weight; link hooks call the method, too."""
        check_groups(self.groups, in_channels=in_channels, out_channels=self.out_channels)
        ksize = as_sizes(self.ksize, self.ndim, "ksize")
        self.W.initialize(self._weight_shape(in_channels, ksize))

    def _infer_sizes(self, x: VariableLike) -> None:
        """Initializes the weight for an input, unless it is initialized."""
        if self.W.array is None:
            self.in_channels = infer_channels(self, x, self.ndim + 2)
            self._initialize_params(self.in_channels)

    def forward(self, x: VariableLike) -> Variable:
        """Applies the layer.

        Args:
            x (Variable or array): Input of shape ``(B, in_channels, d_1, ..., d_N)``; images have
                the shape ``(B, in_channels, h, w)``.

        Returns:
            Variable: Output of shape ``(B, out_channels, l_1, ..., l_N)``.
        """
        self._infer_sizes(x)
        return self._apply(x)

    def _apply(self, x: VariableLike) -> Variable:
        """Applies the function to an input whose number of channels is known."""
        raise NotImplementedError(f"{type(self).__name__} must define forward() or _apply()")

    @property
    def printable_specs(self) -> Iterator[tuple[str, Any]]:
        """Pairs of name and value that describe the link when it is printed."""
        for name in self._spec_names:
            yield name, self.b is None if name == "nobias" else getattr(self, name, None)


class ConvolutionLink2D(ConvolutionLink):
    """Base class of convolutions and deconvolutions of images.

    It keeps ``ksize`` as it is given, as all releases do.
    """

    def _normalize_ksize(self, ksize: IntTuple, ndim: int) -> IntTuple:
        as_sizes(ksize, ndim, "ksize")
        return ksize

    @property
    def ndim(self) -> int:
        """Number of spatial dimensions."""
        return 2


def without_ndim(
    init: Callable[Concatenate[Any, int, _Arguments], None], ndim: int
) -> Callable[Concatenate[Any, _Arguments], None]:
    """Returns the initializer of a layer whose number of spatial dimensions is fixed.

    Args:
        init: Initializer of the layer with any number of them; ``ndim`` is its first argument.
        ndim: The number of spatial dimensions.

    Returns:
        function: Initializer without the argument ``ndim``. Its argument ``ksize`` is required, as
        in release 7.
    """
    owner, _, *rest = inspect.signature(init).parameters.values()
    parameters = [p.replace(default=p.empty) if p.name == "ksize" else p for p in rest]
    signature = inspect.Signature([owner, *parameters])

    def __init__(self: Any, *args: _Arguments.args, **kwargs: _Arguments.kwargs) -> None:
        signature.bind(self, *args, **kwargs)  # raises TypeError without ksize
        init(self, ndim, *args, **kwargs)

    cast(Any, __init__).__signature__ = signature
    return __init__


def normalize_sizes(link: Link, *sizes: Any) -> tuple[Any, Any, Any]:
    """Returns numbers of channels and size of filters; two given ones are the last two.

    Args:
        link (Link): The link, for the message.
        sizes: ``in_channels``, ``out_channels`` and ``ksize``.

    Raises:
        TypeError: If the number of output channels is missing.
    """
    in_channels, out_channels, ksize = sizes
    if ksize is None:
        in_channels, out_channels, ksize = None, in_channels, out_channels
    if out_channels is None or ksize is None:
        raise TypeError(f"{type(link).__name__} needs out_channels and ksize")
    return in_channels, out_channels, ksize


def check_groups(groups: int, **channels: int) -> None:
    """Raises ValueError unless the number of groups divides the numbers of channels."""
    if groups < 1:
        raise ValueError(f"groups must be positive, got {groups}")
    for name, number in channels.items():
        if number % groups != 0:
            raise ValueError(
                f"the number of groups must divide {name}, got groups={groups} and {name}={number}"
            )


def given_params(
    W: VariableLike, b: VariableLike | None, nobias: bool, out_name: str
) -> tuple[Array, Array | None]:
    """Returns the arrays of given parameters, for the methods ``from_params``.

    Args:
        W: Weight. Its first axis is the output axis.
        b: Bias or None.
        nobias: Whether the bias is ignored.
        out_name: Name of the number of outputs, for the message.

    Raises:
        ValueError: If the bias does not have an element for each output.
    """
    weight = W.array if isinstance(W, Variable) else W
    if b is None or nobias:
        return weight, None
    bias: Array = b.array if isinstance(b, Variable) else b
    if bias.size != weight.shape[0]:
        raise ValueError(
            f"`{out_name}` does not match the size of `b`: {weight.shape[0]} outputs, "
            f"{bias.size} biases"
        )
    return weight, bias
