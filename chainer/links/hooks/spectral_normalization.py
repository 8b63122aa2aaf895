"""Link hook that divides a weight by its largest singular value."""

from __future__ import annotations

import math
from typing import Any

import numpy

from chainer.core.arrays.backend import copyto, get_device_from_array
from chainer.core.arrays.device_resident import device_of
from chainer.core.autograd.parameter import Parameter
from chainer.core.autograd.variable import Variable
from chainer.core.config.configuration import config
from chainer.core.misuse import expect_number
from chainer.core.typing import Array, ArrayModule, Scalar
from chainer.functions.array.broadcast import broadcast_to
from chainer.functions.array.reshape import reshape
from chainer.functions.array.transpose import transpose
from chainer.functions.math.matmul import matmul
from chainer.links.connection.deconvolution_2d import Deconvolution2D
from chainer.links.connection.deconvolution_nd import DeconvolutionND
from chainer.links.errors import InvalidValueError
from chainer.links.hooks._weights import WeightHook
from chainer.links.link import Link
from chainer.links.loaded_state import load_optional
from chainer.links.serializer import Deserializer


def l2normalize(xp: ArrayModule, v: Array, eps: float) -> Array:
    """Returns a vector divided by its length.

    Args:
        xp (module): Array module of the vector.
        v (array): The vector.
        eps (float): Value added to the length.

    Returns:
        array: The normalized vector.
    """
    return v / (xp.sqrt((v * v).sum()) + eps).astype(v.dtype)


def update_approximate_vectors(
    weight_matrix: Variable, u: Array, n_power_iteration: int, eps: float
) -> tuple[Array, Array]:
    """Approximates the first left and right singular vectors by power iterations.

    Args:
        weight_matrix (Variable): Matrix of shape ``(m, n)``.
        u (array): Approximation of the left singular vector, shape ``(m,)``.
        n_power_iteration (int): Number of iterations.
        eps (float): Value added to lengths.

    Returns:
        tuple of array: Left and right singular vectors, shapes ``(m,)`` and ``(n,)``.
    """
    W = weight_matrix.array
    device = get_device_from_array(W)
    v = u
    with device.backend.use(device):
        for _ in range(n_power_iteration):
            v = l2normalize(device.xp, device.xp.dot(u, W), eps)
            u = l2normalize(device.xp, device.xp.dot(W, v), eps)
    return u, v


def calculate_max_singular_value(weight_matrix: Variable, u: Array, v: Array) -> Variable:
    """Returns the largest singular value of a matrix for given singular vectors.

    Args:
        weight_matrix (Variable): Matrix of shape ``(m, n)``.
        u (array): First left singular vector, shape ``(m,)``.
        v (array): First right singular vector, shape ``(n,)``.

    Returns:
        Variable: The singular value, of shape ``()``; gradients reach the matrix.
    """
    return matmul(matmul(u, weight_matrix), v)


class SpectralNormalization(WeightHook):
    """Spectral Normalization link hook implementation.

    In each call of the link the weight is divided by an approximation of its largest singular
    value, so that the link is Lipschitz continuous with constant one. The weight is viewed as a
    matrix whose rows are the outputs. The left singular vector is kept from call to call and
    improved by power iterations, in training mode only; it is a persistent value of the link.

    See `Spectral Normalization for Generative Adversarial Networks
    <https://arxiv.org/abs/1802.05957>`_.

    Args:
        n_power_iteration (int): Number of power iterations in each call.
        eps (float): Value added to the lengths of vectors.
        use_gamma (bool): Whether the weight is multiplied by a parameter ``gamma`` of the link,
            which is the largest singular value at first. Add the hook before
            ``optimizer.setup`` then.
        factor (float): The singular value is divided by it; None for 1.
        weight_name (str): Name of the weight.
        name (str): Name of the hook; ``'SpectralNormalization'`` by default.

    Attributes:
        vector_name (str): Name of the persistent value of the link: ``weight_name + '_u'``.
        axis (int): Axis of the outputs in the weight of the latest link it was added to: 1 for
            deconvolutions, else 0.

    Raises:
        ValueError: When it is added to a link that has no such weight or no outputs.

    Example:
        >>> link = L.Linear(3, 4).add_hook(chainer.link_hooks.SpectralNormalization())
        >>> y = link(np.ones((2, 3), np.float32))
        >>> link.W_u.shape
        (4,)
    """

    name = "SpectralNormalization"

    axis = 0
    #: Right singular vector of the latest call.
    v: Array | None = None
    _initialized = False

    def __init__(
        self,
        n_power_iteration: int = 1,
        eps: float = 1e-6,
        use_gamma: bool = False,
        factor: Scalar | None = None,
        weight_name: str = "W",
        name: str | None = None,
    ) -> None:
        if n_power_iteration < 1:
            raise InvalidValueError(f"n_power_iteration must be positive, got {n_power_iteration}")
        super().__init__(weight_name, name)
        self.n_power_iteration = n_power_iteration
        expect_number("eps of SpectralNormalization", eps, at_least=0)
        self.eps = eps
        self.use_gamma = use_gamma
        self.factor = factor
        self.vector_name = weight_name + "_u"

    @property
    def _right_vector_name(self) -> str:
        """Attribute of a link for the right singular vector, which a recomputation needs."""
        return f"_{self.weight_name}_v"

    def added(self, link: Any) -> None:
        """Registers the vector (and ``gamma``) with the link.

        Args:
            link (Link): The link. If its weight is not initialized, it gets the vector in the first
                call, or when a file is loaded.

        Raises:
            ValueError: If the link has no such weight or no outputs.
        """
        super().added(link)
        self.axis = _output_axis(link)
        # A parameter is registered at once, so that an optimizer that is set up before the first
        # call updates it.
        if self.use_gamma and getattr(link, "gamma", None) is None:
            with link.init_scope():
                link.gamma = Parameter()
        weight = getattr(link, self.weight_name)
        if weight.array is not None:
            self._prepare(link, weight)

    def _loading(self, link: Any, deserializer: Deserializer) -> None:
        if hasattr(link, self.vector_name):
            return
        # Before the first call, the vector of a file is read, if the file has one.
        vector = load_optional(deserializer, self.vector_name, None)
        if vector is not None:
            setattr(link, self.vector_name, vector)
            link.register_persistent(self.vector_name)

    def _register_vector(self, link: Any) -> None:
        if not hasattr(link, self.vector_name):
            setattr(link, self.vector_name, None)
        link.register_persistent(self.vector_name)

    def _prepare(self, link: Any, weight: Parameter) -> None:
        """Initializes the vector and ``gamma`` for the shape of the weight."""
        self._initialized = True
        self.axis = _output_axis(link)
        size = weight.shape[self.axis]
        if size == 0:
            raise ValueError("Expect W.shape[0] > 0")
        self._register_vector(link)
        if getattr(link, self.vector_name) is None:
            device = device_of(link)
            with device.backend.use(device):
                u = device.backend.random(device).normal(size=(size,)).astype(weight.dtype)
            setattr(link, self.vector_name, u)
        if self.use_gamma and link.gamma.array is None:
            matrix = self.reshape_W(weight.array)
            device = get_device_from_array(matrix)
            s = numpy.linalg.svd(device.backend.to_host(matrix).astype(numpy.float64))[1]
            gamma = numpy.asarray(s[0], weight.dtype)
            link.gamma.array = device.send(gamma)

    def deleted(self, link: Any) -> None:
        """Removes the vector (and ``gamma``) from the link.

        Args:
            link (Link): The link.
        """
        names = [self.vector_name, self._right_vector_name]
        if self.use_gamma:
            names.append("gamma")
        for name in names:
            if hasattr(link, name):
                delattr(link, name)

    def _replacement(self, link: Any, weight: Parameter) -> Variable:
        if getattr(link, self.vector_name, None) is None or self.use_gamma:
            self._prepare(link, weight)
        return self.normalize_weight(link)

    def normalize_weight(self, link: Any) -> Variable:
        """Returns the weight of a link divided by its largest singular value.

        Args:
            link (Link): The link, whose weight is initialized. Its vector is improved in training
                mode.

        Returns:
            Variable: The normalized weight, multiplied by ``gamma`` if there is one.
        """
        # Links may share the hook.
        self.axis = _output_axis(link)
        weight = getattr(link, self.weight_name)
        matrix = self.reshape_W(weight)
        u, v = self._vectors(link, matrix)
        sigma = calculate_max_singular_value(matrix, u, v)
        if self.factor is not None:
            sigma = sigma / self.factor
        if self.use_gamma:
            return broadcast_to(link.gamma / sigma, weight.shape) * weight
        return weight / broadcast_to(sigma, weight.shape)

    def reshape_W(self, W: Any) -> Any:
        """Returns a weight as a matrix with one row for each output.

        Args:
            W (Variable or array): The weight; its axis :attr:`axis` is the output axis.

        Returns:
            Variable or array: Matrix of the type of ``W``.
        """
        return _as_matrix(W, self.axis)

    def _vectors(self, link: Link, matrix: Variable) -> tuple[Array, Array]:
        """Returns the singular vectors for a call, and keeps them if it is one of training."""
        kept: Array = getattr(link, self.vector_name)
        previous = getattr(link, self._right_vector_name, None)
        # A recomputation must use the vectors of the call that it repeats.
        if config.in_recomputing and previous is not None:
            return kept, device_of(link).send(previous)
        u, v = update_approximate_vectors(matrix, kept, self.n_power_iteration, self.eps)
        self.v = v
        setattr(link, self._right_vector_name, v)
        if config.train and not config.in_recomputing:
            # In place, because others may refer to the array.
            copyto(kept, u)
        return u, v


def _output_axis(link: Link) -> int:
    return 1 if isinstance(link, (Deconvolution2D, DeconvolutionND)) else 0


def _as_matrix(weight: Any, axis: int) -> Any:
    """Returns a weight (Variable or array) as a matrix whose rows belong to an axis."""
    if axis != 0:
        axes = (axis, *(i for i in range(weight.ndim) if i != axis))
        weight = transpose(weight, axes) if isinstance(weight, Variable) else weight.transpose(axes)
    if weight.ndim == 2:
        return weight
    shape = (weight.shape[0], math.prod(weight.shape[1:]))
    return reshape(weight, shape) if isinstance(weight, Variable) else weight.reshape(shape)
